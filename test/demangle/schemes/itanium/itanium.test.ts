import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DemangleStyle, demangle } from '../../../../src/demangle/demangle.ts';
import { MAX_NODES, MAX_OUTPUT } from '../../../../src/demangle/schemes/itanium/limits.ts';
import { runs } from '../../../support/thoroughness.ts';
import { GNU_NAMES, OTHER_NAMES } from './itanium-names.ts';

const STYLES: readonly DemangleStyle[] = ['full', 'no-params', 'simple'];

describe('C++ names', () => {
  it.each([...GNU_NAMES, ...OTHER_NAMES])('are demangled: %s', (mangled, full, noParams, simple) => {
    expect(STYLES.map((style) => demangle(mangled, style))).toEqual([full, noParams, simple]);
  });

  it('are shown in full by default', () => {
    expect(demangle('_Z3fooi')).toBe('foo(int)');
  });

  it.each(['', '_', '_Z', '_Za3fooi', 'main', 'Z3foov', '__Z3foov', '___Z3foov', '_GLOBAL__sub_I_a', '_GLOBAL_OFFSET_TABLE_', '_R', 'operator new'])(
    'do not include %j',
    (name) => {
      expect(STYLES.map((style) => demangle(name, style))).toEqual([undefined, undefined, undefined]);
    },
  );

  it('have identifiers whose lengths count bytes of UTF-8', () => {
    expect(demangle('_Z5f\u00f6\u00f6v')).toBe('f\u00f6\u00f6()');
    expect(demangle('_ZN3f\u00f61gIcEEiT_', 'no-params')).toBe('f\u00f6::g<char>');
    expect(demangle('_Z4f\u{1d4b3}v')).toBeUndefined();
    expect(demangle('_Z5f\u{1d4b3}v')).toBe('f\u{1d4b3}()');
  });

  it('do not depend on the previous name, even if that failed', () => {
    for (const [failing] of [['_ZNK3fooIXtl1ALi1'], ['_ZZN1AC1EvENKUlT_'], ['_Z1fIXsr1A1bEE1CEv_']]) {
      demangle(failing);
      expect(demangle('_ZNK3fooIiE3barEv')).toBe('foo<int>::bar() const');
    }
  });

  it('end at their end, even after a longer name', () => {
    const long = '_ZN3foo3barEPKciiiiii';
    for (let end = 2; end < long.length; end++) {
      const alone = demangle(long.slice(0, end));
      expect(demangle(long)).toBe('foo::bar(char const*, int, int, int, int, int, int)');
      expect(demangle(long.slice(0, end))).toBe(alone);
    }
    expect(demangle('_ZN3foo3barEPKc')).toBe('foo::bar(char const*)');
    expect(demangle('_ZN3foo3barE')).toBe('foo::bar');
  });
});

