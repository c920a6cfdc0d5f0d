import type { ByteView } from '../base/bytes/byte-view.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { grown } from '../base/tables/growable.ts';
import type { AddressClaims } from './address-claims.ts';
import { IS_FUNCTION } from './encoding/abbreviation-layout.ts';
import { isAddressForm, isLiveRange } from './encoding/code-ranges.ts';
import { DW_TAG_compile_unit, DW_TAG_skeleton_unit, DW_UT_compile, DW_UT_skeleton } from './encoding/dwarf-constants.ts';
import type { OnDamage } from './functions/source-functions.ts';
import { SectionWindow } from './sections/section-window.ts';
import type { DwarfFile } from './units/dwarf-file.ts';
import { readUnitLength } from './units/unit-header.ts';

/** Which unit of a file says that it covers which addresses. Units are identified by where they start. */
export class UnitRanges {
  #units = new Float64Array(256);
  #starts = new Float64Array(256);
  #ends = new Float64Array(256);
  #count = 0;

  add(unit: number, start: number, end: number): void {
    const i = this.#count++;
    if (i >= this.#units.length) {
      this.#units = grown(this.#units, i + 1);
      this.#starts = grown(this.#starts, i + 1);
      this.#ends = grown(this.#ends, i + 1);
    }
    this.#units[i] = unit;
    this.#starts[i] = start;
    this.#ends[i] = end;
  }

  get count(): number {
    return this.#count;
  }

