import type { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { MAX_INDIRECTIONS } from '../wasm/contract.ts';
import { SIZE_BLOCK, SIZE_BLOCK1, SIZE_BLOCK2, SIZE_BLOCK4, SIZE_INDIRECT, SIZE_STRING, SIZE_ULEB, SIZE_UNKNOWN } from './abbreviation-layout.ts';
import * as dw from './dwarf-constants.ts';

/** What the sizes of forms depend on. */
export interface UnitFormat {
  readonly version: number;
  readonly addressSize: 4 | 8;
  /** Bytes of an offset: 4 in the 32-bit format of DWARF, 8 in the 64-bit one. */
  readonly offsetSize: 4 | 8;
}

/** Names of templates can have tens of kilobytes. Longer ones are cut. */
export const MAX_TEXT_SIZE_BYTES: number = 1 << 16;

/** A form's size in bytes, or one of the SIZE_ constants. DWARF 5, 7.5.5 and 7.5.6. */
export function formSize(form: number, format: UnitFormat): number {
  switch (form) {
    case dw.DW_FORM_flag_present:
    case dw.DW_FORM_implicit_const:
      return 0;
    case dw.DW_FORM_data1:
    case dw.DW_FORM_flag:
    case dw.DW_FORM_ref1:
    case dw.DW_FORM_strx1:
    case dw.DW_FORM_addrx1:
      return 1;
    case dw.DW_FORM_data2:
    case dw.DW_FORM_ref2:
    case dw.DW_FORM_strx2:
    case dw.DW_FORM_addrx2:
      return 2;
    case dw.DW_FORM_strx3:
    case dw.DW_FORM_addrx3:
      return 3;
    case dw.DW_FORM_data4:
    case dw.DW_FORM_ref4:
    case dw.DW_FORM_ref_sup4:
    case dw.DW_FORM_strx4:
    case dw.DW_FORM_addrx4:
      return 4;
    case dw.DW_FORM_data8:
    case dw.DW_FORM_ref8:
    case dw.DW_FORM_ref_sig8:
    case dw.DW_FORM_ref_sup8:
      return 8;
    case dw.DW_FORM_data16:
      return 16;
    case dw.DW_FORM_addr:
      return format.addressSize;
    case dw.DW_FORM_ref_addr:
      // In DWARF 2, it has the size of an address (DWARF 3, appendix "Changes").
      return format.version <= 2 ? format.addressSize : format.offsetSize;
    case dw.DW_FORM_strp:
    case dw.DW_FORM_line_strp:
    case dw.DW_FORM_strp_sup:
    case dw.DW_FORM_sec_offset:
    case dw.DW_FORM_GNU_ref_alt:
    case dw.DW_FORM_GNU_strp_alt:
      return format.offsetSize;
    case dw.DW_FORM_udata:
    case dw.DW_FORM_sdata:
    case dw.DW_FORM_ref_udata:
    case dw.DW_FORM_strx:
    case dw.DW_FORM_addrx:
    case dw.DW_FORM_loclistx:
    case dw.DW_FORM_rnglistx:
    case dw.DW_FORM_GNU_addr_index:
    case dw.DW_FORM_GNU_str_index:
      return SIZE_ULEB;
    case dw.DW_FORM_string:
      return SIZE_STRING;
    case dw.DW_FORM_block1:
      return SIZE_BLOCK1;
    case dw.DW_FORM_block2:
      return SIZE_BLOCK2;
    case dw.DW_FORM_block4:
      return SIZE_BLOCK4;
    case dw.DW_FORM_block:
    case dw.DW_FORM_exprloc:
      return SIZE_BLOCK;
    case dw.DW_FORM_indirect:
      return SIZE_INDIRECT;
    default:
      return SIZE_UNKNOWN;
  }
}

/** Reads the values of a unit one after the other. Reads past `end` throw PerfconvError: damage that leaves out one unit. */
export class FormReader {
  readonly view: ByteView;
  readonly end: number;
  readonly format: UnitFormat;
  /** Where the next read starts. */
  at = 0;
  /** The form of the last value: never `DW_FORM_indirect`. */
  form = 0;
  /** Where the last value's bytes are; for a block or a string, their first one. */
  valueAt = 0;
  /** The last value: a constant, index or offset as it is; a block's size; 0 for a string; 1 for a flag that is present. */
  value = 0;

  constructor(view: ByteView, format: UnitFormat) {
    this.view = view;
    this.end = view.length;
    this.format = format;
  }

  /** An unsigned LEB128 number; exact up to 2^53. Bytes after the tenth do not make it larger. */
  uleb(): number {
    const { bytes } = this.view;
    const first = this.at;
    if (first < this.end && bytes[first] < 0x80) {
      this.at = first + 1;
      return bytes[first];
    }
    let value = 0;
    let scale = 1;
    for (let at = this.at; at < this.end; at++) {
      const byte = bytes[at];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.at = at + 1;
        return value;
      }
      scale = scale < 2 ** 63 ? scale * 128 : 0;
    }
    throw this.#cut();
  }

  /** A signed LEB128 number, exact within 2^53. */
  sleb(): number {
    const start = this.at;
    const value = this.uleb();
    const last = this.view.bytes[this.at - 1];
    return last & 0x40 ? value - 2 ** (7 * Math.min(this.at - start, 10)) : value;
  }

  /** An address of the unit's size: signed if that is 8 bytes. */
  address(): number {
    const { addressSize } = this.format;
    const at = this.#take(addressSize);
    return addressSize === 8 ? this.view.i64(at) : this.view.u32(at);
  }

  /** An offset of the unit's size. */
  offset(): number {
    const { offsetSize } = this.format;
    const at = this.#take(offsetSize);
    return offsetSize === 8 ? this.view.u64(at) : this.view.u32(at);
  }

  /** An unsigned number of 1, 2, 3, 4 or 8 bytes. */
  fixed(sizeBytes: number): number {
    const at = this.#take(sizeBytes);
    const { view } = this;
    switch (sizeBytes) {
      case 1:
        return view.u8(at);
      case 2:
        return view.u16(at);
      case 3:
        return view.littleEndian ? view.u16(at) + view.u8(at + 2) * 0x1_0000 : view.u8(at) * 0x1_0000 + view.u16(at + 1);
      case 4:
        return view.u32(at);
      default:
        return view.u64(at);
    }
  }

  /** Where the string is that the last value stands for: an inline string's place in the unit; otherwise the value, an offset or index. */
  get textAt(): number {
    return this.form === dw.DW_FORM_string ? this.valueAt : this.value;
  }

  /**
   * Reads an attribute's value into {@link form}, {@link value} and {@link valueAt}.
   * @param implicit the value in the abbreviation, for `DW_FORM_implicit_const`
   * @param size what {@link formSize} says about the form
   */
  read(form: number, implicit: number, size: number): void {
    this.form = form;
    this.valueAt = this.at;
    switch (size) {
      case 0:
        this.value = form === dw.DW_FORM_implicit_const ? implicit : 1;
        return;
      case SIZE_ULEB:
        this.value = form === dw.DW_FORM_sdata ? this.sleb() : this.uleb();
        return;
      case SIZE_STRING: {
        const nul = this.view.bytes.indexOf(0, this.at);
        if (nul < 0 || nul >= this.end) throw this.#cut();
        this.at = nul + 1;
        this.value = 0;
        return;
      }
      case SIZE_BLOCK1:
        this.#block(this.fixed(1));
        return;
      case SIZE_BLOCK2:
        this.#block(this.fixed(2));
        return;
      case SIZE_BLOCK4:
        this.#block(this.fixed(4));
        return;
      case SIZE_BLOCK:
        this.#block(this.uleb());
        return;
      case SIZE_INDIRECT:
        this.#indirect(implicit);
        return;
      case SIZE_UNKNOWN:
        throw this.#damaged(`unknown form 0x${form.toString(16)}`);
      case 16:
        this.#take(16);
        this.value = 0;
        return;
      default:
        this.value = form === dw.DW_FORM_addr ? this.address() : this.fixed(size);
    }
  }

  /** Reads a value whose form precedes it. */
  #indirect(implicit: number): void {
    let form: number = dw.DW_FORM_indirect;
    for (let i = 0; form === dw.DW_FORM_indirect; i++) {
      if (i === MAX_INDIRECTIONS) throw this.#damaged('endless DW_FORM_indirect');
      form = this.uleb();
    }
    this.read(form, implicit, formSize(form, this.format));
  }

  #block(sizeBytes: number): void {
    this.valueAt = this.#take(sizeBytes);
    this.value = sizeBytes;
  }

  #take(sizeBytes: number): number {
    const { at } = this;
    if (at + sizeBytes > this.end) throw this.#cut();
    this.at = at + sizeBytes;
    return at;
  }

  #cut(): PerfconvError {
    return this.#damaged(`a value overruns ${this.end} bytes`);
  }

  #damaged(what: string): PerfconvError {
    return new PerfconvError('damaged', what, { record: 'DIE' });
  }
}
