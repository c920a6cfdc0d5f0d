import { DW_EH_PE_absptr } from './eh-pointers.ts';
import { type FrameBytes, FrameCursor } from './frame-cursor.ts';

/** A common information entry: what the FDEs of an object file share. */
export interface FrameCie {
  /** Whether its FDEs have augmentation data (`z`). */
  readonly hasData: boolean;
  /** Whether its frames are those of signal handlers' callers (`S`): the next frame was interrupted, and called nothing. */
  readonly isSignalFrame: boolean;
  /** How FDEs store addresses: DW_EH_PE_… */
  readonly pointerEncoding: number;
  readonly addressSize: number;
  readonly segmentSize: number;
  readonly codeAlignment: number;
  readonly dataAlignment: number;
  readonly returnAddressRegister: number;
  /** Section offsets of the initial instructions. */
  readonly programStart: number;
  readonly programEnd: number;
}

export interface FrameSectionBytes extends FrameBytes {
  /** `.debug_frame` and `.eh_frame` differ in how they refer to CIEs and store addresses. */
  readonly isDebugFrame: boolean;
  /** Whether there is code at svma 0. Elsewhere, 0 is the address of code that the linker discarded. */
  readonly hasCodeAtZero: boolean;
}

const EXTENDED_LENGTH = 0xffff_ffff;
const WORD = 0x1_0000_0000;
/** Compilers use up to five letters. */
const MAX_AUGMENTATION_CHARACTERS = 32;
/**
 * Letters that stand for no data. S: the frames are those of signal handlers' callers; B: return addresses are signed with the second key; G: the stack has
 * tags. The last two do not change where anything is. gas writes these letters into `.debug_frame`, and no others.
 */
const WITHOUT_DATA = /^[SBG]*$/;
/** Linkers merge equal CIEs. A file with more different ones than this was made to fill memory. */
const MAX_KEPT_CIES = 1 << 12;

/**
 * The entries of one `.eh_frame` or `.debug_frame`. The fields hold the FDE that was read last.
 * @see Linux Standard Base Core, "The .eh_frame section"; DWARF 5, 6.4.1 "Structure of Call Frame Information"
 */
export class FrameSection {
  readonly bytes: FrameSectionBytes;
  readonly cursor: FrameCursor;
  /** Where the entry after the one that was read last begins; −1 if the section cannot be read any further. */
  nextEntry = -1;
  /** The FDE's first svma, and the one just after its last. */
  start = 0;
  end = 0;
  cie: FrameCie | undefined = undefined;
  /** Section offsets of the FDE's instructions. */
  programStart = 0;
  programEnd = 0;
  readonly #cies = new Map<number, FrameCie | undefined>();

  constructor(bytes: FrameSectionBytes) {
    this.bytes = bytes;
    this.cursor = new FrameCursor(bytes);
  }

  get sizeBytes(): number {
    return this.bytes.view.length;
  }

  /** Whether the FDE that was read last describes code that is there. */
  get hasCode(): boolean {
    return this.end > this.start && (this.start !== 0 || this.bytes.hasCodeAtZero);
  }

  /**
   * Reads the entry at a section offset.
   * @returns whether it is an FDE that makes sense: other entries, and terminators, are to be skipped
   */
  readFde(offset: number): boolean {
    const { cursor } = this;
    const { isDebugFrame } = this.bytes;
    this.nextEntry = -1;
    cursor.move(offset, this.sizeBytes);
    let sizeBytes = cursor.u32();
    if (cursor.failed) return false;
    // A terminator. Linkers join the sections of object files, including terminators.
    if (sizeBytes === 0) {
      this.nextEntry = cursor.at;
      return false;
    }
    const isExtended = sizeBytes === EXTENDED_LENGTH;
    if (isExtended) sizeBytes = unsigned(cursor.i64());
    const end = cursor.at + sizeBytes;
    if (cursor.failed || end > this.sizeBytes) return false;
    this.nextEntry = end;
    cursor.move(cursor.at, end);
    const idAt = cursor.at;
    const id = isDebugFrame && isExtended ? cursor.i64() : cursor.u32();
    if (cursor.failed || (isDebugFrame ? id === (isExtended ? -1 : EXTENDED_LENGTH) : id === 0)) return false;
    const fieldsAt = cursor.at;
    const cie = this.#cieAt(isDebugFrame ? id : idAt - id);
    if (cie === undefined) return false;
    cursor.move(fieldsAt, end);
    return this.#readFields(cie, end);
  }

  /** How many entries claim to be FDEs, whether they make sense or not. Reading them all takes many times as long. */
  countFdes(): number {
    const { isDebugFrame, view } = this.bytes;
    const cieId = isDebugFrame ? EXTENDED_LENGTH : 0;
    const { sizeBytes } = this;
    let count = 0;
    const { words } = view;
    // hot
    for (let at = 0; at + 4 <= sizeBytes; ) {
      // Usually, all entries are on word boundaries.
      const isWord = words !== undefined && at % 4 === 0;
      const entryBytes = isWord ? words[at >>> 2] : view.u32(at);
      if (entryBytes === EXTENDED_LENGTH) return Number.POSITIVE_INFINITY;
      if (entryBytes >= 4 && at + 8 <= sizeBytes && (isWord ? words[(at >>> 2) + 1] : view.u32(at + 4)) !== cieId) count++;
      at += 4 + entryBytes;
    }
    return count;
  }

