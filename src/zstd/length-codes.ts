const MIN_MATCH = 3;

/** Extra bits of length codes: a code's values begin where those of the code before it end. Source: RFC 8878, 3.1.1.3.2.1. */
const LITERALS_LENGTH_BITS = [...Array<number>(16).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const MATCH_LENGTH_BITS = [...Array<number>(32).fill(0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/** By code, `extra bits | first value << 8`. */
export const LITERALS_LENGTH_ENTRIES = firstValues(LITERALS_LENGTH_BITS, 0);
export const MATCH_LENGTH_ENTRIES = firstValues(MATCH_LENGTH_BITS, MIN_MATCH);

function firstValues(extraBits: readonly number[], first: number): Int32Array {
  let value = first;
  return Int32Array.from(extraBits, (bits) => {
    const entry = bits | (value << 8);
    value += 1 << bits;
    return entry;
  });
}
