import type { ByteSink } from '../bytes/byte-sink.ts';
import type { Profile } from '../profile/profile.ts';
import type { ProcessStats } from '../stats/process-stats.ts';
import { decimal32, percent, quoted } from './csv-text.ts';
import { TextWriter } from './text-writer.ts';
import { wholeNumber } from './whole-number.ts';

const COLUMNS = ['pid', 'comm', '#mmap', 'fork', 'exit', 'samples', 'period', 'event', 'percent', 'tids'];

/** What one process has of one event. */
interface Share {
  samples: number;
  period: number;
}

/**
 * Writes readperf's processes.csv, a row for each process and event with samples: the rows of one event are readperf's
 * table. `#mmap`, `fork`, `exit` and `tids` are of the process, so that they say the same in each of its rows;
 * `samples` and `period` add up to the event's in `perf report`. `percent` is the period's part of that event. What
 * belongs to no process has pid 4294967295, as in overview.csv: the kernel's maps, which readperf counts there, and samples of
 * threads that had ended, which `perf report --sort pid` shows as `-1::-1`.
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
  const rows = processesOfInput.flatMap((processes, input) => processes.map((process) => ({ ...process, input })));
  for (const { pid, comm, mmaps, forks, exits, threads, input } of rows) {
    for (const event of shown) {
      const { name = '', period: whole = 0 } = events[event] ?? {};
      const { samples, period } = shares[input]?.get(pid)?.[event] ?? { samples: 0, period: 0 };
      const readperfColumns = `${decimal32(pid)},${quoted(comm)},${mmaps},${forks},${exits},${samples},${wholeNumber(period)}`;
      out.put(`${readperfColumns},${quoted(name)},${percent(period, whole)},${threads}${inputs === undefined ? '' : `,${quoted(inputs[input].label)}`}\n`);
    }
    if (out.isFull) await out.flush();
  }
  await out.flush();
}

/** Events with samples; the first one where none has any, be there one or not: the processes are told all the same. */
function eventsToShow({ events }: Profile): number[] {
  const withSamples = [...events.keys()].filter((event) => events[event].samples > 0);
  return withSamples.length > 0 ? withSamples : [0];
}

/** By input, pid and event. */
function addUp({ events, inputs, processes, tasks, threads, totals }: Profile): Map<number, Share[]>[] {
  const sharesOfInput = (inputs ?? [undefined]).map(() => new Map<number, Share[]>());
  for (let row = 0; row < totals.size; row++) {
    const { pid, process } = threads[tasks[totals.task(row)].thread];
    const shares = sharesOfInput[processes[process].input ?? 0];
    let ofProcess = shares.get(pid);
    if (ofProcess === undefined) {
      ofProcess = events.map(() => ({ samples: 0, period: 0 }));
      shares.set(pid, ofProcess);
    }
    const share = ofProcess[totals.event(row)];
    share.samples += totals.samples(row);
    share.period += totals.period(row);
  }
  return sharesOfInput;
}
