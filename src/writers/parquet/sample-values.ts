import type { StringTable } from '../../base/string-table.ts';
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

/** The columns with one value a row, in the order of the table. @param strings the table that their texts are added to */
export function flatColumns(profile: Profile, samples: SampleTable, strings: StringTable, functions: FrameList, result: ValuesResult): FlatColumns {
  const { events, mappings, processes, tasks, threads } = profile;
  const textsOf = <Item>(items: readonly Item[], textOf: (item: Item) => string): Uint32Array =>
    Uint32Array.from(items, (item) => strings.intern(textOf(item)));
  const inputs = textsOf(processes, (process) => inputLabel(profile, process));
  const eventNames = textsOf(events, ({ name }) => name);
  const units = textsOf(events, ({ unit }) => unit);
  const waits = textsOf(events, offCpuText);
  const processNames = textsOf(processes, ({ name }) => name);
  const comms = textsOf(tasks, ({ comm }) => comm);
  const dsos = textsOf(mappings, ({ name }) => name || NAMELESS);
  const buildIds = textsOf(mappings, ({ buildId }) => buildId);
  const leaves = new Leaves(profile, strings);
  const clocks = clocksOf(profile);
  const processOfTask = Uint32Array.from(tasks, ({ thread }) => threads[thread].process);
  const clockOfTask = Uint32Array.from(processOfTask, (process) => processes[process].input ?? 0);
  const pidOfTask = Int32Array.from(tasks, ({ thread }) => threads[thread].pid);
  const tidOfTask = Int32Array.from(tasks, ({ thread }) => threads[thread].tid);
  const { event, ipHi, ipLo, stack, task, timeNs } = samples;
  /** The leaf of a sample; −1 without a stack. */
  const leafOf = (row: number): number => (stack[row] < 0 ? -1 : profile.stacks.location(stack[row]));
  const mappingOf = (row: number): number => {
    const leaf = leafOf(row);
    return leaf < 0 ? -1 : profile.locations.mapping(leaf);
  };
  const text = (column: Column, textOf: (row: number) => number): FlatColumn => ({
    column,
    read: (row, value) => {
      value.lo = textOf(row);
      return value.lo > 0;
    },
  });
  const int32 = (column: Column, least: number, numberOf: (row: number) => number): FlatColumn => ({
    column,
    read: (row, value) => {
      value.lo = numberOf(row);
      return value.lo >= least && value.lo <= MAX_INT32;
    },
  });
  const columns: FlatColumn[] = [
    text(COLUMNS.input, (row) => inputs[processOfTask[task[row]]]),
    {
      column: COLUMNS.timeNs,
      read: (row, value) => {
        if (Number.isNaN(timeNs[row])) return false;
        const fits = clocks[clockOfTask[task[row]]].own.set(value, timeNs[row]);
        if (!fits) result.lostTimes++;
        return fits;
      },
    },
    {
      column: COLUMNS.wallTime,
      read: (row, value) => !Number.isNaN(timeNs[row]) && (clocks[clockOfTask[task[row]]].wall?.set(value, timeNs[row]) ?? false),
    },
    text(COLUMNS.event, (row) => eventNames[event[row]]),
    {
      column: COLUMNS.period,
      read: (row, value) => {
        if (!setPeriod(value, samples.period[row], samples.periodRemainder(row))) result.clippedPeriods++;
        return true;
      },
    },
    text(COLUMNS.unit, (row) => units[event[row]]),
    text(COLUMNS.offCpu, (row) => waits[event[row]]),
    int32(COLUMNS.cpu, 0, (row) => samples.cpu[row]),
    int32(COLUMNS.pid, 0, (row) => pidOfTask[task[row]]),
    int32(COLUMNS.tid, 0, (row) => tidOfTask[task[row]]),
    text(COLUMNS.process, (row) => processNames[processOfTask[task[row]]]),
    text(COLUMNS.comm, (row) => comms[task[row]]),
    {
      column: COLUMNS.ip,
      read: (row, value) => {
        value.lo = ipLo[row];
        value.hi = ipHi[row];
        return value.lo > 0 || value.hi > 0;
      },
    },
    text(COLUMNS.function, (row) => {
      const leaf = leafOf(row);
      return leaf < 0 ? 0 : functions.text(leaf, 0);
    }),
    text(COLUMNS.file, (row) => {
      const leaf = leafOf(row);
      return leaf < 0 ? 0 : leaves.files[leaf];
    }),
    int32(COLUMNS.line, 1, (row) => leaves.line(leafOf(row))),
    text(COLUMNS.dso, (row) => {
      const mapping = mappingOf(row);
      return mapping < 0 ? 0 : dsos[mapping];
    }),
    text(COLUMNS.buildId, (row) => {
      const mapping = mappingOf(row);
      return mapping < 0 ? 0 : buildIds[mapping];
    }),
    { column: COLUMNS.address, read: (row, value) => leaves.setAddress(value, leafOf(row)) },
    text(COLUMNS.cpumode, (row) => leaves.cpumode(leafOf(row))),
  ];
  return { columns, dsos, files: leaves.files };
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
  readonly #modes: Readonly<Record<number, number>>;

  constructor(profile: Profile, strings: StringTable) {
    const { functions, locations } = profile;
    this.#profile = profile;
    this.files = new Uint32Array(locations.size);
    for (let location = 0; location < locations.size; location++) {
      if (locations.lineCount(location) === 0) continue;
      const file = locations.lineFile(location, 0) || functions.file(locations.lineFunction(location, 0));
      this.files[location] = strings.intern(profile.strings.get(file));
    }
    this.#modes = Object.fromEntries(Object.entries(CPUMODE_NAMES).map(([mode, name]) => [mode, strings.intern(name)]));
  }

  /** 0 if it is unknown. @param leaf −1 without a stack */
  line(leaf: number): number {
    const { locations } = this.#profile;
    return leaf < 0 || locations.lineCount(leaf) === 0 ? 0 : locations.lineNumber(leaf, 0);
  }

  /** Index of the name of the cpumode; 0 if it is unknown. @param leaf −1 without a stack */
  cpumode(leaf: number): number {
    if (leaf < 0) return 0;
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
