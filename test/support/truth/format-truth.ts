import { fromBinary } from '@bufbuild/protobuf';
import { ProfileSchema } from '../../../src/proto/profile_pb.ts';
import { parseCsv } from '../readers/parse-csv.ts';
import { readFirefox } from '../readers/read-firefox.ts';
import { readHtml, stackOf } from '../readers/read-html.ts';
import { readOtlp } from '../readers/read-otlp.ts';
import { readParquet } from '../readers/read-parquet.ts';

// What outputs say about a recording, in the same form for all formats: how much each event, thread and function has. Each
// format is read without the help of anything else.
//
// Functions have the names that the writers give them. What formats must change in a name is removed from all: blanks,
// the separators and marks of folded stacks, the `()` after names that a viewer reserves. Code without a name is one
// function, `??`, because tables do not tell its addresses apart.

/** Samples and periods by a key, as `key: SAMPLES samples, PERIOD`, sorted. */
export type TruthTable = readonly string[];

/** Tables are absent if a format does not say. */
export interface Truth {
  /** By event. */
  readonly events?: TruthTable;
  /** By event, pid and tid. */
  readonly threads?: TruthTable;
  /** By event and pid. */
  readonly processes?: TruthTable;
  /** By event and function: samples in the function itself. */
  readonly self?: TruthTable;
  /** By event and function: samples in the function or in what it called. */
  readonly total?: TruthTable;
}

/** Adds up under keys. */
class Sums {
  readonly #sums = new Map<string, { samples: number; period: bigint }>();

  add(key: string, samples: number, period: bigint): void {
    const known = this.#sums.get(key) ?? { samples: 0, period: 0n };
    this.#sums.set(key, { samples: known.samples + samples, period: known.period + period });
  }

  table(showsPeriod = true): TruthTable {
    const rows = [...this.#sums].filter(([, { samples, period }]) => samples > 0 || period > 0n);
    return rows.map(([key, { samples, period }]) => `${key}: ${samples} samples${showsPeriod ? `, ${period}` : ''}`).sort();
  }
}

/** All tables of a format that has stacks. */
class StackTruth {
  readonly events = new Sums();
  readonly threads = new Sums();
  readonly processes = new Sums();
  readonly self = new Sums();
  readonly total = new Sums();

  /** @param names of the frames, outermost first */
  add(event: string, pid: number | bigint | string, tid: number | bigint | string, samples: number, period: bigint, names: readonly string[]): void {
    const keys = names.map(functionKey);
    this.events.add(event, samples, period);
    this.threads.add(`${event} ${pid}/${tid}`, samples, period);
    this.processes.add(`${event} ${pid}`, samples, period);
    this.self.add(`${event} ${keys.at(-1) ?? '??'}`, samples, period);
    for (const key of new Set(keys.length === 0 ? ['??'] : keys)) this.total.add(`${event} ${key}`, samples, period);
  }

