import { PerfconvError } from '../base/problems/errors.ts';
import type { SourceFrame, SourceLines } from '../symbol-table/code-symbols.ts';
import { AddressClaims } from './address-claims.ts';
import { WasmLoan } from './encoding/wasm-instance.ts';
import { FoundFrames } from './found-frames.ts';
import { SourceFunctions } from './functions/source-functions.ts';
import { UnitFrames } from './functions/unit-frames.ts';
import type { LineTable } from './lines/line-table.ts';
import type { DebugSections } from './sections/debug-sections.ts';
import { ReusedMemory } from './sections/reused-memory.ts';
import { type OwnRanges, readAranges, readOwnRanges, UnitRanges } from './unit-ranges.ts';
import { DwarfFile, type Unit, type UnitBytes } from './units/dwarf-file.ts';
import { SplitFile, type SplitUnit } from './units/split-unit.ts';

/** The file that has the rest of a unit. */
export interface SplitRequest {
  /** DW_AT_dwo_name: a path, usually relative to {@link compDir}. */
  readonly dwoName: string;
  /** Empty when unknown. */
  readonly compDir: string;
  /** 16 hex digits; empty when unknown. */
  readonly dwoId: string;
}

/** Other files that belong to the debug sections of a file. */
export interface DebugInfoOptions {
  /** The file that `.gnu_debugaltlink` or `.debug_sup` names: what dwz has moved out of several files. */
  readonly supplementary?: DebugSections;
  /** Opens a `.dwo` file, or its part of a `.dwp` file; undefined if there is none. Without this function, split units only have lines. */
  readonly openSplit?: (request: SplitRequest) => Promise<DebugSections | undefined>;
}

/** Something that could not be read, and is left out. */
export interface DebugInfoProblem {
  readonly file: string;
  /** Offset in `.debug_info` of a unit, or of what it refers to. */
  readonly offset: number;
  readonly what: string;
}

/** Further problems are of no interest, except for the last one: it may say that the rest was given up. */
const MAX_PROBLEMS = 100;
/** How many units without ranges are searched for each address, and how many more for all addresses together. Few compilers make such units. */
const MAX_VISITS_PER_ADDRESS = 256;
const FREE_VISITS = 1 << 22;
const NO_RANGES: OwnRanges = { ranges: new UnitRanges(), unbounded: [] };

/**
 * Functions, files and lines at svmas, from DWARF 2 to 5. Units are read when addresses in them are looked up, each in one pass, and then dropped. Only the
 * functions that were found are kept.
 *
 * Frames are those of `llvm-symbolizer --inlines`: of overlapping functions, the one described last counts.
 */
export class DebugInfo implements SourceLines {
  readonly #loan = new WasmLoan();
  readonly #main: DwarfFile;
  readonly #openSplit: DebugInfoOptions['openSplit'];
  readonly #functions: SourceFunctions;
  readonly #problems: DebugInfoProblem[] = [];
  #aranges: UnitRanges | undefined;
  #ownRanges: OwnRanges | undefined;
  /** Settles when the latest look-up is over. */
  #last: Promise<unknown> = Promise.resolve();
  /** The last split file: if one file holds several units, these are asked for one after the other. */
  #lastSplit: SplitFile | undefined;

  private constructor(sections: DebugSections, { supplementary, openSplit }: DebugInfoOptions) {
    this.#main = new DwarfFile(sections, supplementary && new DwarfFile(supplementary, undefined, this.#loan), this.#loan);
    this.#openSplit = openSplit;
    this.#functions = new SourceFunctions((error, file, offset) => this.#note(error, file, offset));
  }

  /** Nothing is read yet. @param sections stay open as long as anything is looked up */
  static async open(sections: DebugSections, options: DebugInfoOptions = {}): Promise<DebugInfo> {
    return new DebugInfo(sections, options);
  }

  /** What could not be read so far. If there are more than a hundred, the first ones and the last. */
  get problems(): readonly DebugInfoProblem[] {
    return this.#problems;
  }

