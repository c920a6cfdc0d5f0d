import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { TextWriter } from '../../base/streams/text-writer.ts';
import type { ProfileEvent } from '../../profile/profile.ts';
import type { RecordDetails } from '../../stats/record-log.ts';
import type { RecordingStats } from '../../stats/recording-stats.ts';
import { wholeNumber } from '../whole-number.ts';
import { decimal32, decimal64, quotedWhereNeeded } from './fields.ts';

/** readperf names only the first detail column. The others get names here; `event` is perfconv's own. */
const HEADER = 'nr,type,pid,tid,time,info,info2,info3,info4,event';

/** What follows a single detail: three empty detail columns. */
const NO_INFO = ',,,';

/**
 * Writes readperf's overview.csv: a row for every record, whatever the filters. Rows are in time order, or in file
 * order for recordings without `sample_id_all`; a record without a time stays where it was recorded.
 *
 * - `nr`: position in the file, from 0
 * - `type`: name as in `perf report --stats`; `unknown` for a type that perf does not define
 * - `pid`, `tid`: unsigned, and so 4294967295 if the record has none
 * - `time`: nanoseconds in the recording's clock (by default since boot); 0 if the record has none
 * - `info` … `info4`: details, depending on the type. MMAP and MMAP2: filename, address, size, offset. COMM: name.
 *   FORK: parent pid. SAMPLE: ip, period. LOST and LOST_SAMPLES: number lost. KSYMBOL: name, address, size. SWITCH:
 *   `in` or `out`. `unknown`: number of the type. A sample that carries the counters of a group shows the first one's
 *   period.
 * - `event`: event of a SAMPLE
 *
 * All rows have all columns. Source of the first six columns and their order: readperf.
 *
 * With several recordings, the records of each follow those of the one before, with numbers and times of their own, and
 * a last column `input` names the recording.
 *
 * @param input for one of several recordings: its name, and whether it is the first, for which the header is written
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

/** Where absolute times are split: a power of ten far enough below 2^53 that a relative time can be added. */
const SPLIT = 1e15;
const SPLIT_DIGITS = 15;

/** Prints relative times as absolute ones: exactly, and without a BigInt per row. */
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
