import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { TREE_LEVELS, type TreeLevel } from '../../../src/writers/report/tree-levels.ts';
import { type WriteTreeOptions, writeTree } from '../../../src/writers/report/write-tree.ts';
import { buildProfile, type FrameSpec, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { randomProfile } from '../../support/builders/profiles/random-profile.ts';
import { publishedSchema } from '../../support/readers/json-schemas.ts';
import { runs } from '../../support/thoroughness.ts';

const { expectDescribed } = publishedSchema('report');

async function textOf(profile: Profile, options?: WriteTreeOptions): Promise<string> {
  const sink = new BufferSink();
  await writeTree(profile, sink, options);
  return sink.text();
}

const linesOf = async (profile: Profile, options?: WriteTreeOptions): Promise<string[]> => (await textOf(profile, options)).trimEnd().split('\n');

interface Sums {
  readonly samples: number | string;
  readonly period: number | string;
  readonly percent: number;
}
interface Call extends Sums {
  readonly parent: number;
  readonly depth: number;
  readonly function?: string;
  readonly selfSamples: number | string;
  readonly selfPeriod: number | string;
  readonly omitted?: Sums & { readonly calls: number };
}
interface Trees {
  readonly trees: readonly {
    readonly event: { readonly name: string } & Sums;
    readonly calls: readonly Call[];
    readonly omitted?: Sums & { readonly calls: number };
  }[];
}

const jsonOf = async (profile: Profile, options: WriteTreeOptions = {}): Promise<Trees> => JSON.parse(await textOf(profile, { ...options, layout: 'json' }));

const KERNEL = '[kernel.kallsyms]';
const LIBC = '/usr/lib/libc.so.6';
const stack = (...frames: (string | FrameSpec)[]): Pick<SampleSpec, 'stack'> => ({ stack: frames });
const SAMPLES: SampleSpec[] = [
  ...[0, 1, 2, 3].map((timeNs) => ({
    timeNs,
    ...stack('_start', { name: '__libc_start', dso: LIBC }, 'main', { name: 'compute', inlined: [{ name: 'square' }] }),
  })),
  { timeNs: 4, ...stack('_start', { name: '__libc_start', dso: LIBC }, 'main', { name: 'write', dso: LIBC }, { name: 'do_syscall', dso: KERNEL }) },
  { timeNs: 5, ...stack('_start', { name: '__libc_start', dso: LIBC }, 'main', { name: 'write', dso: LIBC }, { name: 'vfs_write', dso: KERNEL }) },
  { timeNs: 6, ...stack('_start', { name: '__libc_start', dso: LIBC }, 'main') },
  { timeNs: 7, comm: 'worker', period: 500_000, ...stack('[truncated]', 'work') },
  { timeNs: 8, comm: 'worker', event: 'off-cpu:sleeping', period: 2_000_000_000, ...stack('main', 'sleep') },
  { timeNs: 9, event: 'off-cpu:sleeping', period: 0, stack: [] },
];

describe('a tree of calls', () => {
  test('is root first and heaviest first, with straight chains, binaries where they change, and inlined functions', async () => {
    expect(await textOf(buildProfile(SAMPLES))).toBe(
      [
        '# cpu-clock: 8 samples, period 7500000 ns',
        '   per   self samples function',
        ' 93.33              7 _start (app)',
        ' 93.33              7 __libc_start (libc.so.6)',
        ' 93.33  13.33       7 main (app)',
        ' 53.33              4 ├ compute',
        ' 53.33  53.33       4 │ square (inlined)',
        ' 26.67              2 └ write (libc.so.6)',
        ' 13.33  13.33       1   ├ do_syscall [kernel.kallsyms]',
        ' 13.33  13.33       1   └ vfs_write [kernel.kallsyms]',
        '  6.67              1 [truncated] (app)',
        '  6.67   6.67       1 work',
        '',
        '# off-cpu:sleeping: 2 samples, period 2000000000',
        '   per   self samples function',
        '100.00              1 main (app)',
        '100.00 100.00       1 sleep',
        '# not shown: 1 more call, below 0.5 % for each caller, 0.00 % in all',
        '',
      ].join('\n'),
    );
  });

  test('can have levels above the functions', async () => {
    expect((await linesOf(buildProfile(SAMPLES), { levels: ['comm'] })).slice(2, 5)).toEqual([
      ' 93.33              7 app',
      ' 93.33              7 _start (app)',
      ' 93.33              7 __libc_start (libc.so.6)',
    ]);
    expect((await linesOf(buildProfile(SAMPLES), { levels: ['comm'], weight: 'samples' })).slice(11, 14)).toEqual([
      ' 12.50              1 worker',
      ' 12.50              1 [truncated] (app)',
      ' 12.50  12.50       1 work',
    ]);
  });

  test('has a stack below each of its levels', async () => {
    const samples = ['app', 'worker', 'app'].map((comm, timeNs) => ({ timeNs, comm, ...stack('main', 'work') }));
    expect((await linesOf(buildProfile(samples), { levels: ['comm'] })).slice(2)).toEqual([
      ' 66.67              2 app',
      ' 66.67              2 main (app)',
      ' 66.67  66.67       2 work',
      ' 33.33              1 worker',
      ' 33.33              1 main (app)',
      ' 33.33  33.33       1 work',
    ]);
  });

  test('adds up calls below a share: in a line where they make up as much, else at the end', async () => {
    const leaves = Array.from({ length: 20 }, (_, nth) => ({ timeNs: nth, period: 3, ...stack('main', 'many', `leaf${nth}`) }));
    const few = [40, 38].map((period, timeNs) => ({ timeNs, period, ...stack('main', 'few', `big${timeNs}`) }));
    const profile = buildProfile([...leaves, ...few, { timeNs: 99, period: 2, ...stack('main', 'few', 'small') }]);
    expect((await linesOf(profile, { percentLimit: 5 })).slice(2)).toEqual([
      '100.00             23 main (app)',
      ' 57.14              3 ├ few',
      ' 28.57  28.57       1 │ ├ big0',
      ' 27.14  27.14       1 │ └ big1',
      ' 42.86             20 └ many',
      ' 42.86             20   └ … 20 more below 5 %',
      '# not shown: 1 more call, below 5 % for each caller, 1.43 % in all',
    ]);
    expect((await linesOf(profile, { percentLimit: 0 })).slice(2)).toHaveLength(3 + 20 + 3);
    // In a narrow terminal, without the share rather than without the count.
    expect((await linesOf(profile, { percentLimit: 5, width: 36 }))[7]).toBe(' 42.86             20 …2 … 20 more');
  });

  test('shows the heaviest calls of each event if there is a limit', async () => {
    expect((await linesOf(buildProfile(SAMPLES), { limit: 4 })).slice(2)).toEqual([
      ' 93.33              7 _start (app)',
      ' 93.33              7 __libc_start (libc.so.6)',
      ' 93.33  13.33       7 main (app)',
      ' 53.33              4 ├ compute',
      ' 53.33              4 │ └ … 1 more',
      ' 26.67              2 └ … 1 more',
      '  6.67              1 … 1 more',
      '',
      '# off-cpu:sleeping: 2 samples, period 2000000000',
      '   per   self samples function',
      '100.00              1 main (app)',
      '100.00 100.00       1 sleep',
      '# not shown: 1 more call, below 0.5 % for each caller, 0.00 % in all',
    ]);
  });

  test('says that calls are left out for their shares only if all of them are small', async () => {
    const samples = Object.entries({ most: 600, many: 399, few: 1 }).map(([name, period], timeNs) => ({ timeNs, period, ...stack('main', name) }));
    expect((await linesOf(buildProfile(samples), { limit: 2 })).slice(4)).toEqual([' 40.00              2 └ … 2 more']);
    const small = [...samples.slice(0, 1), ...samples.slice(2).map((sample) => ({ ...sample, period: 400 }))];
    expect((await linesOf(buildProfile(small), { percentLimit: 40.1 })).slice(-1)).toEqual([
      '# not shown: 1 more call, below 40.1 % for each caller, 40.00 % in all',
    ]);
  });

  test('has no calls without samples', async () => {
    const profile = buildProfile([
      { timeNs: 0, ...stack('main', 'a') },
      { timeNs: 1, event: 'page-faults', ...stack('main', 'b') },
    ]);
    // As of a wait that never ended.
    profile.totals.intern(0, 0, profile.totals.stack(1));
    expect((await linesOf(profile)).slice(0, 5)).toEqual([
      '# cpu-clock: 1 sample, period 1000000 ns',
      '   per   self samples function',
      '100.00              1 main (app)',
      '100.00 100.00       1 a',
      '',
    ]);
  });

  test('shows all calls of an event whose periods are 0', async () => {
    expect((await linesOf(buildProfile([{ timeNs: 0, period: 0, ...stack('main', 'a') }]))).slice(2)).toEqual([
      '  0.00              1 main (app)',
      '  0.00   0.00       1 a',
    ]);
  });

  test('fits into a terminal, however deep and whatever the names', async () => {
    const deep = Array.from({ length: 300 }, (_, depth) => ({
      timeNs: depth,
      ...stack(...Array.from({ length: depth + 1 }, (_, nth) => `f${nth}::${'long_'.repeat(nth % 9)}name`)),
    }));
    const branches = deep.map((sample) => ({ ...sample, stack: [...sample.stack, 'leaf'] }));
    for (const width of [60, 80, 200]) {
      const lines = await linesOf(buildProfile([...deep, ...branches]), { width, percentLimit: 0 });
      expect(Math.max(...lines.slice(1).map((line) => line.length))).toBeLessThanOrEqual(width);
      expect(lines.some((line) => line.includes('… more'))).toBe(false);
      expect(lines.filter((line) => line.includes('leaf'))).toHaveLength(300);
      expect(lines.some((line) => /…2\d\d f/.test(line))).toBe(true);
    }
  });

  test('colors shares', async () => {
    const [, , line] = await linesOf(buildProfile([{ timeNs: 0, ...stack('main') }]), { paintPercent: (text, percent) => `<${text}|${percent}>` });
    expect(line).toBe('<100.00|100> <100.00|100>       1 main (app)');
  });

  test('is a code block in Markdown, out of which no name gets', async () => {
    const names = ['````\nescape', '<b>', '@user'];
    const text = await textOf(buildProfile(names.map((name, timeNs) => ({ timeNs, ...stack(name) }))), { layout: 'markdown', width: 20 });
    const lines = text.trimEnd().split('\n');
    expect([lines[0], lines.at(-1)]).toEqual(['`````text', '`````']);
    expect(lines).toHaveLength(7);
    expect(text).toContain('````\\nescape (app)\n');
  });

  test('a profile without samples is refused', async () => {
    await expect(textOf(buildProfile([]))).rejects.toMatchObject({ name: 'PerfconvError', code: 'no-samples' });
  });

  test('of very deep stacks is written without recursion', async () => {
    const profile = buildProfile([{ timeNs: 0, stack: Array.from({ length: 20_000 }, (_, nth) => `f${nth % 7}`) }]);
    const [{ calls }] = (await jsonOf(profile)).trees;
    expect([calls.length, calls.at(-1)?.depth]).toEqual([20_000, 19_999]);
    expect(await linesOf(profile)).toHaveLength(20_002);
  });
});

describe('a tree in JSON', () => {
  const settings = fc.record({
    levels: fc.uniqueArray(fc.constantFrom<TreeLevel>(...TREE_LEVELS), { maxLength: 2 }),
    weight: fc.constantFrom('period' as const, 'samples' as const),
    percentLimit: fc.constantFrom(0, 0.5, 20),
    limit: fc.constantFrom(Number.POSITIVE_INFINITY, 1, 5),
  });
  const exact = ({ samples, period }: Sums): [bigint, bigint] => [BigInt(samples), BigInt(period)];
  const sum = (all: readonly [bigint, bigint][]): [bigint, bigint] => all.reduce(([a, b], [c, d]) => [a + c, b + d], [0n, 0n]);

  test('adds up: self, callees and what is omitted are each call, the roots are the event', async () => {
    await fc.assert(
      fc.asyncProperty(randomProfile, settings, async (profile, options) => {
        const document = await jsonOf(profile, options);
        expectDescribed(document);
        expect(document.trees.map(({ event }) => event.name)).toEqual(profile.events.filter(({ samples }) => samples > 0).map(({ name }) => name));
        for (const { event, calls, omitted } of document.trees) {
          expect(calls.length).toBeLessThanOrEqual(options.limit);
          for (let caller = -1; caller < calls.length; caller++) {
            const callees = calls.flatMap((call) => (call.parent === caller ? [exact(call)] : []));
            const left = caller < 0 ? omitted : calls[caller].omitted;
            const own: [bigint, bigint][] = caller < 0 ? [] : [[BigInt(calls[caller].selfSamples), BigInt(calls[caller].selfPeriod)]];
            expect(sum([...callees, ...own, ...(left === undefined ? [] : [exact(left)])])).toEqual(exact(caller < 0 ? event : calls[caller]));
          }
          calls.forEach(({ parent, depth, percent }, index) => {
            expect(parent).toBeLessThan(index);
            expect(depth).toBe(parent < 0 ? 0 : calls[parent].depth + 1);
            expect(percent >= options.percentLimit || percent === 0).toBe(true);
          });
        }
      }),
      { numRuns: runs(150, 40) },
    );
  });

  test('has exact sums, also of callers and of what is left out', async () => {
    const odd = (name: string) => [2 ** 53 - 1, 1, 1].map((period, timeNs) => ({ timeNs, period, ...stack('main', name) }));
    const profile = buildProfile([...odd('a'), ...odd('b'), ...odd('c')]);
    const [{ calls }] = (await jsonOf(profile, { limit: 2 })).trees;
    expect(calls.map(({ period, omitted }) => [period, omitted?.period])).toEqual([
      [String(3n * (2n ** 53n + 1n)), String(2n * (2n ** 53n + 1n))],
      [String(2n ** 53n + 1n), undefined],
    ]);
  });

  test('has the calls of the text, in its order', async () => {
    const { trees } = await jsonOf(buildProfile(SAMPLES), { percentLimit: 0 });
    const lines = (await linesOf(buildProfile(SAMPLES), { percentLimit: 0 })).filter((line) => /^ *\d/.test(line));
    const calls = trees.flatMap((tree) => tree.calls);
    expect(lines).toHaveLength(calls.length);
    for (const [index, line] of lines.entries()) {
      expect(line).toContain(`${calls[index].samples} `);
      expect(line).toContain(calls[index].function);
    }
  });
});
