import { percentOf, percentText } from '../percent.ts';

/* Fields of CSV (RFC 4180). Lines end with just LF, as in readperf's files. */

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** A text in quotes, as readperf writes the texts of processes.csv and results.csv. */
export function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** A text, quoted only if it would otherwise be misread. */
export function quotedWhereNeeded(text: string): string {
  return NEEDS_QUOTES.test(text) ? quoted(text) : text;
}

/** A 32-bit number as unsigned: −1 becomes 4294967295, as readperf prints it. */
export function decimal32(value: number): string {
  return String(value >>> 0);
}

/** An unsigned 64-bit number, given as two 32-bit words. */
export function decimal64(lo: number, hi: number): string {
  // 2^32 is 4294 967296. Split before the last six digits, every step stays below 2^53: no BigInt per row is needed.
  if (hi === 0) return String(lo);
  const low = lo + hi * 967_296;
  const carry = Math.floor(low / 1e6);
  return String(hi * 4294 + carry) + String(low - carry * 1e6).padStart(6, '0');
}

/** A share in percent with two decimals; 0.00 if the whole is 0. */
export function percent(part: number, whole: number): string {
  return percentText(percentOf(part, whole));
}
