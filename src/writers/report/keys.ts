import { highWord } from '../../base/addresses.ts';
import { StringTable } from '../../base/string-table.ts';
import { TupleInterner } from '../../base/tuple-interner.ts';
import { baseName, inputLabel, mappingText, NAMELESS } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { type FrameStyle, FrameTexts } from '../frame-texts.ts';

/**
 * What a report's rows can be told apart by.
 *
 * - `function`: function and the DSO it is in, `main (app)`; the function alone where `dso` is a column of its own.
 *   Unresolved: `0x4f2c1 (libfoo.so)`
 * - `dso`: the mapped file's whole name, `[unknown]` outside all mappings
 * - `comm`: the thread's name while the sample was taken
 * - `pid`, `tid`: number and last name of the process, of the thread: `100:app`, `100` without a name; of merged recordings `100:app (a.data)`
 * - `event`: the event; puts all events into one table
 * - `input`: the recording, to tell merged ones apart
 */
export type ReportKey = 'function' | 'dso' | 'comm' | 'pid' | 'tid' | 'event' | 'input';

/** In the order in which the command line's help names them. */
export const REPORT_KEYS: readonly ReportKey[] = ['function', 'dso', 'comm', 'pid', 'tid', 'event', 'input'];

/** The texts of a report's columns, as indexes of a string table, by event, task and frame. */
export class ReportTexts {
  readonly strings = new StringTable();
  readonly frames: FrameTexts;
  readonly #profile: Profile;
  readonly #keys: readonly ReportKey[];
  readonly #unknown: number;
  readonly #dsoOfMapping: Uint32Array;
  /** By location: which symbol of its file it is in, counted from 1; 0 where that is not known or does not matter. */
  readonly #symbolOfLocation: Uint32Array;
  /** For each key that a sample has whatever its stack: text by task or event; empty for the others. */
  readonly #bySample: readonly Uint32Array[];

  /** @param compatPerf tell functions apart by their symbols, and call files what perf report calls them */
  constructor(profile: Profile, keys: readonly ReportKey[], compatPerf: boolean) {
    this.#profile = profile;
    this.#keys = keys;
    const { strings } = this;
    this.#unknown = strings.intern(NAMELESS);
    const hasDsoColumn = keys.includes('dso');
    this.frames = new FrameTexts(profile, strings, reportStyle(profile, hasDsoColumn));
    this.#dsoOfMapping = new Uint32Array(profile.mappings.map(({ name }) => strings.intern(compatPerf ? perfShortName(name || NAMELESS) : name || NAMELESS)));
    this.#symbolOfLocation = compatPerf ? symbolsOfLocations(profile) : new Uint32Array(profile.locations.size);
    this.#bySample = keys.map((key) => new Uint32Array(sampleTexts(profile, key).map((text) => strings.intern(text))));
  }

  /**
   * Text of one column.
   * @param column index into the keys
   * @param location −1 for a sample without a stack
   * @param nth which of the location's frames, 0 the innermost
   */
  text(column: number, event: number, task: number, location: number, nth: number): number {
    const key = this.#keys[column];
    if (key === 'event') return this.#bySample[column][event];
    if (key !== 'function' && key !== 'dso') return this.#bySample[column][task];
    if (location < 0) return this.#unknown;
    if (key === 'function') return this.frames.text(location, nth);
    const mapping = this.#profile.locations.mapping(location);
    return mapping < 0 ? this.#unknown : this.#dsoOfMapping[mapping];
  }

  /** What tells apart rows of the same text in a column: which symbol it is, 0 where the text alone counts. */
  symbol(column: number, location: number, nth: number): number {
    if (location < 0 || this.#keys[column] !== 'function') return 0;
    return nth === this.frames.count(location) - 1 ? this.#symbolOfLocation[location] : 0;
  }
}

/** What perf report calls a file: its path without directories. Observed: perf 6.1. */
function perfShortName(name: string): string {
  const [, tid] = /^\/tmp\/perf-(\d+)\.map$/.exec(name) ?? [];
  return tid === undefined ? baseName(name) : `[JIT] tid ${tid}`;
}

/** Numbers symbols by where they start: what is called the same may be several functions. */
function symbolsOfLocations({ locations }: Profile): Uint32Array {
  const starts = new TupleInterner(2);
  return Uint32Array.from({ length: locations.size }, (_, location) => {
    const offset = locations.symbolOffset(location);
    if (offset < 0) return 0;
    const start = locations.address(location) - offset;
    return starts.intern(start >>> 0, highWord(start)) + 1;
  });
}

function sampleTexts(profile: Profile, key: ReportKey): string[] {
  const { events, inputs, processes, tasks, threads } = profile;
  const inputOf = (thread: number) => inputLabel(profile, processes[threads[thread].process]);
  /** The same number in two recordings is not the same process. */
  const ofInput = (thread: number) => (inputs === undefined ? '' : ` (${inputOf(thread)})`);
  switch (key) {
    case 'event':
      return events.map((event) => event.name || NAMELESS);
    case 'comm':
      return tasks.map((task) => task.comm || NAMELESS);
    case 'pid':
      return tasks.map((task) => {
        const { pid, name } = processes[threads[task.thread].process];
        return `${named(pid, name)}${ofInput(task.thread)}`;
      });
    case 'tid':
      return tasks.map((task) => {
        const { tid, name } = threads[task.thread];
        return `${named(tid, name)}${ofInput(task.thread)}`;
      });
    case 'input':
      return tasks.map((task) => inputOf(task.thread));
    case 'function':
    case 'dso':
      return [];
  }
}

/** `100:app`; the number alone where there is no name, or perf's `:100` that stands for one. */
function named(id: number, name: string): string {
  return name === '' || name.startsWith(':') ? `${id}` : `${id}:${name}`;
}

function reportStyle(profile: Profile, hasDsoColumn: boolean): FrameStyle {
  const behindAddress = (location: number) => (hasDsoColumn ? '' : mappingText(profile, profile.locations.mapping(location)));
  return { functionText: (name, location) => name + behindAddress(location), behindAddress };
}