  /** Claims addresses for all units. */
  claim(claims: AddressClaims): void {
    for (let i = 0; i < this.#count; i++) claims.claim(this.#units[i], this.#starts[i], this.#ends[i]);
  }

  /** Where the units that have a range start. */
  units(): Set<number> {
    return new Set(this.#units.subarray(0, this.#count));
  }
}

/** Of 64-bit DWARF. */
const MAX_ARANGES_HEADER_SIZE_BYTES = 24;

/** A set of `.debug_aranges`: the ranges of one unit. Offsets are in the section. */
interface ArangesSet {
  /** Where the set ends. */
  readonly end: number;
  /** Where its first range is; NaN for a set that has none that can be read. */
  readonly first: number;
  /** Where its unit starts in `.debug_info`. */
  readonly unit: number;
  readonly addressSize: number;
}

/** Reads `.debug_aranges` (DWARF 5, 6.1.2), as far as it is intact. */
export async function readAranges(file: DwarfFile): Promise<UnitRanges> {
  const ranges = new UnitRanges();
  const window = new SectionWindow(file.sections, 'aranges');
  const { sizeBytes } = window.section;
  for (let offset = 0; offset + 12 <= sizeBytes; ) {
    const headSize = Math.min(MAX_ARANGES_HEADER_SIZE_BYTES, sizeBytes - offset);
    if (!window.covers(offset, headSize)) await window.load(offset, headSize);
    const set = readArangesHeader(window.view, offset - window.start, headSize, offset);
    if (set === undefined) break;
    if (!Number.isNaN(set.first)) await addRangesOf(set, window, ranges, file.sections.hasCodeAtZero);
    offset = set.end;
  }
  return ranges;
}

/**
 * Reads the header of a set.
 * @param at where in `view` it begins, `headSize` how many bytes of it are there, `offset` where it is in the section
 * @returns undefined if its length is none
 */
function readArangesHeader(view: ByteView, at: number, headSize: number, offset: number): ArangesSet | undefined {
  const unitLength = readUnitLength(view, at);
  if (unitLength === undefined) return undefined;
  const { lengthSize, length } = unitLength;
  const offsetSize = lengthSize === 4 ? 4 : 8;
  const end = offset + lengthSize + length;
  const headerSize = lengthSize + 2 + offsetSize + 2;
  const none: ArangesSet = { end, first: Number.NaN, unit: -1, addressSize: 0 };
  // Sets too short for a header are padding, of which there may be megabytes.
  if (length < headerSize - lengthSize || headSize < headerSize) return none;
  const version = view.u16(at + lengthSize);
  const unit = offsetSize === 8 ? view.u64(at + lengthSize + 2) : view.u32(at + lengthSize + 2);
  const addressSize = view.u8(at + lengthSize + 2 + offsetSize);
  const segmentSize = view.u8(at + lengthSize + 3 + offsetSize);
  if (version !== 2 || segmentSize !== 0 || (addressSize !== 4 && addressSize !== 8)) return none;
  const pairSize = 2 * addressSize;
  return { end, first: offset + Math.ceil(headerSize / pairSize) * pairSize, unit, addressSize };
}

async function addRangesOf({ end, first, unit, addressSize }: ArangesSet, window: SectionWindow, ranges: UnitRanges, hasCodeAtZero: boolean): Promise<void> {
  const pairSize = 2 * addressSize;
  const stop = Math.min(end, window.section.sizeBytes);
  for (let at = first; at + pairSize <= stop; at += pairSize) {
    if (!window.covers(at, pairSize)) await window.load(at, pairSize);
    const { view } = window;
    const place = at - window.start;
    const start = addressSize === 8 ? view.i64(place) : view.u32(place);
    const size = addressSize === 8 ? view.u64(place + 8) : view.u32(place + 4);
    // Two zeros end a set, but linkers also zero the addresses of discarded code, so the length decides.
    if (isLiveRange(start, start + size, addressSize, hasCodeAtZero)) ranges.add(unit, start, start + size);
  }
}

/** The ranges of units, from their root DIEs. */
export interface OwnRanges {
  readonly ranges: UnitRanges;
  /** Where the units start that have functions but do not say where their code is. */
  readonly unbounded: readonly number[];
}

/** So many damaged units are only in a hostile file, or in one of a kind that cannot be read at all. Each costs an error. */
const MAX_DAMAGED_UNITS = 10_000;

/**
 * Reads the ranges of all units that are not in `known`.
 * @param onDamage is also told if not all units are looked at
 */
export async function readOwnRanges(file: DwarfFile, known: ReadonlySet<number>, onDamage: OnDamage): Promise<OwnRanges> {
  const ranges = new UnitRanges();
  const unbounded: number[] = [];
  const { maxUnitRanges } = file.addresses;
  let damaged = 0;
  for (let i = 0; ; i++) {
    const start = await file.units.start(i);
    if (start < 0) break;
    if (known.has(start)) continue;
    // Each unit also has one range that is in no list.
    if (ranges.count - i > maxUnitRanges) {
      const what = 'units before this one have far too many ranges: the rest is not looked at';
      onDamage(new PerfconvError('damaged', what, { record: '.debug_info' }), file, start);
      break;
    }
    try {
      if (!(await readRangesOf(file, start, ranges))) unbounded.push(start);
    } catch (error) {
      onDamage(error, file, start);
      if (++damaged < MAX_DAMAGED_UNITS) continue;
      onDamage(
        new PerfconvError('damaged', `${damaged - 1} units before this one are damaged, too: the rest is not looked at`, { record: '.debug_info' }),
        file,
        start,
      );
      break;
    }
  }
  return { ranges, unbounded };
}

/** @returns whether the unit states all its ranges */
async function readRangesOf(file: DwarfFile, start: number, ranges: UnitRanges): Promise<boolean> {
  const header = await file.units.headerAt(start);
  if (header.unitType !== DW_UT_compile && header.unitType !== DW_UT_skeleton) return true;
  const { root } = await file.headOfUnit(header);
  if (root.tag !== DW_TAG_compile_unit && root.tag !== DW_TAG_skeleton_unit) return true;
  const unit = { file, header, root };
  const addresses = await file.addressesOf(unit);
  if (root.ranges !== undefined) {
    const listed = await addresses.ranges(root.ranges.form, root.ranges.value);
    for (let i = 0; i < listed.length; i += 2) ranges.add(start, listed[i], listed[i + 1]);
    return true;
  }
  if (root.lowPc !== undefined && root.highPc !== undefined) {
    const { form, value } = root.highPc;
    const low = await addresses.addressOf(root.lowPc.form, root.lowPc.value);
    const high = isAddressForm(form) ? await addresses.addressOf(form, value) : low + value;
    if (addresses.isLive(low, high)) ranges.add(start, low, high);
    return true;
  }
  const { flags } = await file.abbreviations.table(header.abbrevOffset, header);
  return !flags.some((flag) => (flag & IS_FUNCTION) !== 0);
}
