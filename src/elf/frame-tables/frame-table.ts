import {
  DW_EH_PE_absptr,
  DW_EH_PE_datarel,
  DW_EH_PE_FORMAT_MASK,
  DW_EH_PE_omit,
  DW_EH_PE_sdata2,
  DW_EH_PE_sdata4,
  DW_EH_PE_sdata8,
  DW_EH_PE_signed,
  DW_EH_PE_udata2,
  DW_EH_PE_udata4,
  DW_EH_PE_udata8,
} from './eh-pointers.ts';
import { type FrameBytes, FrameCursor } from './frame-cursor.ts';
import type { FrameSection } from './frame-section.ts';

/** A table of `.eh_frame_hdr`: for each FDE, where its code begins and where it is itself, sorted by the former. */
export class FrameTable {
  readonly count: number;
  /** svma of the header. */
  readonly addr: number;
  readonly #cursor: FrameCursor;
  readonly #tableAt: number;
  readonly #encoding: number;
  readonly #fieldSize: number;
  /** Whether fields are signed words relative to one address. */
  readonly #isOfWords: boolean;
  /** svma of `.eh_frame` according to the header. */
  readonly frameAddr: number;

  private constructor(addr: number, cursor: FrameCursor, frameAddr: number, count: number, encoding: number, fieldSize: number) {
    this.addr = addr;
    this.#cursor = cursor;
    this.frameAddr = frameAddr;
    this.count = count;
    this.#encoding = encoding;
    this.#fieldSize = fieldSize;
    this.#isOfWords = encoding === (DW_EH_PE_datarel | DW_EH_PE_sdata4);
    this.#tableAt = cursor.at;
  }

  /**
   * Reads the header; undefined if there is none. Without a table that can be searched, `count` is 0.
   * @see Linux Standard Base Core, "The .eh_frame_hdr section"
   */
  static read(bytes: FrameBytes): FrameTable | undefined {
    const { view } = bytes;
    const cursor = new FrameCursor(bytes);
    cursor.move(0, view.length);
    const version = cursor.u8();
    const [frameEncoding, countEncoding, tableEncoding] = [cursor.u8(), cursor.u8(), cursor.u8()];
    const frameAddr = cursor.pointer(frameEncoding);
    if (version !== 1 || cursor.failed) return undefined;
    const fieldSize = fieldSizeOf(tableEncoding, bytes.addressSize);
    const count = countEncoding === DW_EH_PE_omit || fieldSize === 0 ? 0 : cursor.value(countEncoding);
    const held = fieldSize === 0 ? 0 : Math.floor((view.length - cursor.at) / (2 * fieldSize));
    const isTable = !cursor.failed && count > 0 && count <= held;
    return new FrameTable(bytes.addr, cursor, frameAddr, isTable ? count : 0, tableEncoding, fieldSize);
  }

  /** The entries as they are in the file, each of two signed words relative to {@link wordsAddr}; undefined for another encoding. */
  get words(): Uint8Array | undefined {
    if (!this.#isOfWords) return undefined;
    return this.#cursor.frames.view.bytes.subarray(this.#tableAt, this.#tableAt + 2 * this.count * this.#fieldSize);
  }

  /** The svma that {@link words} are relative to. */
  get wordsAddr(): number {
    return this.#cursor.frames.dataAddr;
  }

  /**
   * Whether the table finds a section's FDEs: it belongs to that section, and is sorted.
   * @param isOfPart whether it may belong to what follows an address in the section
   */
  finds({ bytes: { addr, view } }: FrameSection, isOfPart = false): boolean {
    const isOwn = isOfPart ? this.frameAddr >= addr && this.frameAddr < addr + view.length : this.frameAddr === addr;
    return this.count > 0 && isOwn && this.#isSorted();
  }

  #isSorted(): boolean {
    const { view, addressSize } = this.#cursor.frames;
    // Words relative to one address are in the order of the addresses, unless these wrap. Hardly any table is encoded otherwise, and comparing just the words
    // is several times as fast: large programs have a hundred thousand entries, few of which are looked up.
    const hasPlainWords = this.#isOfWords && addressSize === 8 && this.#tableAt % 4 === 0;
    if (hasPlainWords && view.words !== undefined) return areStartsAscending(view.words, this.#tableAt / 4, this.count);
    let last = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < this.count; i++) {
      const start = this.start(i);
      if (start < last) return false;
      last = start;
    }
    return true;
  }

  /** The last entry that begins at or before an svma; −1 for none. */
  find(svma: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.start(middle) <= svma) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** svma of the code of an entry. */
  start(index: number): number {
    return this.#field(this.#tableAt + 2 * index * this.#fieldSize);
  }

  /** svma of the FDE of an entry. */
  fdeAddr(index: number): number {
    return this.#field(this.#tableAt + (2 * index + 1) * this.#fieldSize);
  }

  #field(at: number): number {
    const cursor = this.#cursor;
    const { view, dataAddr } = cursor.frames;
    if (this.#isOfWords) return cursor.wrapped(dataAddr + view.i32(at));
    cursor.move(at, view.length);
    return cursor.pointer(this.#encoding);
  }
}

/** Whether every second one of some signed words, from `first` on, is not below the one before it. */
function areStartsAscending(words: Uint32Array, first: number, count: number): boolean {
  const end = first + 2 * count;
  // hot
  for (let i = first + 2; i < end; i += 2) if ((words[i] | 0) < (words[i - 2] | 0)) return false;
  return true;
}

/** The size of fields of a fixed size; 0 for other encodings. */
function fieldSizeOf(encoding: number, addressSize: number): number {
  if (encoding === DW_EH_PE_omit) return 0;
  switch (encoding & DW_EH_PE_FORMAT_MASK) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_signed:
      return addressSize;
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
      return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
      return 4;
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return 8;
    default:
      return 0;
  }
}
