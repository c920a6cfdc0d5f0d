import { PerfconvError } from '../base/problems/errors.ts';
import { MAX_BLOCK_BYTES } from './wasm/contract.ts';

/** Source: RFC 8878, 3.1.1 and 3.1.2; magics of skippable frames only differ in their last four bits. */
const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const SKIPPABLE_MASK = 0xfffffff0;
const SKIPPABLE_HEADER_BYTES = 8;
const CHECKSUM_BYTES = 4;
export const BLOCK_HEADER_BYTES = 3;

/**
 * How far matches may reach back: what `perf record -z22`, perf's highest level, asks for, and the most that zstd itself allows by default.
 */
const MAX_WINDOW_BYTES = 128 << 20;

export const RAW_BLOCK = 0;
export const RLE_BLOCK = 1;
export const COMPRESSED_BLOCK = 2;

/** What is thrown for damage, after which nothing more of the stream can be read. */
export function zstdError(what: string): PerfconvError {
  return new PerfconvError('damaged', `the zstd stream cannot be read: ${what}`);
}

/**
 * Cuts a zstd stream into its parts: frame headers, blocks, checksums. The input may be cut anywhere; a part is returned once it is
 * complete. Frames may follow one another; skippable ones are left out.
 *
 * ```ts
 * frames.push(bytes);
 * while (frames.next()) look(frames.part, frames.bytes);
 * ```
 */
export class ZstdFrames {
  /** What {@link bytes} are. */
  part: 'frame' | 'block' | 'checksum' = 'frame';
  /** The part as it is in the stream, until the next {@link push}. */
  bytes = new Uint8Array(0);
  /** Window size of the current frame. */
  windowBytes = 0;
  maxBlockBytes = 0;
  /** Size of the current frame's content; −1 if the frame does not say. */
  contentBytes = -1;
  hasChecksum = false;
  /** Type of the current block. For one that repeats a byte, {@link blockBytes} is its decompressed size. */
  blockType = RAW_BLOCK;
  blockBytes = 0;
  isLastBlock = false;

  #buffer = new Uint8Array(MAX_BLOCK_BYTES);
  #start = 0;
  #end = 0;
  /** Bytes of a skippable frame that are still to come. */
  #toSkip = 0;
  #expects: 'frame' | 'block' | 'checksum' = 'frame';

