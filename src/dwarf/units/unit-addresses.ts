import { numbersIn } from '../../base/bytes/little-endian.ts';
import { isLiveRange } from '../encoding/code-ranges.ts';
import type { UnitFormat } from '../encoding/forms.ts';
import type { AddressBases, WasmInstance, WasmLoan } from '../encoding/wasm-instance.ts';
import type { DebugSections } from '../sections/debug-sections.ts';
import { SectionWindow } from '../sections/section-window.ts';
import { ADDR, RANGES, RNGLISTS } from '../wasm/contract.ts';

/**
 * How often an entry of a range list is read, on average: lists are shared, and read again. In a hostile file, each DIE can refer to a long
 * one.
 */
const MAX_TIMES_READ = 16;
const SPARE_ENTRIES = 1 << 20;
/** No entry takes less: in `.debug_ranges` two offsets of four bytes, in `.debug_rnglists` a byte, or three if it is a range. */
const LEAST_PAIR_BYTES = 8;
const LEAST_RANGE_BYTES = 3;
/** How many units have the same range in their lists, on average. Sane units do not overlap. */
const MAX_OWNERS = 2;
const SPARE_RANGES = 1 << 16;

/** The sections in which a unit's addresses and range lists are. */
export class AddressSections {
  readonly ranges: SectionWindow;
  readonly rnglists: SectionWindow;
  readonly addr: SectionWindow;
  /** Whether 0 is an address like any other. */
  readonly hasCodeAtZero: boolean;
  /** How many entries of range lists may still be read. */
  entriesLeft: number;
  readonly #loan: WasmLoan;

  /**
   * @param loan of the instance that reads them, and the units that they belong to
   * @param main for a split unit: those of the file with the skeletons, which has its addresses, and range lists from before DWARF 5
   */
  constructor(sections: DebugSections, loan: WasmLoan, main?: AddressSections) {
    this.#loan = loan;
    this.ranges = main?.ranges ?? new SectionWindow(sections, 'ranges');
    this.rnglists = new SectionWindow(sections, 'rnglists');
    this.addr = main?.addr ?? new SectionWindow(sections, 'addr');
    this.hasCodeAtZero = (main ?? sections).hasCodeAtZero;
    this.entriesLeft = this.#maxEntries();
  }

  get wasm(): WasmInstance {
    return this.#loan.wasm;
  }

  /** Lets addresses and range lists be read a number of times again. */
  renewBudget(): void {
    for (const window of [this.ranges, this.rnglists, this.addr]) window.renewBudget();
    this.entriesLeft = this.#maxEntries();
  }

  /** How many ranges the lists of all units may have in all: they are kept. */
  get maxUnitRanges(): number {
    return MAX_OWNERS * (this.ranges.section.sizeBytes / LEAST_PAIR_BYTES + this.rnglists.section.sizeBytes / LEAST_RANGE_BYTES) + SPARE_RANGES;
  }

  #maxEntries(): number {
    return MAX_TIMES_READ * (this.ranges.section.sizeBytes / LEAST_PAIR_BYTES + this.rnglists.section.sizeBytes) + SPARE_ENTRIES;
  }
}

/**
 * The addresses of one unit: `DW_FORM_addrx` and range lists (DWARF 5, 2.17.3 and 7.25; DWARF 4, 2.17.3 and 7.23). WebAssembly reads them
 * from windows of their sections. It cannot access files: what it lacks is loaded, and it is asked again.
 */
export class UnitAddresses {
  readonly #sections: AddressSections;
  readonly #format: UnitFormat;
  readonly #bases: AddressBases;

  constructor(sections: AddressSections, format: UnitFormat, bases: AddressBases) {
    this.#sections = sections;
    this.#format = format;
    this.#bases = bases;
  }

  get wasm(): WasmInstance {
    return this.#sections.wasm;
  }

  /**
   * Runs a function that reads addresses of this unit from what is in memory.
   * @throws PerfconvError `damaged` when there are far too many
   */
  use<T>(read: () => T): T {
    const { wasm, ranges, rnglists, addr, hasCodeAtZero } = this.#sections;
    const { exports } = wasm;
    wasm.showWindow(RANGES, ranges);
    wasm.showWindow(RNGLISTS, rnglists);
    wasm.showWindow(ADDR, addr);
    wasm.setUnit(this.#format, this.#bases, hasCodeAtZero, addr.view.littleEndian);
    exports.entriesLeft.value = this.#sections.entriesLeft;
    try {
      return read();
    } finally {
      this.#sections.entriesLeft = exports.entriesLeft.value;
    }
  }

  /** Loads what was missing. @throws PerfconvError when that cannot be read */
  async load(): Promise<void> {
    const { ranges, rnglists, addr } = this.#sections;
    const { missing, missingOffset, missingSizeBytes } = this.wasm.exports;
    const number = missing.value;
    if (number >= 0) await [ranges, rnglists, addr][number].load(missingOffset.value, missingSizeBytes.value);
  }

  /** {@link isLiveRange} for the unit's addresses. */
  isLive(start: number, end: number): boolean {
    return isLiveRange(start, end, this.#format.addressSize, this.#sections.hasCodeAtZero);
  }

  /** The value of an attribute that is an address: DW_FORM_addr, or an index of any form. NaN if there is none. */
  async addressOf(form: number, value: number): Promise<number> {
    const { exports } = this.wasm;
    for (let tries = 0; ; tries++) {
      const address = this.use(() => exports.addressOf(form, value));
      if (exports.missing.value < 0 || tries > 0) return address;
      await this.load();
    }
  }

  /**
   * The live ranges of a DW_AT_ranges, in their order: starts and ends in turn.
   * @throws PerfconvError `damaged` when a list is cut, or lists have far too many entries
   */
  async ranges(form: number, value: number): Promise<Float64Array> {
    const { exports } = this.wasm;
    while (this.use(() => exports.readRanges(form, value)) === 0) await this.load();
    const { memory, rangeStarts, rangeEnds, rangeCount } = exports;
    const ranges = new Float64Array(2 * rangeCount.value);
    const starts = numbersIn(Float64Array, memory.buffer, rangeStarts.value, rangeCount.value);
    const ends = numbersIn(Float64Array, memory.buffer, rangeEnds.value, rangeCount.value);
    for (let i = 0; i < starts.length; i++) {
      ranges[2 * i] = starts[i];
      ranges[2 * i + 1] = ends[i];
    }
    return ranges;
  }
}
