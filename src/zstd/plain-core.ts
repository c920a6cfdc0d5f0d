import { bitsAt } from './bits.ts';
import type { BlockAreas, BlockCore, BlockLoops } from './block-core.ts';
import { LITERALS_LENGTH_ENTRIES, MATCH_LENGTH_ENTRIES } from './length-codes.ts';
import {
  BITS_LEFT,
  BLOCK_AREA_BYTES,
  BLOCK_TOO_LARGE,
  FIRST_OFFSET,
  LESS_THAN_ONE,
  LITERALS_MISSING,
  MATCH_BEFORE_START,
  MAX_ACCURACY_LOG,
  MAX_CODE_BITS,
  MAX_OFFSET_CODE,
  MAX_SYMBOLS,
  NO_CODES,
  NO_TREE,
  OFFSET_TOO_LARGE,
  SECOND_OFFSET,
  SEQUENCES_CUT_OFF,
  TABLE_COUNT,
  THIRD_OFFSET,
  WEIGHT_TOO_LARGE,
} from './wasm/contract.ts';

/** Up to this length, a loop is faster than a call. */
const SHORT_COPY = 32;
/** How many bits can be read at once. */
const MAX_BITS_AT_ONCE = 25;

/** A table in use: its entries, and the number of bits of its first state. */
interface UsedTable {
  readonly entries: Uint32Array;
  readonly accuracyLog: number;
}

/** The core in JavaScript, for engines that run no WebAssembly, or have no memory for it. */
export class PlainCore implements BlockCore, BlockLoops {
  areas: BlockAreas;
  readonly loops = this;
  /** By the next {@link #codeBits} bits of a stream, `symbol << 4 | bits of its code`. */
  readonly #huffman = new Uint16Array(1 << MAX_CODE_BITS);
  #codeBits = 0;
  /** By kind. */
  readonly #tables: UsedTable[] = [];
  readonly #offsets = [FIRST_OFFSET, SECOND_OFFSET, THIRD_OFFSET];

  constructor() {
    const block = new Uint8Array(BLOCK_AREA_BYTES);
    this.areas = {
      block,
      blockView: new DataView(block.buffer),
      shares: new Int16Array(MAX_SYMBOLS),
      weights: new Uint8Array(MAX_SYMBOLS),
      fseEntries: new Uint32Array(TABLE_COUNT << MAX_ACCURACY_LOG),
      window: new Uint8Array(0),
    };
  }

  growWindow(sizeBytes: number): void {
    const window = new Uint8Array(sizeBytes);
    window.set(this.areas.window);
    this.areas = { ...this.areas, window };
  }

  startFrame(): void {
    this.#offsets[0] = FIRST_OFFSET;
    this.#offsets[1] = SECOND_OFFSET;
    this.#offsets[2] = THIRD_OFFSET;
  }

