import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SymbolRank } from '../../src/symbol-table/symbol-placement.ts';
import { RANK_GLOBAL, RANK_LOCAL, RANK_WEAK } from '../../src/symbol-table/symbol-rank.ts';
import { SymbolTableBuilder } from '../../src/symbol-table/symbol-table-builder.ts';
import { runs } from '../support/thoroughness.ts';

interface Row {
  readonly name: string;
  readonly start: number;
  readonly size: number;
  readonly rank?: SymbolRank;
}

function built(rows: readonly Row[], demangles = true, unsizedEnds: readonly number[] = [], improves = false) {
  const builder = new SymbolTableBuilder(1);
  if (improves) builder.improve();
  let names = '';
  for (const { name, start, size, rank } of rows) {
    builder.add(start, size, names.length, name.length, rank ?? RANK_GLOBAL);
    names += name;
  }
  builder.endUnsized(Float64Array.from(unsizedEnds));
  return builder.build(new TextEncoder().encode(names), 0, demangles);
}

function nameAt(table: ReturnType<typeof built>, address: number): string | undefined {
  const index = table.find(address);
  return index < 0 ? undefined : table.name(index);
}

/** What the table should hold, ascending, by the rules as they are written down: first the ends, then the best of each start. */
function naiveSymbols(list: readonly Required<Row>[], improves: boolean): { name: string; start: number; end: number }[] {
  const ordered = [...list]
    .sort((a, b) => a.start - b.start)
    .map((entry, i, all) => ({ ...entry, ownSize: entry.size, size: entry.size || naiveSize(entry.start, all[i + 1]) }));
  const bests = [...new Set(ordered.map(({ start }) => start))].map((start) => {
    const aliases = ordered.filter((entry) => entry.start === start);
    const claims = ({ ownSize, size, rank, name }: (typeof ordered)[0]): number[] => [
      improves ? Math.sign(ownSize) : 0,
      Math.sign(size),
      rank,
      -/^_*/.exec(name)![0].length,
      name.length,
    ];
    const [best] = [...aliases].sort(
      (a, b) =>
        claims(b)
          .map((claim, i) => claim - claims(a)[i])
          .find((difference) => difference !== 0) ?? 0,
    );
    return { ...best, largest: Math.max(...aliases.map(({ ownSize }) => ownSize)) };
  });
  // A start without any symbol of known size is a label if one reaches over it, unless a label is shown in place of that one.
  const isLabel = ({ start, largest }: (typeof bests)[0]): boolean =>
    largest === 0 && bests.some((other) => other.ownSize > 0 && other.start < start && start < other.start + other.largest);
  return bests.filter((best) => !isLabel(best)).map(({ name, start, size }) => ({ name, start, end: start + size }));
}

function naiveSize(start: number, next: Row | undefined): number {
  return next ? next.start - start : Math.ceil(start / 4096) * 4096 + 4096 - start;
}

const row = fc.record({
  start: fc.oneof(fc.integer({ min: -300, max: 300 }), fc.integer({ min: 0, max: 8 })),
  size: fc.integer({ min: 0, max: 60 }),
  name: fc.stringMatching(/^_{0,2}[a-c]{1,3}$/),
  rank: fc.constantFrom(RANK_WEAK, RANK_LOCAL, RANK_GLOBAL),
});
const rows = fc.array(row, { maxLength: 40 });

