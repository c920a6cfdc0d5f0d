/**
 * Names and paths as text that keeps their bytes. Linux requires only that file and thread names contain no NUL, and cuts thread names at 15 bytes, even in the
 * middle of a character. Such names are read as UTF-8, and each byte that is not becomes the lone surrogate U+DC80 to U+DCFF with that low byte (like Python's
 * `surrogateescape`, PEP 383): different bytes yield different texts, and {@link encodeText} restores them.
 */

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });
const ENCODER = new TextEncoder();

/** A lone surrogate that stands for a byte. With the `u` flag, those in pairs do not match. */
const RAW_BYTE = /[\udc80-\udcff]/u;
const RAW_BYTES = /[\udc80-\udcff]/gu;
const RAW_BYTE_RUN = /([\udc80-\udcff]+)/u;
const FIRST_RAW = 0xdc00;

/** The text of bytes; see above for those that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  const text = DECODER.decode(bytes);
  return text.includes('\ufffd') ? decodeRaw(bytes) : text;
}

/** The bytes from which {@link decodeText} made a text. Other lone surrogates become U+FFFD. */
export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  if (!hasRawBytes(text)) return ENCODER.encode(text);
  const bytes = new Uint8Array(byteLength(text));
  let length = 0;
  // Every other piece is a run of bytes.
  text.split(RAW_BYTE_RUN).forEach((piece, i) => {
    if (i % 2 === 0) length += ENCODER.encodeInto(piece, bytes.subarray(length)).written;
    else for (let at = 0; at < piece.length; at++) bytes[length++] = piece.charCodeAt(at) & 0xff;
  });
  return bytes;
}

/** How many bytes {@link encodeText} makes from a text. */
export function byteLength(text: string): number {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    length += code < 0x80 || (code >= 0xdc80 && code <= 0xdcff) ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}

/** Whether a text stands for bytes that are not UTF-8. */
export function hasRawBytes(text: string): boolean {
  return RAW_BYTE.test(text);
}

/** A text for places that require valid Unicode: bytes that are not UTF-8 are written out, as `\xff`. */
export function showRawBytes(text: string): string {
  return hasRawBytes(text) ? text.replace(RAW_BYTES, (character) => `\\x${(character.charCodeAt(0) & 0xff).toString(16)}`) : text;
}

/** A text with U+FFFD for bytes that are not UTF-8, as Node reads a program's arguments. */
export function readAsUtf8(text: string): string {
  return DECODER.decode(encodeText(text));
}

function decodeRaw(bytes: Uint8Array): string {
  let text = '';
  let wholeFrom = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      if (wholeFrom < at) text += DECODER.decode(bytes.subarray(wholeFrom, at));
      text += String.fromCharCode(FIRST_RAW | bytes[at]);
      wholeFrom = at + 1;
    }
    at += length || 1;
  }
  return wholeFrom < bytes.length ? text + DECODER.decode(bytes.subarray(wholeFrom)) : text;
}

/** How many bytes the character has that starts there (The Unicode Standard, table 3-7, "Well-Formed UTF-8 Byte Sequences"); 0 if none does. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + length > bytes.length) return 0;
  const second = bytes[at + 1];
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  for (let i = 2; i < length; i++) if ((bytes[at + i] & 0xc0) !== 0x80) return 0;
  return length;
}
