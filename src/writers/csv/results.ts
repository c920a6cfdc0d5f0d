import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { TextWriter } from '../../base/streams/text-writer.ts';
import { lostInSum } from '../../base/tables/exact-sums.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import type { Profile } from '../../profile/profile.ts';
import { wholeNumber } from '../whole-number.ts';
import { dsoColumns, owningFunction, UNRESOLVED } from './code-columns.ts';
import { percent, quoted } from './fields.ts';

interface ResultRow {
  readonly event: number;
  /** Index into the profile's inputs; 0 for a recording that was not merged. */
  readonly input: number;
  /** −1 when unresolved. If several functions have the name, the first one whose source file is known. */
  func: number;
  /** −1 outside all mappings. */
  readonly mapping: number;
  samples: number;
  period: number;
  periodRemainder: number;
  /** Number of threads with samples in the function. */
  threads: number;
}

/**
 * Writes readperf's results.csv: samples by the function in which they were taken, largest period first. Samples in no known function make a row per DSO, with
 * `??`; if it is known where a function without a name begins, it has its own row, called `libfoo.so+0x1234`, in the file `??`. readperf's columns are followed
 * by perfconv's own: `event`, `percent` of that event's period, `tids` (number of threads), `dso`, `build_id`, and `line`, the line of `filename` where the
 * function begins (empty when unknown).
 *
 * The function is the one that owns the machine code, not one inlined into it, so that sums by symbol are those of
 * `perf report --no-children --no-inline`.
 *
 * With merged recordings, a last column `input` names the recording that the row is about.
 */
export async function writeResultsCsv(profile: Profile, sink: ByteSink): Promise<void> {
  const { events, functions, inputs, strings } = profile;
  const out = new TextWriter(sink);
  out.put(`period,samples,filename,function,event,percent,tids,dso,build_id,line${inputs === undefined ? '' : ',input'}\n`);
  for (const { event, input, func, mapping, samples, period, periodRemainder, threads } of sortedRows(profile)) {
    const filename = func < 0 ? '' : strings.get(functions.file(func));
    const name = func < 0 ? '' : strings.get(functions.name(func));
    const line = func < 0 ? 0 : functions.startLine(func);
    out.put(`${wholeNumber(period, periodRemainder)},${samples},${quoted(filename || UNRESOLVED)},${quoted(name || UNRESOLVED)},`);
    out.put(`${quoted(events[event].name)},${percent(period, events[event].period)},${threads},`);
    out.put(`${dsoColumns(profile, mapping)},${line > 0 ? line : ''}${inputs === undefined ? '' : `,${quoted(inputs[input].label)}`}\n`);
    if (out.isFull) await out.flush();
  }
  await out.flush();
}

/** Sorted by falling period, then by falling samples. Rows equal in both stay in the order of their first sample. */
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
    const func = leaf < 0 ? -1 : owningFunction(locations, leaf);
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
