import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CPUMODE_GUEST_USER, CPUMODE_KERNEL, CPUMODE_USER } from '../../src/profile/location-table.ts';
import { frameName, OFF_CPU, TRUNCATED, unresolvedName } from '../../src/profile/names.ts';
import type { Mapping, Profile } from '../../src/profile/profile.ts';
import { SampleRow, SampleTable } from '../../src/profile/sample-table.ts';
import { showUnknownCode } from '../../src/profile/shown-profile.ts';
import { TotalTable } from '../../src/profile/total-table.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { randomProfile } from '../support/builders/profiles/random-profile.ts';
import { mergeProfiles } from '../support/merge-profiles.ts';
import { locationsOf } from '../support/readers/locations-of.ts';

/** A place in a mapping, by index; −1 for code in no mapping. */
interface Place {
  readonly mapping: number;
  readonly address: bigint;
  readonly name?: string;
  readonly start?: number;
  readonly cpumode?: number;
  /** Default: true for all but the last of a stack. */
  readonly isReturnAddress?: boolean;
}

/** A profile with one sample of period 10 for each stack, root first. */
function profileOf(mappings: readonly string[], stacks: readonly (readonly Place[])[]): Profile {
  const profile = buildProfile([{ timeNs: 0, stack: [] }]);
  const { functions, locations, strings, tasks } = profile;
  const totals = new TotalTable();
  const samples = new SampleTable();
  for (const [nth, places] of stacks.entries()) {
    let stack = -1;
    places.forEach(({ mapping, address, name, start, cpumode = CPUMODE_USER, isReturnAddress = true }, depth) => {
      const [lo, hi] = [Number(address & 0xffffffffn), Number(address >> 32n)];
      const location = locations.intern(mapping, lo, hi, cpumode, isReturnAddress && depth < places.length - 1);
      if (name !== undefined) locations.setLines(location, [{ function: functions.intern(strings.intern(name)), line: 0, column: 0, file: 0 }], 4);
      if (start !== undefined) locations.setFunctionStart(location, start);
      stack = profile.stacks.intern(stack, location);
    });
    totals.add(0, tasks.length - 1, stack, 10);
    samples.add(Object.assign(new SampleRow(), { timeNs: nth, event: 0, task: 0, stack, period: 10 }));
  }
  const mapped = mappings.map((name): Mapping => ({ name, kind: 'file', buildId: '', bias: 0, start: 0, limit: 1 << 20, hasSymbols: false }));
  return { ...profile, mappings: mapped, totals, samples };
}

/** The totals of a profile: stacks root first, with their samples and periods. */
function totalsOf(profile: Profile): string[] {
  const { locations, stacks, totals } = profile;
  return Array.from({ length: totals.size }, (_, row) => {
    const names = locationsOf(stacks, totals.stack(row)).map((location) =>
      locations.lineCount(location) > 0 ? frameName(profile, location, 0) : unresolvedName(profile, location),
    );
    return `${names.reverse().join(';')} ${totals.samples(row)} ${totals.period(row)}`;
  });
}

const MAIN: Place = { mapping: 0, address: 0x1000n, name: 'main' };
const HEAP: Place = { mapping: -1, address: 0x5555_1234_0000n };

