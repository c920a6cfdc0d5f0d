import type { ByteSink } from '../../base/byte-sink.ts';
import { lostInSum } from '../../base/exact-sums.ts';
import { TextWriter } from '../../base/text-writer.ts';
import type { Profile } from '../../profile/profile.ts';
import type { ProcessStats } from '../../stats/process-stats.ts';
import { wholeNumber } from '../whole-number.ts';
import { percent, quoted } from './fields.ts';

const COLUMNS = ['pid', 'comm', '#mmap', 'fork', 'exit', 'samples', 'period', 'event', 'percent', 'tids', 'forks', 'exits'];

/** Stands for the time of an exit that was not seen, as readperf prints it: 2^64 − 1. */
const NO_EXIT = 0xffff_ffff_ffff_ffffn;

/** What one process has of one event. */
interface Share {
  samples: number;
  period: number;
  periodRemainder: number;
}

const NO_SHARE: Readonly<Share> = { samples: 0, period: 0, periodRemainder: 0 };

/**
 * Writes readperf's processes.csv, a row for each process and event with samples: the rows of one event are readperf's
 * table. All but `samples`, `period` and `percent` is of the process, so that it says the same in each of its rows.
 *
 * - `fork`, `exit`: when it was forked, and when its main thread ended, nanoseconds in the recording's clock; 0 and
 *   18446744073709551615 when the recording does not say
 * - `samples`, `period`: add up to the event's in `perf report`; `percent` is the period's part of that event
 * - `tids`: threads; `forks`, `exits`: FORK and EXIT records, of the main thread and the others
 *
 * What belongs to no process has pid −1: the kernel's maps, which readperf counts there, and samples of threads that had
 * ended, which `perf report --sort pid` shows as `-1::-1`. Processes that had one pid in turn have rows of their own.
 * Source of the first seven columns: readperf.
 *
 * Of merged recordings every row is of one of them, which a last column `input` names.
 *
 * @param processesOfInput all those of the recording, in the order of the rows; of each that was merged, by its input
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

/** Events with samples; the first one where none has any, be there one or not: the processes are told all the same. */
function eventsToShow({ events }: Profile): number[] {
  const withSamples = [...events.keys()].filter((event) => events[event].samples > 0);
  return withSamples.length > 0 ? withSamples : [0];
}

/** By process and event; none for processes without samples. */
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
