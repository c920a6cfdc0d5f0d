import type { ByteSink } from '../../base/byte-sink.ts';
import { TextWriter } from '../../base/text-writer.ts';
import type { ProfileEvent } from '../../profile/profile.ts';
import type { RecordDetails } from '../../stats/record-log.ts';
import type { RecordingStats } from '../../stats/recording-stats.ts';
import { wholeNumber } from '../whole-number.ts';
import { decimal32, decimal64, quotedWhereNeeded } from './fields.ts';

/** readperf names the first column of a record's details only; the others follow it, here with names, then our own. */
const HEADER = 'nr,type,pid,tid,time,info,info2,info3,info4,event';

/** Columns from `info` on, without the event. */
const NO_INFO = ',,,';

/**
 * Writes readperf's overview.csv: every record in time order (that of the file, where it has no `sample_id_all`), filters or not, those without a
 * time where they came.
 *
 * - `nr`: position in the file, from 0
 * - `type`: as `perf report --stats` names it; `unknown` for a number never given out
 * - `pid`, `tid`: unsigned, so 4294967295 where the record does not tell
 * - `time`: nanoseconds in the recording's clock (of boot, if nothing else was asked for), 0 where the record has none
 * - `info` … `info4`, as far as the type has them: MMAP and MMAP2 filename, address, size, offset; COMM name;
 *   FORK parent pid; SAMPLE ip, period; LOST and LOST_SAMPLES how many; KSYMBOL name, address, size; SWITCH `in` or
 *   `out`; `unknown` the number of its type. A sample that stands for a group has the period of the first event in it.
 * - `event`: of a SAMPLE
 *
 * All rows have all columns. Source of the first six and their order: readperf.
 *
 * Of several recordings the records stand one recording after the other, each with its own numbers and times, and a last
 * column `input` names it.
 *
 * @param input for one of several recordings: its name, and whether it is the first, which the header stands before
 */
export async function writeOverviewCsv(
  stats: Pick<RecordingStats, 'log' | 'baseTime'>,
  events: readonly ProfileEvent[],
  sink: ByteSink,
  input?: { readonly label: string; readonly isFirst: boolean },
): Promise<void> {
  const { log } = stats;
  const out = new TextWriter(sink);
  const time = new TimeTexts(stats.baseTime);
  const eventTexts = events.map(({ name }) => quotedWhereNeeded(name));
  if (input === undefined) out.put(`${HEADER}\n`);
  else if (input.isFirst) out.put(`${HEADER},input\n`);
  const end = input === undefined ? '\n' : `,${quotedWhereNeeded(input.label)}\n`;
  for (let row = 0; row < log.size; row++) {
    const details = log.details(row);
    const event = details.kind === 'sample' ? (eventTexts[details.event] ?? '') : '';
    const start = `${log.nr(row)},${log.typeName(row)},${decimal32(log.pid(row))},${decimal32(log.tid(row))},${time.text(log.timeNs(row))}`;
    out.put(`${start},${infoText(details)},${event}${end}`);
    if (out.isFull) await out.flush();
  }
  await out.flush();
}

function infoText(details: RecordDetails): string {
  switch (details.kind) {
    case 'sample':
      return `${decimal64(details.ipLo, details.ipHi)},${wholeNumber(details.period, details.periodRemainder)},,`;
    case 'mmap': {
      const start = decimal64(details.startLo, details.startHi);
      const length = decimal64(details.lengthLo, details.lengthHi);
      return `${quotedWhereNeeded(details.filename)},${start},${length},${decimal64(details.pageOffsetLo, details.pageOffsetHi)}`;
    }
    case 'comm':
      return quotedWhereNeeded(details.comm) + NO_INFO;
    case 'fork':
      return decimal32(details.ppid) + NO_INFO;
    case 'lost':
      return decimal64(details.lostLo, details.lostHi) + NO_INFO;
    case 'ksymbol':
      return `${quotedWhereNeeded(details.name)},${decimal64(details.addressLo, details.addressHi)},${details.length},`;
    case 'switch':
      return (details.isOut ? 'out' : 'in') + NO_INFO;
    case 'unknown':
      return details.type + NO_INFO;
    case 'exit':
    case 'none':
      return NO_INFO;
  }
}

/** What the low part of a split time holds: a power of ten that leaves room below 2^53 for what is added to it. */
const SPLIT = 1e15;
const SPLIT_DIGITS = 15;

/** Relative times as texts of absolute ones: exact, and without a BigInt per row. */
class TimeTexts {
  readonly #high: number;
  readonly #low: number;

  constructor(baseTime: bigint) {
    this.#high = Number(baseTime / BigInt(SPLIT));
    this.#low = Number(baseTime % BigInt(SPLIT));
  }

  text(timeNs: number): string {
    if (Number.isNaN(timeNs)) return '0';
    const sum = this.#low + timeNs;
    const carry = Math.floor(sum / SPLIT);
    const high = this.#high + carry;
    const low = String(sum - carry * SPLIT);
    return high === 0 ? low : String(high) + low.padStart(SPLIT_DIGITS, '0');
  }
}
