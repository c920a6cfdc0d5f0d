import type { ByteView } from '../base/byte-view.ts';
import {
  DW_EH_PE_absptr,
  DW_EH_PE_FORMAT_MASK,
  DW_EH_PE_pcrel,
  DW_EH_PE_sdata2,
  DW_EH_PE_sdata4,
  DW_EH_PE_sdata8,
  DW_EH_PE_udata2,
  DW_EH_PE_udata4,
  DW_EH_PE_udata8,
} from './eh-pointers.ts';

/** What a pointer is relative to, and whether it points at the pointer that is meant. */
const APPLICATION_AND_INDIRECT_MASK = 0xf0;

/** An encoding of which nothing is read. */
const UNREADABLE = -1;
const EXTENDED_LENGTH = 0xffff_ffff;
const WORD = 0x1_0000_0000;

/**
 * Visits the code ranges that the FDEs of an `.eh_frame` section describe: one for each function, or for each part of one
 * that was split. An entry that makes no sense is passed over; one whose length overruns the section ends the walk.
 * @param addr the address (svma) of the section
 * @param visit gets the first address, and the one just after the last
 * @see Linux Standard Base Core, "The .eh_frame section"
 */
export function visitFrameRanges(view: ByteView, addr: number, classBits: 32 | 64, visit: (start: number, end: number) => void): void {
  const reader = new FrameReader(view, addr, classBits);
  const encodings = new Map<number, number>();
  let at = 0;
  while (at + 4 <= view.length) {
    // hot
    let length = view.u32(at);
    at += 4;
    // A terminator. Linkers put what objects have one after the other, terminators included.
    if (length === 0) continue;
    if (length === EXTENDED_LENGTH) {
      if (at + 8 > view.length) return;
      length = view.u64(at);
      at += 8;
    }
    const end = at + length;
    if (end > view.length) return;
    const id = length < 4 ? 0 : view.u32(at);
    if (id !== 0) {
      const cie = at - id;
      let encoding = encodings.get(cie);
      if (encoding === undefined) {
        encoding = reader.encodingOf(cie);
        encodings.set(cie, encoding);
      }
      if (encoding !== UNREADABLE) reader.visitRange(at + 4, end, encoding, visit);
    }
    at = end;
  }
}

/** Reads fields one after the other within an entry. */
class FrameReader {
  readonly #view: ByteView;
  readonly #addr: number;
  readonly #is64: boolean;
  #at = 0;
  /** Where the entry ends. */
  #end = 0;

  constructor(view: ByteView, addr: number, classBits: 32 | 64) {
    this.#view = view;
    this.#addr = addr;
    this.#is64 = classBits === 64;
  }

  /** How a CIE says that its FDEs store pointers; UNREADABLE where there is none at the offset. */
  encodingOf(cie: number): number {
    const view = this.#view;
    if (cie < 0 || cie + 16 > view.length) return UNREADABLE;
    const isExtended = view.u32(cie) === EXTENDED_LENGTH;
    const id = isExtended ? cie + 12 : cie + 4;
    if (view.u32(id) !== 0) return UNREADABLE;
    this.#at = id + 4;
    this.#end = Math.min(view.length, id + (isExtended ? view.u64(cie + 4) : view.u32(cie)));
    try {
      return this.#readEncoding();
    } catch (error) {
      if (error instanceof RangeError) return UNREADABLE;
      throw error;
    }
  }

