import type { SourceFrame, SourceFunction } from '../../symbol-table/code-symbols.ts';
import type { LineTable } from '../lines/line-table.ts';
import type { Unit } from '../units/dwarf-file.ts';
import type { UnitAddresses } from '../units/unit-addresses.ts';
import { SCAN_ALL, SCAN_CODE, SCAN_FUNCTIONS } from '../wasm/contract.ts';
import { type FunctionClaims, FunctionScan } from './function-scan.ts';
import type { SourceFunctions } from './source-functions.ts';

/** The functions that a scan found, by index in the scan, as far as they were asked for. */
class ScannedFunctions {
  readonly claims: FunctionClaims;
  readonly functions: (SourceFunction | undefined)[];
  /** The frame that an inlined function is called from: the same one for all addresses in it. */
  readonly callers: (SourceFrame | undefined)[];
  /** Functions that may have more inlined into them than is known: a line in them may belong to an inlined function. */
  readonly unfinished: ReadonlySet<number>;

  /** @param claims of a scan that is over */
  constructor(claims: FunctionClaims) {
    this.claims = claims;
    this.unfinished = new Set(claims.unfinished);
    this.functions = new Array(claims.dies.length).fill(undefined);
    this.callers = new Array(claims.dies.length).fill(undefined);
  }
}

/** The frames at addresses of one unit. */
export class UnitFrames {
  readonly #unit: Unit;
  readonly #rows: LineTable | undefined;
  readonly #files: LineTable | undefined;
  readonly #functions: SourceFunctions;
  /** By index of the wanted addresses: the innermost function, as an index in its scan; −1 for none. */
  #innermost: Int32Array = new Int32Array();
  /** By index of the wanted addresses: what its scan has found. */
  #scanned: ScannedFunctions[] = [];
  /** How many addresses had so many functions that the inlined ones were left out. */
  #cutCount = 0;
  /** Functions that are still to be described, innermost first: empty between uses. */
  readonly #undescribed: number[] = [];

  /**
   * @param rows the table with the lines of addresses
   * @param files the table with the files that DIEs refer to by index
   */
  constructor(unit: Unit, rows: LineTable | undefined, files: LineTable | undefined, functions: SourceFunctions) {
    this.#unit = unit;
    this.#rows = rows;
    this.#files = files;
    this.#functions = functions;
  }

  /** Finds the functions at addresses, which are ascending. @throws PerfconvError if not all can be found; those found before are kept */
  async find(wanted: Float64Array, addresses: UnitAddresses): Promise<void> {
    const { view, abbreviations, header, dieAt } = this.#unit;
    const unit = { view, format: header, abbreviations, addresses, dieAt };
    this.#innermost = new Int32Array(wanted.length).fill(-1);
    const first = new FunctionScan(unit, wanted, SCAN_CODE);
    let found: FunctionClaims;
    try {
      await first.run();
    } finally {
      found = first.found();
      this.#innermost = found.innermost;
      this.#scanned = new Array(wanted.length).fill(new ScannedFunctions(found));
    }
    if (!found.hasSkipped) return;
    let open = this.#openIn(wanted, found);
    // Hardly any address is left for the wider scans.
    for (const scope of [SCAN_FUNCTIONS, SCAN_ALL] as const) {
      if (open.length === 0) return;
      const ofOpen = Float64Array.from(open, (index) => wanted[index]);
      const scan = new FunctionScan(unit, ofOpen, scope);
      try {
        await scan.run();
      } finally {
        found = scan.found();
        const scanned = new ScannedFunctions(found);
        for (const [i, index] of open.entries()) {
          this.#innermost[index] = found.innermost[i];
          this.#scanned[index] = scanned;
        }
      }
      if (!found.hasSkipped) return;
      const indexes = open;
      open = this.#openIn(ofOpen, found).map((i) => indexes[i]);
    }
  }

  /** Indexes of the addresses for which a scan found no function though they are code. */
  #openIn(wanted: Float64Array, claims: FunctionClaims): number[] {
    const { innermost, endsBefore } = claims;
    const open: number[] = [];
    for (let i = 0; i < wanted.length; i++) if (innermost[i] < 0 && this.#isCode(wanted[i], endsBefore[i])) open.push(i);
    return open;
  }

  /**
   * Whether an address without a function is more than padding after one. In padding, no row starts, or only the one that gcc leaves after a
   * call or jump at a function's end, which repeats the row before it.
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

  /** How many addresses so far had more frames than there was room for. */
  get cutCount(): number {
    return this.#cutCount;
  }

  /**
   * The frames at an address, innermost first; none if nothing is known.
   * @param most how many frames there is room for; if there are more, only the outermost function is returned, at the line that calls the
   * next one
   * @throws PerfconvError when its functions cannot be read
   */
  at(index: number, svma: number, most: number): readonly SourceFrame[] {
    const innermost = this.#innermost[index];
    const row = this.#rows?.find(svma) ?? -1;
    if (innermost < 0) return row < 0 ? [] : [this.#frame(undefined, row)];
    const scanned = this.#scanned[index];
    const { parents } = scanned.claims;
    let depth = 1;
    let inOutermost = -1;
    for (let i = innermost; parents[i] >= 0; i = parents[i]) {
      inOutermost = i;
      depth++;
    }
    if (depth > most && depth > 1) {
      this.#cutCount++;
      this.#describe(scanned, inOutermost);
      return [scanned.callers[inOutermost]!];
    }
    if (scanned.functions[innermost] === undefined) this.#describe(scanned, innermost);
    // hot: an array that grows has room for many more
    const frames = new Array<SourceFrame>(depth);
    frames[0] = this.#frame(scanned.functions[innermost], scanned.unfinished.has(innermost) ? -1 : row);
    for (let i = innermost, nth = 1; nth < depth; i = parents[i], nth++) frames[nth] = scanned.callers[i]!;
    return frames;
  }

  /** @param row of the line table; −1 for none */
  #frame(described: SourceFunction | undefined, row: number): SourceFrame {
    if (row < 0) return { function: described, file: '', line: 0, column: 0 };
    const { files, lines, columns } = this.#rows!.rows;
    return { function: described, file: this.#rows!.file(files[row]), line: lines[row], column: columns[row] };
  }

  /** Describes a function that a scan found, and the frames that it is called from. */
  #describe(scanned: ScannedFunctions, index: number): void {
    const { functions, callers, claims } = scanned;
    const { dies, parents } = claims;
    const left = this.#undescribed;
    left.length = 0;
    for (let i = index; i >= 0 && functions[i] === undefined; i = parents[i]) left.push(i);
    const die = this.#unit.functionDies;
    for (let i = left.pop(); i !== undefined; i = left.pop()) {
      die.read(dies[i]);
      const caller = parents[i] < 0 ? undefined : functions[parents[i]];
      if (caller !== undefined) {
        const { callFile, callLine, callColumn } = die;
        callers[i] = { function: caller, file: this.#callFile(callFile, callLine, caller), line: callLine, column: callColumn };
      }
      functions[i] = this.#functions.functionOf(this.#unit, dies[i], this.#files, caller !== undefined);
    }
  }

  /** The file of a call. Zig's own backend leaves it out: none of its functions has lines in two files. */
  #callFile(index: number, line: number, caller: SourceFunction): string {
    if (index >= 0) return this.#files?.file(index) ?? '';
    return line > 0 ? caller.file : '';
  }
}
