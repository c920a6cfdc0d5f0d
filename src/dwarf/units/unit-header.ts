import type { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { DW_UT_compile, DW_UT_skeleton, DW_UT_split_compile, DW_UT_split_type, DW_UT_type } from '../encoding/dwarf-constants.ts';
import type { UnitFormat } from '../encoding/forms.ts';

/** The largest header: DWARF 5, 64-bit format, a type unit. */
export const MAX_UNIT_HEADER_SIZE_BYTES = 40;
const LENGTH_64 = 0xffff_ffff;
const FIRST_RESERVED_LENGTH = 0xffff_fff0;

/** A unit's header (DWARF 5, 7.5.1). Offsets count from the beginning of the section. */
export interface UnitHeader extends UnitFormat {
  /** Where the unit starts. */
  readonly offset: number;
  /** Where its first DIE is. */
  readonly dieOffset: number;
  /** Where the unit ends; at most the section's end. */
  readonly end: number;
  /** Whether the unit claims to end after the section's end. */
  readonly isCut: boolean;
  readonly abbrevOffset: number;
  /** DW_UT_…; before DWARF 5 always DW_UT_compile. */
  readonly unitType: number;
  /** The id that skeleton and split unit share, 16 hex digits; empty if the header has none. */
  readonly dwoId: string;
  /** What a type unit describes; undefined for other units. */
  readonly describedType: DescribedType | undefined;
}

/** The type that a type unit describes (DWARF 5, 7.5.1.3). */
export interface DescribedType {
  /** What other units refer to it by: 16 hex digits. */
  readonly signature: string;
  /** Where in the unit its DIE is, as the header says, which may be anything. */
  readonly dieAt: number;
}

/** The section that units are in. In DWARF 4, all units in `.debug_types` are type units. */
export type UnitSection = 'info' | 'types';

/**
 * Size of the unit's length field, and the length that it states: that of the bytes after it.
 * @param at the unit's first byte, of which the view holds at least 12 or all that there are
 */
export function readUnitLength(view: ByteView, at: number): { lengthSize: 4 | 12; length: number } | undefined {
  if (at + 4 > view.length) return undefined;
  const length = view.u32(at);
  if (length < FIRST_RESERVED_LENGTH) return { lengthSize: 4, length };
  if (length !== LENGTH_64 || at + 12 > view.length) return undefined;
  return { lengthSize: 12, length: view.u64(at + 4) };
}

/**
 * @param view holds at `at` the unit's first MAX_UNIT_HEADER_SIZE_BYTES bytes, or all up to the section's end
 * @param offset of the unit in a section of `sectionSize` bytes
 * @param inSection that section
 * @throws PerfconvError `damaged`
 */
export function readUnitHeader(view: ByteView, at: number, offset: number, sectionSize: number, inSection: UnitSection): UnitHeader {
  const damaged = (what: string): PerfconvError => new PerfconvError('damaged', what, { record: 'unit', offset });
  const unitLength = readUnitLength(view, at);
  if (unitLength === undefined) throw damaged('no valid length');
  const { lengthSize, length } = unitLength;
  const offsetSize = lengthSize === 4 ? 4 : 8;
  const end = Math.min(offset + lengthSize + length, sectionSize);
  const isCut = offset + lengthSize + length > sectionSize;
  let next = at + lengthSize;
  const available = Math.min(view.length - at, end - offset);
  // All versions have a version, abbreviation offset and address size.
  if (available < lengthSize + 3 + offsetSize) throw damaged(`header cut off after ${available} bytes`);
  const version = view.u16(next);
  next += 2;
  if (version < 2 || version > 5) throw damaged(`unknown DWARF version ${version}`);
  const readOffset = (): number => {
    next += offsetSize;
    return offsetSize === 8 ? view.u64(next - 8) : view.u32(next - 4);
  };
  let unitType = DW_UT_compile;
  let addressSize = 0;
  let dwoId = '';
  let describedType: DescribedType | undefined;
  if (version >= 5) {
    unitType = view.u8(next++);
    addressSize = view.u8(next++);
  } else if (inSection === 'types') unitType = DW_UT_type;
  const isType = unitType === DW_UT_type || unitType === DW_UT_split_type;
  const hasId = unitType === DW_UT_skeleton || unitType === DW_UT_split_compile;
  const restSize = (version >= 5 ? 0 : 1) + (isType ? 8 + offsetSize : hasId ? 8 : 0);
  if (available < next - at + offsetSize + restSize) throw damaged(`header cut off after ${available} bytes`);
  const abbrevOffset = readOffset();
  if (version < 5) addressSize = view.u8(next++);
  if (hasId) {
    dwoId = readUnitId(view, next);
    next += 8;
  } else if (isType) {
    const signature = readUnitId(view, next);
    next += 8;
    describedType = { signature, dieAt: readOffset() };
  }
  if (addressSize !== 4 && addressSize !== 8) throw damaged(`addresses of ${addressSize} bytes`);
  return { offset, dieOffset: offset + next - at, end, isCut, version, addressSize, offsetSize, abbrevOffset, unitType, dwoId, describedType };
}

/** A 64-bit id of a unit: that of a split unit, or a type's signature. @returns 16 hex digits */
export function readUnitId(view: ByteView, at: number): string {
  return view.hi(at).toString(16).padStart(8, '0') + view.lo(at).toString(16).padStart(8, '0');
}
