import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal32, decimal64, percent, quoted, quotedWhereNeeded } from '../../../src/writers/csv/fields.ts';
import { wholeNumber } from '../../../src/writers/whole-number.ts';
import { parseCsvRows } from '../../support/readers/parse-csv.ts';

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

describe('CSV fields: quoting', () => {
  test.each([
    ['plain', 'plain', '"plain"'],
    ['', '', '""'],
    ['a,b', '"a,b"', '"a,b"'],
    ['say "hi"', '"say ""hi"""', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"', '"two\nlines"'],
    ['cr\r', '"cr\r"', '"cr\r"'],
    [' padded', '" padded"', '" padded"'],
    ['padded ', '"padded "', '"padded "'],
    ['with blank', 'with blank', '"with blank"'],
  ])('%j is quoted as RFC 4180 requires', (text, whereNeeded, always) => {
    expect(quotedWhereNeeded(text)).toBe(whereNeeded);
    expect(quoted(text)).toBe(always);
  });

  test('a parser reads any text back', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', ' ', 'a', 'é') }));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { minLength: 1 }), (rows) => {
        const csv = rows.map(([a, b]) => `${quoted(a)},x${quotedWhereNeeded('')},${quotedWhereNeeded(b)}\n`).join('');
        expect(parseCsvRows(csv)).toEqual(rows.map(([a, b]) => [a, 'x', b]));
      }),
    );
  });
});

describe('CSV fields: numbers', () => {
  test('wholeNumber prints every digit of a large sum', () => {
    expect(wholeNumber(0)).toBe('0');
    expect(wholeNumber(Number.MAX_SAFE_INTEGER)).toBe('9007199254740991');
    expect(wholeNumber(2 ** 75)).toBe('37778931862957161709568');
  });

  test('decimal32 prints −1 as readperf does', () => {
    expect([-1, 0, 2 ** 31].map(decimal32)).toEqual(['4294967295', '0', '2147483648']);
  });

  test('decimal64 prints the same digits as BigInt', () => {
    const edges = [0n, 999_999n, 1_000_000n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 0xffffffff81000000n, 2n ** 64n - 1n];
    const check = (value: bigint) => {
      expect(decimal64(Number(value & 0xffff_ffffn), Number(value >> 32n))).toBe(value.toString());
    };
    edges.forEach(check);
    fc.assert(fc.property(u64, check), { numRuns: 2000 });
  });

  test('percent prints two decimals, and 0.00 if the whole is 0', () => {
    expect([percent(1, 3), percent(3, 3), percent(0, 0), percent(0, 7)]).toEqual(['33.33', '100.00', '0.00', '0.00']);
    // As report and perf print it.
    expect(percent(1, 32)).toBe('3.12');
  });
});
