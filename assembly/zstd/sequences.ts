/** Executes sequences of literals and matches. */

import {
  BITS_LEFT,
  BLOCK_TOO_LARGE,
  FIRST_OFFSET,
  LITERALS_LENGTH,
  LITERALS_LENGTH_CODES,
  LITERALS_MISSING,
  MATCH_BEFORE_START,
  MAX_ACCURACY_LOG,
  MAX_OFFSET_CODE,
  OFFSET,
  OFFSET_TOO_LARGE,
  SECOND_OFFSET,
  SEQUENCES_CUT_OFF,
  THIRD_OFFSET,
} from '../../src/zstd/wasm/contract';
import { BLOCK, FSE_ENTRIES, LENGTH_CODES, WINDOW } from './memory';

const MATCH_CODES: usize = LENGTH_CODES + 4 * LITERALS_LENGTH_CODES;
/** Up to this length, a loop is faster than a call. */
const SHORT_COPY: u32 = 64;

/** The tables in use: their entries, and how many bits their first states have. */
let lengthEntries: usize = 0;
let lengthLog: i32 = 0;
let offsetEntries: usize = 0;
let offsetLog: i32 = 0;
let matchEntries: usize = 0;
let matchLog: i32 = 0;

/** The offsets used last. */
let offset0: u32 = 0;
let offset1: u32 = 0;
let offset2: u32 = 0;

export function startFrame(): void {
  offset0 = FIRST_OFFSET;
  offset1 = SECOND_OFFSET;
  offset2 = THIRD_OFFSET;
}

export function useTable(kind: i32, table: u32, accuracyLog: i32): void {
  const entries = FSE_ENTRIES + ((<usize>table) << (MAX_ACCURACY_LOG + 2));
  if (kind === LITERALS_LENGTH) {
    lengthEntries = entries;
    lengthLog = accuracyLog;
  } else if (kind === OFFSET) {
    offsetEntries = entries;
    offsetLog = accuracyLog;
  } else {
    matchEntries = entries;
    matchLog = accuracyLog;
  }
}

export function executeSequences(count: u32, firstBit: i32, endBit: i32, literals: u32, literalsEnd: u32, start: u32, reach: u32, maxBlockBytes: u32): i32 {
  const end = start + maxBlockBytes;
  let literal = literals;
  let to = start;
  if (count > 0) {
    let bit = endBit - lengthLog;
    let lengthState = bitsOf(wordAt(bit), lengthLog);
    bit -= offsetLog;
    let offsetState = bitsOf(wordAt(bit), offsetLog);
    bit -= matchLog;
    let matchState = bitsOf(wordAt(bit), matchLog);
    for (let left = count; ; ) {
      const lengthEntry = load<u32>(lengthEntries + ((<usize>lengthState) << 2));
      const offsetEntry = load<u32>(offsetEntries + ((<usize>offsetState) << 2));
      const matchEntry = load<u32>(matchEntries + ((<usize>matchState) << 2));

      const offsetBits = <i32>(offsetEntry & 0xff);
      if (offsetBits > MAX_OFFSET_CODE) return OFFSET_TOO_LARGE;
      const matchCode = load<u32>(MATCH_CODES + ((<usize>(matchEntry & 0xff)) << 2));
      const matchBits = <i32>(matchCode & 0xff);
      // Both together have at most 43 bits, of the 57 that a word has.
      bit -= offsetBits + matchBits;
      const word = wordAt(bit);
      let offset: u32 = (1 << offsetBits) + bitsOf(word >> matchBits, offsetBits);
      const matchLength = (matchCode >> 8) + bitsOf(word, matchBits);
      const lengthCode = load<u32>(LENGTH_CODES + ((<usize>(lengthEntry & 0xff)) << 2));
      const lengthBits = <i32>(lengthCode & 0xff);
      const nextLengthBits = <i32>((lengthEntry >> 8) & 0xff);
      const nextMatchBits = <i32>((matchEntry >> 8) & 0xff);
      const nextOffsetBits = <i32>((offsetEntry >> 8) & 0xff);
      bit -= lengthBits;
      const literalsLength = (lengthCode >> 8) + bitsOf(wordAt(bit), lengthBits);

      // Offset values up to 3 mean one of the last three offsets; without literals, they are shifted by one.
      if (offset > 3) {
        offset -= 3;
        offset2 = offset1;
        offset1 = offset0;
        offset0 = offset;
      } else {
        const which = literalsLength === 0 ? offset : offset - 1;
        if (which > 0) {
          offset = which === 1 ? offset1 : which === 2 ? offset2 : offset0 - 1;
          if (which > 1) offset2 = offset1;
          offset1 = offset0;
          offset0 = offset;
        } else {
          offset = offset0;
        }
      }

      if (literal + literalsLength > literalsEnd) return LITERALS_MISSING;
      if (to + literalsLength + matchLength > end) return BLOCK_TOO_LARGE;
      copyApart(WINDOW + to, BLOCK + literal, literalsLength);
      literal += literalsLength;
      to += literalsLength;
      if (offset < 1 || offset > reach + (to - start)) return MATCH_BEFORE_START;
      copyMatch(WINDOW + to, offset, matchLength);
      to += matchLength;

      if (--left === 0) break;
      // The three together have at most 27 bits.
      bit -= nextLengthBits + nextMatchBits + nextOffsetBits;
      const next = wordAt(bit);
      offsetState = (offsetEntry >> 16) + bitsOf(next, nextOffsetBits);
      matchState = (matchEntry >> 16) + bitsOf(next >> nextOffsetBits, nextMatchBits);
      lengthState = (lengthEntry >> 16) + bitsOf(next >> (nextOffsetBits + nextMatchBits), nextLengthBits);
      if (bit < firstBit) return SEQUENCES_CUT_OFF;
    }
    if (bit !== firstBit) return BITS_LEFT;
  }
  const rest = literalsEnd - literal;
  if (to + rest > end) return BLOCK_TOO_LARGE;
  memory.copy(WINDOW + to, BLOCK + literal, rest);
  return <i32>(to + rest - start);
}

/** At least 57 bits of the block's area, from bit `bit` on. */
function wordAt(bit: i32): u64 {
  return load<u64>(BLOCK + (bit >> 3)) >> (bit & 7);
}

function bitsOf(word: u64, count: i32): u32 {
  return <u32>word & ((1 << count) - 1);
}

/** Copies bytes that do not overlap, eight at a time. Up to seven more are written. */
function copyApart(to: usize, from: usize, count: u32): void {
  if (count > SHORT_COPY) {
    memory.copy(to, from, count);
    return;
  }
  for (let i: u32 = 0; i < count; i += 8) store<u64>(to + i, load<u64>(from + i));
}

/** Copies from `offset` bytes earlier. This may overlap: bytes that were just written are then copied again. */
function copyMatch(to: usize, offset: u32, count: u32): void {
  if (offset >= count) {
    copyApart(to, to - offset, count);
  } else if (offset >= 8) {
    for (let i: u32 = 0; i < count; i += 8) store<u64>(to + i, load<u64>(to + i - offset));
  } else if (offset === 1) {
    memory.fill(to, load<u8>(to - 1), count);
  } else {
    for (let i: u32 = 0; i < count; i++) store<u8>(to + i, load<u8>(to + i - offset));
  }
}
