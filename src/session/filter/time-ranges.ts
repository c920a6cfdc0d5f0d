import { PerfconvError } from '../../base/problems/errors.ts';

/**
 * A span of time. Its ends are nanoseconds, in the recording's clock or since the recording's first sample; both belong to the span, and a missing one leaves
 * it open. Percentages are of the time from the first sample to the last; see {@link percentEnds} for what belongs to them.
 */
export type TimeRange =
  | { readonly kind: 'clock'; readonly from?: bigint; readonly to?: bigint }
  | { readonly kind: 'sinceFirst'; readonly from?: bigint; readonly to?: bigint }
  | { readonly kind: 'percent'; readonly from: number; readonly to: number };

/** The first and the last moment of something, both part of it. */
export interface TimeSpan {
  readonly first: bigint;
  readonly last: bigint;
}

const EXPECTED = 'expected FROM,TO in seconds (12.5,13), seconds since the first sample (+1,+2.5), or per cent (10%-20%, or 10%/2 for the second tenth)';

/**
 * Reads what perf's `--time` accepts, and times since the first sample:
 *
 * - `12.5,13`, `,13`, `12.5,`: seconds of the recording's clock with up to nine decimals; several such ranges with blanks between
 * - `+1,+2.5`, `+1,`: the same, counted from the first sample (perf has no such form)
 * - `10%-20%`, `10%/2` (the second tenth), `10%` (the first): several with commas between
 *
 * Ranges may come in any order and overlap; perf wants absolute ones apart and in order.
 * Source: perf script's documentation, --time; what it accepts beyond that was observed, perf 6.1.
 *
 * @param option what messages call the option that has the text
 * @throws PerfconvError `usage`
 */
export function parseTimeRanges(text: string, option: string): TimeRange[] {
  const named = `${option} ${text}`;
  if (text.includes('%')) {
    const parts = text.split(',');
    return parts.map((part) => parsePercent(part.trim(), parts.length === 1, named));
  }
  return text
    .split(',')
    .map((bound) => bound.trim())
    .join(',')
    .split(/\s+/)
    .map((part) => parseSecondsRange(part, named));
}

function parsePercent(part: string, isOnly: boolean, named: string): TimeRange {
  const [, from, to] = /^(\d+(?:\.\d+)?)%\s*-\s*(\d+(?:\.\d+)?)%$/.exec(part) ?? [];
  if (from !== undefined) return percentRange(Number(from), Number(to), named);
  const [, slice, nth] = /^(\d+(?:\.\d+)?)%(?:\s*\/\s*(\d+))?$/.exec(part) ?? [];
  // `50%,60%` is more likely to mean a range than the first slice twice.
  if (slice === undefined || (nth === undefined && !isOnly)) throw new PerfconvError('usage', `${named}: ${EXPECTED}`);
  const which = Number(nth ?? 1);
  if (which < 1 || Number(slice) === 0) throw new PerfconvError('usage', `${named}: slices are counted from 1, and cannot be 0 % long`);
  return percentRange(Number(slice) * (which - 1), Number(slice) * which, named);
}

function percentRange(from: number, to: number, named: string): TimeRange {
  if (to < from) throw new PerfconvError('usage', `${named}: ends before it starts`);
  if (to > 100) throw new PerfconvError('usage', `${named}: goes beyond 100 %`);
  return { kind: 'percent', from, to };
}

function parseSecondsRange(part: string, named: string): TimeRange {
  const ends = part.split(',');
  if (ends.length !== 2) throw new PerfconvError('usage', `${named}: ${EXPECTED}`);
  const given = ends.filter((end) => end !== '');
  const isSinceFirst = given.some((end) => end.startsWith('+'));
  if (isSinceFirst && !given.every((end) => end.startsWith('+'))) {
    throw new PerfconvError('usage', `${named}: one end counts from the first sample (+), the other does not`);
  }
  const [from, to] = ends.map((end) => parseSeconds(isSinceFirst ? end.slice(1) : end, end, named));
  if (from !== undefined && to !== undefined && to < from) throw new PerfconvError('usage', `${named}: ends before it starts`);
  return { kind: isSinceFirst ? 'sinceFirst' : 'clock', ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function parseSeconds(digits: string, end: string, named: string): bigint | undefined {
  if (end === '') return undefined;
  const match = /^(\d{1,10})(?:\.(\d{1,9}))?$/.exec(digits);
  if (match === null) throw new PerfconvError('usage', `${named}: ${EXPECTED}`);
  return BigInt(match[1]) * 1_000_000_000n + BigInt((match[2] ?? '').padEnd(9, '0'));
}

/**
 * The ends of a percentage range as nanoseconds since the first sample, both part of the range: rounded to whole nanoseconds, halves up. The upper end of the
 * percentages belongs to the next slice, unless it is 100 %. So each moment is in exactly one of the slices that make up the whole, even if they are shorter
 * than a nanosecond or no time passes at all: then the last one has everything, and the others have nothing (their upper end is before the lower one). A range
 * that is meant to be one moment (`50%-50%`) does have that moment.
 *
 * perf 6.1 (observed with samples at every nanosecond) has the same ranges, except where rounding leaves nothing of a slice, or nothing from its end to 100 %:
 * there, both slices have the moment, and if no time passes, all slices have all samples. It also adds to the first sample's time in doubles, which are 256 ns
 * apart for clocks that count from 1970; here, sums are exact.
 */
export function percentEnds(from: number, to: number, totalNs: number): { from: number; to: number } {
  const first = Math.round((from / 100) * totalNs);
  const end = Math.round((to / 100) * totalNs);
  return { from: first, to: to === 100 || from === to ? end : end - 1 };
}
