import { PerfconvError } from '../../errors.ts';
import type { SourceFrame, SourceFunction, SourceLines } from '../code-symbols.ts';
import { AddressClaims } from './address-claims.ts';
import type { DebugSections } from './debug-sections.ts';
import { DwarfFile, type Unit } from './dwarf-file.ts';
import { FunctionScan } from './function-scan.ts';
import type { LineTable } from './line-table.ts';
import { SourceFunctions } from './source-functions.ts';
import { readSplitUnit, type SplitUnit } from './split-unit.ts';
import type { UnitAddresses } from './unit-addresses.ts';
import { type OwnRanges, readAranges, readOwnRanges, UnitRanges } from './unit-ranges.ts';

/** The file in which the rest of a unit is. */
export interface SplitRequest {
  /** DW_AT_dwo_name: a path, mostly relative to {@link compDir}. */
  readonly dwoName: string;
  /** Empty when unknown. */
  readonly compDir: string;
  /** 16 hex digits; empty when unknown. */
  readonly dwoId: string;
}

/** What else belongs to the debug sections of a file. */
export interface DebugInfoOptions {
  /** The file that `.gnu_debugaltlink` or `.debug_sup` names: what dwz took out of several. */
  readonly supplementary?: DebugSections;
  /** Opens a `.dwo` file, or its part of a `.dwp` file; undefined when there is none. Without it, split units have lines alone. */
  readonly openSplit?: (request: SplitRequest) => Promise<DebugSections | undefined>;
}

/** Something that could not be read, and is left out. */
export interface DebugInfoProblem {
  readonly file: string;
  /** Of a unit, or of what it refers to, in `.debug_info`. */
  readonly offset: number;
  readonly what: string;
}

/** More problems than this are not of interest. */
const MAX_PROBLEMS = 100;
const NO_RANGES: OwnRanges = { ranges: new UnitRanges(), unbounded: [] };

/**
 * Functions, files and lines at svmas, from DWARF 2 to 5. Units are read when addresses in them are asked for, each in one pass, and
 * are dropped then; what remains is the functions found.
 *
 * Frames are those of `llvm-symbolizer --inlines`: of functions that overlap the last described one counts.
 */
export class DebugInfo implements SourceLines {
  readonly #main: DwarfFile;
  readonly #openSplit: DebugInfoOptions['openSplit'];
  readonly #functions: SourceFunctions;
  readonly #problems: DebugInfoProblem[] = [];
  #aranges: UnitRanges | undefined;
  #ownRanges: OwnRanges | undefined;

  private constructor(sections: DebugSections, { supplementary, openSplit }: DebugInfoOptions) {
    this.#main = new DwarfFile(sections, supplementary && new DwarfFile(supplementary));
    this.#openSplit = openSplit;
    this.#functions = new SourceFunctions((error, file, offset) => this.#note(error, file, offset));
  }

  /** Nothing is read yet. @param sections stay open as long as anything is looked up */
  static async open(sections: DebugSections, options: DebugInfoOptions = {}): Promise<DebugInfo> {
    return new DebugInfo(sections, options);
  }

  /** What could not be read so far: the first hundred. */
  get problems(): readonly DebugInfoProblem[] {
    return this.#problems;
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const found = new FoundFrames(addresses);
    this.#aranges ??= await this.#attempt(() => readAranges(this.#main), new UnitRanges());
    await this.#lookupClaimed(this.#aranges, found);
    if (found.hasOpen) {
      const known = this.#aranges.units();
      this.#ownRanges ??= await this.#attempt(() => readOwnRanges(this.#main, known, (error, file, offset) => this.#note(error, file, offset)), NO_RANGES);
      await this.#lookupClaimed(this.#ownRanges.ranges, found);
      for (const unit of this.#ownRanges.unbounded) if (found.hasOpen) await this.#lookupUnit(unit, found.open(), found, false);
    }
    await this.#functions.finish();
    found.visit(visit);
  }

  async #lookupClaimed(ranges: UnitRanges, found: FoundFrames): Promise<void> {
    const claims = new AddressClaims(found.addresses);
    ranges.claim(claims);
    for (const [unit, indexes] of claims.byUnit()) {
      const open = indexes.filter((index) => !found.hasFunction(index));
      if (open.length > 0) await this.#lookupUnit(unit, open, found, true);
    }
  }

