/**
 * Fields of CSV as RFC 4180 has them, but for the line end, which is readperf's: LF alone.
 */

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** A text in quotes, as readperf writes the texts of processes.csv and results.csv. */
export function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** A text, in quotes where it would be misread without. */
export function quotedWhereNeeded(text: string): string {
  return NEEDS_QUOTES.test(text) ? quoted(text) : text;
}

/** An unsigned 32-bit number; −1 is 4294967295, as readperf prints it. */
export function decimal32(value: number): string {
  return String(value >>> 0);
}

/** An unsigned 64-bit number given as two words. */
export function decimal64(lo: number, hi: number): string {
  // 2^32 is 4294967296: split at the sixth digit, every step stays below 2^53, and no BigInt is made per row.
  if (hi === 0) return String(lo);
  const low = lo + hi * 967_296;
  const carry = Math.floor(low / 1e6);
  return String(hi * 4294 + carry) + String(low - carry * 1e6).padStart(6, '0');
}

/** Part of a whole in per cent, with two decimals; 0.00 of nothing. */
export function percent(part: number, whole: number): string {
  return (whole === 0 ? 0 : (100 * part) / whole).toFixed(2);
}