  buildFseTable(table: number, symbolCount: number, accuracyLog: number): void {
    const size = 1 << accuracyLog;
    const entries = this.#entriesOf(table).subarray(0, size);
    const { shares } = this.areas;
    let high = size;
    for (let symbol = 0; symbol < symbolCount; symbol++) if (shares[symbol] === LESS_THAN_ONE) entries[--high] = symbol;
    const step = (size >> 1) + (size >> 3) + 3;
    let position = 0;
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      for (let i = 0; i < shares[symbol]; i++) {
        entries[position] = symbol;
        do {
          position = (position + step) & (size - 1);
        } while (position >= high);
      }
      if (shares[symbol] === LESS_THAN_ONE) shares[symbol] = 1;
    }
    for (let state = 0; state < size; state++) {
      const symbol = entries[state];
      const next = shares[symbol]++;
      const bits = accuracyLog - (31 - Math.clz32(next));
      entries[state] = symbol | (bits << 8) | (((next << bits) - size) << 16);
    }
  }

  useTable(kind: number, table: number, accuracyLog: number): void {
    this.#tables[kind] = { entries: this.#entriesOf(table), accuracyLog };
  }

  buildHuffmanTable(count: number): number {
    const { weights } = this.areas;
    let sum = 0;
    for (let symbol = 0; symbol < count; symbol++) {
      const weight = weights[symbol];
      if (weight > MAX_CODE_BITS) return WEIGHT_TOO_LARGE;
      if (weight > 0) sum += 1 << (weight - 1);
    }
    if (sum === 0) return NO_CODES;
    const codeBits = 32 - Math.clz32(sum);
    const rest = (1 << codeBits) - sum;
    if (codeBits > MAX_CODE_BITS || (rest & (rest - 1)) !== 0) return NO_TREE;
    weights[count] = 32 - Math.clz32(rest);

    // Codes of a higher weight are shorter and fill more of the table; they come after those of lower weight.
    const places = new Uint16Array(MAX_CODE_BITS + 3);
    for (let symbol = 0; symbol <= count; symbol++) if (weights[symbol] > 0) places[weights[symbol] + 1] += 1 << (weights[symbol] - 1);
    const lightest = places[2];
    if (lightest < 2 || lightest % 2 === 1) return NO_TREE;
    for (let weight = 1; weight < places.length; weight++) places[weight] += places[weight - 1];
    for (let symbol = 0; symbol <= count; symbol++) {
      const weight = weights[symbol];
      if (weight === 0) continue;
      const from = places[weight];
      places[weight] += 1 << (weight - 1);
      this.#huffman.fill((symbol << 4) | (codeBits + 1 - weight), from, places[weight]);
    }
    this.#codeBits = codeBits;
    return codeBits;
  }

  decodeHuffman(firstBit: number, endBit: number, from: number, to: number): number {
    const { block: out, blockView: view } = this.areas;
    const entries = this.#huffman;
    const codeBits = this.#codeBits;
    const mask = (1 << codeBits) - 1;
    const firstShift = 24 - codeBits;
    let bit = endBit;
    let at = from;
    // hot: two codes have at most 22 bits, and one word has at least 24.
    for (const pairsEnd = to - 1; at < pairsEnd && bit - 24 >= firstBit; ) {
      const start = bit - 24;
      const word = view.getUint32(start >>> 3, true) >>> (start & 7);
      const first = entries[(word >>> firstShift) & mask];
      const firstBits = first & 15;
      const second = entries[(word >>> (firstShift - firstBits)) & mask];
      out[at] = first >>> 4;
      out[at + 1] = second >>> 4;
      at += 2;
      bit -= firstBits + (second & 15);
    }
    for (; at < to && bit > firstBit; at++) {
      const entry = entries[bitsAt(view, bit - codeBits, codeBits)];
      out[at] = entry >>> 4;
      bit -= entry & 15;
    }
    return at === to && bit === firstBit ? 1 : 0;
  }

  executeSequences(
    count: number,
    firstBit: number,
    endBit: number,
    literals: number,
    literalsEnd: number,
    start: number,
    reach: number,
    maxBlockBytes: number,
  ): number {
    const { block, blockView: view, window: out } = this.areas;
    const offsets = this.#offsets;
    const end = start + maxBlockBytes;
    let literal = literals;
    let to = start;
    if (count > 0) {
      const [{ entries: lengthEntries, accuracyLog: lengthLog }, { entries: offsetEntries, accuracyLog: offsetLog }] = this.#tables;
      const { entries: matchEntries, accuracyLog: matchLog } = this.#tables[2];
      let bit = endBit - lengthLog;
      let lengthState = bitsAt(view, bit, lengthLog);
      bit -= offsetLog;
      let offsetState = bitsAt(view, bit, offsetLog);
      bit -= matchLog;
      let matchState = bitsAt(view, bit, matchLog);
      // hot
      for (let left = count; ; ) {
        const lengthEntry = lengthEntries[lengthState];
        const offsetEntry = offsetEntries[offsetState];
        const matchEntry = matchEntries[matchState];

        const offsetCode = offsetEntry & 0xff;
        if (offsetCode > MAX_OFFSET_CODE) return OFFSET_TOO_LARGE;
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
        const matchCode = MATCH_LENGTH_ENTRIES[matchEntry & 0xff];
        bit -= matchCode & 0xff;
        const matchLength = (matchCode >> 8) + bitsAt(view, bit, matchCode & 0xff);
        const lengthCode = LITERALS_LENGTH_ENTRIES[lengthEntry & 0xff];
        bit -= lengthCode & 0xff;
        const literalsLength = (lengthCode >> 8) + bitsAt(view, bit, lengthCode & 0xff);

        // Offset values up to 3 mean one of the last three offsets; without literals, they are shifted by one.
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

        if (literal + literalsLength > literalsEnd) return LITERALS_MISSING;
        if (to + literalsLength + matchLength > end) return BLOCK_TOO_LARGE;
        if (literalsLength <= SHORT_COPY) for (let i = 0; i < literalsLength; i++) out[to + i] = block[literal + i];
        else out.set(block.subarray(literal, literal + literalsLength), to);
        literal += literalsLength;
        to += literalsLength;
        if (offset < 1 || offset > reach + (to - start)) return MATCH_BEFORE_START;
        const from = to - offset;
        // Source and target may overlap: bytes that were just written are then copied again.
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
        if (bit < firstBit) return SEQUENCES_CUT_OFF;
      }
      if (bit !== firstBit) return BITS_LEFT;
    }
    const rest = literalsEnd - literal;
    if (to + rest > end) return BLOCK_TOO_LARGE;
    out.set(block.subarray(literal, literalsEnd), to);
    return to + rest - start;
  }

  #entriesOf(table: number): Uint32Array {
    return this.areas.fseEntries.subarray(table << MAX_ACCURACY_LOG, (table + 1) << MAX_ACCURACY_LOG);
  }
}
