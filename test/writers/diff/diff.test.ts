import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { matchEvents } from '../../../src/pipeline/diff.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { showUnknownCode } from '../../../src/profile/shown-profile.ts';
import { samplingError } from '../../../src/writers/diff/diff.ts';
import { DIFF_KEYS } from '../../../src/writers/diff/keys.ts';
import { type WriteDiffOptions, writeDiff } from '../../../src/writers/diff/write-diff.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { randomProfile } from '../../support/builders/profiles/random-profile.ts';
import { fieldNames, keysOf, publishedSchema } from '../../support/readers/json-schemas.ts';
import { runs } from '../../support/thoroughness.ts';

const { schema, isValid, isDescribed, expectDescribed } = publishedSchema('diff');

async function textOf(base: Profile, next: Profile, options: WriteDiffOptions = {}): Promise<string> {
  const sink = new BufferSink();
  await writeDiff({ profile: base, label: 'old.data' }, { profile: next, label: 'new.data' }, matchEvents(base.events, next.events), sink, options);
  return sink.text();
}

interface Sums {
  readonly samples: number | string;
  readonly period: number | string;
  readonly percent: number;
}
interface Diff {
  readonly events: readonly {
    readonly base: { readonly samples: number; readonly period: number | string };
    readonly new: { readonly samples: number; readonly period: number | string };
    readonly rows: readonly { readonly function?: string; readonly base?: Sums; readonly new?: Sums; readonly change: number; readonly noise?: number }[];
  }[];
}
const jsonOf = async (base: Profile, next: Profile, options: WriteDiffOptions = {}): Promise<Diff> =>
  JSON.parse(await textOf(base, next, { ...options, layout: 'json' }));

/** A profile with samples of 1 ms in functions. */
function profileOf(functions: Readonly<Record<string, number>>, dso = '/bin/app', more: readonly SampleSpec[] = []): Profile {
  const samples = Object.entries(functions).flatMap(([name, count]) => Array.from({ length: count }, () => name));
  return buildProfile([...samples.map((name, timeNs) => ({ timeNs, stack: ['main', { name, dso }] })), ...more]);
}

const BASE = profileOf({ same: 50, slower: 20, faster: 20, gone: 10 });
const NEXT = profileOf({ same: 50, slower: 100, faster: 20, added: 30 }, '/opt/build-2/app');