  /** Visits the range of an FDE whose first field is at an offset. */
  visitRange(at: number, end: number, encoding: number, visit: (start: number, end: number) => void): void {
    // hot
    this.#at = at;
    this.#end = end;
    const format = encoding & DW_EH_PE_FORMAT_MASK;
    if (at + 2 * this.#sizeOf(format) > end) return;
    const first = this.#pointer(format);
    const start = (encoding & APPLICATION_AND_INDIRECT_MASK) === DW_EH_PE_pcrel ? this.#wrapped(this.#addr + at + first) : this.#wrapped(first);
    // The length is stored in the same form, but is no address.
    const sizeBytes = this.#pointer(format);
    if (sizeBytes > 0) visit(start, start + sizeBytes);
  }

  #readEncoding(): number {
    const version = this.#u8();
    let augmentation = '';
    for (let character = this.#u8(); character !== 0; character = this.#u8()) {
      augmentation += String.fromCharCode(character);
      if (augmentation.length > 8) return UNREADABLE;
    }
    // Of gcc 2: a pointer to exception data follows.
    if (augmentation === 'eh') this.#skip(this.#sizeOf(DW_EH_PE_absptr));
    if (version === 4) this.#skip(2);
    this.#leb();
    this.#leb();
    if (version === 1) this.#u8();
    else this.#leb();
    if (!augmentation.startsWith('z')) return DW_EH_PE_absptr;
    this.#leb();
    for (const letter of augmentation.slice(1)) {
      if (letter === 'R') return readable(this.#u8());
      if (letter === 'L') this.#u8();
      else if (letter === 'P') this.#pointer(this.#u8() & DW_EH_PE_FORMAT_MASK);
      else if (letter !== 'S' && letter !== 'B' && letter !== 'G') return UNREADABLE;
    }
    return DW_EH_PE_absptr;
  }

  /** Size of a pointer of fixed size; 0 for LEB128 numbers. */
  #sizeOf(format: number): number {
    switch (format) {
      case DW_EH_PE_udata2:
      case DW_EH_PE_sdata2:
        return 2;
      case DW_EH_PE_udata4:
      case DW_EH_PE_sdata4:
        return 4;
      case DW_EH_PE_udata8:
      case DW_EH_PE_sdata8:
        return 8;
      case DW_EH_PE_absptr:
        return this.#is64 ? 8 : 4;
      default:
        return 0;
    }
  }

  /** Reads a pointer of fixed size, or steps over a LEB128 number. */
  #pointer(format: number): number {
    // hot
    const view = this.#view;
    const at = this.#at;
    this.#skip(this.#sizeOf(format));
    switch (format) {
      case DW_EH_PE_sdata4:
        return view.i32(at);
      case DW_EH_PE_udata4:
        return view.u32(at);
      case DW_EH_PE_udata8:
      case DW_EH_PE_sdata8:
        return (view.hi(at) | 0) * WORD + view.lo(at);
      case DW_EH_PE_absptr:
        return this.#is64 ? (view.hi(at) | 0) * WORD + view.lo(at) : view.u32(at);
      case DW_EH_PE_udata2:
        return view.u16(at);
      case DW_EH_PE_sdata2:
        return (view.u16(at) << 16) >> 16;
      default:
        return this.#leb();
    }
  }

  /** An address of a 32-bit file has 32 bits. */
  #wrapped(address: number): number {
    return this.#is64 ? address : address >>> 0;
  }

  /** Steps over a LEB128 number: none of them is of interest here. */
  #leb(): number {
    while (this.#u8() >= 0x80);
    return 0;
  }

  #u8(): number {
    if (this.#at >= this.#end) throw new RangeError('the entry ends');
    return this.#view.u8(this.#at++);
  }

  #skip(bytes: number): void {
    if (this.#at + bytes > this.#end) throw new RangeError('the entry ends');
    this.#at += bytes;
  }
}

/** An encoding, if it is of fixed size, as all compilers write, and needs nothing but the section itself. */
function readable(encoding: number): number {
  const application = encoding & APPLICATION_AND_INDIRECT_MASK;
  const format = encoding & DW_EH_PE_FORMAT_MASK;
  const isFixed =
    format === DW_EH_PE_absptr || (format >= DW_EH_PE_udata2 && format <= DW_EH_PE_udata8) || (format >= DW_EH_PE_sdata2 && format <= DW_EH_PE_sdata8);
  return isFixed && (application === 0 || application === DW_EH_PE_pcrel) ? encoding : UNREADABLE;
}
