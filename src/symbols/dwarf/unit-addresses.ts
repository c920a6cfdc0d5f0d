import { PerfconvError } from '../../errors.ts';
import { grown } from '../../intern/growable.ts';
import type { DebugSections } from './debug-sections.ts';
import * as dw from './dwarf-constants.ts';
import { FormReader, type UnitFormat } from './forms.ts';
import { SectionWindow } from './section-window.ts';

/** Most range lists are far shorter; whoever has more than fits the window gets a larger one. */
const RANGES_SIZE_BYTES = 1 << 12;
/** How often an entry of a range list is read, on average: lists are shared, and read again. Hostile files can have each DIE name a long one. */
const MAX_TIMES_READ = 16;
const SPARE_ENTRIES = 1 << 20;

/** The sections in which a unit's addresses and range lists stand. */
export class AddressSections {
  readonly ranges: SectionWindow;
  readonly rnglists: SectionWindow;
  readonly addr: SectionWindow;
  /** Whether 0 is an address like others. */
  readonly hasCodeAtZero: boolean;
  #entriesLeft: number;

  /** @param main of the file with the skeletons, for a split unit: there are its addresses, and the range lists from before DWARF 5 */
  constructor(sections: DebugSections, main?: AddressSections) {
    this.ranges = main?.ranges ?? new SectionWindow(sections, 'ranges');
    this.rnglists = new SectionWindow(sections, 'rnglists');
    this.addr = main?.addr ?? new SectionWindow(sections, 'addr');
    this.hasCodeAtZero = (main ?? sections).hasCodeAtZero;
    this.#entriesLeft = this.#maxEntries();
  }

  /** Lets addresses and range lists be read a number of times again. */
  renewBudget(): void {
    for (const window of [this.ranges, this.rnglists, this.addr]) window.renewBudget();
    this.#entriesLeft = this.#maxEntries();
  }

  /**
   * Whether a range of code is there: linkers put 0, 1, −1 or −2 where they threw the code away, GNU ld and gold the first ones,
   * lld the last ones (DWARF 6 makes −1 the one that counts). NaN is never alive.
   * @param addressSize of the unit, in bytes
   */
  isLive(start: number, end: number, addressSize: number): boolean {
    if (!(start < end)) return false;
    const top = highestAddress(addressSize);
    if (start === top || start === top - 1) return false;
    return start > 1 || start < 0 || this.hasCodeAtZero;
  }

  #maxEntries(): number {
    return MAX_TIMES_READ * (this.ranges.section.sizeBytes + this.rnglists.section.sizeBytes) + SPARE_ENTRIES;
  }

  /** Counts entries of range lists. @throws PerfconvError `damaged` when there are far more than the file can have in earnest */
  countEntries(count: number): void {
    this.#entriesLeft -= count;
    if (this.#entriesLeft < 0) throw new PerfconvError('damaged', 'range lists without end', { record: '.debug_info' });
  }
}

/** With all bits set: as a signed double where it has 8 bytes. */
function highestAddress(addressSize: number): number {
  return addressSize === 8 ? -1 : 0xffff_ffff;
}

/** Where a unit's parts of those sections start. */
export interface AddressBases {
  /** What offsets in range lists count from: the unit's DW_AT_low_pc, or 0. */
  readonly lowPc: number;
  readonly addrBase: number;
  readonly rnglistsBase: number;
  /** DW_AT_GNU_ranges_base of a split unit; 0 for others. */
  readonly rangesBase: number;
}

/**
 * The addresses of one unit: `DW_FORM_addrx` and range lists (DWARF 5, 2.17.3 and 7.25; DWARF 4, 2.17.3 and 7.23), from windows
 * of their sections. What is not in a window is {@link missing}: load it and ask again.
 */
export class UnitAddresses {
  /** What was not in memory when it was asked for. */
  missing: { readonly window: SectionWindow; readonly offset: number; readonly sizeBytes: number } | undefined;
  /** The last range list: live ranges, as listed. */
  starts = new Float64Array(16);
  ends = new Float64Array(16);
  count = 0;
  readonly #sections: AddressSections;
  readonly #format: UnitFormat;
  readonly #bases: AddressBases;
  readonly #top: number;
  #listReader: FormReader | undefined;

  constructor(sections: AddressSections, format: UnitFormat, bases: AddressBases) {
    this.#sections = sections;
    this.#format = format;
    this.#bases = bases;
    this.#top = highestAddress(format.addressSize);
  }

  /** Brings into memory what was {@link missing}. @throws PerfconvError when that cannot be read */
  async load(): Promise<void> {
    const { missing } = this;
    this.missing = undefined;
    if (missing !== undefined) await missing.window.load(missing.offset, missing.sizeBytes);
  }

  /** {@link AddressSections.isLive} for the unit's addresses. */
  isLive(start: number, end: number): boolean {
    return this.#sections.isLive(start, end, this.#format.addressSize);
  }

  /** Address `index` of the unit's part of `.debug_addr`; NaN when it has none, or when it is {@link missing}. */
  addressAt(index: number): number {
    const { addressSize } = this.#format;
    const { addr } = this.#sections;
    const offset = this.#bases.addrBase + index * addressSize;
    if (!addr.holds(offset, addressSize)) return Number.NaN;
    if (!addr.covers(offset, addressSize)) {
      this.missing = { window: addr, offset, sizeBytes: addressSize };
      return Number.NaN;
    }
    const at = offset - addr.start;
    return addressSize === 8 ? addr.view.i64(at) : addr.view.u32(at);
  }

