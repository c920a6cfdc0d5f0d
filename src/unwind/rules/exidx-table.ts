import { ByteView } from '../../base/bytes/byte-view.ts';
import { grown } from '../../base/tables/growable.ts';
import { EXIDX_ENTRY_SIZE_BYTES, prel31 } from '../../elf/frame-tables/exidx-entries.ts';

/** The word of an entry that has nothing to unwind by. */
const EXIDX_CANTUNWIND = 1;
/** A description has at most 256 words besides its first two. */
const MAX_ENTRY_SIZE_BYTES = 4 * 258;
/** For all functions together. Most have some ten bytes. It takes many functions that share a long description to come to more, and no linker makes these. */
const MAX_INSTRUCTIONS_SIZE_BYTES = 1 << 24;

/** The function cannot be unwound: it is the first of a thread, or was compiled without such tables. */
export const CANT_UNWIND = 0;

/**
 * How functions of 32-bit Arm are unwound: `.ARM.exidx`, and the descriptions in `.ARM.extab` that it refers to. What is found is a place in
 * {@link ExidxTable.instructions}: a run of instructions that begins with the number of its bytes.
 * @see Exception Handling ABI for the Arm Architecture, 5 "Index table entries", 6 "Exception-handling table entries"
 */
export class ExidxTable {
  /** Instructions that were found so far, as runs of bytes with their length (two bytes) in front. The first one is {@link CANT_UNWIND}'s. */
  instructions = new Uint8Array(1024);
  readonly #index: ByteView;
  readonly #addr: number;
  readonly #extab: ByteView;
  readonly #extabAddr: number;
  readonly #count: number;
  #end = 2;
  /** By entry: where its instructions are, once they were looked up. */
  readonly #found = new Map<number, number>();
  /** By place of a run of instructions: the svma of the word that it begins in. */
  readonly #words = new Map<number, number>();

  private constructor(index: ByteView, addr: number, extab: ByteView, extabAddr: number) {
    this.#index = index;
    this.#addr = addr;
    this.#extab = extab;
    this.#extabAddr = extabAddr;
    this.#count = Math.floor(index.length / EXIDX_ENTRY_SIZE_BYTES);
  }

  /**
   * @param addr the svma of the index
   * @param readMapped reads what is mapped at an svma; undefined where nothing is
   */
  static async read(
    index: ByteView,
    addr: number,
    readMapped: (addr: number, sizeBytes: number) => Promise<{ readonly view: ByteView } | undefined>,
  ): Promise<ExidxTable> {
    let least = Number.POSITIVE_INFINITY;
    let greatest = -1;
    for (let at = 0; at + EXIDX_ENTRY_SIZE_BYTES <= index.length; at += EXIDX_ENTRY_SIZE_BYTES) {
      const word = index.u32(at + 4);
      if (word === EXIDX_CANTUNWIND || word >= 0x8000_0000) continue;
      const entry = prel31(word, addr + at + 4);
      least = Math.min(least, entry);
      greatest = Math.max(greatest, entry);
    }
    const bytes = greatest < 0 ? undefined : await readMapped(least, greatest - least + MAX_ENTRY_SIZE_BYTES);
    return new ExidxTable(index, addr, bytes?.view ?? new ByteView(new Uint8Array(), index.littleEndian), least);
  }

  /** Where the instructions for code at an svma are; CANT_UNWIND if the table says that there are none, −1 if it says nothing that is understood. */
  find(svma: number): number {
    const entry = this.entryAt(svma);
    if (entry < 0) return -1;
    let found = this.#found.get(entry);
    if (found === undefined) {
      found = this.#read(entry);
      this.#found.set(entry, found);
    }
    return found;
  }

  /** The entry of code at an svma: of the last function that begins there or before; −1 for none. */
  entryAt(svma: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.startOf(middle) <= svma) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The svma of the function of an entry. */
  startOf(entry: number): number {
    const at = entry * EXIDX_ENTRY_SIZE_BYTES;
    return prel31(this.#index.u32(at), this.#addr + at);
  }

  get count(): number {
    return this.#count;
  }

  /** The svma of the word in which a run of instructions begins, at its second or third byte. @param start where the run is, see {@link find} */
  wordOf(start: number): number {
    return this.#words.get(start) ?? -1;
  }

  #read(entry: number): number {
    const at = entry * EXIDX_ENTRY_SIZE_BYTES + 4;
    const word = this.#index.u32(at);
    if (word === EXIDX_CANTUNWIND) return CANT_UNWIND;
    // The word is the description itself, in the compact form of at most three bytes.
    if (word >= 0x8000_0000) return this.#isShort(word) ? this.#keep(word, this.#addr + at, 3, -1, 0) : -1;
    return this.#readDescription(prel31(word, this.#addr + at) - this.#extabAddr);
  }

  #readDescription(at: number): number {
    const extab = this.#extab;
    if (at < 0 || at + 4 > extab.length) return -1;
    const word = extab.u32(at);
    if (word >= 0x8000_0000) {
      if (this.#isShort(word)) return this.#keep(word, this.#extabAddr + at, 3, -1, 0);
      const personality = (word >>> 24) & 0x0f;
      return (word & 0x7000_0000) === 0 && (personality === 1 || personality === 2)
        ? this.#keep(word, this.#extabAddr + at, 2, at + 4, (word >>> 16) & 0xff)
        : -1;
    }
    // The personality routine of a language. GNU's and LLVM's have the same after it, beginning with the number of further words.
    if (at + 8 > extab.length) return -1;
    const first = extab.u32(at + 4);
    return this.#keep(first, this.#extabAddr + at + 4, 3, at + 8, first >>> 24);
  }

  /** Whether a description has personality 0, with all instructions in its one word. */
  #isShort(word: number): boolean {
    return (word & 0x7f00_0000) === 0;
  }

  /** Keeps the last bytes of a word, and further words of the table. @param svma where the word is @returns where, or −1 if they are missing or there is no more room */
  #keep(word: number, svma: number, count: number, moreAt: number, moreWords: number): number {
    const extab = this.#extab;
    if (moreWords > 0 && moreAt + 4 * moreWords > extab.length) return -1;
    const sizeBytes = count + 4 * moreWords;
    const start = this.#end;
    if (start + 2 + sizeBytes > MAX_INSTRUCTIONS_SIZE_BYTES) return -1;
    this.instructions = grown(this.instructions, start + 2 + sizeBytes);
    const { instructions } = this;
    let at = start;
    instructions[at++] = sizeBytes >>> 8;
    instructions[at++] = sizeBytes;
    for (let shift = 8 * (count - 1); shift >= 0; shift -= 8) instructions[at++] = word >>> shift;
    for (let i = 0; i < moreWords; i++) {
      const more = extab.u32(moreAt + 4 * i);
      for (let shift = 24; shift >= 0; shift -= 8) instructions[at++] = more >>> shift;
    }
    this.#end = at;
    this.#words.set(start, svma);
    return start;
  }
}