describe('a comparison', () => {
  test('has shares of both, the largest change first, and what it means', async () => {
    expect(await textOf(BASE, NEXT)).toBe(
      [
        "# cpu-clock: shares of each recording's period in per cent, change in percentage points",
        '# BASE old.data: 100 samples, period 100000000 ns',
        '# NEW new.data: 200 samples, period 200000000 ns (2.000 × BASE)',
        '# ±: two standard errors of sampling; what differs from run to run comes on top',
        '  base    new  change     ±  samples               period function',
        ' 20.00  50.00  +30.00 10.66 20 → 100 20000000 → 100000000 slower (app)',
        ' 50.00  25.00  -25.00 11.64 50 →  50 50000000 →  50000000 same (app)',
        '     -  15.00  +15.00  5.43  - →  30        - →  30000000 added (app)',
        ' 20.00  10.00  -10.00  9.09 20 →  20 20000000 →  20000000 faster (app)',
        ' 10.00      -  -10.00  6.22 10 →   - 10000000 →         - gone (app)',
        '',
      ].join('\n'),
    );
  });

  test('has amounts if asked for, as shares of the first total', async () => {
    const lines = (await textOf(BASE, NEXT, { absolute: true, limit: 3 })).split('\n');
    expect(lines[0]).toBe("# cpu-clock: in per cent of BASE's period, change in percentage points");
    expect(lines.slice(5)).toEqual([
      ' 20.00 100.00  +80.00 22.09 20 → 100 20000000 → 100000000 slower (app)',
      '     -  30.00  +30.00 11.31  - →  30        - →  30000000 added (app)',
      ' 10.00      -  -10.00  6.93 10 →   - 10000000 →         - gone (app)',
      '# 2 more',
      '',
    ]);
  });

  test('counts callees, weighs by samples and compares other columns if asked for', async () => {
    const [{ rows }] = (await jsonOf(BASE, NEXT, { children: true, sort: ['comm', 'function', 'dso'] })).events;
    expect(rows.find((row) => row.function === 'main')).toMatchObject({ base: { percent: 100 }, new: { percent: 100 }, change: 0 });
    const heavy = buildProfile([
      { timeNs: 0, period: 9, stack: ['a'] },
      { timeNs: 1, period: 1, stack: ['b'] },
    ]);
    expect((await jsonOf(heavy, heavy, { weight: 'samples' })).events[0].rows.map(({ base }) => base?.percent)).toEqual([50, 50]);
  });

  test('takes binaries for the same by their names, and the kernel and code made at run time, too', async () => {
    const spec = (dsos: readonly string[]) => buildProfile(dsos.map((dso, timeNs) => ({ timeNs, stack: [{ name: 'f', dso }] })));
    const withKinds = (profile: Profile): Profile => ({
      ...profile,
      mappings: profile.mappings.map((mapping) => ({
        ...mapping,
        kind: mapping.name.includes('vmlinux') ? 'kernel' : mapping.name.endsWith('.ko') ? 'module' : mapping.kind,
      })),
    });
    const base = withKinds(spec(['/usr/bin/app', '[kernel.kallsyms]', '/lib/modules/1/nf-tables.ko', '/tmp/perf-12.map', '/tmp/jit-12.dump']));
    const next = withKinds(spec(['/home/app', '/boot/vmlinux-2', '/lib/modules/2/nf_tables.ko', '/tmp/perf-99.map', '/tmp/jitted-99-1.so']));
    for (const sort of [['function'], ['function', 'dso']] as const) {
      const [{ rows }] = (await jsonOf(base, next, { sort })).events;
      expect(rows.map(({ change }) => change)).toEqual([0, 0, 0, 0]);
    }
  });

  test('compares code without symbols by binary, also if the binary has another name each time', async () => {
    const without = (dso: string) => showUnknownCode(buildProfile([{ timeNs: 0, stack: [{ name: '', dso, unresolved: true, address: 0x1234 }] }]), 'binary');
    for (const sort of [['function'], ['function', 'dso']] as const) {
      const [{ rows }] = (await jsonOf(without('/tmp/perf-12.map'), without('/tmp/perf-99.map'), { sort })).events;
      expect(rows).toMatchObject([{ function: '[JIT]', change: 0 }]);
    }
  });

  test('adds up rows of the same text', async () => {
    const profile = buildProfile([
      { timeNs: 0, stack: [{ name: '', unresolved: true, address: 0x1234 }] },
      { timeNs: 1, stack: ['0x1234'] },
    ]);
    const [{ rows }] = (await jsonOf(profile, profile)).events;
    expect(rows).toMatchObject([{ function: '0x1234 (app)', base: { samples: 2, percent: 100 }, change: 0 }]);
    const large = buildProfile([
      { timeNs: 0, period: 2 ** 53 - 1, stack: [{ name: '', unresolved: true, address: 0x1234 }] },
      { timeNs: 1, period: 2, stack: ['0x1234'] },
    ]);
    expect((await jsonOf(large, large)).events[0].rows[0].base?.period).toBe(String(2n ** 53n + 1n));
  });

  test('has no error of sampling for events that are not sampled', async () => {
    const profile = buildProfile([
      { timeNs: 0, event: 'off-cpu:sleeping', stack: ['a'] },
      { timeNs: 1, event: 'sched:sched_switch', stack: ['a'] },
      { timeNs: 2, event: 'page-faults', stack: ['a'] },
      { timeNs: 3, event: 'cpu-clock', stack: ['a'] },
    ]);
    const events = profile.events.map((event) => ({
      ...event,
      ...(event.name.startsWith('off-cpu') && { isOffCpuTime: true, isTracepoint: false }),
      ...(event.name === 'page-faults' && { samplePeriod: 1, sampleFreq: 0 }),
    }));
    const diff = await jsonOf({ ...profile, events }, { ...profile, events });
    expect(diff.events.map(({ rows }) => rows[0].noise)).toEqual([undefined, undefined, undefined, expect.any(Number)]);
    expect((await textOf({ ...profile, events }, { ...profile, events })).match(/±:/g)).toHaveLength(1);
    // Where only one recording samples the event, that one's error is all there is.
    const base = { ...BASE, events: BASE.events.map((event) => ({ ...event, samplePeriod: 1, sampleFreq: 0 })) };
    const errorOfHalf = 200 * Math.sqrt(0.25 / 102);
    const half = profileOf({ same: 50, other: 50 });
    const noiseOf = async (from: Profile, to: Profile) => (await jsonOf(from, to)).events[0].rows.find((row) => row.function?.startsWith('same'))?.noise;
    expect(await noiseOf(base, half)).toBeCloseTo(errorOfHalf, 9);
    expect(await noiseOf(half, base)).toBeCloseTo(errorOfHalf, 9);
    expect(await noiseOf(base, base)).toBeUndefined();
  });

  test('colors changes beyond the error of sampling', async () => {
    const painted = await textOf(BASE, NEXT, { paintChange: (text, direction) => `<${text.trim()}|${direction}>` });
    expect(painted.match(/<[^>]*>/g)).toEqual(['<+30.00|1>', '<-25.00|-1>', '<+15.00|1>', '<-10.00|-1>', '<-10.00|-1>']);
    const close = await textOf(BASE, profileOf({ same: 51, slower: 20, faster: 19, gone: 10 }), {
      paintChange: (text, direction) => `<${text.trim()}|${direction}>`,
    });
    expect(close.match(/<[^>]*>/g)?.every((text) => text.endsWith('|0>'))).toBe(true);
  });

  test('leaves periods out on narrow terminals, and fits into them', async () => {
    const next = profileOf({ [`ns::${'long_'.repeat(40)}name`]: 3, same: 20 });
    for (const [width, hasPeriods] of [
      [80, false],
      [139, false],
      [140, true],
      [200, true],
    ] as const) {
      const lines = (await textOf(BASE, next, { width, sort: ['function', 'dso'] })).trimEnd().split('\n').slice(4);
      expect(lines[0].includes('period')).toBe(hasPeriods);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    }
  });

  test('gives paths half the room of other names', async () => {
    const long = profileOf({ [`ns::${'long_'.repeat(40)}name`]: 3 }, `/opt/${'path/'.repeat(40)}${'x'.repeat(90)}`);
    const row = (await textOf(long, long, { width: 130, sort: ['function', 'dso'] })).trimEnd().split('\n').at(-1) ?? '';
    const [name, path] = row.slice(row.indexOf('ns::')).split('  ');
    expect(name.length / path.length).toBeCloseTo(2, 1);
  });

  test('is a table in Markdown', async () => {
    const lines = (await textOf(BASE, NEXT, { layout: 'markdown', limit: 1 })).split('\n');
    expect(lines.slice(-5)).toEqual([
      '| ---: | ---: | ---: | ---: | ---: | ---: | :--- |',
      '| 20.00 | 50.00 | +30.00 | 10.66 | 20 → 100 | 20000000 → 100000000 | `slower (app)` |',
      '',
      '4 more',
      '',
    ]);
  });

  test('is refused without sort keys', async () => {
    await expect(textOf(BASE, NEXT, { sort: [] })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('for any profile', () => {
  const settings = fc.record({
    sort: fc.uniqueArray(fc.constantFrom(...DIFF_KEYS), { minLength: 1 }),
    children: fc.boolean(),
    absolute: fc.boolean(),
    weight: fc.constantFrom('period' as const, 'samples' as const),
  });

  test('a comparison with itself has no change', async () => {
    await fc.assert(
      fc.asyncProperty(randomProfile, settings, async (profile, options) => {
        const diff = await jsonOf(profile, profile, options);
        expectDescribed(diff);
        expect(diff.events).toHaveLength(profile.events.filter(({ samples }) => samples > 0).length);
        for (const { rows } of diff.events) for (const row of rows) expect([row.change, row.base]).toEqual([0, row.new]);
      }),
      { numRuns: runs(100, 30) },
    );
  });

  test('a comparison has all samples of both, and changes that add up to nothing', async () => {
    await fc.assert(
      fc.asyncProperty(randomProfile, randomProfile, settings, async (base, next, options) => {
        fc.pre(matchEvents(base.events, next.events).length > 0);
        const diff = await jsonOf(base, next, { ...options, children: false, absolute: false });
        expectDescribed(diff);
        for (const event of diff.events) {
          for (const side of ['base', 'new'] as const) {
            const sums = event.rows.flatMap((row) => row[side] ?? []);
            expect(sums.reduce((sum, { samples }) => sum + Number(samples), 0)).toBe(event[side].samples);
            expect(sums.reduce((sum, { period }) => sum + BigInt(period), 0n)).toBe(BigInt(event[side].period));
          }
          const shares = (side: 'base' | 'new') => event.rows.reduce((sum, row) => sum + (row[side]?.percent ?? 0), 0);
          expect(event.rows.reduce((sum, { change }) => sum + change, 0)).toBeCloseTo(shares('new') - shares('base'), 6);
        }
        const changes = diff.events.map(({ rows }) => rows.map(({ change }) => Math.abs(change)));
        expect(changes).toEqual(changes.map((list) => [...list].sort((a, b) => b - a)));
      }),
      { numRuns: runs(100, 30) },
    );
  });
});

test('the error of sampling is that of a binomial share, and of a Poisson amount', () => {
  expect(samplingError(20, 1)).toBeCloseTo(100 * Math.sqrt(((21 / 102) * (81 / 102)) / 102), 10);
  expect(samplingError(1, 50)).toBeCloseTo(100 * Math.sqrt(0.25 / 4), 10);
  expect(samplingError(20, 1, true)).toBeCloseTo(Math.sqrt(21), 10);
  // Also where a recording has none, or only, of the function.
  expect(samplingError(0, 1)).toBeCloseTo(100 * Math.sqrt(((1 / 102) * (101 / 102)) / 102), 10);
  expect(samplingError(100, 1)).toBeCloseTo(samplingError(0, 1), 10);
  expect(samplingError(0, 0.5, true)).toBeCloseTo(0.5, 10);
  expect([samplingError(0, 0), samplingError(0, 0, true)]).toEqual([0, 0]);
});

test('a few samples that only one of two recordings has are not more than sampling explains', async () => {
  const [{ rows }] = (await jsonOf(profileOf({ same: 100 }), profileOf({ same: 195, rare: 5 }))).events;
  const rare = rows.find((row) => row.function?.startsWith('rare'));
  expect(rare?.change).toBeLessThan(rare?.noise ?? 0);
  const [{ rows: many }] = (await jsonOf(profileOf({ same: 100 }), profileOf({ same: 180, rare: 20 }))).events;
  const common = many.find((row) => row.function?.startsWith('rare'));
  expect(common?.change).toBeGreaterThan(common?.noise ?? 0);
});

describe('the schema', () => {
  test('rejects what it does not allow', async () => {
    const diff = await jsonOf(BASE, NEXT);
    expect(isValid({ ...diff, schemaVersion: 2 })).toBe(false);
    expect(isValid({ ...diff, events: [] })).toBe(false);
    expect(isValid({ ...diff, later: 1 })).toBe(true);
    expect(isDescribed({ ...diff, later: 1 })).toBe(false);
  });

  test('describes no field that never occurs, and docs/report-json.md names each', async () => {
    const seen = new Set(keysOf(await jsonOf(BASE, NEXT, { sort: DIFF_KEYS })));
    expect([...new Set(fieldNames(schema))].filter((name) => !seen.has(name))).toEqual([]);
    const page = readFileSync(fileURLToPath(new URL('../../../docs/report-json.md', import.meta.url)), 'utf8');
    expect(fieldNames(schema).filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
  });
});
