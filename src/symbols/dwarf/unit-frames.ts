import type { SourceFrame, SourceFunction } from '../code-symbols.ts';
import type { Unit } from './dwarf-file.ts';
import type { FunctionClaims } from './function-claims.ts';
import { FunctionScan, SCAN_ALL, SCAN_CODE, SCAN_FUNCTIONS } from './function-scan.ts';
import type { LineTable } from './line-table.ts';
import type { SourceFunctions } from './source-functions.ts';
import type { UnitAddresses } from './unit-addresses.ts';

/** A function of a unit, and the frame that it is called from if it is inlined. */
interface FoundFunction {
  readonly function: SourceFunction;
  /** Of the function around it: the same for all addresses in this one. Undefined where that is no function of interest. */
  readonly caller: SourceFrame | undefined;
  readonly parent: FoundFunction | undefined;
  /** How many callers it has, one in the other. */
  readonly depth: number;
}

/** The frames at addresses of one unit. */
export class UnitFrames {
  readonly #unit: Unit;
  readonly #rows: LineTable | undefined;
  readonly #files: LineTable | undefined;
  readonly #functions: SourceFunctions;
  /** By index of the wanted addresses: the innermost function, as an index of its scan's; −1 for none. */
  #innermost: Int32Array = new Int32Array();
  /** By index of the wanted addresses: what that scan has found. */
  #claims: FunctionClaims[] = [];
  /** The functions of a scan by its indexes, as far as they were asked for. */
  readonly #found = new Map<FunctionClaims, (FoundFunction | undefined)[]>();

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

  /** Finds the functions at addresses, which are ascending. @throws PerfconvError when not all can be; those found before stay */
  async find(wanted: Float64Array, addresses: UnitAddresses): Promise<void> {
    const { view, abbreviations, header, dieAt } = this.#unit;
    const unit = { view, format: header, abbreviations, addresses, dieAt };
    const first = new FunctionScan(unit, wanted, SCAN_CODE);
    this.#innermost = first.found.innermost;
    this.#claims = new Array(wanted.length).fill(first.found);
    await first.run();
    if (!first.hasSkipped) return;
    let open = this.#openIn(wanted, first.found);
    // Hardly any address is left for the wider ones.
    for (const scope of [SCAN_FUNCTIONS, SCAN_ALL] as const) {
      if (open.length === 0) return;
      const ofOpen = Float64Array.from(open, (index) => wanted[index]);
      const scan = new FunctionScan(unit, ofOpen, scope);
      try {
        await scan.run();
      } finally {
        for (const [i, index] of open.entries()) {
          this.#innermost[index] = scan.found.innermost[i];
          this.#claims[index] = scan.found;
        }
      }
      if (!scan.hasSkipped) return;
      const indexes = open;
      open = this.#openIn(ofOpen, scan.found).map((i) => indexes[i]);
    }
  }

  /** Indexes of the addresses of a scan that it found no function for though they are code. */
  #openIn(wanted: Float64Array, claims: FunctionClaims): number[] {
    const { innermost } = claims;
    const ends = claims.endsBefore();
    const open: number[] = [];
    for (let i = 0; i < wanted.length; i++) if (innermost[i] < 0 && this.#isCode(wanted[i], ends[i])) open.push(i);
    return open;
  }

  /**
   * Whether an address without a function is more than what fills the room behind one: no row starts there, or but the one that
   * gcc leaves behind a call or jump at a function's end, which says what the row before it says.
   * @param endBefore where the last function before it ends
   */
  #isCode(svma: number, endBefore: number): boolean {
    if (this.#rows === undefined) return true;
    const row = this.#rows.find(svma);
    if (row < 0) return false;
    const { addresses, files, lines, columns } = this.#rows.rows;
    if (addresses[row] !== endBefore || row === 0) return addresses[row] >= endBefore;
    const before = row - 1;
    return files[before] !== files[row] || lines[before] !== lines[row] || columns[before] !== columns[row];
  }

  hasFunction(index: number): boolean {
    return this.#innermost[index] >= 0;
  }

  /** The frames at an address, innermost first; none when nothing is known. @throws PerfconvError when its functions cannot be read */
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
    const die = this.#innermost[index];
    if (die < 0) return row < 0 ? [] : [{ function: undefined, file, line, column }];
    const claims = this.#claims[index];
    let inlined = this.#functionAt(claims, this.#foundOf(claims), die);
    // hot: an array that grows has room for many more
    const frames = new Array<SourceFrame>(inlined.depth + 1);
    frames[0] = { function: inlined.function, file, line, column };
    for (let i = 1; inlined.caller !== undefined && inlined.parent !== undefined; inlined = inlined.parent) frames[i++] = inlined.caller;
    return frames;
  }

  #foundOf(claims: FunctionClaims): (FoundFunction | undefined)[] {
    let found = this.#found.get(claims);
    if (found === undefined) {
      found = new Array(claims.count).fill(undefined);
      this.#found.set(claims, found);
    }
    return found;
  }

  /** Parents come first: they have lower indexes. */
  #functionAt(claims: FunctionClaims, found: (FoundFunction | undefined)[], index: number): FoundFunction {
    const known = found[index];
    if (known !== undefined) return known;
    const dieAt = claims.dies[index];
    const parentIndex = claims.parents[index];
    const parent = parentIndex < 0 ? undefined : this.#functionAt(claims, found, parentIndex);
    const die = this.#unit.functionDies;
    die.read(dieAt);
    const { callFile, callLine, callColumn } = die;
    const caller = parent && { function: parent.function, file: this.#callFile(callFile, callLine, parent.function), line: callLine, column: callColumn };
    const depth = parent === undefined ? 0 : parent.depth + 1;
    const described = { function: this.#functions.functionOf(this.#unit, dieAt, this.#files), caller, parent, depth };
    found[index] = described;
    return described;
  }

  /** The file of a call. Zig's own backend leaves it out: no function of it has lines in two files. */
  #callFile(index: number, line: number, caller: SourceFunction): string {
    if (index >= 0) return this.#files?.file(index) ?? '';
    return line > 0 ? caller.file : '';
  }
}
