import { zstdError } from './frames.ts';

/** Bits a table's accuracy is counted from. Source: RFC 8878, 4.1.1. */
const MIN_ACCURACY_LOG = 5;
/** Share of a symbol that occurs less than once in a table's size. */
const LESS_THAN_ONE = -1;

/**
 * A decoding table of finite state entropy: per state a symbol, and how to come to the next state from the bits that follow.
 * An entry is `symbol | bits << 8 | base << 16`; the next state is base + the next `bits` bits.
 */
export interface FseTable {
  readonly entries: Uint32Array;
  /** Bits of the first state; there are 2 to this power. */
  readonly accuracyLog: number;
}

/** A table that was read, and where its description ends. */
export interface FseTableAt {
  readonly table: FseTable;
  readonly end: number;
}

/**
 * Reads a table's description: accuracy, then the share of each symbol, in bits from the low end of each byte.
 * Source: RFC 8878, 4.1.1.
 * @param end of the bytes that may be read
 * @param maxSymbol the highest symbol that there may be
 * @throws PerfconvError `damaged`
 */
export function readFseTable(bytes: Uint8Array, at: number, end: number, maxAccuracyLog: number, maxSymbol: number): FseTableAt {
  const lastBit = end * 8;
  let bit = at * 8;
  const take = (count: number): number => {
    const value = peek(bytes, bit, count);
    bit += count;
    if (bit > lastBit) throw zstdError('the description of an entropy table is cut off');
    return value;
  };
  if (at >= end) throw zstdError('the description of an entropy table is cut off');
  const accuracyLog = take(4) + MIN_ACCURACY_LOG;
  if (accuracyLog > maxAccuracyLog) throw zstdError(`an entropy table of accuracy ${accuracyLog}`);
  const shares: number[] = [];
  for (let left = 1 << accuracyLog; left > 0; ) {
    if (shares.length > maxSymbol) throw zstdError('an entropy table has too many symbols');
    // A share is at most left + 1. Where so many values do not fill a whole number of bits, the low ones have a bit less.
    const bits = 32 - Math.clz32(left + 1);
    const half = 1 << (bits - 1);
    const shortCodes = half * 2 - 1 - (left + 1);
    let value = peek(bytes, bit, bits - 1);
    if (value < shortCodes) {
      take(bits - 1);
    } else {
      value = take(bits);
      if (value >= half) value -= shortCodes;
    }
    const share = value - 1;
    shares.push(share);
    left -= Math.abs(share);
    if (share !== 0) continue;
    for (let more = 3; more === 3; ) {
      more = take(2);
      for (let i = 0; i < more; i++) shares.push(0);
      if (shares.length > maxSymbol + 1) throw zstdError('an entropy table has too many symbols');
    }
  }
  if (shares.length > maxSymbol + 1) throw zstdError('an entropy table has too many symbols');
  return { table: buildFseTable(shares, accuracyLog), end: (bit + 7) >>> 3 };
}

/**
 * Lays a table out from the shares of its symbols, which sum up to 2 to the power of `accuracyLog`; −1 is a share of less than one,
 * which takes a state all the same.
 */
export function buildFseTable(shares: readonly number[], accuracyLog: number): FseTable {
  const size = 1 << accuracyLog;
  const entries = new Uint32Array(size);
  const nextStates = new Uint16Array(shares.length);
  let high = size;
  shares.forEach((share, symbol) => {
    nextStates[symbol] = share === LESS_THAN_ONE ? 1 : share;
    if (share === LESS_THAN_ONE) entries[--high] = symbol;
  });
  const step = (size >> 1) + (size >> 3) + 3;
  let position = 0;
  shares.forEach((share, symbol) => {
    for (let i = 0; i < share; i++) {
      entries[position] = symbol;
      do {
        position = (position + step) & (size - 1);
      } while (position >= high);
    }
  });
  for (let state = 0; state < size; state++) {
    const symbol = entries[state];
    const next = nextStates[symbol]++;
    const bits = accuracyLog - (31 - Math.clz32(next));
    entries[state] = symbol | (bits << 8) | (((next << bits) - size) << 16);
  }
  return { entries, accuracyLog };
}

/** A table of one symbol that costs no bits. */
export function singleSymbolTable(symbol: number): FseTable {
  return { entries: Uint32Array.of(symbol), accuracyLog: 0 };
}

/** `count` bits, at most 17, from bit `at` on; zeros after the end. */
function peek(bytes: Uint8Array, at: number, count: number): number {
  const byte = at >>> 3;
  const word = (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8) | ((bytes[byte + 2] ?? 0) << 16);
  return (word >>> (at & 7)) & ((1 << count) - 1);
}
