import type { StringTable } from '../../base/tables/string-table.ts';
import { CPUMODE_GUEST_KERNEL, CPUMODE_GUEST_USER, CPUMODE_HYPERVISOR, CPUMODE_KERNEL, CPUMODE_USER } from '../../profile/location-table.ts';
import { inputLabel, NAMELESS } from '../../profile/names.ts';
import type { Profile, ProfileEvent } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { isKernelCode } from '../kernel-code.ts';
import { waitOf } from '../primary-event.ts';
import type { Value } from './chunk-values.ts';
import { ClockWords } from './clock-words.ts';
import { COLUMNS, type Column } from './columns.ts';
import type { FrameList } from './frame-lists.ts';

const MAX_INT32 = 0x7fff_ffff;
const MAX_INT64 = 2n ** 63n - 1n;
const WORD = 2 ** 32;

/** By cpumode: its name (perf_event.h, PERF_RECORD_MISC_…). Others are unknown. */
const CPUMODE_NAMES: Readonly<Record<number, string>> = {
  [CPUMODE_KERNEL]: 'kernel',
  [CPUMODE_USER]: 'user',
  [CPUMODE_HYPERVISOR]: 'hypervisor',
  [CPUMODE_GUEST_KERNEL]: 'guest_kernel',
  [CPUMODE_GUEST_USER]: 'guest_user',
};

/** A column with one value a row. */
export interface FlatColumn {
  readonly column: Column;
  /** Sets the value of a sample. @returns false if it is absent */
  readonly read: (row: number, value: Value) => boolean;
}

/** What samples have that the table cannot hold. Each counts once, whatever the number of columns. */
export interface ValuesResult {
  /** Samples whose period was cut to the largest that fits. */
  clippedPeriods: number;
  /** Samples whose time does not fit. */
  lostTimes: number;
}

/** Columns, and what columns of lists share with them. */
export interface FlatColumns {
  readonly columns: readonly FlatColumn[];
  /** By mapping: index of its name. */
  readonly dsos: Uint32Array;
  /** By location: index of the file of its innermost line; 0 if unknown. */
  readonly files: Uint32Array;
}

/** By name of a column: how its values are read. */
type Reads<Names extends keyof typeof COLUMNS> = Readonly<Record<Names, FlatColumn['read']>>;
type FlatName = Exclude<keyof typeof COLUMNS, 'stack' | 'stackDsos'>;

const FLAT_NAMES = (Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]).filter((name): name is FlatName => !COLUMNS[name].isList);

/** The columns with one value a row, in the order of the table. @param strings the table that their texts are added to */
export function flatColumns(profile: Profile, samples: SampleTable, strings: StringTable, functions: FrameList, result: ValuesResult): FlatColumns {
  const dsos = indexesOf(profile.mappings, strings, ({ name }) => name || NAMELESS);
  const leaves = new Leaves(profile, samples, strings);
  const reads: Reads<FlatName> = {
    ...readsOfSamples(profile, samples, result),
    ...readsOfEvents(profile, samples, strings),
    ...readsOfTasks(profile, samples, strings),
    ...readsOfLeaves(profile, leaves, strings, functions, dsos),
  };
  return { columns: FLAT_NAMES.map((name) => ({ column: COLUMNS[name], read: reads[name] })), dsos, files: leaves.files };
}

/** What a sample itself says. */
function readsOfSamples(profile: Profile, samples: SampleTable, result: ValuesResult): Reads<'timeNs' | 'wallTime' | 'period' | 'cpu' | 'ip'> {
  const clocks = clocksOf(profile);
  const { tasks, threads, processes } = profile;
  const clockOfTask = Uint32Array.from(tasks, ({ thread }) => processes[threads[thread].process].input ?? 0);
  const { ipHi, ipLo, task, timeNs } = samples;
  return {
    timeNs: (row, value) => {
      if (Number.isNaN(timeNs[row])) return false;
      const fits = clocks[clockOfTask[task[row]]].own.set(value, timeNs[row]);
      if (!fits) result.lostTimes++;
      return fits;
    },
    wallTime: (row, value) => !Number.isNaN(timeNs[row]) && (clocks[clockOfTask[task[row]]].wall?.set(value, timeNs[row]) ?? false),
    period: (row, value) => {
      if (!setPeriod(value, samples.period[row], samples.periodRemainder(row))) result.clippedPeriods++;
      return true;
    },
    cpu: int32(0, (row) => samples.cpu[row]),
    ip: (row, value) => {
      value.lo = ipLo[row];
      value.hi = ipHi[row];
      return value.lo > 0 || value.hi > 0;
    },
  };
}