describe('SymbolTable', () => {
  it('cuts off names that are longer than any compiler makes', () => {
    const name = (index: number): number => table.name(index).length;
    const table = built([
      { name: 'f', start: 0, size: 10 },
      { name: 'g'.repeat(1 << 20), start: 10, size: 10 },
      { name: 'h'.repeat(50_000), start: 20, size: 10 },
    ]);
    expect([name(0), name(1), name(1), name(2), name(0)]).toEqual([1, 1 << 16, 1 << 16, 50_000, 1]);
  });

  it('finds nothing in an empty table', () => {
    expect(built([]).find(0)).toBe(-1);
  });

  it('finds the best name of the nearest start whose symbol covers an address', () => {
    fc.assert(
      fc.property(rows, (list) => {
        const table = built(list);
        const naive = naiveSymbols(list, false);
        for (let address = -310; address < 4700; address += address < 400 ? 1 : 97) {
          expect(nameAt(table, address)).toBe(naive.findLast(({ start, end }) => start <= address && address < end)?.name);
        }
      }),
      { numRuns: runs(100, 30) },
    );
  });

  it('finds the outer symbol again after an inner one', () => {
    const table = built([
      { name: 'outer', start: 0x10, size: 0x30 },
      { name: 'inner', start: 0x20, size: 0x8 },
      { name: 'next', start: 0x38, size: 0x10 },
    ]);
    expect([0xf, 0x10, 0x20, 0x27, 0x28, 0x37, 0x38, 0x47, 0x48].map((address) => nameAt(table, address))).toEqual([
      undefined,
      'outer',
      'inner',
      'inner',
      'outer',
      'outer',
      'next',
      'next',
      undefined,
    ]);
  });

  it('keeps exactly one symbol of each start address, ascending', () => {
    fc.assert(
      fc.property(rows, fc.boolean(), (list, improves) => {
        const table = built(list, true, [], improves);
        const naive = naiveSymbols(list, improves);
        expect(table.size).toBe(naive.length);
        // Not in the order of addresses, and before any address is looked up.
        for (const [i, { name, start, end }] of [...naive.entries()].reverse())
          expect([table.start(i), table.end(i), table.name(i)]).toEqual([start, end, name]);
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

  it('ends a symbol of unknown size with the section that it is in', () => {
    const rows = [
      { name: 'a', start: 0x10, size: 0 },
      { name: 'b', start: 0x30, size: 0x40 },
      { name: 'c', start: 0x80, size: 0 },
      { name: 'd', start: 0x90, size: 0 },
      { name: 'e', start: 0xa0, size: 0 },
    ];
    const table = built(rows, true, [0x8, 0x20, 0x40, 0x90, 0xa8]);
    expect([0x1f, 0x20, 0x6f, 0x8f, 0x9f, 0xa7, 0xa8].map((address) => nameAt(table, address))).toEqual(['a', undefined, 'b', 'c', 'd', 'e', undefined]);
  });

  it('lets a symbol of unknown size run to the next one, and the last to the end of the page after its own', () => {
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
  it('gives the last alias its size before choosing', () => expect(chosen({ name: 's', rank: RANK_LOCAL }, { name: 'g', size: 0 })).toBe('g'));
  it('gives the last alias of each table its size before choosing', () => {
    const first = new SymbolTableBuilder();
    first.add(0x10, 0, 0, 2, RANK_LOCAL);
    first.add(0x20, 8, 4, 4, RANK_LOCAL);
    const second = new SymbolTableBuilder();
    second.add(0x10, 0, 0, 4, RANK_WEAK);
    first.addSecond(second, 8);
    expect(nameAt(first.build(new TextEncoder().encode('l1..nextweak')), 0x10)).toBe('l1');
  });
  it('shows labels inside a function only if one is shown in its place', () => {
    const list: Row[] = [
      { name: 'f', start: 0x10, size: 0x10, rank: RANK_LOCAL },
      { name: 'label', start: 0x10, size: 0, rank: RANK_LOCAL },
      { name: 'inner', start: 0x18, size: 0, rank: RANK_LOCAL },
    ];
    expect([0x17, 0x18].map((address) => nameAt(built(list), address))).toEqual(['label', 'inner']);
    expect([0x17, 0x18].map((address) => nameAt(built(list, true, [], true), address))).toEqual(['f', 'f']);
  });
  it('prefers a local name to a weak one', () => expect(chosen({ name: 'weak', rank: RANK_WEAK }, { name: 'l', rank: RANK_LOCAL })).toBe('l'));
  it('prefers a global name to a local one', () => expect(chosen({ name: 'local', rank: RANK_LOCAL }, { name: 'g' })).toBe('g'));
  it('prefers fewer leading underscores', () => expect(chosen({ name: '__longer' }, { name: '_short' })).toBe('_short'));
  it('prefers the longer name', () => expect(chosen({ name: 'ab' }, { name: 'abc' })).toBe('abc'));
  it('prefers the earlier name', () => expect(chosen({ name: 'ba' }, { name: 'ab' })).toBe('ba'));

  describe('that are mangled', () => {
    // `f(int, int, int)`, shown as `f`; `longer`; `_under`.
    const [F, LONGER, UNDER] = ['_Z1fiii', '_Z6longer', '_Z6_under'];

    it('are compared as perf shows them', () => {
      expect(chosen({ name: '_Z6longerv' }, { name: '_Z1fiiiiiiiiii' })).toBe('_Z6longerv');
      expect(chosen({ name: F }, { name: 'plain' })).toBe('plain');
      expect(chosen({ name: 'c' }, { name: '_Z6longerv' })).toBe('_Z6longerv');
      expect(chosen({ name: `${UNDER}v` }, { name: F })).toBe(F);
      expect(chosen({ name: '_ZN1AC1Ev' }, { name: '_ZN1AC2Ev' })).toBe('_ZN1AC1Ev');
      expect(chosen({ name: '_ZN1AC2Ev' }, { name: '_ZN1AC1Ev' }, { name: '_ZN6longerC1Ev' })).toBe('_ZN6longerC1Ev');
    });

    it('may be names of OCaml and Java', () => {
      expect(chosen({ name: 'camlA__f$2b$2b' }, { name: 'camlA__fold_1' })).toBe('camlA__fold_1');
      expect(chosen({ name: 'camlA__f_1' }, { name: 'plain_name' })).toBe('plain_name');
      expect(chosen({ name: 'a_plain_name_of_22_char' }, { name: 'LFoo;bar(ZZZ)V' })).toBe('LFoo;bar(ZZZ)V');
    });

    it('are compared by rank and size first', () => {
      expect(chosen({ name: `${LONGER}v`, rank: RANK_LOCAL }, { name: F })).toBe(F);
      expect(chosen({ name: `${LONGER}v`, size: 0 }, { name: F })).toBe(F);
      expect(chosen({ name: `${LONGER}v`, size: 0 }, { name: F, size: 0 })).toBe(F);
    });

    it('of a hostile file are not all demangled', () => {
      // Template arguments that never end.
      const bomb = (i: number): string => `_Z${i + 10}${'a'.repeat(i + 10)}${'I'.repeat(500)}`;
      const rows = Array.from({ length: 3000 }, (_, i) => ({ name: bomb(i % 250), start: 0x10 * Math.floor(i / 250), size: 16 }));
      const table = built([...rows, { name: '_Z6longerv', start: 0x1000, size: 16 }, { name: 'fff', start: 0x1000, size: 16 }]);
      for (let start = 0; start < 12; start++) expect(nameAt(table, 0x10 * start)).toBe(bomb(249));
      // From then on, names are compared as linkers know them.
      expect(nameAt(table, 0x1000)).toBe('fff');
    });

    it('are compared as linkers know them if they are shown so', () => {
      const names = [{ name: '_Z6longerv' }, { name: '_Z1fiiiiiiiiii' }].map((entry) => ({ start: 0x10, size: 16, ...entry }));
      expect(nameAt(built(names, false), 0x10)).toBe('_Z1fiiiiiiiiii');
    });
  });
});