  truth(): Required<Truth> {
    const { events, threads, processes, self, total } = this;
    return { events: events.table(), threads: threads.table(), processes: processes.table(), self: self.table(), total: total.table() };
  }
}

/** `??` for code without a name: an address, `[unknown]`, `[binary]`, no stack. */
export function functionKey(name: string): string {
  const plain = name.replace(/_\[[kij]\]$/, '').replace(/[\s;:_]/g, '');
  if (plain === '' || plain === '??' || plain === '(nostack)' || /^\[.*\]$/.test(plain) || /^0x[0-9a-f]+(\(.*\))?$/.test(plain)) return '??';
  return plain.replace(/\(\)$/, '');
}

/**
 * Two columns for each event: how many samples, and the sum of their periods.
 * @param events of the profile that have samples, in its order
 */
export function pprofTruth(bytes: Uint8Array, events: readonly string[]): Required<Truth> {
  const message = fromBinary(ProfileSchema, bytes);
  const text = (index: bigint): string => message.stringTable[Number(index)];
  const functions = new Map(message.function.map(({ id, name }) => [id, text(name)]));
  const names = new Map(message.location.map(({ id, line }) => [id, line.map(({ functionId }) => functions.get(functionId) ?? '').reverse()]));
  const types = message.sampleType.filter((_, column) => column % 2 === 1).map(({ type }) => text(type));
  // The first event's columns have names that tools look for.
  const left = new Set(events);
  const eventOf = types.map((type) => (left.delete(type) ? type : undefined));
  const truth = new StackTruth();
  for (const { label, locationId, value } of message.sample) {
    const labels = new Map(label.map((one) => [text(one.key), one.num]));
    const stack = [...locationId].reverse().flatMap((id) => names.get(id) ?? []);
    for (const [index, known] of eventOf.entries()) {
      const samples = Number(value[index * 2]);
      const event = known ?? [...left][0];
      if (samples > 0) truth.add(event, labels.get('pid') ?? -1n, labels.get('tid') ?? -1n, samples, value[index * 2 + 1], stack);
    }
  }
  return truth.truth();
}

/** Two profiles for each event, its periods and its samples; those of the first event have names that tools look for. */
export function otlpTruth(bytes: Uint8Array, events: readonly string[]): Required<Truth> {
  const { profiles } = readOtlp(bytes);
  const left = new Set(events);
  const known = profiles.map(({ type }) => events.find((event) => type.startsWith(`${event}/`) && left.delete(event)));
  const truth = new StackTruth();
  for (let index = 0; index < profiles.length; index += 2) {
    const event = known[index] ?? [...left][0];
    for (const [nth, { locations, attributes, value }] of profiles[index].samples.entries()) {
      const names = locations.flatMap(({ frames }) => frames.map((frame) => frame.slice(0, frame.indexOf('|')))).reverse();
      const [pid = -1n, tid = -1n] = ['process.pid', 'thread.id'].map((key) => attributes.get(key)?.toString());
      truth.add(event, pid, tid, Number(profiles[index + 1].samples[nth].value), value, names);
    }
  }
  return truth.truth();
}

interface SpeedscopeDocument {
  readonly shared: { readonly frames: readonly { readonly name: string }[] };
  readonly profiles: readonly { readonly name: string; readonly samples: readonly (readonly number[])[]; readonly weights: readonly number[] }[];
}

/**
 * One profile for each thread and event, `process (pid) / thread (tid) event`; profiles of several threads are
 * skipped.
 */
export function speedscopeTruth(bytes: Uint8Array, events: readonly string[]): Required<Truth> {
  const { shared, profiles } = JSON.parse(new TextDecoder().decode(bytes)) as SpeedscopeDocument;
  const byLength = [...events].sort((a, b) => b.length - a.length);
  const truth = new StackTruth();
  for (const { name, samples, weights } of profiles) {
    const event = byLength.find((one) => name.endsWith(` ${one}`));
    const [pid, tid = pid] = numbersOf(name.slice(0, -1 - (event ?? '').length));
    if (event === undefined || pid === undefined) continue;
    for (const [i, stack] of samples.entries()) {
      const names = stack.map((frame) => shared.frames[frame].name);
      truth.add(event, pid, tid, 1, BigInt(weights[i]), names);
    }
  }
  return truth.truth();
}

export function firefoxTruth(bytes: Uint8Array, events: readonly string[]): Required<Truth> {
  const { framesOf, threads, timelineEvent } = readFirefox(bytes);
  const byLength = [...events].sort((a, b) => b.length - a.length);
  const truth = new StackTruth();
  for (const { samples, thread } of threads) {
    const event = byLength.find((one) => thread.name.endsWith(` ${one}`)) ?? timelineEvent;
    const [pid, tid] = [thread.pid, String(thread.tid)].map((number) => number.replace(/\.\d+$/, ''));
    for (const { period, stack } of samples) {
      const names = framesOf(stack).map(({ name }) => name);
      truth.add(event, pid, tid, 1, period, names);
    }
  }
  return truth.truth();
}

export function htmlTruth(bytes: Uint8Array): Required<Truth> {
  const data = readHtml(bytes);
  const truth = new StackTruth();
  for (const { event, node, period, samples, thread } of data.totals) {
    const { process, tid } = data.threads[thread];
    for (const [row, leaf] of node.entries()) {
      const names = stackOf(data, leaf).map(({ name }) => name);
      truth.add(data.events[event].name, data.processes[process].pid, tid, samples[row], BigInt(period[row]), names);
    }
  }
  return truth.truth();
}

export async function parquetTruth(bytes: Uint8Array): Promise<Required<Truth>> {
  const truth = new StackTruth();
  for (const { event, function: name, period, pid, stack, tid } of await readParquet(bytes)) {
    if (name !== (stack.at(0) ?? null)) throw new Error(`the function ${name} is not the leaf of its stack, ${stack}`);
    truth.add(event ?? '', pid ?? -1, tid ?? -1, 1, period, [...stack].reverse());
  }
  return truth.truth();
}

/**
 * Stacks of one event, below the name of their thread. Lines do not say how many samples they are: they have only
 * periods.
 */
export function foldedTruth(bytes: Uint8Array, event: string): Truth {
  const truth = new StackTruth();
  for (const line of new TextDecoder().decode(bytes).split('\n').slice(0, -1)) {
    const [, stack, weight] = /^(.*) (\d+)$/.exec(line) ?? [];
    if (stack === undefined) throw new Error(`a line without a weight: ${line}`);
    truth.add(event, 0, 0, 0, BigInt(weight), stack.split(';').slice(1));
  }
  const { events, self, total } = truth.truth();
  return { events, self, total };
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly id?: string;
  readonly args?: { readonly data?: { readonly cpuProfile?: { readonly nodes?: readonly TraceNode[]; readonly samples?: readonly number[] } } };
}

interface TraceNode {
  readonly id: number;
  readonly parent?: number;
  readonly callFrame: { readonly functionName: string };
}

/** Samples of sampled profiles of one event. They have no periods, and `(idle)` is no sample. */
export function chromeTruth(bytes: Uint8Array, event: string): Truth {
  const { traceEvents } = JSON.parse(new TextDecoder().decode(bytes)) as { traceEvents: readonly TraceEvent[] };
  const nodes = new Map<string, TraceNode>();
  const truth = new StackTruth();
  for (const { args, id, name, pid } of traceEvents) {
    if (name !== 'ProfileChunk') continue;
    const key = (node: number): string => `${pid} ${id} ${node}`;
    for (const node of args?.data?.cpuProfile?.nodes ?? []) nodes.set(key(node.id), node);
    for (const sample of args?.data?.cpuProfile?.samples ?? []) {
      const names: string[] = [];
      for (let node = nodes.get(key(sample)); node !== undefined; node = node.parent === undefined ? undefined : nodes.get(key(node.parent))) {
        if (node.callFrame.functionName !== '(root)') names.unshift(node.callFrame.functionName);
      }
      if (names[0] !== '(idle)') truth.add(event, 0, 0, 1, 0n, names);
    }
  }
  return { self: truth.self.table(false), total: truth.total.table(false) };
}

interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string }; readonly children: readonly number[] }[];
  readonly samples: readonly number[];
}

