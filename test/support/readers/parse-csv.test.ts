import { expect, test } from 'vitest';
import { parseCsv, parseCsvRows } from './parse-csv.ts';

test('quotes, commas, line ends and empty fields are parsed', () => {
  expect(parseCsvRows('a,"b ""c"", d",\r\n1,,"x\ny"\n')).toEqual([
    ['a', 'b "c", d', ''],
    ['1', '', 'x\ny'],
  ]);
  expect(parseCsvRows('a,b\n1,')).toEqual([
    ['a', 'b'],
    ['1', ''],
  ]);
  expect(parseCsv('"#mmap",n\n3,4\n')).toEqual([{ '#mmap': '3', n: '4' }]);
});

test('broken text is refused', () => {
  expect(() => parseCsv('a,b\n1\n')).toThrow('a row of 1 fields');
  expect(() => parseCsvRows('a,b"c\n')).toThrow('offset 2');
});
