import { lastBitOf } from './bits.ts';
import type { BlockCore } from './block-core.ts';
import { BLOCK_HEADER_BYTES, type ZstdFrames, zstdError } from './frames.ts';
import { readHuffmanTable } from './huffman.ts';
import { LITERALS_START, PADDING_BYTES } from './wasm/contract.ts';

/** Four streams have at least this many literals. */
const MIN_LITERALS_OF_FOUR = 6;
const JUMP_TABLE_BYTES = 6;

const RAW_LITERALS = 0;
const RLE_LITERALS = 1;
const COMPRESSED_LITERALS = 2;

/** Reads the Literals_Section of each block. Source: RFC 8878, 3.1.1.3.1. */
export class ZstdLiterals {
  /** Where the current block's literals are in the block's area, and how many there are. */
  start = 0;
  count = 0;
  readonly #core: BlockCore;
  /** Whether a block of the frame has described a Huffman table, which later blocks may use. */
  #hasTable = false;

  constructor(core: BlockCore) {
    this.#core = core;
  }

  startFrame(): void {
    this.#hasTable = false;
  }

  /**
   * Puts the current block, which is compressed, into the core, and decodes its literals.
   * @returns where the section ends, in the block's area
   * @throws PerfconvError `damaged`
   */
  read({ bytes, blockBytes, maxBlockBytes }: ZstdFrames): number {
    const { block } = this.#core.areas;
    block.set(bytes.subarray(BLOCK_HEADER_BYTES), PADDING_BYTES);
    const at = PADDING_BYTES;
    const end = at + blockBytes;
    const type = block[at] & 3;
    const sizeFormat = (block[at] >> 2) & 3;
    if (type >= COMPRESSED_LITERALS) return this.#readCompressed(at, end, maxBlockBytes, type === COMPRESSED_LITERALS, sizeFormat);

    const headerBytes = [1, 2, 1, 3][sizeFormat];
    const start = at + headerBytes;
    // Only the size may be read from beyond a block that is too short.
    const word = block[at] | (block[at + 1] << 8) | (block[at + 2] << 16);
    const count = headerBytes === 1 ? block[at] >> 3 : (headerBytes === 2 ? word & 0xffff : word) >> 4;
    const next = start + (type === RAW_LITERALS ? count : 1);
    if (next > end || count > maxBlockBytes) throw zstdError(`${count} literals overrun their block`);
    this.count = count;
    this.start = type === RLE_LITERALS ? LITERALS_START : start;
    if (type === RLE_LITERALS) block.fill(block[start], LITERALS_START, LITERALS_START + count);
    return next;
  }

  #readCompressed(at: number, end: number, maxBlockBytes: number, describesTable: boolean, sizeFormat: number): number {
    const { block, blockView } = this.#core.areas;
    const headerBytes = [3, 3, 4, 5][sizeFormat];
    const sizeBits = [10, 10, 14, 18][sizeFormat];
    // Both sizes together have up to 36 bits.
    const sizes = Math.floor((blockView.getUint32(at, true) + (headerBytes === 5 ? block[at + 4] * 2 ** 32 : 0)) / 16);
    const count = sizes % 2 ** sizeBits;
    const compressedBytes = Math.floor(sizes / 2 ** sizeBits) % 2 ** sizeBits;
    let start = at + headerBytes;
    const next = start + compressedBytes;
    if (next > end || count > maxBlockBytes) throw zstdError(`${count} literals in ${compressedBytes} bytes overrun their block`);
    if (describesTable) {
      start = readHuffmanTable(this.#core, start, next);
      this.#hasTable = true;
    }
    if (!this.#hasTable) throw zstdError('a block reuses the Huffman table of an earlier block, but there is none');
    this.start = LITERALS_START;
    this.count = count;
    if (sizeFormat === 0) this.#decode(start, next, LITERALS_START, count);
    else this.#decodeFourStreams(start, next, count);
    return next;
  }

  /**
   * Decodes four streams, which follow a table of the first three's sizes. Each of these three has a quarter of the literals, rounded up.
   */
  #decodeFourStreams(at: number, end: number, count: number): void {
    if (count < MIN_LITERALS_OF_FOUR || at + JUMP_TABLE_BYTES > end) throw zstdError(`${count} literals in four streams`);
    const quarter = (count + 3) >> 2;
    let start = at + JUMP_TABLE_BYTES;
    for (let stream = 0; stream < 4; stream++) {
      const next = stream < 3 ? start + this.#core.areas.blockView.getUint16(at + stream * 2, true) : end;
      if (next > end) throw zstdError('a stream of Huffman codes overruns its block');
      this.#decode(start, next, LITERALS_START + stream * quarter, stream < 3 ? quarter : count - 3 * quarter);
      start = next;
    }
  }

  #decode(start: number, end: number, to: number, count: number): void {
    const { areas, loops } = this.#core;
    const isWhole = loops.decodeHuffman(start * 8, lastBitOf(areas.block, start, end), to, to + count);
    if (isWhole === 0) throw zstdError('a stream of Huffman codes does not end with its last symbol');
  }
}
