import { MAX_BLOCK_BYTES, RAW_BLOCK, RLE_BLOCK, type ZstdFrames, zstdError } from './frames.ts';
import { bitsAt, decodeHuffman, type HuffmanTable, lastBitOf, readHuffmanTable } from './huffman.ts';
import { LITERALS_LENGTHS, MATCH_LENGTHS, readSequencesHeader, type SequenceTables } from './sequences.ts';
import type { ZstdWindow } from './window.ts';

/** So much of one sequence is read at most, in bytes: words are loaded from before the first bit, and past the last. */
const PADDING_BYTES = 16;
const BLOCK_HEADER_BYTES = 3;
/** Up to this length a loop is faster than a call. */
const SHORT_COPY = 32;
/** 2 to this power is the longest reach of any window that is accepted, so that larger offset codes cannot be. */
const MAX_OFFSET_CODE = 27;
/** Most bits that one look takes. */
const MAX_BITS_AT_ONCE = 25;
const FIRST_OFFSETS: readonly number[] = [1, 4, 8];
/** Four streams have at least so many literals. */
const MIN_LITERALS_OF_FOUR = 6;
const JUMP_TABLE_BYTES = 6;

const RAW_LITERALS = 0;
const RLE_LITERALS = 1;
const COMPRESSED_LITERALS = 2;

/** Decodes blocks of zstd one after the other into a window. Source: RFC 8878, 3.1.1.2 to 3.1.1.5. */
export class ZstdBlockDecoder {
  readonly #window: ZstdWindow;
  /** The block, with padding on both sides. */
  readonly #input = new Uint8Array(PADDING_BYTES + MAX_BLOCK_BYTES + PADDING_BYTES);
  readonly #view = new DataView(this.#input.buffer);
  readonly #literals = new Uint8Array(MAX_BLOCK_BYTES);
  /** Where the current block's literals lie, and how many there are. */
  #literalsBytes = this.#literals;
  #literalsStart = 0;
  #literalsCount = 0;
  // What a frame's blocks take over from those before them.
  #huffman: HuffmanTable | undefined;
  #tables: SequenceTables | undefined;
  readonly #offsets = [...FIRST_OFFSETS];

  constructor(window: ZstdWindow) {
    this.#window = window;
  }

  startFrame(): void {
    this.#huffman = undefined;
    this.#tables = undefined;
    FIRST_OFFSETS.forEach((offset, i) => {
      this.#offsets[i] = offset;
    });
  }

  /**
   * Decodes the current block to the window's end, where there must be room for it. The window is not advanced.
   * @returns bytes decoded
   * @throws PerfconvError `damaged`
   */
  decode({ bytes, blockType, blockBytes, maxBlockBytes }: ZstdFrames): number {
    const { bytes: out, end } = this.#window;
    if (blockType === RAW_BLOCK) {
      out.set(bytes.subarray(BLOCK_HEADER_BYTES), end);
      return blockBytes;
    }
    if (blockType === RLE_BLOCK) {
      out.fill(bytes[BLOCK_HEADER_BYTES], end, end + blockBytes);
      return blockBytes;
    }
    this.#input.set(bytes.subarray(BLOCK_HEADER_BYTES), PADDING_BYTES);
    const inputEnd = PADDING_BYTES + blockBytes;
    const sequencesAt = this.#readLiterals(PADDING_BYTES, inputEnd, maxBlockBytes);
    return this.#executeSequences(sequencesAt, inputEnd, maxBlockBytes);
  }

  /**
   * Decodes a compressed block's literals and nothing else, for those who leave the rest to the reference decoder: in literals it accepts
   * damage that is refused here. All compressed blocks of a frame have to be given, in order.
   * @throws PerfconvError `damaged`
   */
  checkLiterals({ bytes, blockBytes, maxBlockBytes }: ZstdFrames): void {
    this.#input.set(bytes.subarray(BLOCK_HEADER_BYTES), PADDING_BYTES);
    this.#readLiterals(PADDING_BYTES, PADDING_BYTES + blockBytes, maxBlockBytes);
  }

  /** Literals_Section. @returns where it ends */
  #readLiterals(at: number, end: number, maxBlockBytes: number): number {
    const input = this.#input;
    if (at >= end) throw zstdError('an empty block');
    const type = input[at] & 3;
    const sizeFormat = (input[at] >> 2) & 3;
    if (type >= COMPRESSED_LITERALS) return this.#readCompressedLiterals(at, end, maxBlockBytes, type === COMPRESSED_LITERALS, sizeFormat);

