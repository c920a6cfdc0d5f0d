import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANY_VARIANT, KeyedPairs } from '../../../src/base/tables/keyed-pairs.ts';
import { PairInterner } from '../../../src/base/tables/pair-interner.ts';
import { StringTable } from '../../../src/base/tables/string-table.ts';
import { TreeInterner } from '../../../src/base/tables/tree-interner.ts';
import { TupleInterner } from '../../../src/base/tables/tuple-interner.ts';

/** Few distinct words, so that tuples repeat; and the extremes, where signs get lost. */
const word = fc.oneof(fc.integer({ min: -2, max: 5 }), fc.constantFrom(0x7fffffff, -0x80000000, 0xffffffff | 0));

/** Dense indexes in order of first appearance, the naive way. */
class NaiveInterner {
  readonly #keys: string[] = [];

  intern(...words: number[]): number {
    const key = words.join(',');
    const known = this.#keys.indexOf(key);
    return known >= 0 ? known : this.#keys.push(key) - 1;
  }
}

describe('interners give equal things one index, in order of first appearance', () => {
  it.each([1, 2, 3, 4] as const)('tuples of %i', (arity) => {
    fc.assert(
      fc.property(fc.array(fc.array(word, { minLength: arity, maxLength: arity }), { maxLength: 200 }), (tuples) => {
        const interner = new TupleInterner(arity, 1);
        const naive = new NaiveInterner();
        for (const tuple of tuples) {
          const [a, b, c, d] = tuple;
          const index = interner.intern(a, b, c, d);
          expect(index).toBe(naive.intern(...tuple));
          expect(interner.find(a, b, c, d)).toBe(index);
          expect([...interner.words.subarray(index * arity, (index + 1) * arity)]).toEqual(tuple.map((each) => each >>> 0));
        }
      }),
    );
  });

  it('pairs', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word), { maxLength: 300 }), (pairs) => {
        const interner = new PairInterner();
        const naive = new NaiveInterner();
        for (const [a, b] of pairs) {
          const index = interner.intern(a, b);
          expect(index).toBe(naive.intern(a, b));
          expect(interner.find(a, b)).toBe(index);
          expect([interner.first[index], interner.second[index]]).toEqual([a, b]);
        }
        expect(interner.find(77, 77)).toBe(-1);
      }),
    );
  });

  it('paths of a tree', () => {
    const path = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(path, { maxLength: 60 }), (paths) => {
        const tree = new TreeInterner();
        const naive = new NaiveInterner();
        for (const labels of paths) {
          let node = -1;
          let naiveNode = -1;
          for (const label of labels) {
            const parent = node;
            node = tree.intern(parent, label);
            naiveNode = naive.intern(naiveNode, label);
            expect(node).toBe(naiveNode);
            expect([tree.parents[node], tree.labels[node]]).toEqual([parent, label]);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('many of each, past every growth', () => {
    const tuples = new TupleInterner(3, 1);
    const pairs = new PairInterner();
    const tree = new TreeInterner();
    const count = 100_000;
    let wrong = 0;
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < count; i++) {
        if (tuples.intern(i, i * 7, -i) !== i) wrong++;
        if (pairs.intern(i * 3 + 1, -i) !== i || pairs.find(0, 0) !== -1) wrong++;
        if (tree.intern(i % 5 === 0 ? -1 : i - 1, i) !== i) wrong++;
      }
    }
    expect(wrong).toBe(0);
    expect([tuples.size, pairs.size, tree.size]).toEqual([count, count, count]);
  });

  it('strings in two parts, compared without being put together', () => {
    // Short, of few characters, so that they begin and end alike.
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '\u{1f600}'), maxLength: 4 });
    fc.assert(
      fc.property(fc.array(fc.tuple(part, part), { minLength: 2, maxLength: 20 }), (parts) => {
        const table = new StringTable();
        const indexes = parts.map(([head, tail]) => table.internJoined(head, tail));
        parts.forEach(([head, tail], i) => {
          expect(table.internJoined(head, tail)).toBe(indexes[i]);
          expect(table.get(indexes[i])).toBe(head + tail);
          expect(table.length(indexes[i])).toBe((head + tail).length);
          const other = parts[0].join('');
          expect(Math.sign(table.compare(indexes[i], indexes[0]))).toBe(head + tail === other ? 0 : head + tail < other ? -1 : 1);
        });
        expect(table.size).toBeLessThanOrEqual(parts.length + 1);
        expect(table.internJoined('ab', '')).toBe(table.intern('ab'));
      }),
    );
  });

  it('strings', () => {
    const table = new StringTable();
    expect(['', 'a', 'b', 'a', '__proto__', 'constructor', ''].map((text) => table.intern(text))).toEqual([0, 1, 2, 1, 3, 4, 0]);
    expect(table.get(3)).toBe('__proto__');
    expect(() => table.get(9)).toThrow(RangeError);
  });
});

describe('KeyedPairs', () => {
  it('finds under each variant what holds for any', () => {
    const pairs = new KeyedPairs();
    pairs.set(3, ANY_VARIANT, 7);
    expect([pairs.find(3, 0), pairs.find(3, 99), pairs.find(2, 0)]).toEqual([7, 7, -1]);
  });

  it('finds what was set, for keys with one variant and with many', () => {
    const entry = fc.record({ key: fc.integer({ min: 0, max: 6000 }), variant: fc.nat(5), value: fc.nat(2 ** 31 - 2) });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 100 }), (entries) => {
        const pairs = new KeyedPairs();
        const naive = new Map<string, number>();
        for (const { key, variant, value } of entries) {
          const name = `${key},${variant}`;
          expect(pairs.find(key, variant)).toBe(naive.get(name) ?? -1);
          if (naive.has(name)) continue;
          pairs.set(key, variant, value);
          naive.set(name, value);
        }
        for (const [name, value] of naive) {
          const [key, variant] = name.split(',').map(Number);
          expect(pairs.find(key, variant)).toBe(value);
        }
      }),
    );
  });
});
