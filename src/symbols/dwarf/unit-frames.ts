import type { SourceFrame, SourceFunction } from '../code-symbols.ts';
import type { Unit } from './dwarf-file.ts';
import { FunctionScan } from './function-scan.ts';
import type { LineTable } from './line-table.ts';
import type { SourceFunctions } from './source-functions.ts';
import type { UnitAddresses } from './unit-addresses.ts';

/** A function of a unit, and where it is called if it is inlined. */
interface FoundFunction {
  readonly function: SourceFunction;
  readonly parent: number;
  readonly callFile: string;
  readonly callLine: number;
  readonly callColumn: number;
}

/** The frames at addresses of one unit. */
export class UnitFrames {
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

  /** Finds the functions at addresses, which are ascending. @throws PerfconvError when not all can be; those found before stay */
  async find(wanted: Float64Array, addresses: UnitAddresses): Promise<void> {
    const { view, abbreviations, header, dieAt } = this.#unit;
    const unit = { view, format: header, abbreviations, addresses, dieAt };
    const scan = new FunctionScan(unit, wanted, false);
    this.#innermost = scan.innermost;
    this.#scans = new Array(wanted.length).fill(scan);
    await scan.run();
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
