import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable } from '../../../src/base/text/printable.ts';
import { byteLength, decodeText, encodeText, hasRawBytes, readAsUtf8, showRawBytes } from '../../../src/base/text/text.ts';

const bytesOf = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);

describe('text that keeps its bytes', () => {
  it.each([
    ['ASCII', [0x61, 0x62], 'ab'],
    ['UTF-8 of every length', [0x24, 0xc2, 0xa2, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x92, 0x80], '$¢€💀'],
    ['a byte that never occurs in UTF-8', [0x61, 0xff, 0x62], 'a\udcffb'],
    ['a character cut off, as the kernel cuts thread names', [0xc3, 0xa4, 0xc3], 'ä\udcc3'],
    ['a character cut off after two of four bytes', [0xf0, 0x9f], '\udcf0\udc9f'],
    ['a continuation byte alone', [0x80, 0x61], '\udc80a'],
    ['overlong forms', [0xc0, 0x80, 0xe0, 0x80, 0x80, 0xf0, 0x80, 0x80, 0x80], '\udcc0\udc80\udce0\udc80\udc80\udcf0\udc80\udc80\udc80'],
    ['a surrogate', [0xed, 0xb3, 0xbf], '\udced\udcb3\udcbf'],
    ['what is above U+10FFFF', [0xf4, 0x90, 0x80, 0x80], '\udcf4\udc90\udc80\udc80'],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x61], '\ufeffa'],
    ['U+FFFD itself', [0xef, 0xbf, 0xbd, 0xff], '\ufffd\udcff'],
    ['nothing', [], ''],
  ])('is decoded, and encoded as it was: %s', (_, bytes, text) => {
    expect(decodeText(bytesOf(...bytes))).toBe(text);
    expect([...encodeText(text)]).toEqual(bytes);
    expect(byteLength(text)).toBe(bytes.length);
  });

  it('gives any bytes back, and differs for different bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 24 }), fc.uint8Array({ maxLength: 24 }), (a, b) => {
        expect(encodeText(decodeText(a))).toEqual(a);
        expect(decodeText(a) === decodeText(b)).toBe(Buffer.compare(a, b) === 0);
      }),
    );
  });

  it('is the same as from the system decoder if that keeps everything', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        expect(readAsUtf8(decodeText(bytes))).toBe(text);
        if (!text.includes('\ufffd')) expect(decodeText(bytes)).toBe(text);
      }),
    );
  });

  it('does not take a character beyond U+FFFF for bytes, though its second half looks like one', () => {
    const skull = '\ud83d\udc80';
    expect(hasRawBytes(skull)).toBe(false);
    expect(showRawBytes(`${skull}\udc80`)).toBe(`${skull}\\x80`);
    expect(printable(`${skull}\udc80`)).toBe(`${skull}\\x80`);
    expect([...encodeText(`${skull}\udc80`)]).toEqual([0xf0, 0x9f, 0x92, 0x80, 0x80]);
  });

  it('turns surrogates that stand for no byte into U+FFFD', () => {
    expect([...encodeText('\ud800a\udcff')]).toEqual([0xef, 0xbf, 0xbd, 0x61, 0xff]);
  });
});
