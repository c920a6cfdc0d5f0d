import type { ByteView } from '../../base/bytes/byte-view.ts';
import {
  DW_EH_PE_APPLICATION_MASK,
  DW_EH_PE_absptr,
  DW_EH_PE_aligned,
  DW_EH_PE_datarel,
  DW_EH_PE_FORMAT_MASK,
  DW_EH_PE_indirect,
  DW_EH_PE_omit,
  DW_EH_PE_pcrel,
  DW_EH_PE_sdata2,
  DW_EH_PE_sdata4,
  DW_EH_PE_sdata8,
  DW_EH_PE_signed,
  DW_EH_PE_sleb128,
  DW_EH_PE_textrel,
  DW_EH_PE_udata2,
  DW_EH_PE_udata4,
  DW_EH_PE_udata8,
  DW_EH_PE_uleb128,
} from './eh-pointers.ts';

/** Bytes of a frame table, and what pointers in it are relative to. */
export interface FrameBytes {
  readonly view: ByteView;
  /** The svma of the first byte; 0 if the section is not mapped. */
  readonly addr: number;
  readonly addressSize: 4 | 8;
  /** The svma that `DW_EH_PE_textrel` counts from. */
  readonly textAddr: number;
  /** The svma that `DW_EH_PE_datarel` counts from. */
  readonly dataAddr: number;
}

const WORD = 0x1_0000_0000;
/** How many bytes 64 bits take. */
const MAX_LEB_SIZE_BYTES = 10;

/**
 * Reads the fields of an entry one after the other. Missing bytes are read as 0 and noted in `failed`: all readers here meet entries of damaged files, and
 * nothing is thrown for them.
 */
export class FrameCursor {
  readonly frames: FrameBytes;
  at = 0;
  end = 0;
  failed = false;

  constructor(frames: FrameBytes) {
    this.frames = frames;
  }

  /** Continues at an offset; nothing from `end` on is read. */
  move(at: number, end: number): void {
    this.at = at;
    this.end = Math.min(end, this.frames.view.length);
    this.failed = at < 0 || at > this.end;
  }

  skip(sizeBytes: number): void {
    this.#take(sizeBytes);
  }

  u8(): number {
    const at = this.#take(1);
    return this.failed ? 0 : this.frames.view.u8(at);
  }

  u16(): number {
    const at = this.#take(2);
    return this.failed ? 0 : this.frames.view.u16(at);
  }

  u32(): number {
    const at = this.#take(4);
    return this.failed ? 0 : this.frames.view.u32(at);
  }

  /** A signed 64-bit word; rounded outside ±2^53, where there is no svma of code and no offset. */
  i64(): number {
    const at = this.#take(8);
    const { view } = this.frames;
    return this.failed ? 0 : (view.hi(at) | 0) * WORD + view.lo(at);
  }

  /** An unsigned LEB128 number; rounded from 2^53 on. */
  uleb(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < MAX_LEB_SIZE_BYTES; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    this.failed = true;
    return 0;
  }

  /** A signed LEB128 number; rounded outside ±2^53. */
  sleb(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < MAX_LEB_SIZE_BYTES; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte >= 0x80) continue;
      // Ten bytes have 70 bits, of which the upper ones repeat the sign.
      return (byte & 0x40) === 0 ? value : value - scale;
    }
    this.failed = true;
    return 0;
  }

  /** An address of the size that the entry states. */
  address(sizeBytes: number): number {
    switch (sizeBytes) {
      case 2:
        return this.u16();
      case 4:
        return this.u32();
      case 8:
        return this.i64();
      default:
        this.failed = true;
        return 0;
    }
  }

  /** A number stored as the lower half of an encoding says, relative to nothing. */
  value(encoding: number): number {
    switch (encoding & DW_EH_PE_FORMAT_MASK) {
      case DW_EH_PE_absptr:
        return this.address(this.frames.addressSize);
      case DW_EH_PE_uleb128:
        return this.uleb();
      case DW_EH_PE_udata2:
        return this.u16();
      case DW_EH_PE_udata4:
        return this.u32();
      case DW_EH_PE_udata8:
      case DW_EH_PE_sdata8:
        return this.i64();
      case DW_EH_PE_signed:
        return this.frames.addressSize === 8 ? this.i64() : this.u32() | 0;
      case DW_EH_PE_sleb128:
        return this.sleb();
      case DW_EH_PE_sdata2:
        return (this.u16() << 16) >> 16;
      case DW_EH_PE_sdata4:
        return this.u32() | 0;
      default:
        this.failed = true;
        return 0;
    }
  }

  /** A pointer as an address (svma). Indirect pointers fail: nothing that is read here is stored like that. */
  pointer(encoding: number): number {
    if (encoding === DW_EH_PE_omit || (encoding & DW_EH_PE_indirect) !== 0) {
      this.failed = true;
      return 0;
    }
    const { addr, addressSize, textAddr, dataAddr } = this.frames;
    switch (encoding & DW_EH_PE_APPLICATION_MASK) {
      case 0:
        return this.wrapped(this.value(encoding));
      case DW_EH_PE_pcrel: {
        const place = addr + this.at;
        return this.wrapped(place + this.value(encoding));
      }
      case DW_EH_PE_textrel:
        return this.wrapped(textAddr + this.value(encoding));
      case DW_EH_PE_datarel:
        return this.wrapped(dataAddr + this.value(encoding));
      case DW_EH_PE_aligned: {
        const rest = (addr + this.at) % addressSize;
        if (rest !== 0) this.skip(addressSize - rest);
        return this.address(addressSize);
      }
      default:
        this.failed = true;
        return 0;
    }
  }

  /** Skips a pointer, whatever it points at. */
  skipPointer(encoding: number): void {
    if (encoding === DW_EH_PE_omit) return;
    if ((encoding & DW_EH_PE_APPLICATION_MASK) === DW_EH_PE_aligned) this.pointer(DW_EH_PE_aligned);
    else this.value(encoding);
  }

  /** An address of a 32-bit file has 32 bits. */
  wrapped(address: number): number {
    return this.frames.addressSize === 4 ? address >>> 0 : address;
  }

  /** Moves the cursor past a field. @returns where the field begins */
  #take(sizeBytes: number): number {
    const at = this.at;
    if (sizeBytes >= 0 && at + sizeBytes <= this.end) this.at = at + sizeBytes;
    else this.failed = true;
    return at;
  }
}