  #readFields(cie: FrameCie, end: number): boolean {
    const { cursor } = this;
    this.cie = cie;
    if (this.bytes.isDebugFrame) {
      cursor.skip(cie.segmentSize);
      this.start = cursor.address(cie.addressSize);
      this.end = this.start + cursor.address(cie.addressSize);
    } else {
      this.start = cursor.pointer(cie.pointerEncoding);
      // The length is stored in the same form, but is not an address.
      this.end = this.start + cursor.value(cie.pointerEncoding);
    }
    if (cie.hasData) cursor.skip(cursor.uleb());
    this.programStart = cursor.at;
    this.programEnd = end;
    return !cursor.failed;
  }

  #cieAt(offset: number): FrameCie | undefined {
    const known = this.#cies.get(offset);
    if (known !== undefined || this.#cies.has(offset)) return known;
    const cie = this.#readCie(offset);
    if (this.#cies.size < MAX_KEPT_CIES) this.#cies.set(offset, cie);
    return cie;
  }

  /** The CIE at an offset; undefined if there is none that can be understood. */
  #readCie(offset: number): FrameCie | undefined {
    const { cursor } = this;
    const { isDebugFrame } = this.bytes;
    cursor.move(offset, this.sizeBytes);
    let sizeBytes = cursor.u32();
    const isExtended = sizeBytes === EXTENDED_LENGTH;
    if (isExtended) sizeBytes = unsigned(cursor.i64());
    const end = cursor.at + sizeBytes;
    if (cursor.failed || end > this.sizeBytes) return undefined;
    cursor.move(cursor.at, end);
    const id = isDebugFrame && isExtended ? cursor.i64() : cursor.u32();
    if (id !== (isDebugFrame ? (isExtended ? -1 : EXTENDED_LENGTH) : 0)) return undefined;
    const version = cursor.u8();
    if (version !== 1 && version !== 3 && version !== 4) return undefined;
    const augmentation = this.#readAugmentation();
    const { addressSize: defaultSize } = this.bytes;
    // gcc 2's: a pointer to exception data follows.
    if (augmentation === 'eh') cursor.skip(defaultSize);
    const addressSize = version === 4 ? cursor.u8() : defaultSize;
    const segmentSize = version === 4 ? cursor.u8() : 0;
    const codeAlignment = cursor.uleb();
    const dataAlignment = cursor.sleb();
    const returnAddressRegister = version === 1 ? cursor.u8() : cursor.uleb();
    const hasData = augmentation.startsWith('z');
    // What other letters stand for cannot be skipped unless its size is given. armcc's letters stand for nothing.
    if (!hasData && augmentation !== 'eh' && augmentation !== 'armcc+' && !WITHOUT_DATA.test(augmentation)) return undefined;
    const { isSignalFrame, pointerEncoding } = hasData
      ? this.#readData(augmentation)
      : { isSignalFrame: augmentation.includes('S'), pointerEncoding: DW_EH_PE_absptr };
    if (cursor.failed) return undefined;
    const common = { hasData, isSignalFrame, pointerEncoding, addressSize, segmentSize, codeAlignment, dataAlignment, returnAddressRegister };
    return { ...common, programStart: cursor.at, programEnd: end };
  }

  #readAugmentation(): string {
    const { cursor } = this;
    let text = '';
    for (let character = cursor.u8(); character !== 0; character = cursor.u8()) {
      text += String.fromCharCode(character);
      if (text.length > MAX_AUGMENTATION_CHARACTERS) cursor.failed = true;
      if (cursor.failed) break;
    }
    return text;
  }

  /** Reads what the letters after `z` stand for. What follows an unknown letter is skipped. */
  #readData(augmentation: string): { isSignalFrame: boolean; pointerEncoding: number } {
    const { cursor } = this;
    const sizeBytes = cursor.uleb();
    const end = cursor.at + sizeBytes;
    let isSignalFrame = false;
    let pointerEncoding = DW_EH_PE_absptr;
    for (const letter of augmentation.slice(1)) {
      if (letter === 'R') pointerEncoding = cursor.u8();
      else if (letter === 'P') cursor.skipPointer(cursor.u8());
      else if (letter === 'L') cursor.u8();
      else if (letter === 'S') isSignalFrame = true;
      else if (!WITHOUT_DATA.test(letter)) break;
    }
    if (end > cursor.end || cursor.at > end) cursor.failed = true;
    else cursor.at = end;
    return { isSignalFrame, pointerEncoding };
  }
}

function unsigned(value: number): number {
  return value < 0 ? value + WORD * WORD : value;
}
