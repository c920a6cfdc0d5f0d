import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { StringTable } from '../base/tables/string-table.ts';
import { BranchTotals } from './branches.ts';
import { FunctionTable } from './function-table.ts';
import { LocationTable } from './location-table.ts';
import { EventMatcher } from './merge-events.ts';
import { mergeMeta } from './merge-meta.ts';
import type { Mapping, Profile, ProfileInput, ProfileProcess, ProfileTask, ProfileThread } from './profile.ts';
import { SampleRow, SampleTable } from './sample-table.ts';
import { StackTable } from './stack-table.ts';
import { TotalTable } from './total-table.ts';

/** What the merger may change in a mapping until it is done. */
type GrowingMapping = { -readonly [K in keyof Mapping]: Mapping[K] };

/**
 * Merges profiles of several recordings into one. Accepts one profile after another and keeps none of them, so that only one needs to be in memory besides the
 * result.
 *
 * - Functions, binaries (by name and build id), places in code and stacks are shared, so that the same stack in two recordings adds up. Addresses at which the
 *   recordings know different functions are kept apart.
 * - Processes and threads are not: the same pid in two recordings is two processes. Each knows its input.
 * - Events are matched by name; if a recording has several events of one name, the first is matched with the first, and so on. Events of one name that count
 *   different things (nanoseconds, occurrences) are kept apart.
 * - `meta` holds the earliest start, the durations added up (as pprof merges), and what all recordings say alike.
 * - Samples are there if all inputs kept theirs, in the order of the inputs. Clocks of different recordings are unrelated: each recording's times count from
 *   its own first sample.
 */
export class ProfileMerger {
  readonly #inputs: ProfileInput[] = [];
  readonly #strings = new StringTable();
  readonly #events: EventMatcher;
  readonly #mappings: GrowingMapping[] = [];
  readonly #mappingOf = new Map<string, number>();
  #mainMapping = -1;
  readonly #processes: ProfileProcess[] = [];
  readonly #threads: ProfileThread[] = [];
  readonly #tasks: ProfileTask[] = [];
  readonly #functions = new FunctionTable();
  readonly #locations = new LocationTable();
  readonly #stacks = new StackTable();
  readonly #totals = new TotalTable();
  /** Undefined while no input has any. */
  #branches: BranchTotals | undefined;
  /** Undefined as soon as an input did not keep its samples. */
  #samples: SampleTable | undefined = new SampleTable();

  /** @param diagnostics gets events of one name that count different things (`merge-units`) */
  constructor(diagnostics?: Diagnostics) {
    this.#events = new EventMatcher(diagnostics);
  }

  /**
   * Adds a profile, whose functions must have their final names.
   * @param wanted what to call the recording where inputs are distinguished; a label that is already used becomes `label#2`
   * @returns what it is called
   */
  add(profile: Profile, wanted: string): string {
    const label = this.#freeLabel(wanted);
    const input = this.#inputs.push({ label, meta: profile.meta }) - 1;
    const stringOf = this.#internStrings(profile);
    const locationOf = this.#internLocations(profile, this.#internMappings(profile), this.#internFunctions(profile, stringOf), stringOf);
    const stackOf = this.#internStacks(profile, locationOf);
    const eventOf = this.#events.match(profile.events);
    const firstTask = this.#addTasks(profile, input);
    const stackAt = (stack: number): number => (stack < 0 ? -1 : stackOf[stack]);
    const { totals } = profile;
    for (let row = 0; row < totals.size; row++) {
      const total = this.#totals.intern(eventOf[totals.event(row)], firstTask + totals.task(row), stackAt(totals.stack(row)));
      this.#totals.addSums(total, totals.samples(row), totals.period(row), totals.periodRemainder(row));
    }
    this.#addSamples(profile.samples, eventOf, firstTask, stackAt);
    if (profile.branches !== undefined) this.#addBranches(profile.branches, eventOf, locationOf, input);
    return label;
  }

