import type { ByteView } from '../../bytes/byte-view.ts';
import { PerfconvError } from '../../errors.ts';
import { grown } from '../../intern/growable.ts';
import * as dw from './dwarf-constants.ts';
import { FormReader, formSize, SIZE_UNKNOWN, type UnitFormat } from './forms.ts';

/** The DIE has children. */
export const HAS_CHILDREN = 1;
/** A subprogram with code of its own. */
export const IS_FUNCTION = 2;
/** An inlined subroutine with code of its own. */
export const IS_INLINED = 4;
/** Hardly ever has code under it: a type, a declaration, an abstract instance. */
export const IS_CODELESS = 8;
/** Its attributes cannot be read: it has a form that is not known, or far too many. */
export const IS_UNREADABLE = 16;
/** A subprogram, with code or without. */
export const IS_SUBPROGRAM = 32;

/** No compiler gives a DIE more attributes; with them, each of a hostile file's DIEs could cost any time. */
const MAX_ATTRIBUTES = 256;
/** Linkers that make one table for all units come nowhere near. Each takes a hundred bytes of memory, and five of a file's at least. */
const MAX_ABBREVIATIONS = 1 << 18;

const TYPE_TAGS = new Set<number>([
  dw.DW_TAG_array_type,
  dw.DW_TAG_class_type,
  dw.DW_TAG_enumeration_type,
  dw.DW_TAG_interface_type,
  dw.DW_TAG_structure_type,
  dw.DW_TAG_subroutine_type,
  dw.DW_TAG_union_type,
]);

/** Forms of the standard are below it, those of vendors are not. */
const FIRST_VENDOR_FORM = dw.DW_FORM_addrx4 + 1;

/** How many codes there are, and where each column starts. */
const HEADER_SIZE_BYTES = 72;

/** Up to this many codes per abbreviation are looked up in an array: compilers count from 1. */
const MAX_SPARSENESS = 4;

/**
 * An abbreviation table, for units of one format: rows 0, 1, 2 … in the table's order, and what the pass over the DIEs needs
 * of each, worked out beforehand.
 */
export class Abbreviations {
  /** All columns, behind a list of where each starts: as assembly/abbreviations.ts takes them. */
  readonly block: Uint8Array;
  /** DW_TAG_… by row. */
  readonly tags: Uint16Array;
  /** HAS_CHILDREN, IS_… by row. */
  readonly flags: Uint8Array;
  /** Attributes of row `i` are `attributeStarts[i]` up to `attributeStarts[i + 1]`. */
  readonly attributeStarts: Uint32Array;
  readonly names: Uint16Array;
  readonly forms: Uint16Array;
  /** Values of DW_FORM_implicit_const. */
  readonly implicit: Float64Array;
  /** What `formSize` says of the forms. */
  readonly formSizes: Int8Array;
  /** Bytes of a DIE's attributes where all have a fixed size, −1 elsewhere. By row. */
  readonly sizes: Int32Array;
  /**
   * How to get over the attributes of a row that are of variable size: bytes of fixed size (> 0) and SIZE_ constants (< 0)
   * in turn; of row `i` from `skipStarts[i]` up to `skipStarts[i + 1]`.
   */
  readonly skips: Int32Array;
  readonly skipStarts: Uint32Array;
  /** How many bytes before the end of a DIE's attributes its DW_AT_sibling of DW_FORM_ref4 stands, 0 for none. By row. */
  readonly siblingBacks: Int32Array;
  /** Bytes from the first attribute to DW_AT_low_pc of DW_FORM_addr, −1 where that is not fixed. By row. */
  readonly lowPcs: Int32Array;
  /** The same of DW_AT_high_pc of DW_FORM_data4 and DW_FORM_data8. */
  readonly highPcs: Int32Array;
  readonly highPcSizes: Uint8Array;
  /** The same of DW_AT_ranges of DW_FORM_sec_offset. */
  readonly rangeLists: Int32Array;
  /** Whether any DIE may have DW_AT_ranges. */
  readonly hasRanges: boolean;
  /** Rows by code, −1 for none; empty when codes are sparse. */
  readonly #dense: Int32Array;
  /**
   * By code: how many bytes a DIE takes that has no children, is of fixed size and no function; 0 for others. Most DIEs are such, of
   * types. Empty when codes are sparse.
   */
  readonly leafSizes: Uint16Array;
  readonly #sparse: ReadonlyMap<number, number>;

