import { describe, expect, it } from 'vitest';
import { type NameLimit, withinLimit } from '../../../src/base/names/name-limits.ts';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { decodeText, encodeText } from '../../../src/base/text/text.ts';

const LIMIT: NameLimit = { code: 'long-name', kind: 'name', bytes: 10 };

function limited(name: string): { name: string; findings: string[] } {
  const diagnostics = new Diagnostics();
  const cut = withinLimit(name, LIMIT, 'RECORD', 0x20, diagnostics);
  return { name: cut, findings: diagnostics.list().map(({ code, severity, message, firstOffset }) => `${code} ${severity} ${firstOffset}: ${message}`) };
}

describe('a name', () => {
  it.each(['', '0123456789', '\u00e9\u00e9\u00e9\u00e9\u00e9', '\ud83d\ude00\ud83d\ude0012', decodeText(new Uint8Array(10).fill(0xff))])(
    'within the limit stays as it is: %j',
    (name) => {
      expect(limited(name)).toEqual({ name, findings: [] });
    },
  );

  it('that is longer is cut, and that is counted', () => {
    expect(limited('0123456789a')).toEqual({ name: '0123456789', findings: ['long-name loss 32: RECORD: name of 11 bytes was truncated: the limit is 10'] });
  });

  it.each([
    ['a\u00e9\u00e9\u00e9\u00e9\u00e9', 'a\u00e9\u00e9\u00e9\u00e9'],
    ['12345678\ud83d\ude00', '12345678'],
    ['\u2028\u2028\u2028\u2028', '\u2028\u2028\u2028'],
  ])('is not cut in the middle of a character: %j', (name, cut) => {
    expect(limited(name).name).toBe(cut);
  });

  it('of bytes that are not UTF-8 keeps those that fit', () => {
    const bytes = new Uint8Array(12).fill(0x80);
    expect(encodeText(limited(decodeText(bytes)).name)).toEqual(bytes.subarray(0, 10));
  });
});
