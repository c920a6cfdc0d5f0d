import { secondsText } from '../../base/text/seconds.ts';
import type { SampleFilter } from './filter.ts';
import type { TimeRange } from './time-ranges.ts';

/**
 * Which samples a filter lets pass, in the words of the options: `comm ls or cat, cpu 0-3, time 10%-20%`. Empty if it lets all of them pass.
 * @param cutCount how many of those that passed were left out, because their stacks are cut off: `comm ls, without 3 truncated stacks`
 */
export function filterText({ events, pids, tids, comms, cpus, times }: SampleFilter, cutCount = 0): string {
  const parts: readonly [string, readonly (string | number)[] | undefined][] = [
    ['event', events],
    ['pid', pids],
    ['tid', tids],
    ['comm', comms],
    ['cpu', cpus && rangesOf(cpus)],
    ['time', times?.map(timeRangeText)],
  ];
  const texts = parts.flatMap(([name, values]) => (values === undefined ? [] : `${name} ${values.join(' or ')}`));
  if (cutCount > 0) texts.push(`without ${cutCount} truncated ${cutCount === 1 ? 'stack' : 'stacks'}`);
  return texts.join(', ');
}

/** Numbers in ascending order, those that follow one another as a range: `0-3`, `7`. */
function rangesOf(numbers: readonly number[]): string[] {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const ranges: { readonly first: number; last: number }[] = [];
  for (const number of sorted) {
    const range = ranges.at(-1);
    // Samples without a CPU (−1) are no neighbors of those on CPU 0.
    if (range !== undefined && range.first >= 0 && number === range.last + 1) range.last = number;
    else ranges.push({ first: number, last: number });
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
}

function timeRangeText(range: TimeRange): string {
  if (range.kind === 'percent') return `${percentText(range.from)}-${percentText(range.to)}`;
  const sign = range.kind === 'sinceFirst' ? '+' : '';
  const [from, to] = [range.from, range.to].map((end) => (end === undefined ? '' : `${sign}${shortSeconds(end)}`));
  return `${from},${to}`;
}

/** A slice such as `33.3%/3` ends at 99.89999999999999. */
function percentText(percent: number): string {
  return `${Number(percent.toFixed(9))}%`;
}

/** As few digits as say the same: `12.5`. */
function shortSeconds(ns: bigint): string {
  return secondsText(ns).replace(/\.0{9}$|0{1,8}$/, '');
}