  constructor(raw: RawTable, format: UnitFormat) {
    const { count, codes, attributeCount } = raw;
    let maxCode = 0;
    for (let row = 0; row < count; row++) maxCode = Math.max(maxCode, codes[row]);
    const isDense = maxCode <= MAX_SPARSENESS * count + 64;
    const codeCount = isDense ? maxCode + 1 : 0;
    // At most one fixed run before and one after each variable attribute.
    const skipCount = 2 * attributeCount + count;

    const block = new BlockWriter(
      codeCount,
      8 * attributeCount + 4 * (skipCount + 7 * (count + 1) + codeCount) + 2 * (2 * attributeCount + codeCount) + attributeCount + 2 * count,
    );
    this.block = block.bytes;
    this.implicit = block.float64(attributeCount);
    this.attributeStarts = block.uint32(count + 1);
    this.sizes = block.int32(count);
    this.skips = block.int32(skipCount);
    this.skipStarts = block.uint32(count + 1);
    this.siblingBacks = block.int32(count);
    this.lowPcs = block.int32(count).fill(-1);
    this.highPcs = block.int32(count).fill(-1);
    this.rangeLists = block.int32(count).fill(-1);
    this.#dense = block.int32(codeCount).fill(-1);
    this.names = block.uint16(attributeCount);
    this.forms = block.uint16(attributeCount);
    this.leafSizes = block.uint16(codeCount);
    this.flags = block.uint8(count);
    this.highPcSizes = block.uint8(count);
    this.formSizes = block.int8(attributeCount);

    this.tags = raw.tags.slice(0, count);
    this.flags.set(raw.children.subarray(0, count));
    this.attributeStarts.set(raw.starts.subarray(0, count + 1));
    this.names.set(raw.names.subarray(0, attributeCount));
    this.forms.set(raw.forms.subarray(0, attributeCount));
    this.implicit.set(raw.implicit.subarray(0, attributeCount));
    this.hasRanges = this.names.includes(dw.DW_AT_ranges);
    const sizeOf = Int8Array.from({ length: FIRST_VENDOR_FORM }, (_, form) => formSize(form, format));
    let skipEnd = 0;
    for (let row = 0; row < count; row++) {
      this.skipStarts[row] = skipEnd;
      skipEnd = this.#compileRow(row, format, sizeOf, this.skips, skipEnd);
    }
    this.skipStarts[count] = skipEnd;

    const sparse = new Map<number, number>();
    // The first of two with one code counts.
    for (let row = count - 1; row >= 0; row--) {
      if (isDense) this.#dense[codes[row]] = row;
      else sparse.set(codes[row], row);
    }
    this.#sparse = sparse;
    for (let code = 1; code < codeCount; code++) this.leafSizes[code] = this.#leafSize(code);
  }

  /** The row of an abbreviation code, −1 for none. */
  row(code: number): number {
    if (code < this.#dense.length) return this.#dense[code];
    return this.#sparse.get(code) ?? -1;
  }

  #leafSize(code: number): number {
    const row = this.#dense[code];
    if (row < 0 || this.sizes[row] < 0 || (this.flags[row] & (HAS_CHILDREN | IS_FUNCTION | IS_INLINED)) !== 0) return 0;
    const size = this.sizes[row] + (code < 0x80 ? 1 : 2);
    // Codes of three bytes are rare.
    return code < 0x4000 && size <= 0xffff ? size : 0;
  }

