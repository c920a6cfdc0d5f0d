/** Tables of entropy codes, and literals that are coded with them. */

import { LESS_THAN_ONE, MAX_ACCURACY_LOG, MAX_CODE_BITS, NO_CODES, NO_TREE, WEIGHT_TOO_LARGE } from '../../src/zstd/wasm/contract';
import { BLOCK, FSE_ENTRIES, HUFFMAN_ENTRIES, SHARES, WEIGHTS } from './memory';

/** How many bits a word holds at least, whatever bit it starts with. */
const WORD_BITS: i32 = 56;

let codeBits: i32 = 0;

export function buildFseTable(table: u32, symbolCount: u32, accuracyLog: u32): void {
  const size: u32 = 1 << accuracyLog;
  const entries = FSE_ENTRIES + ((<usize>table) << (MAX_ACCURACY_LOG + 2));
  let high = size;
  for (let symbol: u32 = 0; symbol < symbolCount; symbol++) {
    if (shareOf(symbol) === LESS_THAN_ONE) store<u32>(entries + ((<usize>--high) << 2), symbol);
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let position: u32 = 0;
  for (let symbol: u32 = 0; symbol < symbolCount; symbol++) {
    const share = shareOf(symbol);
    for (let i = 0; i < share; i++) {
      store<u32>(entries + ((<usize>position) << 2), symbol);
      do {
        position = (position + step) & (size - 1);
      } while (position >= high);
    }
    if (share === LESS_THAN_ONE) store<i16>(SHARES + ((<usize>symbol) << 1), 1);
  }
  for (let state: u32 = 0; state < size; state++) {
    const entry = entries + ((<usize>state) << 2);
    const symbol = load<u32>(entry);
    const next = shareOf(symbol);
    store<i16>(SHARES + ((<usize>symbol) << 1), <i16>(next + 1));
    const bits = accuracyLog - (31 - clz(<u32>next));
    store<u32>(entry, symbol | (bits << 8) | ((((<u32>next) << bits) - size) << 16));
  }
}

export function buildHuffmanTable(count: u32): i32 {
  let sum: u32 = 0;
  for (let symbol: u32 = 0; symbol < count; symbol++) {
    const weight = weightOf(symbol);
    if (weight > MAX_CODE_BITS) return WEIGHT_TOO_LARGE;
    if (weight > 0) sum += 1 << (weight - 1);
  }
  if (sum === 0) return NO_CODES;
  const bits = 32 - <i32>clz(sum);
  const rest = (1 << bits) - sum;
  if (bits > MAX_CODE_BITS || (rest & (rest - 1)) !== 0) return NO_TREE;
  store<u8>(WEIGHTS + count, <u8>(32 - clz(rest)));

  // Codes of a higher weight are shorter and fill more of the table; they come after those of lower weight.
  let place: u32 = 0;
  for (let weight = 1; weight <= bits; weight++) {
    const first = place;
    for (let symbol: u32 = 0; symbol <= count; symbol++) {
      if (weightOf(symbol) !== weight) continue;
      const entry = <u16>((symbol << 4) | <u32>(bits + 1 - weight));
      for (const end = place + (1 << (weight - 1)); place < end; place++) store<u16>(HUFFMAN_ENTRIES + ((<usize>place) << 1), entry);
    }
    if (weight === 1 && (place === first || place % 2 === 1)) return NO_TREE;
  }
  codeBits = bits;
  return bits;
}

export function decodeHuffman(firstBit: i32, endBit: i32, from: u32, to: u32): i32 {
  const mask: u64 = (1 << codeBits) - 1;
  let bit = endBit;
  let at = from;
  // Four codes have at most 44 bits.
  for (; at + 4 <= to && bit - WORD_BITS >= firstBit; at += 4) {
    const start = bit - WORD_BITS;
    const word = load<u64>(BLOCK + (start >> 3)) >> (start & 7);
    let shift = WORD_BITS - codeBits;
    for (let i = 0; i < 4; i++) {
      const entry = entryOf((word >> shift) & mask);
      store<u8>(BLOCK + at + i, <u8>(entry >> 4));
      shift -= entry & 15;
    }
    bit = start + shift + codeBits;
  }
  for (; at < to && bit > firstBit; at++) {
    const start = bit - codeBits;
    const entry = entryOf((load<u64>(BLOCK + (start >> 3)) >> (start & 7)) & mask);
    store<u8>(BLOCK + at, <u8>(entry >> 4));
    bit -= entry & 15;
  }
  return at === to && bit === firstBit ? 1 : 0;
}

function entryOf(code: u64): i32 {
  return load<u16>(HUFFMAN_ENTRIES + ((<usize>code) << 1));
}

function shareOf(symbol: u32): i32 {
  return load<i16>(SHARES + ((<usize>symbol) << 1));
}

function weightOf(symbol: u32): i32 {
  return load<u8>(WEIGHTS + symbol);
}