  /** Look-ups wait for one another: they search units in the same memory. */
  lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const done = this.#last.then(() => this.#lookup(addresses, visit)).finally(() => this.#loan.end());
    this.#last = done.catch(() => {});
    return done;
  }

  async #lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const found = new FoundFrames(addresses);
    this.#main.renewBudget();
    this.#main.supplementary?.renewBudget();
    this.#aranges ??= await this.#attempt(() => readAranges(this.#main), new UnitRanges());
    await this.#lookupClaimed(this.#aranges, found);
    if (found.open().length > 0) {
      const known = this.#aranges.units();
      this.#ownRanges ??= await this.#attempt(() => readOwnRanges(this.#main, known, (error, file, offset) => this.#note(error, file, offset)), NO_RANGES);
      await this.#lookupClaimed(this.#ownRanges.ranges, found);
      await this.#lookupUnbounded(this.#ownRanges.unbounded, found);
    }
    await this.#functions.finish();
    found.visit(visit);
  }

  async #lookupClaimed(ranges: UnitRanges, found: FoundFrames): Promise<void> {
    const claims = new AddressClaims(found.addresses);
    ranges.claim(claims);
    const units = [...claims.byUnit()];
    // One for the unit that is being searched, and one for the next, which is being read.
    const memories = [new ReusedMemory(), new ReusedMemory()];
    let next = units.length > 0 ? this.#readAhead(units[0][0], memories[0]) : undefined;
    for (const [i, [unit, indexes]] of units.entries()) {
      const bytes = next;
      next = i + 1 < units.length ? this.#readAhead(units[i + 1][0], memories[(i + 1) % 2]) : undefined;
      const open = indexes.filter((index) => !found.hasFunction(index));
      if (open.length > 0) await this.#lookupUnit(unit, open, found, true, bytes);
      // Its memory is used for the next unit but one.
      else await bytes?.catch(() => {});
    }
  }

  /** Searches units that do not say where their code is, one after the other. Each takes time for every address that is still open. */
  async #lookupUnbounded(units: readonly number[], found: FoundFrames): Promise<void> {
    let visitsLeft = found.addresses.length * MAX_VISITS_PER_ADDRESS + FREE_VISITS;
    for (const unit of units) {
      const open = found.open();
      if (open.length === 0) return;
      visitsLeft -= open.length;
      if (visitsLeft < 0) return this.#addProblem(this.#main, unit, `${units.length} units do not say where their code lies: too many to search them all`);
      await this.#lookupUnit(unit, open, found, false);
    }
  }

  /** Begins to read a unit's bytes, while others are searched. */
  #readAhead(offset: number, memory: ReusedMemory): Promise<UnitBytes> {
    const bytes = this.#main.readUnit(offset, memory);
    // Whoever awaits the bytes learns of damage. It may be that nobody does.
    bytes.catch(() => {});
    return bytes;
  }

  /**
   * @param offset where the unit starts
   * @param indexes of the addresses to look up
   * @param ownsAll whether the unit says that it covers them: then a line is an answer even without a function
   * @param bytes of the unit, if they are being read already
   */
  async #lookupUnit(offset: number, indexes: readonly number[], found: FoundFrames, ownsAll: boolean, bytes = this.#main.readUnit(offset)): Promise<void> {
    this.#loan.beginUnit();
    try {
      const unit = await this.#main.unitOf(await bytes);
      const rows = await this.#attempt(() => this.#rowsOf(unit), undefined, offset);
      const split = unit.root.dwoName && (await this.#attempt(() => this.#openSplitUnit(unit), undefined, offset));
      // A split unit without a line table of its own refers to files of the skeleton's.
      const files = split && ((await this.#attempt(() => split.unit.file.lineTable(split.unit), undefined, offset)) ?? rows);
      const frames = new UnitFrames(split?.unit ?? unit, rows, split ? files : rows, this.#functions);
      const wanted = found.addressesAt(indexes);
      const places = split?.addresses ?? (await this.#main.addressesOf(unit));
      await this.#attempt(() => frames.find(wanted, places), undefined, offset);
      this.#take(frames, wanted, indexes, found, ownsAll, offset);
      this.#functions.findScopes(split ? split.unit : unit, split ? files : rows);
      // The file is usually dropped after this, so it has to report its problems now.
      if (split) await this.#functions.finish(split.unit.file);
    } catch (error) {
      this.#note(error, this.#main, offset);
    }
  }

  /** Takes the frames that a unit has at some of the wanted addresses. @param offset where the unit starts, for messages */
  #take(frames: UnitFrames, wanted: Float64Array, indexes: readonly number[], found: FoundFrames, ownsAll: boolean, offset: number): void {
    for (let i = 0; i < indexes.length; i++) {
      try {
        if (ownsAll || frames.hasFunction(i)) found.set(indexes[i], frames.at(i, wanted[i], found.room));
      } catch (error) {
        this.#note(error, this.#main, offset);
      }
    }
    const { cutCount } = frames;
    if (cutCount === 0) return;
    const places = cutCount === 1 ? '1 address' : `${cutCount} addresses`;
    this.#addProblem(this.#main, offset, `the functions inlined at ${places} are left out: they are nested too deeply`);
  }

  async #rowsOf(unit: Unit): Promise<LineTable | undefined> {
    const table = await this.#main.lineTable(unit);
    // The rows are read now, so that damage in them only affects them.
    void table?.rows;
    return table;
  }

  /** @returns undefined if the file with the rest of the unit is missing */
  async #openSplitUnit(skeleton: Unit): Promise<SplitUnit | undefined> {
    const { dwoName, compDir, dwoId } = skeleton.root;
    const request = { dwoName: await this.#main.text(dwoName, skeleton), compDir: await this.#main.text(compDir, skeleton), dwoId };
    const sections = await this.#openSplit?.(request);
    if (sections !== undefined) {
      if (this.#lastSplit?.sections !== sections) this.#lastSplit = new SplitFile(sections, this.#loan);
      return this.#lastSplit.unitOf(skeleton);
    }
    // Whoever opens files knows which ones are missing.
    if (this.#openSplit === undefined) this.#addProblem(this.#main, skeleton.header.offset, `${request.dwoName} was not looked for`);
    return undefined;
  }

  async #attempt<T>(read: () => Promise<T>, otherwise: T, offset = 0): Promise<T> {
    try {
      return await read();
    } catch (error) {
      this.#note(error, this.#main, offset);
      return otherwise;
    }
  }

  /** Notes damage of one part. Errors that are not about the data are rethrown. */
  #note(error: unknown, file: DwarfFile, offset: number): void {
    if (!(error instanceof PerfconvError)) throw error;
    this.#addProblem(file, offset, error.message);
  }

  #addProblem(file: DwarfFile, offset: number, what: string): void {
    this.#problems[Math.min(this.#problems.length, MAX_PROBLEMS - 1)] = { file: file.sections.name, offset, what };
  }
}