  #compileRow(row: number, format: UnitFormat, sizeOf: Int8Array, skips: Int32Array, skipStart: number): number {
    const { names, forms, formSizes } = this;
    const end = this.attributeStarts[row + 1];
    let at = skipStart;
    let run = 0;
    let isFixed = true;
    let siblingBack = 0;
    let hasExtent = false;
    // hot: gcc writes a table for each unit
    for (let i = this.attributeStarts[row]; i < end; i++) {
      const name = names[i];
      const form = forms[i];
      const size = form < FIRST_VENDOR_FORM ? sizeOf[form] : formSize(form, format);
      formSizes[i] = size;
      if (size < 0) {
        if (size === SIZE_UNKNOWN) this.flags[row] |= IS_UNREADABLE;
        isFixed = false;
        siblingBack = 0;
        if (run > 0) skips[at++] = run;
        skips[at++] = size;
        run = 0;
      }
      if (name === dw.DW_AT_low_pc) {
        hasExtent = true;
        if (isFixed && form === dw.DW_FORM_addr) this.lowPcs[row] = run;
      } else if (name === dw.DW_AT_high_pc) {
        if (isFixed && (form === dw.DW_FORM_data4 || form === dw.DW_FORM_data8)) {
          this.highPcs[row] = run;
          this.highPcSizes[row] = size;
        }
      } else if (name === dw.DW_AT_ranges) {
        hasExtent = true;
        if (isFixed && form === dw.DW_FORM_sec_offset) this.rangeLists[row] = run;
      }
      if (size < 0) continue;
      run += size;
      if (siblingBack > 0) siblingBack += size;
      if (name === dw.DW_AT_sibling && form === dw.DW_FORM_ref4) siblingBack = size;
    }
    this.sizes[row] = isFixed && (this.flags[row] & IS_UNREADABLE) === 0 ? run : -1;
    if (!isFixed && run > 0) skips[at++] = run;
    this.siblingBacks[row] = siblingBack;
    const tag = this.tags[row];
    if (tag === dw.DW_TAG_subprogram) this.flags[row] |= hasExtent ? IS_SUBPROGRAM | IS_FUNCTION : IS_SUBPROGRAM | IS_CODELESS;
    else if (tag === dw.DW_TAG_inlined_subroutine && hasExtent) this.flags[row] |= IS_INLINED;
    else if (TYPE_TAGS.has(tag)) this.flags[row] |= IS_CODELESS;
    return at;
  }
}

/** Lays columns out in one block, those of large values first, so that each is aligned. */
class BlockWriter {
  readonly bytes: Uint8Array;
  readonly #starts: Uint32Array;
  #column = 0;
  #at = HEADER_SIZE_BYTES;

  constructor(codeCount: number, columnBytes: number) {
    this.bytes = new Uint8Array(HEADER_SIZE_BYTES + columnBytes);
    this.#starts = new Uint32Array(this.bytes.buffer, 0, HEADER_SIZE_BYTES / 4);
    this.#starts[0] = codeCount;
  }