  /** The value of an attribute that is an address: DW_FORM_addr, or an index of any form. */
  addressOf(form: number, value: number): number {
    return form === dw.DW_FORM_addr ? value : this.addressAt(value);
  }

  /**
   * Reads the live ranges of a DW_AT_ranges into {@link starts} and {@link ends}.
   * @returns false when something is {@link missing}
   * @throws PerfconvError `damaged` when a list is cut, or lists have far too much in them
   */
  readRanges(form: number, value: number): boolean {
    this.count = 0;
    if (this.#format.version < 5) return this.#readOldRanges(this.#bases.rangesBase + value);
    if (form !== dw.DW_FORM_rnglistx) return this.#readRangeList(value);
    const { offsetSize } = this.#format;
    const { rnglists } = this.#sections;
    const entry = this.#bases.rnglistsBase + value * offsetSize;
    if (!rnglists.holds(entry, offsetSize)) return true;
    if (!rnglists.covers(entry, offsetSize)) return this.#miss(rnglists, entry, offsetSize);
    const at = entry - rnglists.start;
    const offset = offsetSize === 8 ? rnglists.view.u64(at) : rnglists.view.u32(at);
    return this.#readRangeList(this.#bases.rnglistsBase + offset);
  }

  #miss(window: SectionWindow, offset: number, sizeBytes: number): false {
    this.missing = { window, offset, sizeBytes };
    return false;
  }

  #add(start: number, end: number): void {
    if (!this.isLive(start, end)) return;
    const i = this.count++;
    if (i >= this.starts.length) {
      this.starts = grown(this.starts, i + 1);
      this.ends = grown(this.ends, i + 1);
    }
    this.starts[i] = start;
    this.ends[i] = end;
  }

  /** `.debug_ranges`: pairs of offsets from a base, ended by two zeros; a pair with the largest address in front sets the base. */
  #readOldRanges(offset: number): boolean {
    const { ranges } = this.#sections;
    const { addressSize } = this.#format;
    if (!ranges.holds(offset, 2 * addressSize)) return true;
    if (!ranges.covers(offset, 2 * addressSize)) return this.#miss(ranges, offset, RANGES_SIZE_BYTES);
    const { view } = ranges;
    let base = this.#bases.lowPc;
    for (let at = offset - ranges.start; at + 2 * addressSize <= view.length; at += 2 * addressSize) {
      const start = addressSize === 8 ? view.i64(at) : view.u32(at);
      const end = addressSize === 8 ? view.i64(at + 8) : view.u32(at + 4);
      this.#sections.countEntries(1);
      if (start === 0 && end === 0) return true;
      if (start === this.#top) base = end;
      // What lld and GNU ld put for the base of code that was thrown away. Offsets from 0 are addresses.
      else if (base !== 1 && base !== this.#top && base !== this.#top - 1 && start !== this.#top - 1) this.#add(base + start, base + end);
    }
    return this.#endsInWindow(ranges, offset);
  }

  /** `.debug_rnglists` */
  #readRangeList(offset: number): boolean {
    const { rnglists } = this.#sections;
    if (!rnglists.holds(offset, 1)) return true;
    if (!rnglists.covers(offset, 1)) return this.#miss(rnglists, offset, RANGES_SIZE_BYTES);
    if (this.#listReader?.view !== rnglists.view) this.#listReader = new FormReader(rnglists.view, this.#format);
    const reader = this.#listReader;
    reader.at = offset - rnglists.start;
    let base = this.#bases.lowPc;
    // The longest entry: a byte and two numbers of ten bytes, or addresses.
    while (reader.at + 21 <= reader.end || rnglists.start + reader.end >= rnglists.section.sizeBytes) {
      this.#sections.countEntries(1);
      if (reader.at >= reader.end) return true;
      const kind = reader.fixed(1);
      if (kind === dw.DW_RLE_end_of_list) return true;
      if (kind === dw.DW_RLE_base_addressx) base = this.addressAt(reader.uleb());
      else if (kind === dw.DW_RLE_base_address) base = reader.address();
      else if (kind === dw.DW_RLE_offset_pair) {
        // Go counts from the first function of a unit, whichever that is, and so both ways.
        const start = reader.ulebDistance();
        const end = reader.ulebDistance();
        if (this.isLive(base, Number.POSITIVE_INFINITY) || base === 0) this.#add(base + start, base + end);
      } else if (kind === dw.DW_RLE_startx_endx) {
        const start = this.addressAt(reader.uleb());
        this.#add(start, this.addressAt(reader.uleb()));
      } else if (kind === dw.DW_RLE_startx_length) {
        const start = this.addressAt(reader.uleb());
        this.#add(start, start + reader.uleb());
      } else if (kind === dw.DW_RLE_start_end) {
        const start = reader.address();
        this.#add(start, reader.address());
      } else if (kind === dw.DW_RLE_start_length) {
        const start = reader.address();
        this.#add(start, start + reader.uleb());
      } else return true;
      if (this.missing !== undefined) return false;
    }
    return this.#endsInWindow(rnglists, offset);
  }

  /** What to answer when a list came to the window's end: true where the section ends there, too. */
  #endsInWindow(window: SectionWindow, offset: number): boolean {
    const end = window.start + window.view.length;
    if (end >= window.section.sizeBytes) return true;
    return this.#miss(window, offset, 2 * (end - offset) + RANGES_SIZE_BYTES);
  }
}
