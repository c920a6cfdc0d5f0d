import type { ByteSink } from '../../base/byte-sink.ts';
import { lostInSum } from '../../base/exact-sums.ts';
import { TextWriter } from '../../base/text-writer.ts';
import { TupleInterner } from '../../base/tuple-interner.ts';
import { NAMELESS } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { wholeNumber } from '../whole-number.ts';
import { percent, quoted } from './fields.ts';

/** What stands for a source file and a function that are not known, as in addr2line's output and readperf's. */
const UNRESOLVED = '??';

interface ResultRow {
  readonly event: number;
  /** Index into the profile's inputs; 0 where it is of one recording. */
  readonly input: number;
  /** −1 when unresolved. A name may be several functions, where its code comes from several files: the first that has one. */
  func: number;
  /** −1 outside all mappings. */
  readonly mapping: number;
  samples: number;
  period: number;
  periodRemainder: number;
  /** Number of threads that have samples in it. */
  threads: number;
}

/**
 * Writes readperf's results.csv: samples by the function that they were taken in, by falling period. What lies in no
 * known function is a row per DSO, with `??`. Our own columns follow readperf's: `event`, `percent` of that event's
 * period, `tids` (number of threads), `dso`, `build_id` and `line`, where the function begins in `filename`, empty
 * when unknown.
 *
 * The function is the one that owns the machine code, not one inlined into it: sums by symbol are those of
 * `perf report --no-children --no-inline`.
 *
 * Of merged recordings every row is of one of them, which a last column `input` names.
 */
export async function writeResultsCsv(profile: Profile, sink: ByteSink): Promise<void> {
  const { events, functions, inputs, mappings, strings } = profile;
  const out = new TextWriter(sink);
  out.put(`period,samples,filename,function,event,percent,tids,dso,build_id,line${inputs === undefined ? '' : ',input'}\n`);
  for (const { event, input, func, mapping, samples, period, periodRemainder, threads } of sortedRows(profile)) {
    const filename = func < 0 ? '' : strings.get(functions.file(func));
    const name = func < 0 ? '' : strings.get(functions.name(func));
    const line = func < 0 ? 0 : functions.startLine(func);
    const dso = mapping < 0 ? NAMELESS : mappings[mapping].name || NAMELESS;
    const buildId = mapping < 0 ? '' : mappings[mapping].buildId;
    out.put(`${wholeNumber(period, periodRemainder)},${samples},${quoted(filename || UNRESOLVED)},${quoted(name || UNRESOLVED)},`);
    out.put(`${quoted(events[event].name)},${percent(period, events[event].period)},${threads},`);
    out.put(`${quoted(dso)},${quoted(buildId)},${line > 0 ? line : ''}${inputs === undefined ? '' : `,${quoted(inputs[input].label)}`}\n`);
    if (out.isFull) await out.flush();
  }
  await out.flush();
}

/** By falling period, then falling samples; what is equal in both keeps the order in which the recording first has it. */
function sortedRows(profile: Profile): ResultRow[] {
  return collectRows(profile).sort((a, b) => b.period - a.period || b.samples - a.samples);
}

function collectRows({ functions, locations, processes, stacks, tasks, threads, totals }: Profile): ResultRow[] {
  const names = new TupleInterner(2);
  const keys = new TupleInterner(4);
  const rowThreads = new TupleInterner(2);
  const rows: ResultRow[] = [];
  for (let total = 0; total < totals.size; total++) {
    const stack = totals.stack(total);
    const leaf = stack < 0 ? -1 : stacks.location(stack);
    const lines = leaf < 0 ? 0 : locations.lineCount(leaf);
    const func = lines === 0 ? -1 : locations.lineFunction(leaf, lines - 1);
    const mapping = leaf < 0 ? -1 : locations.mapping(leaf);
    const event = totals.event(total);
    const { input = 0 } = processes[threads[tasks[totals.task(total)].thread].process];
    const name = func < 0 ? -1 : names.intern(functions.name(func), functions.systemName(func));
    const key = keys.intern(event, name, mapping, input);
    if (key === rows.length) rows.push({ event, input, func, mapping, samples: 0, period: 0, periodRemainder: 0, threads: 0 });
    const row = rows[key];
    if (func >= 0 && functions.file(row.func) === 0) row.func = func;
    row.samples += totals.samples(total);
    row.periodRemainder += lostInSum(row.period, totals.period(total)) + totals.periodRemainder(total);
    row.period += totals.period(total);
    const known = rowThreads.size;
    if (rowThreads.intern(key, tasks[totals.task(total)].thread) === known) row.threads++;
  }
  return rows;
}