  float64(count: number): Float64Array {
    return new Float64Array(this.bytes.buffer, this.#take(8 * count), count);
  }

  int32(count: number): Int32Array {
    return new Int32Array(this.bytes.buffer, this.#take(4 * count), count);
  }

  uint32(count: number): Uint32Array {
    return new Uint32Array(this.bytes.buffer, this.#take(4 * count), count);
  }

  uint16(count: number): Uint16Array {
    return new Uint16Array(this.bytes.buffer, this.#take(2 * count), count);
  }

  int8(count: number): Int8Array {
    return new Int8Array(this.bytes.buffer, this.#take(count), count);
  }

  uint8(count: number): Uint8Array {
    return new Uint8Array(this.bytes.buffer, this.#take(count), count);
  }

  #take(sizeBytes: number): number {
    const at = this.#at;
    this.#starts[++this.#column] = at;
    this.#at += sizeBytes;
    return at;
  }
}

/** A table as it stands in the section, in columns that have room for more: for one table after the other. */
export class RawTable {
  count = 0;
  codes = new Float64Array(64);
  tags = new Uint16Array(64);
  children = new Uint8Array(64);
  starts = new Uint32Array(64);
  attributeCount = 0;
  names = new Uint16Array(512);
  forms = new Uint16Array(512);
  implicit = new Float64Array(512);

  clear(): void {
    this.count = 0;
    this.attributeCount = 0;
  }
}

/**
 * Reads an abbreviation table (DWARF 5, 7.5.3), up to its end or, where it has none, the section's.
 * @param view starts with the table
 * @param isAll whether the view reaches to the section's end
 * @param raw memory that holds anything
 * @param onlyCode stops after the abbreviation of that code
 * @returns the table and its size in bytes; undefined when the view ends inside it
 * @throws PerfconvError `damaged` when it is cut, or far too long
 */
export function parseAbbreviations(
  view: ByteView,
  format: UnitFormat,
  isAll: boolean,
  raw: RawTable,
  onlyCode = -1,
): { table: Abbreviations; sizeBytes: number } | undefined {
  raw.clear();
  const reader = new FormReader(view, format);
  try {
    while (reader.at < reader.end && raw.count < MAX_ABBREVIATIONS) {
      const code = reader.uleb();
      if (code === 0) return { table: new Abbreviations(raw, format), sizeBytes: reader.at };
      parseRow(raw, code, reader);
      if (code === onlyCode) return { table: new Abbreviations(raw, format), sizeBytes: reader.at };
    }
  } catch (error) {
    if (!(error instanceof PerfconvError)) throw error;
    if (isAll) throw new PerfconvError('damaged', 'the table is cut', { record: '.debug_abbrev' }, { cause: error });
    return undefined;
  }
  if (raw.count === MAX_ABBREVIATIONS) throw new PerfconvError('damaged', `a table of ${raw.count} abbreviations and more`, { record: '.debug_abbrev' });
  return isAll ? { table: new Abbreviations(raw, format), sizeBytes: reader.at } : undefined;
}

function parseRow(raw: RawTable, code: number, reader: FormReader): void {
  const row = raw.count++;
  if (row + 2 > raw.tags.length) {
    raw.codes = grown(raw.codes, row + 2);
    raw.tags = grown(raw.tags, row + 2);
    raw.children = grown(raw.children, row + 2);
    raw.starts = grown(raw.starts, row + 2);
  }
  raw.codes[row] = code;
  raw.tags[row] = Math.min(reader.uleb(), 0xffff);
  raw.children[row] = reader.fixed(1) === 0 ? 0 : HAS_CHILDREN;
  const { bytes } = reader.view;
  let i = raw.attributeCount;
  const most = i + MAX_ATTRIBUTES;
  // hot
  for (;;) {
    // Nearly all are of one byte each. Behind the end there are none, as uleb() tells.
    let name = bytes[reader.at];
    let form = bytes[reader.at + 1];
    if (name < 0x80 && form < 0x80) reader.at += 2;
    else {
      name = reader.uleb();
      form = reader.uleb();
    }
    const implicit = form === dw.DW_FORM_implicit_const ? reader.sleb() : 0;
    if (name === 0 && form === 0) break;
    if (i === most) {
      raw.children[row] |= IS_UNREADABLE;
      continue;
    }
    if (i >= raw.names.length) {
      raw.names = grown(raw.names, i + 1);
      raw.forms = grown(raw.forms, i + 1);
      raw.implicit = grown(raw.implicit, i + 1);
    }
    // What does not fit is no attribute and no form of ours.
    raw.names[i] = Math.min(name, 0xffff);
    raw.forms[i] = Math.min(form, 0xffff);
    raw.implicit[i++] = implicit;
  }
  raw.attributeCount = i;
  raw.starts[row + 1] = i;
}
