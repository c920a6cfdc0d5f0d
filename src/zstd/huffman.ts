import { zstdError } from './frames.ts';
import { readFseTable } from './fse.ts';

/** Source: RFC 8878, 4.2.1. */
const MAX_CODE_BITS = 11;
const MAX_WEIGHTS_ACCURACY_LOG = 6;
const MAX_WEIGHTS = 255;
const MAX_WEIGHT = MAX_CODE_BITS;
/** A first byte from here on counts weights of four bits each. */
const PLAIN_WEIGHTS = 128;

/** A decoding table for literals: by the next `codeBits` bits of a stream, `symbol << 4 | bits of its code`. */
export interface HuffmanTable {
  readonly entries: Uint16Array;
  readonly codeBits: number;
}

/** A table that was read, and where its description ends. */
export interface HuffmanTableAt {
  readonly table: HuffmanTable;
  readonly end: number;
}

/**
 * Reads the description of a Huffman table: a weight for each symbol but the last, whose weight follows from the sum.
 * Source: RFC 8878, 4.2.1.
 * @throws PerfconvError `damaged`
 */
export function readHuffmanTable(view: DataView, bytes: Uint8Array, at: number, end: number): HuffmanTableAt {
  if (at >= end) throw zstdError('the description of a Huffman table is cut off');
  const header = bytes[at];
  const start = at + 1;
  const sizeBytes = header < PLAIN_WEIGHTS ? header : (header - PLAIN_WEIGHTS + 2) >> 1;
  const weightsEnd = start + sizeBytes;
  if (weightsEnd > end) throw zstdError('the description of a Huffman table is cut off');
  const weights = header < PLAIN_WEIGHTS ? readCompressedWeights(view, bytes, start, weightsEnd) : readPlainWeights(bytes, start, header - PLAIN_WEIGHTS + 1);
  return { table: buildHuffmanTable(weights), end: weightsEnd };
}

function readPlainWeights(bytes: Uint8Array, start: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const pair = bytes[start + (i >> 1)];
    return i % 2 === 0 ? pair >> 4 : pair & 15;
  });
}

/** Weights as two interleaved states of one entropy table, read from the last bit backward until the bits run out. */
function readCompressedWeights(view: DataView, bytes: Uint8Array, start: number, end: number): number[] {
  const { table, end: streamStart } = readFseTable(bytes, start, end, MAX_WEIGHTS_ACCURACY_LOG, MAX_WEIGHTS);
  const { entries, accuracyLog } = table;
  const firstBit = streamStart * 8;
  let bit = lastBitOf(bytes, streamStart, end);
  const take = (count: number): number => {
    bit -= count;
    return bitsAt(view, bit, count);
  };
  const states = [take(accuracyLog), take(accuracyLog)];
  if (bit < firstBit) throw zstdError('the weights of a Huffman table are cut off');
  const weights: number[] = [];
  for (let turn = 0; ; turn ^= 1) {
    if (weights.length > MAX_WEIGHTS - 2) throw zstdError('a Huffman table has too many weights');
    const entry = entries[states[turn]];
    weights.push(entry & 0xff);
    states[turn] = (entry >>> 16) + take((entry >>> 8) & 0xff);
    if (bit < firstBit) {
      weights.push(entries[states[turn ^ 1]] & 0xff);
      return weights;
    }
  }
}

function buildHuffmanTable(weights: number[]): HuffmanTable {
  let sum = 0;
  for (const weight of weights) {
    if (weight > MAX_WEIGHT) throw zstdError(`a Huffman code of weight ${weight}`);
    if (weight > 0) sum += 1 << (weight - 1);
  }
  if (sum === 0) throw zstdError('a Huffman table without codes');
  const codeBits = 32 - Math.clz32(sum);
  const rest = (1 << codeBits) - sum;
  if (codeBits > MAX_CODE_BITS || (rest & (rest - 1)) !== 0) throw zstdError('the weights of a Huffman table make no tree');
  weights.push(32 - Math.clz32(rest));

  // Codes of a higher weight are shorter and fill more of the table; they are after those of lower weight.
  const places = new Uint16Array(MAX_WEIGHT + 3);
  for (const weight of weights) if (weight > 0) places[weight + 1] += 1 << (weight - 1);
  const lightest = places[2];
  if (lightest < 2 || lightest % 2 === 1) throw zstdError('the weights of a Huffman table make no tree');
  for (let weight = 1; weight < places.length; weight++) places[weight] += places[weight - 1];
  const entries = new Uint16Array(1 << codeBits);
  weights.forEach((weight, symbol) => {
    if (weight === 0) return;
    const from = places[weight];
    places[weight] += 1 << (weight - 1);
    entries.fill((symbol << 4) | (codeBits + 1 - weight), from, places[weight]);
  });
  return { entries, codeBits };
}

/**
 * Decodes one stream of Huffman codes, which is read from its last bit backward, and must end exactly with its last symbol.
 * @param view over a buffer with 4 bytes to spare in front of `start`, whose content does not matter
 * @throws PerfconvError `damaged`
 */
export function decodeHuffman(
  table: HuffmanTable,
  view: DataView,
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
  outStart: number,
  outEnd: number,
): void {
  const { entries, codeBits } = table;
  const firstBit = start * 8;
  let bit = lastBitOf(bytes, start, end);
  let to = outStart;
  const mask = (1 << codeBits) - 1;
  const firstShift = 24 - codeBits;
  // hot: two codes have at most 22 bits, and 24 can be looked at in one word.
  for (const pairsEnd = outEnd - 1; to < pairsEnd && bit - 24 >= firstBit; ) {
    const from = bit - 24;
    const word = view.getUint32(from >>> 3, true) >>> (from & 7);
    const first = entries[(word >>> firstShift) & mask];
    const firstBits = first & 15;
    const second = entries[(word >>> (firstShift - firstBits)) & mask];
    out[to] = first >>> 4;
    out[to + 1] = second >>> 4;
    to += 2;
    bit -= firstBits + (second & 15);
  }
  for (; to < outEnd && bit > firstBit; to++) {
    const entry = entries[bitsAt(view, bit - codeBits, codeBits)];
    out[to] = entry >>> 4;
    bit -= entry & 15;
  }
  if (to !== outEnd || bit !== firstBit) throw zstdError('a stream of Huffman codes does not end with its last symbol');
}

/**
 * Where a stream that is read backward begins: the highest bit set in its last byte only marks the end.
 * @throws PerfconvError `damaged` when the stream is empty or the mark is missing
 */
export function lastBitOf(bytes: Uint8Array, start: number, end: number): number {
  const last = end > start ? bytes[end - 1] : 0;
  if (last === 0) throw zstdError('a bit stream has no end mark');
  return end * 8 - 8 + (31 - Math.clz32(last));
}

/** `count` bits, at most 25, from bit `at` on. */
export function bitsAt(view: DataView, at: number, count: number): number {
  return (view.getUint32(at >>> 3, true) >>> (at & 7)) & ((1 << count) - 1);
}
