import { ByteView } from '../../base/bytes/byte-view.ts';

const NONE = new ByteView(new Uint8Array(), true);

/** No frame is larger: whole stacks have some megabytes. */
export const MAX_FRAME_BYTES = 1 << 26;

/** The dump of a stack: a piece of the process's memory. */
export class StackMemory {
  /** The address of its first byte: the stack pointer. */
  start = 0;
  sizeBytes = 0;
  /** Bytes that {@link read} reads: 4 or 8. */
  wordSize = 8;
  /** What {@link read} found. */
  lo = 0;
  hi = 0;
  #view = NONE;
  #offset = 0;
  #is64 = true;
  /** The last offset from the start at which there is a whole word. */
  #last = -1;
  #halves: StackMemory | undefined;

  set(view: ByteView, offset: number, sizeBytes: number, start: number, wordSize: number): void {
    this.#view = view;
    this.#offset = offset;
    this.sizeBytes = Math.max(0, Math.min(sizeBytes, view.length - offset));
    this.start = start;
    this.wordSize = wordSize;
    this.#is64 = wordSize === 8;
    this.#last = this.sizeBytes - wordSize;
  }

  /** Just after its last byte. */
  get end(): number {
    return this.start + this.sizeBytes;
  }

  /** What {@link read} found, as a double: exact below 2^53; no larger value is an address of user space. */
  get value(): number {
    return this.hi * 0x1_0000_0000 + this.lo;
  }

  /** The same bytes in words of 32 bits. */
  get halves(): StackMemory {
    this.#halves ??= new StackMemory();
    this.#halves.set(this.#view, this.#offset, this.sizeBytes, this.start, 4);
    return this.#halves;
  }

  /** Reads a word at an address into `lo` and `hi`; false where the dump has none. */
  read(address: number): boolean {
    // hot
    const at = address - this.start;
    if (!(at >= 0 && at <= this.#last)) return false;
    const offset = this.#offset + at;
    const view = this.#view;
    if (this.#is64) {
      const { words } = view;
      if (words !== undefined && (offset & 3) === 0) {
        this.lo = words[offset >>> 2];
        this.hi = words[(offset >>> 2) + 1];
      } else {
        this.lo = view.lo(offset);
        this.hi = view.hi(offset);
      }
    } else {
      this.lo = view.u32(offset);
      this.hi = 0;
    }
    return true;
  }

  /** Up to 8 bytes at an address, as an unsigned number; undefined if the dump does not have all of them. */
  bytes(address: number, sizeBytes: number): bigint | undefined {
    const at = address - this.start;
    return at >= 0 && at + sizeBytes <= this.sizeBytes ? wordOf(this.#view, this.#offset + at, sizeBytes) : undefined;
  }
}

/** Up to 8 bytes of a view as an unsigned number. */
export function wordOf(view: ByteView, offset: number, sizeBytes: number): bigint {
  let value = 0n;
  for (let i = 0; i < sizeBytes; i++) {
    const byte = BigInt(view.u8(offset + i));
    value = view.littleEndian ? value | (byte << BigInt(8 * i)) : (value << 8n) | byte;
  }
  return value;
}
