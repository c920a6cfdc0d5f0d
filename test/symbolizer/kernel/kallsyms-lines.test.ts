import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { KallsymsLines } from '../../../src/symbolizer/kernel/kallsyms-lines.ts';
import { PlainLines } from '../../../src/symbolizer/kernel/plain-lines.ts';
import { WINDOW_SIZE_BYTES } from '../../../src/symbolizer/kernel/wasm/contract.ts';
import { runs } from '../../support/thoroughness.ts';

/** Everything that was read from a list, as plain values. */
function contents(bytes: Uint8Array, plain: PlainLines | undefined) {
  const { count, starts, nameOffsets, nameLengths, groups, ...rest } = new KallsymsLines(bytes, plain);
  return { ...rest, columns: [starts, nameOffsets, nameLengths, groups].map((column) => Array.from(column.subarray(0, count))) };
}

function expectSame(text: string): void {
  const bytes = new TextEncoder().encode(text);
  const plain = PlainLines.over(bytes);
  expect(plain).toBeDefined();
  expect(contents(bytes, plain)).toEqual(contents(bytes, undefined));
}

/** Plain lines with ascending addresses. */
function plainLines(count: number, tail = ''): string {
  return Array.from({ length: count }, (_, i) => `${(0xffffffff81000000n + BigInt(i) * 16n).toString(16)} t function_${i}${tail}\n`).join('');
}

describe('KallsymsLines', () => {
  const line = fc.record({
    address: fc.constantFrom(
      '0000000000000000',
      '0000000000000001',
      '0000000000020000',
      '00007fffffffffff',
      'fff0000000000000',
      'ffefffffffffffff',
      'c000000000000000',
      'ffffffff81000000',
      'ffffffff81000010',
      'ffffffff8100ABCD',
      'ffffffff8100abcd',
      'ffffffffc0000000',
      'fffffffff',
      '0ffffffff81000000',
      'ffffffff8100000g',
      'fffffff`81000000',
      'ffffffff81000/00',
      'ffffffff81000:00',
    ),
    gap: fc.constantFrom(' ', ' ', ' ', '  ', '\t', ''),
    type: fc.constantFrom(...'tTwWdDbBrRA?'),
    name: fc.constantFrom('f', 'a_name', 'eightchr', '$x.mapping', '.L0', '.', '.text', '', 'n\u00e4me', 'long'.repeat(20)),
    tail: fc.constantFrom('', '', '', '\t[mod_a]', '\t[mod-a]', '\t[bpf]', ' [mod_a]', '\t[open', ' ', `\t[${'m'.repeat(80)}]`),
    end: fc.constantFrom('\n', '\n', '\n', '\n\n', ''),
  });
  const lists = fc.array(line, { maxLength: 30 });

  it('reads any lines alike with and without WebAssembly', () => {
    fc.assert(
      fc.property(lists, (list) =>
        expectSame(list.map(({ address, gap, type, name, tail, end }) => `${address}${gap}${type}${gap}${name}${tail}${end}`).join('')),
      ),
      { numRuns: runs(2000, 300) },
    );
  });

  it.each([
    ['without a name', 'ffffffff81000000 T '],
    ['without a name before its module', 'ffffffff81000000 T \t[mod_a]'],
    ['without a type', 'ffffffff81000000 T'],
    ['without an address', ' T function'],
    ['with a type of two letters', 'ffffffff81000000 Tt function'],
    ['with two spaces', 'ffffffff81000000  T function'],
  ])('skips a line %s', (_, line) => {
    for (const text of [line, `${line}\n`, `${line}\n\n`]) {
      const { count, hasSymbols, hiddenCount } = new KallsymsLines(new TextEncoder().encode(text), undefined);
      expect({ count, hasSymbols, hiddenCount }).toEqual({ count: 0, hasSymbols: false, hiddenCount: 0 });
      expectSame(text);
    }
  });

  it("reads lists that are longer than WebAssembly's window", () => {
    const text = `${plainLines(6000)}${plainLines(6000, '\t[mod_a]')}${plainLines(100)}`;
    expect(text.length).toBeGreaterThan(3 * WINDOW_SIZE_BYTES);
    expectSame(text);
    // This way, lines begin at other places in the windows.
    for (let i = 1; i < 40; i += 3) expectSame(`${'x'.repeat(i)}\n${text}`);
  });

  it("reads a line that is longer than WebAssembly's window", () => {
    expectSame(`${plainLines(10)}ffffffff82000000 t ${'n'.repeat(2 * WINDOW_SIZE_BYTES)}\nffffffff82000010 t after\n${plainLines(10)}`);
  });

  it('leaves hardly any lines of a usual list to TypeScript', () => {
    const bytes = new TextEncoder().encode(`${plainLines(3000)}${plainLines(3000, '\t[mod_a]')}`);
    // One line after each window, and one where the module begins.
    expect(callsFor(bytes, 6000)).toBeLessThanOrEqual(2 + Math.ceil(bytes.length / WINDOW_SIZE_BYTES));
  });

  it('rarely calls WebAssembly if all lines are of another form', () => {
    const text = `${'\n'.repeat(10_000)}${plainLines(100)}`;
    expect(callsFor(new TextEncoder().encode(text), 100)).toBeLessThan(300);
    expectSame(text);
  });
});

/** How often WebAssembly is called for a list with this number of symbols. */
function callsFor(bytes: Uint8Array, count: number): number {
  const plain = PlainLines.over(bytes);
  const read = vi.spyOn(plain!, 'read');
  expect(new KallsymsLines(bytes, plain).count).toBe(count);
  return read.mock.calls.length;
}
