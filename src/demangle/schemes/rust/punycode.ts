import { CHAR, isDigit, isLower } from '../chars.ts';

/** RFC 3492, section 5. */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 0x80;

/** Longer texts are no identifiers. There has to be a limit because characters are inserted one by one. */
const MAX_LENGTH = 1 << 10;

/**
 * Decodes an identifier in Rust's form of Punycode (RFC 3492; RFC 2603: an underscore separates the ASCII characters from the digits).
 * @returns undefined if it is damaged
 */
export function decodePunycode(encoded: string): string | undefined {
  if (encoded.length > MAX_LENGTH) return undefined;
  const delimiter = encoded.lastIndexOf('_');
  const characters = Array.from(encoded.slice(0, Math.max(delimiter, 0)));
  let position = delimiter + 1;
  if (position === encoded.length) return undefined;
  let code = INITIAL_N;
  let bias = INITIAL_BIAS;
  let damp = DAMP;
  for (let index = 0; position < encoded.length; index++) {
    const before = index;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitValue(encoded.charCodeAt(position++));
      if (digit < 0) return undefined;
      index += digit * weight;
      const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
      if (digit < threshold) break;
      weight *= BASE - threshold;
      if (!(weight <= Number.MAX_SAFE_INTEGER / BASE ** 2)) return undefined;
    }
    const count = characters.length + 1;
    bias = adapt(index - before, count, damp);
    damp = 2;
    code += Math.floor(index / count);
    index %= count;
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return undefined;
    characters.splice(index, 0, String.fromCodePoint(code));
  }
  return characters.join('');
}

/** −1 for other characters, and for NaN after the end. */
function digitValue(code: number): number {
  if (isLower(code)) return code - CHAR.a;
  return isDigit(code) ? code - CHAR.zero + 26 : -1;
}

/** RFC 3492, 6.1. */
function adapt(distance: number, count: number, damp: number): number {
  let delta = Math.floor(distance / damp);
  delta += Math.floor(delta / count);
  let k = 0;
  for (; delta > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) delta = Math.floor(delta / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * delta) / (delta + SKEW));
}