  /**
   * The profile of all that was added. The merger must not be used afterwards.
   * @throws PerfconvError `usage` when nothing was added
   */
  finish(): Profile {
    if (this.#inputs.length === 0) throw new PerfconvError('usage', 'there is no profile to merge');
    return {
      meta: mergeMeta(this.#inputs),
      inputs: this.#inputs,
      strings: this.#strings,
      events: this.#events.events,
      mappings: this.#mappings,
      mainMapping: this.#mainMapping,
      processes: this.#processes,
      threads: this.#threads,
      tasks: this.#tasks,
      functions: this.#functions,
      locations: this.#locations,
      stacks: this.#stacks,
      totals: this.#totals,
      samples: this.#samples,
      ...(this.#branches && { branches: this.#branches }),
    };
  }

  #freeLabel(wanted: string): string {
    let label = wanted;
    for (let nth = 2; this.#inputs.some((input) => input.label === label); nth++) label = `${wanted}#${nth}`;
    return label;
  }

  #internStrings({ strings }: Profile): Uint32Array {
    return Uint32Array.from({ length: strings.size }, (_, index) => this.#strings.intern(strings.get(index)));
  }

  #internFunctions({ functions }: Profile, stringOf: Uint32Array): Uint32Array {
    return Uint32Array.from({ length: functions.size }, (_, index) =>
      this.#functions.intern(
        stringOf[functions.name(index)],
        stringOf[functions.systemName(index)],
        stringOf[functions.file(index)],
        functions.startLine(index),
        functions.isScoped(index),
      ),
    );
  }

  /**
   * Binaries are the same if kind, name and build id are: where they are mapped differs from run to run, but the addresses in them do not. The first place is
   * kept, and the range grows.
   */
  #internMappings({ mappings, mainMapping }: Profile): Int32Array {
    const mappingOf = Int32Array.from(mappings, (mapping) => {
      const key = JSON.stringify([mapping.kind, mapping.name, mapping.buildId]);
      const known = this.#mappingOf.get(key);
      if (known === undefined) {
        this.#mappingOf.set(key, this.#mappings.length);
        return this.#mappings.push({ ...mapping }) - 1;
      }
      const merged = this.#mappings[known];
      merged.start = Math.min(merged.start, mapping.start);
      merged.limit = Math.max(merged.limit, mapping.limit);
      merged.hasSymbols ||= mapping.hasSymbols;
      if (mapping.wasFound) merged.wasFound = true;
      return known;
    });
    if (this.#mainMapping < 0 && mainMapping >= 0) this.#mainMapping = mappingOf[mainMapping];
    return mappingOf;
  }

  #internLocations({ locations }: Profile, mappingOf: Int32Array, functionOf: Uint32Array, stringOf: Uint32Array): Uint32Array {
    return Uint32Array.from({ length: locations.size }, (_, index) => {
      const mapping = locations.mapping(index) < 0 ? -1 : mappingOf[locations.mapping(index)];
      for (let variant = 0; ; variant++) {
        const known = this.#locations.size;
        const location = this.#locations.intern(
          mapping,
          locations.addressLo(index),
          locations.addressHi(index),
          locations.cpumode(index),
          locations.isReturnAddress(index),
          variant,
        );
        if (location === known) this.#copyLines(locations, index, location, functionOf, stringOf);
        if (location === known || this.#hasSameLines(locations, index, location, functionOf, stringOf)) return location;
      }
    });
  }

  #copyLines(from: LocationTable, index: number, location: number, functionOf: Uint32Array, stringOf: Uint32Array): void {
    const lines = Array.from({ length: from.lineCount(index) }, (_, nth) => ({
      function: functionOf[from.lineFunction(index, nth)],
      line: from.lineNumber(index, nth),
      column: from.lineColumn(index, nth),
      file: stringOf[from.lineFile(index, nth)],
    }));
    if (lines.length > 0) this.#locations.setLines(location, lines, from.symbolOffset(index));
    if (from.functionStart(index) >= 0) this.#locations.setFunctionStart(location, from.functionStart(index));
  }

  #hasSameLines(from: LocationTable, index: number, location: number, functionOf: Uint32Array, stringOf: Uint32Array): boolean {
    const known = this.#locations;
    const count = from.lineCount(index);
    if (known.lineCount(location) !== count || known.functionStart(location) !== from.functionStart(index)) return false;
    for (let nth = 0; nth < count; nth++) {
      if (known.lineFunction(location, nth) !== functionOf[from.lineFunction(index, nth)]) return false;
      if (known.lineNumber(location, nth) !== from.lineNumber(index, nth)) return false;
      if (known.lineColumn(location, nth) !== from.lineColumn(index, nth)) return false;
      if (known.lineFile(location, nth) !== stringOf[from.lineFile(index, nth)]) return false;
    }
    return true;
  }

  /** A caller's stack comes before those of what it called. */
  #internStacks({ stacks }: Profile, locationOf: Uint32Array): Int32Array {
    const stackOf = new Int32Array(stacks.size);
    for (let stack = 0; stack < stacks.size; stack++) {
      const parent = stacks.parent(stack);
      stackOf[stack] = this.#stacks.intern(parent < 0 ? -1 : stackOf[parent], locationOf[stacks.location(stack)]);
    }
    return stackOf;
  }

  /** Processes, threads and tasks belong to one recording, whatever their numbers. @returns the place of the first task */
  #addTasks({ processes, threads, tasks }: Profile, input: number): number {
    const firstProcess = this.#processes.length;
    const firstThread = this.#threads.length;
    const firstTask = this.#tasks.length;
    for (const process of processes) this.#processes.push({ ...process, input });
    for (const thread of threads) this.#threads.push({ ...thread, process: firstProcess + thread.process });
    for (const task of tasks) this.#tasks.push({ ...task, thread: firstThread + task.thread });
    return firstTask;
  }

  #addBranches(branches: BranchTotals, eventOf: readonly number[], locationOf: Uint32Array, input: number): void {
    this.#branches ??= new BranchTotals();
    for (let row = 0; row < branches.size; row++) {
      const event = eventOf[branches.event(row)];
      this.#branches.addRow(branches, row, event, locationOf[branches.from(row)], locationOf[branches.to(row)], input);
    }
  }

  #addSamples(samples: SampleTable | undefined, eventOf: readonly number[], firstTask: number, stackAt: (stack: number) => number): void {
    if (samples === undefined) this.#samples = undefined;
    const merged = this.#samples;
    if (samples === undefined || merged === undefined) return;
    const { timeNs, event, task, cpu, stack, period, ipLo, ipHi } = samples;
    const sample = new SampleRow();
    for (let row = 0; row < samples.size; row++) {
      // hot
      sample.timeNs = timeNs[row];
      sample.event = eventOf[event[row]];
      sample.task = firstTask + task[row];
      sample.cpu = cpu[row];
      sample.stack = stackAt(stack[row]);
      sample.period = period[row];
      sample.ipLo = ipLo[row];
      sample.ipHi = ipHi[row];
      const mergedRow = merged.add(sample);
      if (period[row] > Number.MAX_SAFE_INTEGER) merged.addPeriod(mergedRow, samples.periodRemainder(row));
    }
  }
}