  /** Adds the next bytes of the stream. */
  push(bytes: Uint8Array): void {
    const rest = this.#end - this.#start;
    if (this.#end + bytes.length > this.#buffer.length) {
      const needed = rest + bytes.length;
      const target = needed > this.#buffer.length ? new Uint8Array(Math.max(needed, this.#buffer.length * 2)) : this.#buffer;
      target.set(this.#buffer.subarray(this.#start, this.#end));
      this.#buffer = target;
      this.#start = 0;
      this.#end = rest;
    }
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Whether the stream could end here: not inside a frame. */
  get isAtFrameEnd(): boolean {
    return this.#expects === 'frame' && this.#start === this.#end && this.#toSkip === 0;
  }

  /**
   * Steps to the next complete part; false if more has to be pushed first.
   * @throws PerfconvError `damaged`, also when a frame asks for a dictionary or for a window above 128 MiB
   */
  next(): boolean {
    if (this.#expects === 'block') return this.#nextBlock();
    if (this.#expects === 'checksum') {
      if (this.#end - this.#start < CHECKSUM_BYTES) return false;
      this.#expects = 'frame';
      return this.#give('checksum', CHECKSUM_BYTES);
    }
    while (this.#toSkip > 0 || this.#isSkippable()) {
      if (this.#toSkip === 0) this.#toSkip = SKIPPABLE_HEADER_BYTES + this.#u32(4);
      const count = Math.min(this.#toSkip, this.#end - this.#start);
      this.#start += count;
      this.#toSkip -= count;
      if (this.#toSkip > 0) return false;
    }
    return this.#nextFrame();
  }

  #isSkippable(): boolean {
    if (this.#end - this.#start < SKIPPABLE_HEADER_BYTES) return false;
    return (this.#u32(0) & SKIPPABLE_MASK) === SKIPPABLE_MAGIC;
  }

  /** Frame_Header: magic and descriptor, then a window descriptor, a dictionary id and a content size, as far as the descriptor says so. */
  #nextFrame(): boolean {
    const available = this.#end - this.#start;
    if (available < 4) return false;
    const magic = this.#u32(0);
    if (magic !== FRAME_MAGIC) {
      if ((magic & SKIPPABLE_MASK) === SKIPPABLE_MAGIC) return false;
      throw zstdError('a frame does not start with its magic');
    }
    if (available < 5) return false;
    const descriptor = this.#buffer[this.#start + 4];
    const isSingleSegment = (descriptor & 0x20) !== 0;
    if ((descriptor & 0x08) !== 0) throw zstdError('a reserved bit of a frame header is set');
    const windowAt = 5;
    const dictionaryAt = windowAt + (isSingleSegment ? 0 : 1);
    const dictionaryBytes = [0, 1, 2, 4][descriptor & 3];
    const contentAt = dictionaryAt + dictionaryBytes;
    const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6];
    const headerBytes = contentAt + contentSizeBytes;
    if (available < headerBytes) return false;

    const dictionary = this.#uint(dictionaryAt, dictionaryBytes);
    // Sizes of two bytes count from 256.
    this.contentBytes = contentSizeBytes === 0 ? -1 : this.#uint(contentAt, contentSizeBytes) + (contentSizeBytes === 2 ? 256 : 0);
    this.windowBytes = isSingleSegment ? this.contentBytes : windowBytesOf(this.#buffer[this.#start + windowAt]);
    this.hasChecksum = (descriptor & 0x04) !== 0;
    if (dictionary !== 0) throw zstdError(`it was compressed with a dictionary (${dictionary}), which is not available`);
    if (this.windowBytes > MAX_WINDOW_BYTES) {
      throw zstdError(`it reaches ${this.windowBytes} bytes back, but at most ${MAX_WINDOW_BYTES} are kept`);
    }
    this.maxBlockBytes = Math.min(this.windowBytes, MAX_BLOCK_BYTES);
    this.#expects = 'block';
    return this.#give('frame', headerBytes);
  }

  #nextBlock(): boolean {
    const available = this.#end - this.#start;
    if (available < BLOCK_HEADER_BYTES) return false;
    const header = this.#uint(0, BLOCK_HEADER_BYTES);
    this.isLastBlock = (header & 1) !== 0;
    this.blockType = (header >> 1) & 3;
    this.blockBytes = header >> 3;
    if (this.blockType > COMPRESSED_BLOCK) throw zstdError('a block is of a reserved type');
    if (this.blockType === COMPRESSED_BLOCK && this.blockBytes === 0) throw zstdError('an empty block');
    if (this.blockBytes > this.maxBlockBytes) throw zstdError(`a block of ${this.blockBytes} bytes is larger than ${this.maxBlockBytes}`);
    const partBytes = BLOCK_HEADER_BYTES + (this.blockType === RLE_BLOCK ? 1 : this.blockBytes);
    if (available < partBytes) return false;
    if (this.isLastBlock) this.#expects = this.hasChecksum ? 'checksum' : 'frame';
    return this.#give('block', partBytes);
  }

  #give(part: 'frame' | 'block' | 'checksum', sizeBytes: number): true {
    this.part = part;
    this.bytes = this.#buffer.subarray(this.#start, this.#start + sizeBytes);
    this.#start += sizeBytes;
    return true;
  }

  #u32(at: number): number {
    return this.#uint(at, 4);
  }

  /** A little-endian number. One of eight bytes loses precision above 2^53, where it is too large anyway. */
  #uint(at: number, sizeBytes: number): number {
    let value = 0;
    for (let i = sizeBytes - 1; i >= 0; i--) value = value * 256 + this.#buffer[this.#start + at + i];
    return value;
  }
}

/** Window_Descriptor: five bits of exponent, three of mantissa. */
function windowBytesOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}