  /**
   * @param offset where the unit starts
   * @param indexes of the addresses to look for
   * @param ownsAll whether the unit says that it holds them: then a line is an answer even without a function
   */
  async #lookupUnit(offset: number, indexes: readonly number[], found: FoundFrames, ownsAll: boolean): Promise<void> {
    try {
      const unit = await this.#main.unitAt(offset);
      const rows = await this.#attempt(() => this.#main.lineTable(unit), undefined, offset);
      const split = unit.root.dwoName && (await this.#attempt(() => this.#openSplitUnit(unit), undefined, offset));
      // Without its own table, a split unit names files of the skeleton's.
      const files = split && ((await this.#attempt(() => split.unit.file.lineTable(split.unit), undefined, offset)) ?? rows);
      const frames = new UnitFrames(split?.unit ?? unit, rows, split ? files : rows, this.#functions);
      const wanted = Float64Array.from(indexes, (index) => found.addresses[index]);
      await frames.find(wanted, split?.addresses ?? (await this.#main.addressesOf(unit)));
      for (let i = 0; i < indexes.length; i++) if (ownsAll || frames.hasFunction(i)) found.set(indexes[i], frames.at(i, wanted[i]));
      // The file is dropped: what it has to tell is told now.
      if (split) await this.#functions.finish(split.unit.file);
    } catch (error) {
      this.#note(error, this.#main, offset);
    }
  }

  /** @returns undefined when the file with the rest of the unit is not there */
  async #openSplitUnit(skeleton: Unit): Promise<SplitUnit | undefined> {
    const { dwoName, compDir, dwoId } = skeleton.root;
    const request = { dwoName: await this.#main.text(dwoName, skeleton), compDir: await this.#main.text(compDir, skeleton), dwoId };
    const sections = await this.#openSplit?.(request);
    if (sections !== undefined) return readSplitUnit(skeleton, sections);
    // Who opens files knows which ones are not there.
    if (this.#openSplit === undefined) this.#addProblem(this.#main, skeleton.header.offset, `${request.dwoName} is not looked for`);
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

  /** Keeps what damage a part has; errors that are not about the data are thrown on. */
  #note(error: unknown, file: DwarfFile, offset: number): void {
    if (!(error instanceof PerfconvError)) throw error;
    this.#addProblem(file, offset, error.message);
  }

  #addProblem(file: DwarfFile, offset: number, what: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ file: file.sections.name, offset, what });
  }
}

/** What is known of each address of one look-up. */
class FoundFrames {
  readonly addresses: Float64Array;
  readonly #frames: (readonly SourceFrame[] | undefined)[];

  constructor(addresses: Float64Array) {
    this.addresses = addresses;
    this.#frames = new Array(addresses.length);
  }

  hasFunction(index: number): boolean {
    return this.#frames[index]?.[0].function !== undefined;
  }

  get hasOpen(): boolean {
    for (let i = 0; i < this.addresses.length; i++) if (!this.hasFunction(i)) return true;
    return false;
  }

  /** Indexes of the addresses without a function. */
  open(): number[] {
    return Array.from(this.addresses.keys()).filter((index) => !this.hasFunction(index));
  }

  /** Keeps frames, unless there are none or there are better ones. */
  set(index: number, frames: readonly SourceFrame[]): void {
    if (frames.length > 0 && (this.#frames[index] === undefined || frames[0].function !== undefined)) this.#frames[index] = frames;
  }

  visit(visit: (index: number, frames: readonly SourceFrame[]) => void): void {
    for (let i = 0; i < this.addresses.length; i++) {
      const frames = this.#frames[i];
      if (frames !== undefined) visit(i, frames);
    }
  }
}

/** A function of a unit, and where it is called if it is inlined. */
interface FoundFunction {
  readonly function: SourceFunction;
  readonly parent: number;
  readonly callFile: string;
  readonly callLine: number;
  readonly callColumn: number;
}

/** The frames at addresses of one unit. */
class UnitFrames {
  readonly #unit: Unit;
  readonly #rows: LineTable | undefined;
  readonly #files: LineTable | undefined;
  readonly #functions: SourceFunctions;
  /** By index of the wanted addresses: the innermost function, as an index of its scan's; −1 for none. */
  #innermost: Int32Array = new Int32Array();
  #scans: FunctionScan[] = [];
  /** By where the function's DIE stands. */
  readonly #found = new Map<number, FoundFunction>();

  /**
   * @param rows tells the lines of addresses
   * @param files tells the files that DIEs name by index
   */
  constructor(unit: Unit, rows: LineTable | undefined, files: LineTable | undefined, functions: SourceFunctions) {
    this.#unit = unit;
    this.#rows = rows;
    this.#files = files;
    this.#functions = functions;
  }

  /** Finds the functions at addresses, which are ascending. */
  async find(wanted: Float64Array, addresses: UnitAddresses): Promise<void> {
    const { view, abbreviations, header, dieAt } = this.#unit;
    const unit = { view, format: header, abbreviations, addresses, dieAt };
    const scan = new FunctionScan(unit, wanted, false);
    await scan.run();
    this.#innermost = scan.innermost;
    this.#scans = new Array(wanted.length).fill(scan);
    if (!scan.hasSkipped) return;
    const open = Array.from(wanted.keys()).filter((index) => scan.innermost[index] < 0 && this.#isCode(wanted[index], scan.endsBefore[index]));
    if (open.length === 0) return;
    const second = new FunctionScan(
      unit,
      Float64Array.from(open, (index) => wanted[index]),
      true,
    );
    await second.run();
    for (const [i, index] of open.entries()) {
      this.#innermost[index] = second.innermost[i];
      this.#scans[index] = second;
    }
  }

  /**
   * Whether an address without a function is more than what fills the room behind one: no row starts there.
   * @param endBefore where the last function before it ends
   */
  #isCode(svma: number, endBefore: number): boolean {
    if (this.#rows === undefined) return true;
    const row = this.#rows.find(svma);
    return row >= 0 && this.#rows.rows.addresses[row] >= endBefore;
  }

  hasFunction(index: number): boolean {
    return this.#innermost[index] >= 0;
  }

  /** The frames at an address, innermost first; none when nothing is known. */
  at(index: number, svma: number): readonly SourceFrame[] {
    const row = this.#rows?.find(svma) ?? -1;
    let file = '';
    let line = 0;
    let column = 0;
    if (row >= 0) {
      const { files, lines, columns } = this.#rows!.rows;
      file = this.#rows!.file(files[row]);
      line = lines[row];
      column = columns[row];
    }
    let die = this.#innermost[index];
    if (die < 0) return row < 0 ? [] : [{ function: undefined, file, line, column }];
    const frames: SourceFrame[] = [];
    while (die >= 0) {
      const found = this.#functionAt(this.#scans[index], die);
      frames.push({ function: found.function, file, line, column });
      file = found.callFile;
      line = found.callLine;
      column = found.callColumn;
      die = found.parent;
    }
    return frames;
  }

  #functionAt(scan: FunctionScan, index: number): FoundFunction {
    const dieAt = scan.dies[index];
    const known = this.#found.get(dieAt);
    if (known !== undefined) return known;
    const die = this.#unit.functionDies;
    die.read(dieAt);
    const { callFile, callLine, callColumn } = die;
    const parent = scan.parents[index];
    const found = {
      function: this.#functions.functionOf(this.#unit, dieAt, this.#files),
      parent,
      callFile: parent < 0 || callFile < 0 ? '' : (this.#files?.file(callFile) ?? ''),
      callLine,
      callColumn,
    };
    this.#found.set(dieAt, found);
    return found;
  }
}