function readsOfEvents({ events }: Profile, { event }: SampleTable, strings: StringTable): Reads<'event' | 'unit' | 'offCpu'> {
  const names = indexesOf(events, strings, ({ name }) => name);
  const units = indexesOf(events, strings, ({ unit }) => unit);
  const waits = indexesOf(events, strings, offCpuText);
  return { event: text((row) => names[event[row]]), unit: text((row) => units[event[row]]), offCpu: text((row) => waits[event[row]]) };
}

/** What the thread says that a sample was taken in. */
function readsOfTasks(profile: Profile, { task }: SampleTable, strings: StringTable): Reads<'input' | 'pid' | 'tid' | 'process' | 'comm'> {
  const { processes, tasks, threads } = profile;
  const inputs = indexesOf(processes, strings, (process) => inputLabel(profile, process));
  const names = indexesOf(processes, strings, ({ name }) => name);
  const comms = indexesOf(tasks, strings, ({ comm }) => comm);
  const processOf = Uint32Array.from(tasks, ({ thread }) => threads[thread].process);
  const pidOf = Int32Array.from(tasks, ({ thread }) => threads[thread].pid);
  const tidOf = Int32Array.from(tasks, ({ thread }) => threads[thread].tid);
  return {
    input: text((row) => inputs[processOf[task[row]]]),
    pid: int32(0, (row) => pidOf[task[row]]),
    tid: int32(0, (row) => tidOf[task[row]]),
    process: text((row) => names[processOf[task[row]]]),
    comm: text((row) => comms[task[row]]),
  };
}

/** What is known about the code that a sample was taken in. @param dsos by mapping: index of its name */
function readsOfLeaves(
  { mappings }: Profile,
  leaves: Leaves,
  strings: StringTable,
  functions: FrameList,
  dsos: Uint32Array,
): Reads<'function' | 'file' | 'line' | 'dso' | 'buildId' | 'address' | 'cpumode'> {
  const buildIds = indexesOf(mappings, strings, ({ buildId }) => buildId);
  const leafText = (textOf: (leaf: number) => number): FlatColumn['read'] =>
    text((row) => {
      const leaf = leaves.of(row);
      return leaf < 0 ? 0 : textOf(leaf);
    });
  const mappingText = (texts: Uint32Array): FlatColumn['read'] =>
    leafText((leaf) => {
      const mapping = leaves.mapping(leaf);
      return mapping < 0 ? 0 : texts[mapping];
    });
  return {
    function: leafText((leaf) => functions.text(leaf, 0)),
    file: leafText((leaf) => leaves.files[leaf]),
    line: int32(1, (row) => leaves.line(leaves.of(row))),
    dso: mappingText(dsos),
    buildId: mappingText(buildIds),
    address: (row, value) => leaves.setAddress(value, leaves.of(row)),
    cpumode: leafText((leaf) => leaves.cpumode(leaf)),
  };
}

/** Reads texts by their indexes; the empty one is absent. */
function text(textOf: (row: number) => number): FlatColumn['read'] {
  return (row, value) => {
    value.lo = textOf(row);
    return value.lo > 0;
  };
}

/** Reads numbers; those below `least` are absent. */
function int32(least: number, numberOf: (row: number) => number): FlatColumn['read'] {
  return (row, value) => {
    value.lo = numberOf(row);
    return value.lo >= least && value.lo <= MAX_INT32;
  };
}