/**
 * A CPU profile of V8, which has one event. It has no periods, and a sample of `(root)` does not count.
 * @param threads how many threads it has: if several, each is below a frame with its name
 */
export function cpuProfileTruth(bytes: Uint8Array, event: string, threads: number): Truth {
  const { nodes, samples } = JSON.parse(new TextDecoder().decode(bytes)) as CpuProfile;
  const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]));
  const parents = new Map(nodes.flatMap(({ id, children }) => children.map((child) => [child, id] as const)));
  const truth = new StackTruth();
  for (const sample of samples) {
    const stack: string[] = [];
    for (let node: number | undefined = sample; node !== undefined; node = parents.get(node)) stack.unshift(names.get(node) ?? 'a node that is not there');
    if (stack.shift() !== '(root)') throw new Error(`a sample that is not below the root: ${stack}`);
    if (stack.length === 0) continue;
    const label = threads > 1 ? (stack.shift() ?? '') : '';
    const [pid = 0, tid = pid] = numbersOf(label);
    truth.add(event, pid, tid, 1, 0n, stack);
  }
  const byThread = threads > 1 ? { threads: truth.threads.table(false) } : {};
  return { self: truth.self.table(false), total: truth.total.table(false), ...byThread };
}

/** The pid and the tid in `process (pid) / thread (tid)`; only the pid if a process has one thread. */
function numbersOf(label: string): string[] {
  return [...label.matchAll(/\((-?\d+)\)(?= \/ |$)/g)].map(([, number]) => number);
}