describe('unknown code', () => {
  test.each([OFF_CPU, TRUNCATED])('in no binary is not confused with %s, which has no address either, in a merged profile', (name) => {
    const profile = profileOf([], [[HEAP]]);
    const { functions, locations, stacks, strings, totals } = profile;
    const standIn = locations.intern(-1, 0, 0, CPUMODE_USER, false, 2);
    locations.setStandIn(standIn, functions.intern(strings.intern(name)));
    totals.add(0, 0, stacks.intern(-1, standIn), 10);
    const merged = mergeProfiles([
      { profile, label: 'a' },
      { profile, label: 'b' },
    ]);
    expect(totalsOf(showUnknownCode(merged, 'binary')).sort()).toEqual(['[unknown] 1 10', '[unknown] 1 10', `${name} 1 10`, `${name} 1 10`].sort());
  });

  test('of a binary is one function in total', () => {
    const names = ['/usr/lib/libfoo.so.1', '[kernel.kallsyms]', '[vdso]', '//anon', '', '/tmp/perf-7.map'];
    const profile = profileOf(
      names,
      names.map((_, mapping) => [MAIN, { mapping, address: 0x20n }, { mapping, address: 0x30n }]),
    );
    expect(totalsOf(showUnknownCode(profile, 'binary'))).toEqual([
      'main;[libfoo.so.1];[libfoo.so.1] 1 10',
      'main;[kernel.kallsyms];[kernel.kallsyms] 1 10',
      'main;[vdso];[vdso] 1 10',
      'main;[anon];[anon] 1 10',
      'main;[unknown];[unknown] 1 10',
      'main;[perf-7.map];[perf-7.map] 1 10',
    ]);
  });

  test('is a separate function if its start is known, with its address in the file', () => {
    const profile = profileOf(
      ['/lib/libfoo.so'],
      [[MAIN, { mapping: 0, address: 0x2020n, start: 0x12f0 }, { mapping: 0, address: 0x2030n, start: 0x12f0 }, { mapping: 0, address: 0x9000n }]],
    );
    expect(totalsOf(showUnknownCode(profile, 'function'))).toEqual(['main;libfoo.so+0x12f0;libfoo.so+0x12f0;[libfoo.so] 1 10']);
    expect(totalsOf(showUnknownCode(profile, 'binary'))).toEqual(['main;[libfoo.so];[libfoo.so];[libfoo.so] 1 10']);
    expect(showUnknownCode(profile, 'address')).toBe(profile);
  });

  test('in no binary is one frame even if several are consecutive, and stacks add up', () => {
    const other: Place = { mapping: -1, address: 0x5555_9999_0000n };
    const profile = profileOf(
      ['app'],
      [
        [MAIN, HEAP, other],
        [MAIN, other],
        [MAIN, HEAP, { ...MAIN, name: 'f', address: 0x40n }, other, HEAP],
      ],
    );
    expect(totalsOf(showUnknownCode(profile, 'function'))).toEqual(['main;[unknown] 2 20', 'main;[unknown];f;[unknown] 1 10']);
  });

  test('in no binary is kept apart for the kernel and programs', () => {
    const profile = profileOf(['app'], [[MAIN, HEAP, { mapping: -1, address: 0xffff_ffff_8100_0000n, cpumode: CPUMODE_KERNEL }]]);
    expect(totalsOf(showUnknownCode(profile, 'function'))).toEqual(['main;[unknown];[unknown] 1 10']);
  });

  test.each([
    ['null', 0n],
    ['in the first page', 0xfffn],
    ['text', 0x8b48_28ec_8348_5354n],
    ['of the kernel', 0xffff_ffff_8100_0000n],
    ['just beyond all programs', 1n << 56n],
  ])('has no callers beyond an impossible return address: %s', (_, address) => {
    const profile = profileOf(['app'], [[MAIN, MAIN, { mapping: -1, address }, HEAP, { ...MAIN, name: 'f', address: 0x40n }]]);
    expect(totalsOf(showUnknownCode(profile, 'function'))).toEqual(['[unknown];f 1 10']);
  });

  test.each([
    ['of the page after the first', { mapping: -1, address: 0x1000n }],
    ['the highest that a program might have', { mapping: -1, address: (1n << 56n) - 1n }],
    ['the sampled one', { mapping: -1, address: 0n, isReturnAddress: false }],
    ["a guest's", { mapping: -1, address: 0n, cpumode: CPUMODE_GUEST_USER }],
    ['mapped', { mapping: 0, address: 0x10n, name: '[unknown]' }],
  ])('has callers beyond any other address: %s', (_, place) => {
    const profile = profileOf(['app'], [[MAIN, place, { ...MAIN, name: 'f', address: 0x40n }]]);
    expect(totalsOf(showUnknownCode(profile, 'function'))).toEqual(['main;[unknown];f 1 10']);
  });

  test('keeps addresses and mappings, and is distinguishable from named code', () => {
    const profile = profileOf(['app'], [[MAIN, { mapping: 0, address: 0x2020n }]]);
    const { locations } = showUnknownCode(profile, 'binary');
    expect([0, 1].map((location) => [locations.mapping(location), locations.address(location), locations.isStandIn(location)])).toEqual([
      [0, 0x1000, false],
      [0, 0x2020, true],
    ]);
    expect([locations.symbolOffset(0), locations.symbolOffset(1)]).toEqual([4, -1]);
    expect([profile.locations.lineCount(1), profile.locations.isStandIn(1)]).toEqual([0, false]);
  });

  test('has names that are shortened, because there is one for each function', () => {
    const profile = profileOf([`/lib/${'é'.repeat(254)}😀.so`], [[{ mapping: 0, address: 0x10n, start: 1 }]]);
    expect(totalsOf(showUnknownCode(profile, 'function'))).toEqual([`${'é'.repeat(254)}+0x1 1 10`]);
  });

  test('causes no copy of a profile that has none', () => {
    const profile = buildProfile([{ timeNs: 0, stack: ['main', 'f'] }]);
    expect(showUnknownCode(profile, 'function')).toBe(profile);
  });

  test('keeps sums exact beyond 2^53 if stacks become one', () => {
    const profile = profileOf(
      ['app'],
      [
        [MAIN, HEAP],
        [MAIN, { ...HEAP, address: 0x6666_0000n }],
        [MAIN, { ...HEAP, address: 0x7777_0000n }],
      ],
    );
    const { totals } = profile;
    for (const [row, period] of [2 ** 53 - 10, 2 ** 52 + 1, 2 ** 51 + 7].entries()) totals.addPeriod(row, period);
    const shown = showUnknownCode(profile, 'function').totals;
    expect(shown.size).toBe(1);
    expect(BigInt(shown.period(0)) + BigInt(shown.periodRemainder(0))).toBe(2n ** 53n + 2n ** 52n + 2n ** 51n + 28n);
  });

  test('leaves the order and columns of samples, which have the stacks of their totals', () => {
    const profile = profileOf(['app'], [[MAIN, HEAP], [], [MAIN], [MAIN, { ...HEAP, address: 0x6666_0000n }]]);
    const { samples, totals } = showUnknownCode(profile, 'function');
    expect([samples?.size, samples?.period, samples?.timeNs]).toEqual([4, profile.samples?.period, profile.samples?.timeNs]);
    expect([...(samples?.stack.subarray(0, 4) ?? [])]).toEqual([0, 1, 2, 0].map((row) => totals.stack(row)));
    expect(totals.stack(1)).toBe(-1);
  });

  test('leaves the sums of each event and task in any profile', () => {
    fc.assert(
      fc.property(randomProfile, fc.constantFrom('function' as const, 'binary' as const), (profile, mode) => {
        expect(sums(showUnknownCode(profile, mode))).toEqual(sums(profile));
      }),
    );
  });
});

/** Samples and periods by event and task. */
function sums({ totals }: Profile): Map<string, readonly [number, bigint]> {
  const found = new Map<string, readonly [number, bigint]>();
  for (let row = 0; row < totals.size; row++) {
    const key = `${totals.event(row)} ${totals.task(row)}`;
    const [samples, period] = found.get(key) ?? [0, 0n];
    found.set(key, [samples + totals.samples(row), period + BigInt(totals.period(row)) + BigInt(totals.periodRemainder(row))]);
  }
  return found;
}
