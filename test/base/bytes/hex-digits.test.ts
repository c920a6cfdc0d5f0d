import { describe, expect, it } from 'vitest';
import { HexNumber, hexDigit } from '../../../src/base/bytes/hex-digits.ts';

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('hexDigit', () => {
  it('knows the digits of either case, and nothing else', () => {
    const digits = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => hexDigit(byte) >= 0);
    expect(String.fromCharCode(...digits)).toBe('0123456789ABCDEFabcdef');
    expect(digits.map(hexDigit)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 10, 11, 12, 13, 14, 15]);
    expect(hexDigit(ascii('')[0])).toBe(-1);
  });
});

describe('HexNumber', () => {
  it.each([
    ['ffffffff81000abc T x', 16, -0x7efff544],
    ['00007F00deadbeef', 16, 0x7f00deadbeef],
    ['80000000', 8, 0x80000000],
    ['0 ', 1, 0],
    ['xyz', 0, 0],
    ['', 0, 0],
    ['12ffffffffffffffff', 18, -1],
  ])('reads %j', (text, digits, signed) => {
    const number = new HexNumber();
    expect(number.read(ascii(`..${text}`), 2)).toBe(2 + digits);
    expect([number.digits, number.signed]).toEqual([digits, signed]);
  });

  it('forgets the previous number', () => {
    const number = new HexNumber();
    number.read(ascii('ffffffffffffffff'), 0);
    number.read(ascii('7'), 0);
    expect([number.hi, number.lo, number.digits]).toEqual([0, 7, 1]);
  });
});