    const headerBytes = [1, 2, 1, 3][sizeFormat];
    const start = at + headerBytes;
    // What follows a block that is too short is not read, except for the size.
    const word = input[at] | (input[at + 1] << 8) | (input[at + 2] << 16);
    const count = headerBytes === 1 ? input[at] >> 3 : (headerBytes === 2 ? word & 0xffff : word) >> 4;
    const next = start + (type === RAW_LITERALS ? count : 1);
    if (next > end || count > maxBlockBytes) throw zstdError(`${count} literals overrun their block`);
    this.#literalsCount = count;
    this.#literalsBytes = type === RLE_LITERALS ? this.#literals : input;
    this.#literalsStart = type === RLE_LITERALS ? 0 : start;
    if (type === RLE_LITERALS) this.#literals.fill(input[start], 0, count);
    return next;
  }

  #readCompressedLiterals(at: number, end: number, maxBlockBytes: number, describesTable: boolean, sizeFormat: number): number {
    const input = this.#input;
    const headerBytes = [3, 3, 4, 5][sizeFormat];
    const sizeBits = [10, 10, 14, 18][sizeFormat];
    // Both sizes together have up to 36 bits.
    const sizes = Math.floor((this.#view.getUint32(at, true) + (headerBytes === 5 ? input[at + 4] * 2 ** 32 : 0)) / 16);
    const count = sizes % 2 ** sizeBits;
    const compressedBytes = Math.floor(sizes / 2 ** sizeBits) % 2 ** sizeBits;
    let start = at + headerBytes;
    const next = start + compressedBytes;
    if (next > end || count > maxBlockBytes) throw zstdError(`${count} literals in ${compressedBytes} bytes overrun their block`);
    if (describesTable) {
      const read = readHuffmanTable(this.#view, input, start, next);
      this.#huffman = read.table;
      start = read.end;
    }
    const table = this.#huffman;
    if (table === undefined) throw zstdError('a block uses the Huffman table of a block before it, and there is none');
    this.#literalsBytes = this.#literals;
    this.#literalsStart = 0;
    this.#literalsCount = count;
    if (sizeFormat === 0) decodeHuffman(table, this.#view, input, start, next, this.#literals, 0, count);
    else this.#decodeFourStreams(table, start, next, count);
    return next;
  }

  /** Four streams one after the other, of which the first three have a quarter of the literals each, rounded up; their sizes come first. */
  #decodeFourStreams(table: HuffmanTable, at: number, end: number, count: number): void {
    if (count < MIN_LITERALS_OF_FOUR || at + JUMP_TABLE_BYTES > end) throw zstdError(`${count} literals in four streams`);
    const quarter = (count + 3) >> 2;
    let start = at + JUMP_TABLE_BYTES;
    for (let stream = 0; stream < 4; stream++) {
      const next = stream < 3 ? start + this.#view.getUint16(at + stream * 2, true) : end;
      if (next > end) throw zstdError('a stream of Huffman codes overruns its block');
      decodeHuffman(table, this.#view, this.#input, start, next, this.#literals, stream * quarter, stream < 3 ? (stream + 1) * quarter : count);
      start = next;
    }
  }

  /** Sequences_Section: so many literals, then so much of what came before, and at last the literals that are left. */
  #executeSequences(at: number, inputEnd: number, maxBlockBytes: number): number {
    const { bytes: out, end: outStart, reach } = this.#window;
    const view = this.#view;
    const { count, tables, end: streamStart } = readSequencesHeader(this.#input, at, inputEnd, this.#tables);
    let literal = this.#literalsStart;
    const literalsEnd = literal + this.#literalsCount;
    let to = outStart;
    if (tables === undefined) {
      if (streamStart !== inputEnd) throw zstdError('a block has bytes after its last sequence');
    } else {
      this.#tables = tables;
      const offsets = this.#offsets;
      const literals = this.#literalsBytes;
      const firstBit = streamStart * 8;
      const outEnd = outStart + maxBlockBytes;
      const lengthEntries = tables.literalsLength.entries;
      const offsetEntries = tables.offset.entries;
      const matchEntries = tables.matchLength.entries;
      let bit = lastBitOf(this.#input, streamStart, inputEnd) - tables.literalsLength.accuracyLog;
      let lengthState = bitsAt(view, bit, tables.literalsLength.accuracyLog);
      bit -= tables.offset.accuracyLog;
      let offsetState = bitsAt(view, bit, tables.offset.accuracyLog);
      bit -= tables.matchLength.accuracyLog;
      let matchState = bitsAt(view, bit, tables.matchLength.accuracyLog);
      // hot
      for (let left = count; ; ) {
        const lengthEntry = lengthEntries[lengthState];
        const offsetEntry = offsetEntries[offsetState];
        const matchEntry = matchEntries[matchState];

        const offsetCode = offsetEntry & 0xff;
        if (offsetCode > MAX_OFFSET_CODE) throw zstdError('a match reaches back too far');
        let offset = 1 << offsetCode;
        if (offsetCode > MAX_BITS_AT_ONCE) {
          bit -= offsetCode - MAX_BITS_AT_ONCE;
          offset += bitsAt(view, bit, offsetCode - MAX_BITS_AT_ONCE) * 2 ** MAX_BITS_AT_ONCE;
          bit -= MAX_BITS_AT_ONCE;
          offset += bitsAt(view, bit, MAX_BITS_AT_ONCE);
        } else {
          bit -= offsetCode;
          offset += bitsAt(view, bit, offsetCode);
        }
        const matchCode = MATCH_LENGTHS[matchEntry & 0xff];
        bit -= matchCode & 0xff;
        const matchLength = (matchCode >> 8) + bitsAt(view, bit, matchCode & 0xff);
        const lengthCode = LITERALS_LENGTHS[lengthEntry & 0xff];
        bit -= lengthCode & 0xff;
        const literalsLength = (lengthCode >> 8) + bitsAt(view, bit, lengthCode & 0xff);

        // Offset values up to 3 mean one of the last three offsets; without literals one further on.
        if (offset > 3) {
          offset -= 3;
          offsets[2] = offsets[1];
          offsets[1] = offsets[0];
          offsets[0] = offset;
        } else {
          const which = literalsLength === 0 ? offset : offset - 1;
          offset = which === 3 ? offsets[0] - 1 : offsets[which];
          if (which > 1) offsets[2] = offsets[1];
          if (which > 0) offsets[1] = offsets[0];
          offsets[0] = offset;
        }

        if (literal + literalsLength > literalsEnd) throw zstdError('a sequence takes more literals than its block has');
        if (to + literalsLength + matchLength > outEnd) throw zstdError(`a block of more than ${maxBlockBytes} bytes`);
        if (literalsLength <= SHORT_COPY) for (let i = 0; i < literalsLength; i++) out[to + i] = literals[literal + i];
        else out.set(literals.subarray(literal, literal + literalsLength), to);
        literal += literalsLength;
        to += literalsLength;
        if (offset < 1 || offset > reach + (to - outStart)) throw zstdError(`a match reaches ${offset} bytes back`);
        const from = to - offset;
        // Source and target may overlap: what was just written is then written again.
        if (matchLength <= SHORT_COPY || offset < matchLength) for (let i = 0; i < matchLength; i++) out[to + i] = out[from + i];
        else out.copyWithin(to, from, from + matchLength);
        to += matchLength;

        if (--left === 0) break;
        let bits = (lengthEntry >>> 8) & 0xff;
        bit -= bits;
        lengthState = (lengthEntry >>> 16) + bitsAt(view, bit, bits);
        bits = (matchEntry >>> 8) & 0xff;
        bit -= bits;
        matchState = (matchEntry >>> 16) + bitsAt(view, bit, bits);
        bits = (offsetEntry >>> 8) & 0xff;
        bit -= bits;
        offsetState = (offsetEntry >>> 16) + bitsAt(view, bit, bits);
        if (bit < firstBit) throw zstdError('the sequences of a block are cut off');
      }
      if (bit !== firstBit) throw zstdError('the sequences of a block do not end with their last bit');
    }
    const rest = literalsEnd - literal;
    if (to + rest > outStart + maxBlockBytes) throw zstdError(`a block of more than ${maxBlockBytes} bytes`);
    out.set(this.#literalsBytes.subarray(literal, literalsEnd), to);
    return to + rest - outStart;
  }
}
