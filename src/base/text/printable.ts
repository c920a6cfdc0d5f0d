/**
 * What a terminal would act on, or not show: controls (C0, DEL, C1); format characters (bidirectional controls, zero-width characters,
 * the byte order mark, tags); the separators of lines and paragraphs, U+2028 and U+2029; lone surrogates.
 * Source: The Unicode Standard, table 4-4, "General Category".
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** The same, except for the controls that make lines and columns. */
const UNPRINTABLE_IN_LINES = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Text for one line of a terminal, or a part of one. What names in a recording may contain but a terminal must not get is escaped: as `\n`, `\t`; as `\x1b` for
 * ASCII's controls, as `\xff` for bytes that are not UTF-8 (`decodeText`), and as `\u202e` for all others.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/** The same for text in lines, which keeps its line breaks and tabs. JSON stays JSON if, of such characters, it has only line breaks between its strings. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE_IN_LINES, escaped);
}

function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  const code = character.charCodeAt(0);
  if (code < 0x20 || (code >= 0xdc80 && code <= 0xdcff)) return `\\x${hex(code & 0xff, 2)}`;
  return Array.from({ length: character.length }, (_, unit) => `\\u${hex(character.charCodeAt(unit), 4)}`).join('');
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