/** By item: index of its text. */
function indexesOf<Item>(items: readonly Item[], strings: StringTable, textOf: (item: Item) => string): Uint32Array {
  return Uint32Array.from(items, (item) => strings.intern(textOf(item)));
}

/** How a thread waited in the samples of an event; empty for events that are not times off the CPU. */
function offCpuText(event: ProfileEvent): string {
  // perf's own offcpu-time does not say how.
  return event.isOffCpuTime === true ? (waitOf(event) ?? 'waiting') : '';
}

/** By input: its clocks. */
function clocksOf({ inputs, meta }: Profile): { readonly own: ClockWords; readonly wall: ClockWords | undefined }[] {
  return (inputs?.map((input) => input.meta) ?? [meta]).map(({ startTime, wallClockOffsetNs }) => ({
    own: new ClockWords(startTime),
    wall: wallClockOffsetNs === undefined ? undefined : new ClockWords(startTime + wallClockOffsetNs),
  }));
}

/** @returns false if the period is beyond int64, and was cut */
function setPeriod(value: Value, period: number, remainder: number): boolean {
  // hot
  if (period <= Number.MAX_SAFE_INTEGER) {
    value.lo = period >>> 0;
    value.hi = Math.floor(period / WORD);
    return true;
  }
  const exact = BigInt(period) + BigInt(remainder);
  const fitting = exact > MAX_INT64 ? MAX_INT64 : exact;
  value.lo = Number(fitting & 0xffff_ffffn);
  value.hi = Number(fitting >> 32n);
  return fitting === exact;
}

/** What the table says of leaves besides their function, by location. */
class Leaves {
  /** Index of the file that the leaf's line is in; 0 if unknown. */
  readonly files: Uint32Array;
  readonly #profile: Profile;
  readonly #stacks: SampleTable['stack'];
  readonly #modes: Readonly<Record<number, number>>;

  constructor(profile: Profile, { stack }: SampleTable, strings: StringTable) {
    const { functions, locations } = profile;
    this.#profile = profile;
    this.#stacks = stack;
    this.files = new Uint32Array(locations.size);
    for (let location = 0; location < locations.size; location++) {
      if (locations.lineCount(location) === 0) continue;
      const file = locations.lineFile(location, 0) || functions.file(locations.lineFunction(location, 0));
      this.files[location] = strings.intern(profile.strings.get(file));
    }
    this.#modes = Object.fromEntries(Object.entries(CPUMODE_NAMES).map(([mode, name]) => [mode, strings.intern(name)]));
  }

  /** The leaf of a sample's stack; −1 without a stack. */
  of(row: number): number {
    const stack = this.#stacks[row];
    return stack < 0 ? -1 : this.#profile.stacks.location(stack);
  }

  /** −1 outside all mappings. */
  mapping(leaf: number): number {
    return this.#profile.locations.mapping(leaf);
  }

  /** 0 if it is unknown. @param leaf −1 without a stack */
  line(leaf: number): number {
    const { locations } = this.#profile;
    return leaf < 0 || locations.lineCount(leaf) === 0 ? 0 : locations.lineNumber(leaf, 0);
  }

  /** Index of the name of the cpumode; 0 if it is unknown. */
  cpumode(leaf: number): number {
    const mode = this.#modes[this.#profile.locations.cpumode(leaf)] ?? 0;
    return mode === 0 && isKernelCode(this.#profile, leaf) ? this.#modes[CPUMODE_KERNEL] : mode;
  }

  /** @returns false if the address is unknown: there is no stack, or one location stands for all addresses in no binary @param leaf −1 without a stack */
  setAddress(value: Value, leaf: number): boolean {
    const { locations } = this.#profile;
    if (leaf < 0 || (locations.mapping(leaf) < 0 && locations.isStandIn(leaf))) return false;
    value.lo = locations.addressLo(leaf);
    value.hi = locations.addressHi(leaf);
    return true;
  }
}
