import type { JsonWriter } from '../json-text.ts';

const COMMA = 0x2c;
const POINT = 0x2e;
const ZERO = 0x30;

/**
 * Writes a column of a table, `,"key":[…]`.
 * @param put writes the value of a row
 */
export async function writeColumn(out: JsonWriter, key: string, size: number, put: (row: number) => void): Promise<void> {
  out.put(`,\n"${key}":[`);
  for (let row = 0; row < size; row++) {
    // hot
    if (row > 0) out.char(COMMA);
    put(row);
    if (out.isFull) await out.flush();
  }
  out.put(']');
}

/** Writes an index, or `null` for −1. */
export function putIndexOrNull(out: JsonWriter, index: number): void {
  if (index < 0) out.put('null');
  else out.number(index);
}

/** Writes a non-negative whole number divided by a power of ten, without trailing zeros: 1001000 by 6 is `1.001`. Beyond 2^53, it is rounded as doubles are. */
export function putDecimal(out: JsonWriter, value: number, decimals: number): void {
  // hot
  const scale = 10 ** decimals;
  if (value > Number.MAX_SAFE_INTEGER) {
    out.put(String(value / scale));
    return;
  }
  const whole = Math.floor(value / scale);
  out.number(whole);
  let rest = value - whole * scale;
  if (rest === 0) return;
  let limit = scale;
  while (rest % 10 === 0) {
    rest /= 10;
    limit /= 10;
  }
  out.char(POINT);
  for (limit /= 10; rest < limit; limit /= 10) out.char(ZERO);
  out.number(rest);
}
