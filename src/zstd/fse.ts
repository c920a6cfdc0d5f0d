import { zstdError } from './frames.ts';

/** What a table's accuracy counts from, in bits. Source: RFC 8878, 4.1.1. */
const MIN_ACCURACY_LOG = 5;

/** What the description of an entropy table says. */
export interface FseShares {
  /** How many symbols have a share. */
  readonly symbolCount: number;
  /** How many bits the first state has. */
  readonly accuracyLog: number;
  /** Where the description ends. */
  readonly end: number;
}

/**
 * Reads a table's description: the accuracy, then the share of each symbol, in bits from the low end of each byte. Source: RFC 8878, 4.1.1.
 * @param end where the bytes that may be read end
 * @param maxSymbol the highest symbol that there may be
 * @param shares receives the shares by symbol: their sum is 2 to the power of the accuracy, with −1 (less than one) counted as 1
 * @throws PerfconvError `damaged`
 */
export function readFseShares(bytes: Uint8Array, at: number, end: number, maxAccuracyLog: number, maxSymbol: number, shares: Int16Array): FseShares {
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
  let symbolCount = 0;
  for (let left = 1 << accuracyLog; left > 0; ) {
    if (symbolCount > maxSymbol) throw zstdError('an entropy table has too many symbols');
    // A share is at most left + 1. If these values do not fill a whole number of bits, the low ones have one bit less.
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
    shares[symbolCount++] = share;
    left -= Math.abs(share);
    if (share !== 0) continue;
    for (let more = 3; more === 3; ) {
      more = take(2);
      shares.fill(0, symbolCount, symbolCount + more);
      symbolCount += more;
      if (symbolCount > maxSymbol + 1) throw zstdError('an entropy table has too many symbols');
    }
  }
  if (symbolCount > maxSymbol + 1) throw zstdError('an entropy table has too many symbols');
  return { symbolCount, accuracyLog, end: (bit + 7) >>> 3 };
}

/** `count` bits, at most 17, from bit `at` on; zeros after the end. */
function peek(bytes: Uint8Array, at: number, count: number): number {
  const byte = at >>> 3;
  const word = (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8) | ((bytes[byte + 2] ?? 0) << 16);
  return (word >>> (at & 7)) & ((1 << count) - 1);
}
