import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { TextWriter } from '../../base/streams/text-writer.ts';
import { lostInSum } from '../../base/tables/exact-sums.ts';
import type { Profile } from '../../profile/profile.ts';
import type { ProcessStats } from '../../stats/process-stats.ts';
import { wholeNumber } from '../whole-number.ts';
import { percent, quoted } from './fields.ts';

const COLUMNS = ['pid', 'comm', '#mmap', 'fork', 'exit', 'samples', 'period', 'event', 'percent', 'tids', 'forks', 'exits'];

/** 2^64 − 1, which readperf prints for an exit that was not recorded. */
const NO_EXIT = 0xffff_ffff_ffff_ffffn;

/** The samples of one process and event. */
interface Share {
  samples: number;
  period: number;
  periodRemainder: number;
}

const NO_SHARE: Readonly<Share> = { samples: 0, period: 0, periodRemainder: 0 };

/**
 * Writes readperf's processes.csv: a row for each process and each event that has samples. The rows of one event are
 * readperf's table. Apart from `event`, `samples`, `period` and `percent`, the rows of a process are the same.
 *
 * - `fork`, `exit`: when the process was forked and when its main thread ended, in nanoseconds of the recording's
 *   clock; 0 and 18446744073709551615 when that was not recorded
 * - `samples`, `period`: add up to the event's totals in `perf report`; `percent`: share of the event's period
 * - `tids`: number of threads; `forks`, `exits`: number of FORK and EXIT records, of all threads
 *
 * What belongs to no process has pid −1: the kernel's maps, which readperf counts there, and samples of threads that
 * had already ended, which `perf report --sort pid` shows as `-1::-1`. Processes that used the same pid one after
 * another have rows of their own. Source of the first seven columns: readperf.
 *
 * With merged recordings, a last column `input` names the recording that the row is about.
 *
 * @param processesOfInput by input, a single one for a recording that was not merged: its processes, in row order
 */
export async function writeProcessesCsv(processesOfInput: readonly (readonly ProcessStats[])[], profile: Profile, sink: ByteSink): Promise<void> {
  const { events, inputs } = profile;
  const shown = eventsToShow(profile);
  const shares = addUp(profile);
  const out = new TextWriter(sink);
  out.put(`${(inputs === undefined ? COLUMNS : [...COLUMNS, 'input']).map(quoted).join(',')}\n`);
  for (const [input, processes] of processesOfInput.entries()) {
    const first = profile.processes.findIndex((process) => (process.input ?? 0) === input);
    const end = inputs === undefined ? '\n' : `,${quoted(inputs[input].label)}\n`;
    for (const { process, pid, comm, mmaps, forkTime = 0n, exitTime = NO_EXIT, forks, exits, threads } of processes) {
      const ofProcess = process < 0 ? undefined : shares[first + process];
      for (const event of shown) {
        const { name = '', period: whole = 0 } = events[event] ?? {};
        const { samples, period, periodRemainder } = ofProcess?.[event] ?? NO_SHARE;
        out.put(`${pid},${quoted(comm)},${mmaps},${forkTime},${exitTime},${samples},${wholeNumber(period, periodRemainder)},`);
        out.put(`${quoted(name)},${percent(period, whole)},${threads},${forks},${exits}${end}`);
      }
      if (out.isFull) await out.flush();
    }
  }
  await out.flush();
}

/** Events with samples. If there are none, event 0, even if it does not exist, so that processes are listed anyway. */
function eventsToShow({ events }: Profile): number[] {
  const withSamples = [...events.keys()].filter((event) => events[event].samples > 0);
  return withSamples.length > 0 ? withSamples : [0];
}

/** Samples and periods by process and event; undefined for processes without samples. */
function addUp({ events, tasks, threads, totals }: Profile): Share[][] {
  const sharesOf: Share[][] = [];
  for (let row = 0; row < totals.size; row++) {
    const { process } = threads[tasks[totals.task(row)].thread];
    sharesOf[process] ??= events.map(() => ({ ...NO_SHARE }));
    const share = sharesOf[process][totals.event(row)];
    share.samples += totals.samples(row);
    share.periodRemainder += lostInSum(share.period, totals.period(row)) + totals.periodRemainder(row);
    share.period += totals.period(row);
  }
  return sharesOf;
}
