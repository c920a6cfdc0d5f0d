import { CHAR, isDigit } from '../chars.ts';
import type { DemangleStyle } from '../style.ts';

/** The last part of a name: `17h` and 16 hex digits, which distinguish instances of a function. The path ends after it. */
const HASH_LENGTH = 19;
/** A hash with fewer different digits is taken for part of a C++ function's name (observed: libiberty of binutils 2.40). */
const LEAST_DIFFERENT_DIGITS = 5;

const ESCAPES: Readonly<Record<string, string>> = { SP: '@', BP: '*', RF: '&', LT: '<', GT: '>', LP: '(', RP: ')', C: ',' };

/**
 * Demangles `_ZN…17h<16 hex digits>E`, which rustc writes unless it is told to write v0 names. Only the hash distinguishes it from a C++
 * name. It is printed as libiberty (binutils 2.40, perf) prints it: without the hash and without LLVM's suffixes (`.llvm.…`, `.cold`).
 * Unlike libiberty, this decodes characters beyond ASCII (`$u20ac$`), as the crate rustc-demangle does.
 * @param name a linker's name; what follows an `@` (`@plt`, a version) is kept
 * @param style `simple` leaves out type arguments; the other two print the same
 * @returns undefined if it is no such name
 */
export function demangleRustLegacy(name: string, style: DemangleStyle): string | undefined {
  if (!name.startsWith('_ZN')) return undefined;
  const hash = findHash(name);
  const end = hash + HASH_LENGTH;
  if (hash <= 3 || name[end] !== 'E' || !isHash(name, hash + 3, end)) return undefined;
  const at = name.indexOf('@', end);
  if (end + 1 < name.length && name[end + 1] !== '.' && at !== end + 1) return undefined;
  let path = '';
  for (let position = 3; position < hash; ) {
    let length = 0;
    let digits = position;
    for (; digits < hash; digits++) {
      const digit = name.charCodeAt(digits) - CHAR.zero;
      if (!(digit >= 0 && digit <= 9)) break;
      length = length * 10 + digit;
    }
    if (digits === position || name[position] === '0' || digits + length > hash) return undefined;
    position = digits + length;
    const part = name.slice(digits, position);
    if (!/^[\w$.:]*$/.test(part)) return undefined;
    path += path === '' ? decodePart(part) : `::${decodePart(part)}`;
  }
  const shown = style === 'simple' ? withoutTypeArguments(path) : path;
  return at < 0 ? shown : shown + name.slice(at);
}

/**
 * @returns where the last `17h` begins, if the name has an E at that distance from its end, or has what else may follow the E; −1 for all
 * other names, which includes most C++ ones and takes no search
 */
function findHash(name: string): number {
  const last = name.length - HASH_LENGTH - 1;
  if (name[last] === '1' && name[last + 1] === '7' && name[last + 2] === 'h') return last;
  return name.indexOf('.') < 0 && name.indexOf('@') < 0 ? -1 : name.lastIndexOf('17h');
}

function isHash(name: string, start: number, end: number): boolean {
  let digits = 0;
  for (let i = start; i < end; i++) {
    const code = name.charCodeAt(i);
    if (isDigit(code)) digits |= 1 << (code - CHAR.zero);
    else if (code >= CHAR.a && code <= CHAR.f) digits |= 1 << (code - CHAR.a + 10);
    else return false;
  }
  let different = 0;
  for (; digits !== 0; digits &= digits - 1) different++;
  return different >= LEAST_DIFFERENT_DIGITS;
}

/** Decodes one part of the path: `..` stands for `::`, and `$LT$` and the like for characters that assemblers dislike. */
function decodePart(part: string): string {
  if (!part.includes('$') && !part.includes('.')) return part;
  let decoded = '';
  // The underscore turns a part that would start with `$` into an identifier.
  let position = part.startsWith('_$') ? 1 : 0;
  while (position < part.length) {
    if (part.startsWith('..', position)) {
      decoded += '::';
      position += 2;
      continue;
    }
    if (part[position] === '$') {
      const close = part.indexOf('$', position + 1);
      const character = close < 0 ? undefined : decodeEscape(part.slice(position + 1, close));
      // An unknown escape is shown as it is, with everything after it.
      if (character === undefined) return decoded + part.slice(position);
      decoded += character;
      position = close + 1;
      continue;
    }
    let next = position + 1;
    while (next < part.length && part[next] !== '$' && part[next] !== '.') next++;
    decoded += part.slice(position, next);
    position = next;
  }
  return decoded;
}

function decodeEscape(escaped: string): string | undefined {
  if (/^[A-Z]+$/.test(escaped)) return Object.hasOwn(ESCAPES, escaped) ? ESCAPES[escaped] : undefined;
  if (!/^u[0-9a-f]{1,6}$/.test(escaped)) return undefined;
  const code = Number.parseInt(escaped.slice(1), 16);
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return undefined;
  const character = String.fromCodePoint(code);
  return /\p{Cc}/u.test(character) ? undefined : character;
}

/** `a::<impl b<T> for c<U>>::d<V>` without `<T>`, `<U>` and `<V>`. A path whose brackets do not match is left as it is. */
function withoutTypeArguments(path: string): string {
  let kept = '';
  let position = 0;
  while (position < path.length) {
    const open = path.indexOf('<', position);
    if (open < 0) break;
    const isQualified = path.startsWith('::', open - 2) && !path.startsWith('impl ', open + 1);
    if (!isQualified && !/[\w}]/.test(path[open - 1] ?? '')) {
      kept += path.slice(position, open + 1);
      position = open + 1;
      continue;
    }
    kept += path.slice(position, isQualified ? open - 2 : open);
    position = afterBrackets(path, open);
    if (position < 0) return path;
  }
  return kept + path.slice(position);
}

/** Index after the `>` that closes the `<` at `open`; -1 if there is none. The arrow of a function type closes nothing. */
function afterBrackets(path: string, open: number): number {
  let depth = 0;
  for (let i = open; i < path.length; i++) {
    if (path[i] === '<') depth++;
    else if (path[i] === '>' && path[i - 1] !== '-' && --depth === 0) return i + 1;
  }
  return -1;
}
