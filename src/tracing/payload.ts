import type { ByteView } from '../base/bytes/byte-view.ts';
import type { TraceField } from './format.ts';
import { type Word, wordOfHalves } from './word.ts';

/** A run of bytes of a payload, from its start. */
export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

const NOTHING: ByteRange = { start: 0, length: 0 };
const LATIN1 = new TextDecoder('latin1');

/** The payload of one sample. One object is used for all payloads in turn. Whatever is outside of the payload reads as nothing: 0, or no bytes. */
export class TracePayload {
  #view!: ByteView;
  #at = 0;
  #size = 0;

  set(view: ByteView, at: number, size: number): void {
    this.#view = view;
    this.#at = at;
    this.#size = Math.max(0, Math.min(size, view.length - at));
  }

  get size(): number {
    return this.#size;
  }

  /** An integer of 1, 2, 4 or 8 bytes, not sign-extended; 0 for any other size. */
  word(offset: number, size: number): Word {
    if (offset < 0 || offset + size > this.#size) return 0;
    const view = this.#view;
    const at = this.#at + offset;
    switch (size) {
      case 1:
        return view.u8(at);
      case 2:
        return view.u16(at);
      case 4:
        return view.u32(at);
      case 8:
        return wordOfHalves(view.lo(at), view.hi(at));
      default:
        return 0;
    }
  }

  /** Where the bytes of a field are: its own, or those that it points to. */
  rangeOf(field: TraceField): ByteRange {
    if (field.location === 'inline') return this.clip(field.offset, field.size);
    if (field.size !== 4 || field.offset + 4 > this.#size) return NOTHING;
    const location = Number(this.word(field.offset, 4));
    const origin = field.location === 'field' ? field.offset + field.size : 0;
    return this.clip(origin + (location & 0xffff), location >>> 16);
  }

  /** The part of a range that is inside the payload. */
  clip(start: number, length: number): ByteRange {
    if (start < 0 || start >= this.#size) return NOTHING;
    return { start, length: Math.min(length, this.#size - start) };
  }

  bytes({ start, length }: ByteRange): Uint8Array {
    return this.#view.bytes.subarray(this.#at + start, this.#at + start + length);
  }

  /** The text of a range, up to a NUL. */
  text({ start, length }: ByteRange): string {
    return this.#view.text(this.#at + start, this.#at + start + length);
  }

  /** Whether a range, up to a NUL, has only what C calls printable or white space. */
  isPrintable(range: ByteRange): boolean {
    return /^[\t-\r -~]*(?:\0|$)/.test(LATIN1.decode(this.bytes(range)));
  }

  get littleEndian(): boolean {
    return this.#view.littleEndian;
  }
}