describe('limits hold for hostile names:', () => {
  /** Whether demangling ends within its limits, or fails, so that the result is short. */
  const isBounded = (name: string): boolean => STYLES.every((style) => (demangle(name, style)?.length ?? 0) < 8 * MAX_OUTPUT);

  it.each<[string, string]>([
    ['pointers', `_Z1f${'P'.repeat(100_000)}i`],
    ['scopes', `_ZN${'1a'.repeat(100_000)}Ev`],
    ['template arguments', `_Z1f${'1aI'.repeat(50_000)}`],
    ['closed template arguments', `_Z1f${'1aI'.repeat(5_000)}i${'E'.repeat(5_000)}`],
    ['conversions to template parameters', `_Z${'N1AcvT_I'.repeat(100)}`],
    ['local names', `_Z${'Z'.repeat(50_000)}1fv`],
    ['expressions', `_Z1fIX${'ng'.repeat(50_000)}Li1EEEvv`],
    ['conversions tried twice', `_ZN1A${'cvT_I'.repeat(50_000)}`],
    ['closed conversions tried twice', `_ZN1A${'cvT_IN1A'.repeat(300)}cviE${'EEE'.repeat(300)}Ev`],
    ['scopes tried twice', `_Z1f${'IXsr1A1BI'.repeat(20_000)}`],
    ['qualifiers', `_Z1f${'VK'.repeat(100_000)}i`],
    ['arrays', `_Z1f${'A1_'.repeat(50_000)}i`],
    ['clones', `_Z1fv${'.a'.repeat(100_000)}`],
    ['discriminators', `_ZZ1fvE1x_${'9'.repeat(100_000)}`],
    ['a huge length', '_Z99999999999999999999a'],
    ['a huge index', '_Z1fSZZZZZZZZZZZZZZZZZZZZ_'],
    ['many parameters', `_Z1f${'i'.repeat(200_000)}`],
    ['packs of packs', `_Z1fIJ${'J'.repeat(50_000)}`],
    ['characters of several bytes', `_Z30000${'\u20ac'.repeat(30_000)}`],
    ['ABI tags', `_Z1f${'B1a'.repeat(100_000)}v`],
    ['modules', `_Z${'W1a'.repeat(100_000)}1fv`],
    ['a template parameter that stands for itself', '_Z1fIT_EvT_'],
    ['template parameters that stand for each other', '_Z1fIT0_T_EvT_'],
    ['a pack that contains itself', '_Z1fIJDpT_EEvDpT_'],
  ])('%s', (_, name) => {
    expect(isBounded(name)).toBe(true);
  });

  it('substitutions that double with each parameter', () => {
    let name = '_Z1fI1aE';
    for (let i = 0; i < 30; i++)
      name += `1bIS${i === 0 ? '' : (2 * i - 1).toString(36).toUpperCase()}_S${i === 0 ? '' : (2 * i - 1).toString(36).toUpperCase()}_E`;
    expect(isBounded(name)).toBe(true);
    let pairs = '_Z1f1p';
    for (let i = 0; i < 60; i++)
      pairs += `PFvS${i === 0 ? '' : (2 * i - 1).toString(36).toUpperCase()}_S${i === 0 ? '' : (2 * i - 1).toString(36).toUpperCase()}_E`;
    expect(isBounded(pairs)).toBe(true);
    // The doubling of 60 parameters would need more than the limits.
    expect(demangle(pairs)).toBeUndefined();
  });

  it('expansions in expansions', () => {
    const pack = 'i'.repeat(200);
    expect(isBounded(`_Z1fIJ${pack}EEvDp${'1aIJDp'.repeat(6)}T_${'EE'.repeat(6)}`)).toBe(true);
    expect(isBounded(`_Z1fIJ${pack}EJ${pack}EJ${pack}EEvDp1aIJT_DpT0_DpT1_EE`)).toBe(true);
  });

  it('the maximum number of nodes', () => {
    expect(isBounded(`_Z1fI${'Li1E'.repeat(MAX_NODES)}Evv`)).toBe(true);
  });

  const names = [...GNU_NAMES, ...OTHER_NAMES].map(([mangled]) => mangled);
  const alphabet = [...'0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.$\u00e9\u0000'];

  it('any characters', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...alphabet), { maxLength: 60 }), (characters) => isBounded(`_Z${characters.join('')}`)),
      { numRuns: runs(5000, 1000) },
    );
  });

  it('pieces of names', () => {
    const piece = fc.tuple(fc.constantFrom(...names), fc.nat(60), fc.nat(20)).map(([name, from, length]) => name.slice(2).slice(from, from + length));
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => isBounded(`_Z${pieces.join('')}`)),
      { numRuns: runs(5000, 1000) },
    );
  });

  it('names with one character changed, removed or inserted', () => {
    const mutated = fc.tuple(fc.constantFrom(...names), fc.nat(80), fc.nat(2), fc.constantFrom(...alphabet)).map(([name, at, kind, character]) => {
      const end = kind === 2 ? at : at + 1;
      return name.slice(0, at) + (kind === 1 ? '' : character) + name.slice(end);
    });
    fc.assert(fc.property(mutated, isBounded), { numRuns: runs(10000, 2000) });
  });
});
