import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, printableLines } from '../../../src/base/text/printable.ts';
import { decodeText } from '../../../src/base/text/text.ts';

describe('text for a terminal', () => {
  it.each([
    ['tab\there, ü and 日本 stay', 'tab\\there, ü and 日本 stay'],
    ['two\nlines', 'two\\nlines'],
    ['\x1b[31m\x07\r\x08\0', '\\x1b[31m\\x07\\x0d\\x08\\x00'],
    ['\x7f \x85 \x9b31m', '\\u007f \\u0085 \\u009b31m'],
    ['\u202a\u202b\u202c\u202d\u202e', '\\u202a\\u202b\\u202c\\u202d\\u202e'],
    ['\u2066\u2067\u2068\u2069', '\\u2066\\u2067\\u2068\\u2069'],
    ['\u200e\u200f\u061c', '\\u200e\\u200f\\u061c'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['\u200b\u200c\u200d\u2060\ufeff\u00ad', '\\u200b\\u200c\\u200d\\u2060\\ufeff\\u00ad'],
    ['\u{e0041}', '\\udb40\\udc41'],
    ['\udcff \udc1b \ud800', '\\xff \\udc1b \\ud800'],
    ['𝕏 😀 é', '𝕏 😀 é'],
  ])('is made harmless: %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('is one line, and does not change when it is made harmless again', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ unit: 'binary', maxLength: 30 }), (bytes, text) => {
        const shown = printable(decodeText(bytes) + text);
        expect(printable(shown)).toBe(shown);
        expect(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(shown)).toBe(false);
      }),
    );
  });

  it('keeps line breaks and tabs if it may have several lines, but no other control characters', () => {
    expect(printableLines('a\tb\r\n\x1b[2J\u202e\u2028\n')).toBe('a\tb\\x0d\n\\x1b[2J\\u202e\\u2028\n');
  });

  it('keeps the meaning of JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-composite' }), fc.constantFrom('\x7f', '\x9b', '\u202e', '\u2028', '\u{e0001}'), (text, control) => {
        const json = JSON.stringify([text + control], undefined, 2);
        expect(JSON.parse(printableLines(json))).toEqual([text + control]);
      }),
    );
  });
});