/** results.csv and processes.csv. */
export function csvTruth(results: Uint8Array, processes: Uint8Array): Truth {
  const [events, byProcess, self] = [new Sums(), new Sums(), new Sums()];
  for (const { event, function: name, period, samples } of parseCsv(new TextDecoder().decode(results))) {
    events.add(event, Number(samples), BigInt(period));
    self.add(`${event} ${functionKey(name)}`, Number(samples), BigInt(period));
  }
  for (const { event, period, pid, samples } of parseCsv(new TextDecoder().decode(processes))) {
    if (event !== '') byProcess.add(`${event} ${Number(pid) | 0}`, Number(samples), BigInt(period));
  }
  return { events: events.table(), processes: byProcess.table(), self: self.table() };
}

/** Reports sorted by dso and function, and by pid and tid. */
export function reportTruth(byFunction: Uint8Array, byThread: Uint8Array): Truth {
  const [events, threads, self] = [new Sums(), new Sums(), new Sums()];
  for (const { event, period, rest, samples } of reportRows(byFunction)) {
    events.add(event, samples, period);
    // No file name of these recordings has two blanks in a row, so they end the column.
    self.add(`${event} ${functionKey(rest.replace(/^.+? {2,}/, ''))}`, samples, period);
  }
  for (const { event, period, rest, samples } of reportRows(byThread)) {
    const [, pid, tid] = /^(-?\d+)(?::.*?)? +(-?\d+)(?::|$)/s.exec(rest) ?? [];
    threads.add(`${event} ${pid}/${tid}`, samples, period);
  }
  return { events: events.table(), threads: threads.table(), self: self.table() };
}

function* reportRows(bytes: Uint8Array): Generator<{ event: string; period: bigint; samples: number; rest: string }> {
  let event = '';
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    event = /^# (.*): \d+ samples?, period \d+(?: ns)?$/s.exec(line)?.[1] ?? event;
    const row = /^ *\d+\.\d\d +(\d+) +(\d+) (.*)$/.exec(line);
    if (row !== null) yield { event, period: BigInt(row[1]), samples: Number(row[2]), rest: row[3] };
  }
}

/** A table without its numbers of samples, or without its periods. */
export function withoutSamples(table: TruthTable): TruthTable {
  return table.map((row) => row.replace(/: \d+ samples, (\d+)$/, ': 0 samples, $1')).filter((row) => !row.endsWith(', 0'));
}

export function withoutPeriods(table: TruthTable): TruthTable {
  return table.map((row) => row.replace(/, \d+$/, '')).filter((row) => !row.endsWith(': 0 samples'));
}

/** The rows of one event. */
export function ofEvent(table: TruthTable, event: string): TruthTable {
  return table.filter((row) => row.startsWith(`${event} `) || row.startsWith(`${event}:`));
}
