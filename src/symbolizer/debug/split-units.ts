import { messageWithout, PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import { BufferSource, readRange } from '../../base/streams/byte-source.ts';
import type { SplitRequest } from '../../dwarf/debug-info.ts';
import type { DebugSections } from '../../dwarf/sections/debug-sections.ts';
import { openDebugSections } from '../../dwarf/sections/elf-debug-sections.ts';
import { DwarfFile } from '../../dwarf/units/dwarf-file.ts';
import { SplitIndex } from '../../dwarf/units/split-index.ts';
import { ElfFile } from '../../elf/elf-file.ts';
import type { SymbolSearch } from '../inputs/search-log.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';
import { SplitNotes } from './split-notes.ts';
import { dwoPlaces, dwpPlaces, type SplitDirectories } from './split-places.ts';

/** Files up to this size are read completely and closed, since a binary may have thousands of them. */
const MAX_BUFFERED_SIZE_BYTES = 64 << 20;
/** A `.dwo` file has one unit, a few with link-time optimization, and the units of its types. */
const MAX_UNITS = 1 << 16;
/** When this many units' files are missing, plus this many for each that was found, no more are looked for. */
const MAX_MISSING = 256;
const MAX_MISSING_PER_FOUND = 16;
/** How many bytes of files may be read again. The units of a `.dwo` file mostly follow each other, so this is rarely necessary. */
const MAX_REREAD_SIZE_BYTES = 32 << 20;
/** How many problems are kept. */
const MAX_PROBLEMS = 20;

type SplitMachine = Pick<SymbolFiles, 'open' | 'decompress' | 'isForbidden'>;

/** A `.dwo` file. */
interface SplitFile {
  readonly place: string;
  readonly sections: DebugSections;
  readonly ids: ReadonlySet<string>;
}

/** A `.dwp` file. */
interface Package {
  readonly place: string;
  readonly index: SplitIndex;
}

/** Finds the other halves of split units (DWARF 5, 7.3.2; before, GNU's DebugFission), and checks their ids. */
export class SplitUnits {
  readonly #host: SplitMachine;
  readonly #dirs: SplitDirectories;
  readonly #opened: ByteSource[] = [];
  readonly #problems: string[] = [];
  readonly #notes: SplitNotes;
  #index: Promise<Package | undefined> | undefined;
  /** The last `.dwo` file: if it holds several units, they are asked for one after the other. */
  #last: SplitFile | undefined;
  /** All `.dwo` files that were opened, and how many bytes of them may still be read again. */
  readonly #known = new Set<string>();
  #bytesLeft = MAX_REREAD_SIZE_BYTES;
  #foundCount = 0;
  #missingCount = 0;
  #firstMissing = '';

  /** @param search notes where files were looked for */
  constructor(host: SplitMachine, dirs: SplitDirectories, search?: SymbolSearch) {
    this.#host = host;
    this.#dirs = dirs;
    this.#notes = new SplitNotes(search);
  }

  /** How many units were not found, and the file that the first of them names. */
  get missing(): { readonly count: number; readonly firstName: string } {
    return { count: this.#missingCount, firstName: this.#firstMissing };
  }

  /** Files that were found and cannot be used, and why: the first twenty. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /**
   * Finds a unit in the binary's package, else in the file that the unit names. Can be used as `openSplit` of
   * `DebugInfoOptions`.
   * @returns sections that hold the unit with that id: for a package, only the unit's parts; for a `.dwo` file, all sections. undefined if no file that was
   * found has it
   */
  readonly openSplit = async (request: SplitRequest): Promise<DebugSections | undefined> => {
    const found = request.dwoId === '' ? undefined : await this.#package();
    const packed = found?.index.unit(request.dwoId);
    if (found !== undefined && packed !== undefined) {
      this.#notes.packageUsed(found.place);
      return packed;
    }
    const places = this.#missingCount < MAX_MISSING + MAX_MISSING_PER_FOUND * this.#foundCount ? dwoPlaces(request, this.#dirs) : [];
    for (const place of places) {
      const sections = await this.#unitIn(place, request.dwoId);
      if (sections === undefined) continue;
      this.#foundCount++;
      this.#notes.found(place);
      return sections;
    }
    this.#notes.missing(this.#notes.wantsMissing ? await this.#askWhy(places) : []);
    if (this.#missingCount++ === 0) this.#firstMissing = request.dwoName;
    return undefined;
  };

  /** Closes the files that are open. */
  async close(): Promise<void> {
    for (const source of this.#opened) await source.close();
  }

  async #askWhy(places: readonly string[]): Promise<{ place: string; isForbidden: boolean }[]> {
    return Promise.all(places.map(async (place) => ({ place, isForbidden: await this.#isForbidden(place) })));
  }

  async #isForbidden(place: string): Promise<boolean> {
    return (await this.#host.isForbidden?.(place)) ?? false;
  }

  #package(): Promise<Package | undefined> {
    this.#index ??= this.#openPackage();
    return this.#index;
  }

  async #openPackage(): Promise<Package | undefined> {
    for (const place of dwpPlaces(this.#dirs)) {
      const index = await this.#reading(place, async () => {
        const sections = await this.#open(place, false);
        if (sections === undefined) this.#notes.packageMissing(place, await this.#isForbidden(place));
        return sections && (await SplitIndex.read(sections, 'cu_index'));
      });
      if (index === undefined) continue;
      this.#notes.package(place);
      return { place, index };
    }
    return undefined;
  }

  async #unitIn(place: string, dwoId: string): Promise<DebugSections | undefined> {
    return this.#reading(place, async () => {
      if (this.#last?.place !== place) {
        const sections = await this.#open(place, this.#known.has(place));
        if (sections === undefined) return undefined;
        this.#known.add(place);
        this.#last = { place, sections, ids: await readIds(sections) };
      }
      const { sections, ids } = this.#last;
      // Any unit will do if the id is unknown.
      if (ids.has(dwoId) || (dwoId === '' && ids.size > 0)) return sections;
      this.#complain(place, 'other-build-id', `it is from another build: no unit has the id ${dwoId}`);
      return undefined;
    });
  }

  /** @param isAgain whether the file was read before */
  async #open(place: string, isAgain: boolean): Promise<DebugSections | undefined> {
    const source = await this.#host.open(place);
    if (source === undefined) return undefined;
    let kept: ByteSource | undefined;
    try {
      const { sizeBytes } = source;
      if (isAgain) this.#bytesLeft -= sizeBytes ?? MAX_BUFFERED_SIZE_BYTES;
      if (this.#bytesLeft < 0) throw new PerfconvError('damaged', 'it is read over and over', { file: place });
      kept = sizeBytes !== undefined && sizeBytes <= MAX_BUFFERED_SIZE_BYTES ? new BufferSource(await readRange(source, 0, sizeBytes), source.name) : source;
      if (kept === source) this.#opened.push(source);
      return await openDebugSections(await ElfFile.open(kept), this.#host, 'dwo');
    } finally {
      if (kept !== source) await source.close();
    }
  }

  /** Returns what `read` returns; undefined if it fails, which is noted as a problem. */
  async #reading<T>(place: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof PerfconvError)) throw error;
      this.#complain(place, 'damaged', messageWithout(place, error));
      return undefined;
    }
  }

  #complain(place: string, outcome: 'damaged' | 'other-build-id', what: string): void {
    if (this.#problems.length >= MAX_PROBLEMS) return;
    this.#problems.push(`${place}: ${what}`);
    this.#notes.useless(place, outcome, what);
  }
}

/** The ids of a file's split units. */
async function readIds(sections: DebugSections): Promise<ReadonlySet<string>> {
  const file = new DwarfFile(sections);
  const ids = new Set<string>();
  for (let i = 0; i < MAX_UNITS; i++) {
    const start = await file.units.start(i);
    if (start < 0) break;
    const header = await file.units.headerAt(start);
    // Before DWARF 5, the id is an attribute.
    const id = header.version >= 5 ? header.dwoId : (await file.headOfUnit(header)).root.dwoId;
    if (id !== '') ids.add(id);
  }
  return ids;
}
