import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { quoted, quotedWhereNeeded } from '../../../src/writers/csv/fields.ts';
import { withoutFormulas } from '../../../src/writers/csv/formula-guard.ts';
import { parseCsv } from '../../support/readers/parse-csv.ts';

/** What the guard makes of CSV that is written in pieces of `pieceBytes`. */
async function guarded(csv: string, pieceBytes = 1 << 20): Promise<string> {
  const target = new BufferSink();
  const sink = withoutFormulas(target);
  const bytes = new TextEncoder().encode(csv);
  for (let at = 0; at < bytes.length; at += pieceBytes) await sink.write(bytes.subarray(at, at + pieceBytes));
  return target.text();
}

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t'=1"],
  ['\r\n=1', "'\r'\n'=1"],
  [' =1', " '=1"],
  ['＝1', "'＝1"],
  ['a;=1', "a;'=1"],
  ['a;@b;c', "a;'@b;c"],
  ['"=1', '"=1'],
  ['a=1,-b', 'a=1,-b'],
  ['operator-', 'operator-'],
  ["'=1", "'=1"],
  ['', ''],
])('CSV for spreadsheets: the text %j becomes %j', async (text, safe) => {
  const [row] = parseCsv(await guarded(`a,b,c\n${quoted(text)},7,${quotedWhereNeeded(text)}\n`));
  expect(row).toEqual({ a: safe, b: '7', c: safe });
});

test.each([[1], [1 << 20]])('CSV for spreadsheets: pid −1 stays a number, in pieces of %i bytes', async (pieceBytes) => {
  const numbers = 'pid,comm\n7,"a"\n-1,":-1"\n';
  expect(await guarded(`${numbers}-1,"a\n-1"\n`, pieceBytes)).toBe(`${numbers}-1,"a\n'-1"\n`);
});

test('CSV for spreadsheets: no cell is a formula, and only apostrophes are added, in pieces of any size', () => {
  const text = fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '"', ',', ';', '\n', '\r', '\t', ' ', 'a', 'ü', '＝') });
  return fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 1 }), fc.integer({ min: 1, max: 9 }), async (rows, pieceBytes) => {
      const csv = `a,b\n${rows.map(([a, b]) => `${quoted(a)},${quotedWhereNeeded(b)}\n`).join('')}`;
      const safe = await guarded(csv, pieceBytes);
      expect(safe.replaceAll("'", '')).toBe(csv);
      for (const cell of parseCsv(safe).flatMap((row) => Object.values(row))) expect(cell).not.toMatch(/^\s*[=+\-@＝]|[;\t\r\n] *[=+\-@＝]/);
    }),
  );
});
