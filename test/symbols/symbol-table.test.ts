import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RANK_GLOBAL, RANK_LOCAL, RANK_WEAK, type SymbolRank, SymbolTableBuilder } from '../../src/symbols/symbol-table-builder.ts';

interface Row {
  readonly name: string;
  readonly start: number;
  readonly size: number;
  readonly rank?: SymbolRank;
}

function built(rows: readonly Row[], firstPlt?: number) {
  const builder = new SymbolTableBuilder(1);
  let names = '';
  for (const { name, start, size, rank } of rows) {
    builder.add(start, size, names.length, name.length, rank ?? RANK_GLOBAL);
    names += name;
  }
  const bytes = new TextEncoder().encode(names);
  return firstPlt === undefined ? builder.build(bytes) : builder.buildLikePerf(bytes, firstPlt);
}

function nameAt(table: ReturnType<typeof built>, address: number): string | undefined {
  const index = table.find(address);
  return index < 0 ? undefined : table.name(index);
}

const row = fc.record({
  start: fc.integer({ min: -300, max: 300 }),
  size: fc.integer({ min: 0, max: 60 }),
  rank: fc.constantFrom(RANK_WEAK, RANK_LOCAL, RANK_GLOBAL),
});
const rows = fc.array(row, { maxLength: 40 }).map((list) => list.map((entry, i) => ({ ...entry, name: `s${i}` })));

describe('SymbolTable', () => {
  it('finds nothing in an empty table', () => {
    expect(built([]).find(0)).toBe(-1);
  });

  it('finds the symbol with the nearest start of those that cover an address', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const table = built(list);
        for (let address = -310; address < 4700; address += address < 400 ? 1 : 97) {
          let best = -1;
          for (let i = 0; i < table.size; i++) if (table.start(i) <= address && address < table.end(i)) best = i;
          expect(table.find(address)).toBe(best);
        }
      }),
    );
  });

  it('keeps exactly one symbol of each start address, ascending', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const table = built(list);
        const starts = Array.from({ length: table.size }, (_, i) => table.start(i));
        expect(starts).toEqual([...new Set(list.map(({ start }) => start))].sort((a, b) => a - b));
      }),
    );
  });

  it('sorts addresses too far apart to be packed', () => {
    const table = built([
      { name: 'high', start: 2 ** 52, size: 4 },
      { name: 'low', start: -(2 ** 52), size: 4 },
      { name: 'mid', start: 7, size: 4 },
    ]);
    expect([0, 1, 2].map((i) => table.name(i))).toEqual(['low', 'mid', 'high']);
    expect(nameAt(table, 2 ** 52 + 3)).toBe('high');
  });

  it('lets a symbol of unknown size run to the next, the last one past the end of its page', () => {
    const table = built([
      { name: 'a', start: 0x100, size: 0 },
      { name: 'b', start: 0x200, size: 0 },
    ]);
    expect(nameAt(table, 0x1ff)).toBe('a');
    expect(nameAt(table, 0x1fff)).toBe('b');
    expect(nameAt(table, 0x2000)).toBeUndefined();
  });
});

describe('aliases (observed: perf 6.1)', () => {
  const chosen = (...names: (Omit<Row, 'start' | 'size'> & { size?: number })[]): string | undefined =>
    nameAt(built([...names.map((entry) => ({ size: 16, start: 0x10, ...entry })), { name: 'next', start: 0x20, size: 8 }]), 0x10);

  it('prefers a name with a size', () => expect(chosen({ name: 'unsized', size: 0 }, { name: 's', rank: RANK_LOCAL })).toBe('s'));
  it('gives the last of them its size before choosing', () => expect(chosen({ name: 's', rank: RANK_LOCAL }, { name: 'g', size: 0 })).toBe('g'));
  it('prefers a local name to a weak one', () => expect(chosen({ name: 'weak', rank: RANK_WEAK }, { name: 'l', rank: RANK_LOCAL })).toBe('l'));
  it('prefers a global name to a local one', () => expect(chosen({ name: 'local', rank: RANK_LOCAL }, { name: 'g' })).toBe('g'));
  it('prefers fewer leading underscores', () => expect(chosen({ name: '__longer' }, { name: '_short' })).toBe('_short'));
  it('prefers the longer name', () => expect(chosen({ name: 'ab' }, { name: 'abc' })).toBe('abc'));
  it('prefers the earlier name', () => expect(chosen({ name: 'ba' }, { name: 'ab' })).toBe('ba'));
});

describe('the table like perf', () => {
  it('answers as the plain table where nothing overlaps', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const apart = list.filter((a) => !list.some((b) => b !== a && a.start <= b.start && b.start < a.start + Math.max(a.size, 1)));
        const plain = built(apart);
        const like = built(apart, apart.length);
        for (let address = -310; address < 400; address++) expect(nameAt(like, address)).toBe(nameAt(plain, address));
      }),
    );
  });

  it('answers as a descent of a binary tree that never turns back', () => {
    // The tree's root is the first of three symbols in the order of insertion that ends up in the middle.
    const outerFirst = built(
      [
        { name: 'outer', start: 0x10, size: 0x30 },
        { name: 'inner', start: 0x20, size: 0x8 },
      ],
      2,
    );
    expect(nameAt(outerFirst, 0x22)).toBe('outer');
    const innerFirst = built(
      [
        { name: 'inner', start: 0x20, size: 0x8 },
        { name: 'outer', start: 0x10, size: 0x30 },
      ],
      2,
    );
    expect(nameAt(innerFirst, 0x22)).toBe('inner');
    expect(nameAt(innerFirst, 0x18)).toBe('outer');
    expect(nameAt(innerFirst, 0x30)).toBeUndefined();
    expect(innerFirst.start(innerFirst.find(0x18))).toBe(0x10);
  });

  it('adds PLT entries last: they end no symbol of unknown size, but may hide the rest of it', () => {
    const table = built(
      [
        { name: '_init', start: 0x10, size: 0 },
        { name: 'main', start: 0x80, size: 0x10 },
        { name: 'puts@plt', start: 0x20, size: 0x10 },
      ],
      2,
    );
    expect([0x1f, 0x20, 0x2f, 0x30, 0x80].map((address) => nameAt(table, address))).toEqual(['_init', 'puts@plt', 'puts@plt', undefined, 'main']);
    expect(
      nameAt(
        built(
          [
            { name: '_init', start: 0x10, size: 0 },
            { name: 'main', start: 0x80, size: 0x10 },
          ],
          2,
        ),
        0x30,
      ),
    ).toBe('_init');
  });
});
