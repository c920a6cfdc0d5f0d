import { PerfconvError } from '../base/errors.ts';
import { firstAbove } from '../base/first-above.ts';
import type { DebugSections } from './debug-sections.ts';
import { LineFiles, type LineTableUnit } from './line-files.ts';
import { forgetNames, type LineHeader, lineUnitSize, readLineHeader } from './line-header.ts';
import { type LineRows, runLineProgram } from './line-program.ts';
import { LineStrings } from './line-strings.ts';
import { WasmLoan } from './wasm-instance.ts';

export type { LineTableUnit } from './line-files.ts';

/** Tables do not share bytes, but for damaged lengths. How many times a section's size all tables together may have. */
const MAX_SHARING = 4;
const FREE_SHARED_BYTES = 1 << 20;
/** How many times each table is read and run in one look-up, on average; and how much in any case, for files with little of it. */
const MAX_TIMES_READ = 16;
const FREE_READ_BYTES = 4 << 20;

/** How many sequences are looked at for one address, where they overlap. Compilers' do not. */
const MAX_OVERLAPPING_SEQUENCES = 16;

/** Reads the line tables of one file. */
export class LineTableReader {
  readonly #sections: DebugSections;
  readonly #strings: LineStrings;
  readonly #loan: WasmLoan;
  readonly #budget: LineBudget;
  /** Offsets of the tables read so far, and the sum of their sizes. */
  readonly #known = new Set<number>();
  #knownBytes = 0;

  /**
   * @param sections a file's; or a `.dwo` file's, whose tables have files and no rows
   * @param supplementary the file that {@link sections} shares strings with; absent where there is none
   * @param loan of the instance that runs programs; by default it has its own
   */
  constructor(sections: DebugSections, supplementary?: DebugSections, loan = new WasmLoan()) {
    this.#sections = sections;
    this.#strings = new LineStrings(sections, supplementary);
    this.#loan = loan;
    this.#budget = new LineBudget(sections);
  }

  /** Lets tables be read and run a number of times again. */
  renewBudget(): void {
    this.#budget.renew();
  }

  /**
   * Reads the table at `offset` of `.debug_line`: its header at once, its rows when they are asked for.
   * @throws PerfconvError when there is no table that can be read
   */
  async read(offset: number, unit: LineTableUnit): Promise<LineTable> {
    const section = this.#sections.section('line');
    const size = lineUnitSize(await section.read(offset, 12));
    const place = { file: this.#sections.name, offset };
    if (!this.#known.has(offset)) {
      this.#knownBytes += Math.max(0, Math.min(size, section.sizeBytes - offset));
      if (this.#knownBytes > MAX_SHARING * section.sizeBytes + FREE_SHARED_BYTES) throw new PerfconvError('damaged', 'line tables lie in one another', place);
      this.#known.add(offset);
    }
    // The size is not trusted: no more is read than there is.
    const view = await section.read(offset, size);
    this.#budget.spend(view.length);
    const header = readLineHeader(view, place);
    const files = new LineFiles(header, await this.#strings.of(view, header, unit.strOffsetsBase), unit);
    const { hasCodeAtZero } = this.#sections;
    const listedFiles = header.files.places.length;
    return new LineTable(
      header,
      files,
      () => {
        this.#budget.spend(view.length);
        // Those that the program defined when it was run before.
        forgetNames(header.files, listedFiles);
        return runLineProgram(this.#loan.wasm, view, header, hasCodeAtZero);
      },
      view.length,
    );
  }
}

/** How many bytes of tables may be read, and of programs run: units that take turns with large tables have them read and run again each time. */
class LineBudget {
  readonly #file: string;
  readonly #allBytes: number;
  #bytesLeft: number;

  constructor(sections: DebugSections) {
    this.#file = sections.name;
    this.#allBytes = MAX_TIMES_READ * sections.section('line').sizeBytes + FREE_READ_BYTES;
    this.#bytesLeft = this.#allBytes;
  }

  renew(): void {
    this.#bytesLeft = this.#allBytes;
  }

  spend(bytes: number): void {
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) throw new PerfconvError('damaged', 'line tables are read over and over', { file: this.#file, record: '.debug_line' });
  }
}

/** A line table (DWARF 5, 6.2): which line of which file each instruction was made from. */
export class LineTable {
  /** DWARF version of the table, which need not be the unit's. */
  readonly version: number;
  /** Of the whole table, as it is in the file. */
  readonly sizeBytes: number;
  readonly #files: LineFiles;
  readonly #run: () => LineRows;
  #rows: LineRows | undefined;

  /** Made by {@link LineTableReader}. @param run runs its program */
  constructor(header: LineHeader, files: LineFiles, run: () => LineRows, sizeBytes: number) {
    this.version = header.version;
    this.sizeBytes = sizeBytes;
    this.#files = files;
    this.#run = run;
  }

  /** All rows; read when they are asked for, and again when those of another table were meanwhile. @throws PerfconvError `damaged` when that was far too often */
  get rows(): LineRows {
    if (this.#rows?.areHeld() !== true) this.#rows = this.#run();
    return this.#rows;
  }

  /**
   * The row of an address: the last one that is not above it, in a sequence that holds it.
   * @returns an index of {@link rows}, −1 when no sequence holds the address
   */
  find(svma: number): number {
    const { addresses, sequences } = this.rows;
    const { starts, ends, firstRows, endRows } = sequences;
    const first = firstAbove(ends, svma, 0, ends.length);
    const last = Math.min(ends.length, first + MAX_OVERLAPPING_SEQUENCES);
    for (let i = first; i < last; i++) {
      if (starts[i] <= svma) return firstAbove(addresses, svma, firstRows[i], endRows[i]) - 1;
    }
    return -1;
  }

  /**
   * A file by its index as rows, DW_AT_decl_file and DW_AT_call_file of the table's version have it: joined with its directory
   * and the unit's, `.` and `..` resolved. Up to version 4, index 0 is the unit's own name.
   * @returns empty when there is no such file; the same string each time
   */
  file(index: number): string {
    // A program may define files, too.
    if (index >= this.#files.size && this.#rows === undefined) void this.rows;
    return this.#files.path(index);
  }
}
