import { PerfconvError } from '../../base/problems/errors.ts';
import { firstAbove } from '../../base/tables/first-above.ts';
import { WasmLoan } from '../encoding/wasm-instance.ts';
import type { DebugSections } from '../sections/debug-sections.ts';
import { LineFiles, type LineTableUnit } from './line-files.ts';
import { forgetNames, type LineHeader, lineUnitSize, readLineHeader } from './line-header.ts';
import { type LineRows, runLineProgram } from './line-program.ts';
import { LineStrings } from './line-strings.ts';

export type { LineTableUnit } from './line-files.ts';

/** How many times a section's size all tables together may have: they share no bytes unless lengths are damaged. */
const MAX_SHARING = 4;
const FREE_SHARED_BYTES = 1 << 20;
/** How many times each table is read and run in one look-up, on average, and how many bytes in any case, for files with small tables. */
const MAX_TIMES_READ = 16;
const FREE_READ_BYTES = 4 << 20;

/** How many sequences are tried for one address if they overlap. Compilers' sequences do not. */
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
   * @param sections of a file, or of a `.dwo` file, whose tables have files but no rows
   * @param supplementary the file that {@link sections} shares strings with; absent if there is none
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
   * Reads the table at `offset` of `.debug_line`: its header now, its rows when they are asked for.
   * @throws PerfconvError when there is no table that can be read
   */
  async read(offset: number, unit: LineTableUnit): Promise<LineTable> {
    const section = this.#sections.section('line');
    const size = lineUnitSize(await section.read(offset, 12));
    const place = { file: this.#sections.name, offset };
    if (!this.#known.has(offset)) {
      this.#knownBytes += Math.max(0, Math.min(size, section.sizeBytes - offset));
      if (this.#knownBytes > MAX_SHARING * section.sizeBytes + FREE_SHARED_BYTES) throw new PerfconvError('damaged', 'line tables overlap too much', place);
      this.#known.add(offset);
    }
    // The size is not trusted: no more than the section has is read.
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
        // Files that the program defined when it was last run.
        forgetNames(header.files, listedFiles);
        return runLineProgram(this.#loan.wasm, view, header, hasCodeAtZero);
      },
      view.length,
    );
  }
}

/** How many bytes of tables may be read, and of programs run: units that use large tables in turn make them be read and run again each time. */
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

/** A line table (DWARF 5, 6.2): which line of which file each instruction comes from. */
export class LineTable {
  /** DWARF version of the table, which need not be the unit's. */
  readonly version: number;
  /** Size of the whole table in the file. */
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

  /**
   * All rows. The program is run when they are first asked for, and again if another table's rows took their place.
   * @throws PerfconvError `damaged` when that was far too often
   */
  get rows(): LineRows {
    if (this.#rows?.ensureCurrent() !== true) this.#rows = this.#run();
    return this.#rows;
  }

  /**
   * The row of an address: the last one that is not above it, in a sequence that covers it.
   * @returns an index of {@link rows}, −1 if no sequence covers the address
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
   * A file by the index that rows use, and DW_AT_decl_file and DW_AT_call_file of the table's version: joined with its directory and the unit's, with `.` and
   * `..` resolved. Up to version 4, index 0 is the unit's own name.
   * @returns the same string each time; empty if there is no such file
   */
  file(index: number): string {
    // The program may define further files.
    if (index >= this.#files.size && this.#rows === undefined) void this.rows;
    return this.#files.path(index);
  }
}
