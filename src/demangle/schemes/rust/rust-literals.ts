/** A number: decimal up to 64 bits, else hexadecimal. @param nibbles hexadecimal digits without leading zeros */
export function integerText(nibbles: string): string {
  if (nibbles.length <= 12) return String(Number.parseInt(nibbles, 16));
  return nibbles.length > 16 ? `0x${nibbles}` : String(BigInt(`0x${nibbles}`));
}

/** @returns undefined if it is no Unicode scalar value */
export function characterLiteral(nibbles: string): string | undefined {
  const code = nibbles.length > 6 ? Number.NaN : Number.parseInt(nibbles, 16);
  return code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? `'${escapeCharacter(code, "'")}'` : undefined;
}

/** @param nibbles UTF-8, two hexadecimal digits a byte @returns undefined if it is not valid */
export function stringLiteral(nibbles: string): string | undefined {
  if (nibbles.length % 2 !== 0) return undefined;
  const bytes = Uint8Array.from({ length: nibbles.length / 2 }, (_, i) => Number.parseInt(nibbles.slice(2 * i, 2 * i + 2), 16));
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return `"${Array.from(text, (character) => escapeCharacter(character.codePointAt(0) ?? 0, '"')).join('')}"`;
  } catch {
    return undefined;
  }
}

/**
 * A character as in a literal between `quote`s. In character literals, those beyond ASCII are escaped, as in libiberty and LLVM; in strings,
 * they are shown.
 */
function escapeCharacter(code: number, quote: string): string {
  const character = String.fromCodePoint(code);
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  if (character === '\n') return '\\n';
  if (character === quote || character === '\\') return `\\${character}`;
  const isShown = code < 0x7f ? code >= 0x20 : quote === '"' && !/[\p{C}\p{Zl}\p{Zp}]/u.test(character);
  return isShown ? character : `\\u{${code.toString(16)}}`;
}
