import { highWord } from '../../base/bytes/addresses.ts';
import { StringTable } from '../../base/tables/string-table.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import { inputLabel, mappingText, NAMELESS } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { type FrameStyle, FrameTexts } from '../frame-texts.ts';
import { type FileNames, fileName } from './file-names.ts';

/**
 * What the rows of a report are grouped by.
 *
 * - `function`: function and DSO, `main (app)`, or only the function if `dso` is a column, too. Unresolved: `0x4f2c1 (libfoo.so)`, or its stand-in
 * - `dso`: full name of the mapped file, `[unknown]` outside all mappings
 * - `comm`: name of the thread when the sample was taken
 * - `pid`, `tid`: number and last name of the process or thread, `100:app`; only `100` without a name; with merged
 *   recordings `100:app (a.data)`
 * - `event`: the event; puts all events into one table
 * - `input`: the recording, if several were merged
 */
export type ReportKey = 'function' | 'dso' | 'comm' | 'pid' | 'tid' | 'event' | 'input';

/** All keys, in the order in which the help of the command line lists them. */
export const REPORT_KEYS: readonly ReportKey[] = ['function', 'dso', 'comm', 'pid', 'tid', 'event', 'input'];

/** The texts of the columns of a report, by event, task and frame, as indexes into a string table. */
export class ReportTexts {
  readonly strings = new StringTable();
  readonly frames: FrameTexts;
  readonly #profile: Profile;
  readonly #keys: readonly ReportKey[];
  readonly #unknown: number;
  readonly #dsoOfMapping: Uint32Array;
  /** By location: number of the symbol that it is in, from 1; 0 if that is unknown or does not matter. */
  readonly #symbolOfLocation: Uint32Array;
  /** By column: texts by task, or by event for the key `event`; empty for keys that depend on the frame. */
  readonly #bySample: readonly Uint32Array[];

  /** @param compatPerf like perf report: keep symbols of the same name apart, and show names of threads that were recorded later */
  constructor(profile: Profile, keys: readonly ReportKey[], compatPerf: boolean, fileNames: FileNames) {
    this.#profile = profile;
    this.#keys = keys;
    const { strings } = this;
    this.#unknown = strings.intern(NAMELESS);
    const hasDsoColumn = keys.includes('dso');
    this.frames = new FrameTexts(profile, strings, reportStyle(profile, hasDsoColumn, fileNames));
    this.#dsoOfMapping = new Uint32Array(profile.mappings.map((mapping) => strings.intern(fileName(mapping, fileNames) || NAMELESS)));
    this.#symbolOfLocation = compatPerf ? symbolsOfLocations(profile) : new Uint32Array(profile.locations.size);
    this.#bySample = keys.map((key) => new Uint32Array(sampleTexts(profile, key, compatPerf).map((text) => strings.intern(text))));
  }

  /**
   * The text of one cell.
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

  /** A number that keeps rows with the same text apart: that of the symbol, or 0 if only the text counts. */
  symbol(column: number, location: number, nth: number): number {
    if (location < 0 || this.#keys[column] !== 'function') return 0;
    return nth === this.frames.count(location) - 1 ? this.#symbolOfLocation[location] : 0;
  }
}

/** Numbers symbols by the address where they start, since several functions may have the same name. */
function symbolsOfLocations({ locations }: Profile): Uint32Array {
  const starts = new TupleInterner(2);
  return Uint32Array.from({ length: locations.size }, (_, location) => {
    const offset = locations.symbolOffset(location);
    if (offset < 0) return 0;
    const start = locations.address(location) - offset;
    return starts.intern(start >>> 0, highWord(start)) + 1;
  });
}

function sampleTexts(profile: Profile, key: ReportKey, compatPerf: boolean): string[] {
  const { events, inputs, processes, tasks, threads } = profile;
  const inputOf = (thread: number) => inputLabel(profile, processes[threads[thread].process]);
  // The same pid in two recordings is not the same process.
  const ofInput = (thread: number) => (inputs === undefined ? '' : ` (${inputOf(thread)})`);
  switch (key) {
    case 'event':
      return events.map((event) => event.name || NAMELESS);
    case 'comm':
      return tasks.map(({ comm, laterComm }) => (compatPerf && laterComm) || comm || NAMELESS);
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

/** `100:app`; only the number if there is no name, or only perf's stand-in `:100`. */
function named(id: number, name: string): string {
  return name === '' || name.startsWith(':') ? `${id}` : `${id}:${name}`;
}

function reportStyle(profile: Profile, hasDsoColumn: boolean, fileNames: FileNames): FrameStyle {
  const addressSuffix = (location: number) => (hasDsoColumn ? '' : fileSuffix(profile, profile.locations.mapping(location), fileNames));
  // The stand-in for unknown code already contains the DSO's name.
  const standIn = (name: string, location: number) => (fileNames === 'comparable' ? comparableStandIn(profile, name, location) : name);
  return {
    functionText: (name, location) => (profile.locations.isStandIn(location) ? standIn(name, location) : name + addressSuffix(location)),
    addressSuffix,
  };
}

/** What stands for code that has another name in each recording, such as that of a process's own list of functions, has the name that is comparable. */
function comparableStandIn({ locations, mappings }: Profile, name: string, location: number): string {
  const mapping = locations.mapping(location);
  const file = mapping < 0 ? '' : fileName(mappings[mapping], 'comparable');
  return file.startsWith('[') ? file : name;
}

function fileSuffix(profile: Profile, mapping: number, fileNames: FileNames): string {
  if (fileNames !== 'comparable' || mapping < 0) return mappingText(profile, mapping);
  return ` (${fileName(profile.mappings[mapping], fileNames) || NAMELESS})`;
}
