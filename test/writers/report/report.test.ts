import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { REPORT_KEYS, type ReportKey, type ReportOptions, writeReport } from '../../../src/writers/report/report.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { randomProfile } from '../../support/builders/profiles/random-profile.ts';
import { runs, whenThorough } from '../../support/thoroughness.ts';

async function reportOf(profile: Profile, options?: ReportOptions): Promise<string> {
  const sink = new BufferSink();
  await writeReport(profile, sink, options);
  return sink.text();
}

const SAMPLES: SampleSpec[] = [
  { timeNs: 0, stack: ['main', 'compute'] },
  { timeNs: 1, stack: ['main', 'compute'] },
  { timeNs: 2, tid: 101, comm: 'worker', period: 3_000_000, stack: ['start', { name: 'memcpy', dso: '/usr/lib/libc.so.6' }] },
  { timeNs: 3, pid: 7, comm: 'other', period: 500_000, stack: [{ name: 'schedule', dso: '[kernel.kallsyms]' }] },
  { timeNs: 4, event: 'page-faults', period: 7, stack: ['main'] },
];

describe('report: tables', () => {
  test('there is one per event, with readperf’s columns, sorted by decreasing period', async () => {
    expect(await reportOf(buildProfile(SAMPLES))).toBe(
      [
        '# cpu-clock: 4 samples, period 5500000 ns',
        '   per       period samples function',
        ' 54.55      3000000       1 memcpy (libc.so.6)',
        ' 36.36      2000000       2 compute (app)',
        '  9.09       500000       1 schedule ([kernel.kallsyms])',
        '',
        '# page-faults: 1 sample, period 7',
        '   per       period samples function',
        '100.00            7       1 main (app)',
        '',
      ].join('\n'),
    );
  });

  test('rows of equal period are sorted by name, and wide cells are not cut', async () => {
    const long = `ns::${'very_long_'.repeat(30)}name<int>`;
    const report = await reportOf(buildProfile(['b', long, 'a'].map((name, timeNs) => ({ timeNs, period: 1e13, stack: [name] }))));
    expect(report.split('\n').slice(2, -1)).toEqual([
      ' 33.33 10000000000000       1 a (app)',
      ' 33.33 10000000000000       1 b (app)',
      ` 33.33 10000000000000       1 ${long} (app)`,
    ]);
  });

  describe('on a terminal', () => {
    const long = `ns::${'very_long_'.repeat(30)}name<int>`;
    const profile = buildProfile([long, 'a', { name: 'b', dso: '/usr/lib/x86_64-linux-gnu/libfoo.so.6' }].map((name, timeNs) => ({ timeNs, stack: [name] })));

    test.each([[80], [120], [200]])('of %i columns, no line is longer, and names are cut in the middle', async (width) => {
      const lines = (await reportOf(profile, { width, sort: ['function', 'dso', 'comm'] })).trimEnd().split('\n');
      const longest = Math.max(...lines.map((line) => line.length));
      expect([width - 1, width]).toContain(longest);
      expect(lines.filter((line) => /ns::very_[a-z_]*…[a-z_]*_name<int>/.test(line))).toHaveLength(1);
      expect(lines.filter((line) => / \/u[^ ]*foo\.so\.6/.test(line))).toHaveLength(1);
    });

    test('that is wide enough, nothing is cut', async () => {
      expect(await reportOf(profile, { width: 500 })).toContain(`${long} (app)\n`);
    });

    test('names that would become shorter by being cut are escaped first', async () => {
      const hostile = buildProfile([{ timeNs: 0, stack: [`${'\n'.repeat(60)}end`] }]);
      const [, , row] = (await reportOf(hostile, { width: 60 })).split('\n');
      expect(row).toMatch(/^100\.00 +1000000 +1 \\n\\n.*….*n(?:\\n)*end \(app\)$/);
      expect(row.length).toBe(60);
    });
  });

  whenThorough(() => {
    test('there can be more rows than a call can have arguments', async () => {
      const [samples, depth] = [70, 2000];
      const stackOf = (sample: number) => Array.from({ length: depth }, (_, frame) => `f${sample * depth + frame}`);
      const report = await reportOf(buildProfile(Array.from({ length: samples }, (_, timeNs) => ({ timeNs, stack: stackOf(timeNs) }))), { children: true });
      expect(report.split('\n').length).toBe(samples * depth + 3);
    });
  });

  test('a limit leaves out rows, and says how many', async () => {
    const report = await reportOf(buildProfile(SAMPLES), { limit: 1 });
    expect(report.split('\n').slice(1, 4)).toEqual(['   per       period samples function', ' 54.55      3000000       1 memcpy (libc.so.6)', '# 2 more']);
    expect(report).not.toContain('compute');
    expect(await reportOf(buildProfile(SAMPLES), { limit: 3 })).not.toContain('more');
  });

  test('the weight can be the number of samples', async () => {
    const report = await reportOf(buildProfile(SAMPLES), { weight: 'samples', limit: 2 });
    expect(report.split('\n').slice(2, 4)).toEqual([' 50.00      2000000       2 compute (app)', ' 25.00      3000000       1 memcpy (libc.so.6)']);
  });

  test('there are rows for inlined, unresolved and missing frames', async () => {
    const report = await reportOf(
      buildProfile([
        { timeNs: 0, period: 3, stack: [{ name: 'outer', inlined: [{ name: 'inner' }] }] },
        { timeNs: 1, period: 2, stack: [{ name: '', dso: '/lib/libfoo.so', unresolved: true, address: 0x4f2c1 }] },
        { timeNs: 2, period: 1, stack: [] },
      ]),
    );
    expect(report.split('\n').slice(2, -1)).toEqual([
      ' 50.00            3       1 inner (app)',
      ' 33.33            2       1 0x4f2c1 (libfoo.so)',
      ' 16.67            1       1 [unknown]',
    ]);
  });

  test('functions of the same name share a row, but have one per symbol with compatPerf', async () => {
    const profile = buildProfile([
      { timeNs: 0, period: 3, stack: [{ name: 'init', address: 0x1000 }] },
      { timeNs: 1, period: 2, stack: [{ name: 'init', address: 0x2000, line: 1 }] },
      { timeNs: 2, period: 1, stack: [{ name: 'start', dso: '/tmp/perf-12.map', address: 0x3000 }] },
    ]);
    const rowsOf = async (compatPerf: boolean) => (await reportOf(profile, { compatPerf, sort: ['function', 'dso'] })).split('\n').slice(2, -1);
    expect(await rowsOf(false)).toEqual([' 83.33            5       2 init      /bin/app', ' 16.67            1       1 start     /tmp/perf-12.map']);
    expect(await rowsOf(true)).toEqual([
      ' 50.00            3       1 init      app',
      ' 33.33            2       1 init      app',
      ' 16.67            1       1 start     [JIT] tid 12',
    ]);
  });

  test('samples before the first name of their thread was recorded have that name with compatPerf only', async () => {
    const profile = buildProfile([{ timeNs: 0, stack: [] }]);
    const tasks = [{ ...profile.tasks[0], comm: ':8', laterComm: 'worker' }];
    const lastWord = async (compatPerf: boolean) => /\S+$/.exec((await reportOf({ ...profile, tasks }, { compatPerf, sort: ['comm'] })).trimEnd())?.[0];
    expect([await lastWord(false), await lastWord(true)]).toEqual([':8', 'worker']);
  });

  test("the kernel and its modules have perf report's short names with compatPerf, however perf script prints them", async () => {
    const kinds = { '/lib/modules/6.1.0/build/vmlinux': 'kernel', '/lib/modules/6.1.0/kernel/fs/nf-tables.ko.xz': 'module', '/bin/tool.ko': 'file' } as const;
    const profile = buildProfile(Object.keys(kinds).map((dso, timeNs) => ({ timeNs, period: 1, stack: [{ name: 'f', dso }] })));
    const mappings = profile.mappings.map((mapping) => ({ ...mapping, kind: kinds[mapping.name as keyof typeof kinds] }));
    const report = await reportOf({ ...profile, mappings }, { compatPerf: true, sort: ['dso'] });
    expect(
      report
        .split('\n')
        .slice(2, -1)
        .map((row) => row.slice(28)),
    ).toEqual(['[kernel.vmlinux]', '[nf_tables]', 'tool.ko']);
  });

  test('periods of 0 have the percentage 0.00', async () => {
    expect(await reportOf(buildProfile([{ timeNs: 0, period: 0, stack: ['a'] }]))).toContain('  0.00            0       1 a (app)\n');
  });

  test('percentages can be colored', async () => {
    const report = await reportOf(buildProfile(SAMPLES.slice(0, 1)), { paintPercent: (text, percent) => `<${text}|${percent}>` });
    expect(report).toContain('\n<100.00|100>      1000000       1 compute (app)\n');
  });

  test('having no samples or no sort keys is refused', async () => {
    await expect(reportOf(buildProfile([]))).rejects.toMatchObject({ name: 'PerfconvError', code: 'no-samples' });
    await expect(reportOf(buildProfile(SAMPLES), { sort: [] })).rejects.toMatchObject({ name: 'PerfconvError', code: 'usage' });
  });
});

describe('report: sort keys', () => {
  const rowsOf = async (sort: readonly ReportKey[]) => (await reportOf(buildProfile(SAMPLES.slice(0, 4)), { sort })).split('\n').slice(1, -1);

  test('dso groups by file', async () => {
    expect(await rowsOf(['dso'])).toEqual([
      '   per       period samples dso',
      ' 54.55      3000000       1 /usr/lib/libc.so.6',
      ' 36.36      2000000       2 /bin/app',
      '  9.09       500000       1 [kernel.kallsyms]',
    ]);
  });

  test('comm, pid and tid group by thread name, process and thread', async () => {
    expect(await rowsOf(['comm'])).toEqual([
      '   per       period samples comm',
      ' 54.55      3000000       1 worker',
      ' 36.36      2000000       2 app',
      '  9.09       500000       1 other',
    ]);
    expect(await rowsOf(['pid'])).toEqual(['   per       period samples pid', ' 90.91      5000000       3 100:app', '  9.09       500000       1 7:other']);
    expect((await rowsOf(['tid']))[1]).toBe(' 54.55      3000000       1 101:worker');
  });

  test('pid and tid show only the number if there is no name', async () => {
    const gone = buildProfile([{ timeNs: 0, pid: -1, tid: -1, process: '', comm: ':-1', stack: ['main'] }]);
    expect((await reportOf(gone, { sort: ['pid', 'tid', 'comm'] })).split('\n')[2]).toBe('100.00      1000000       1 -1   -1   :-1');
  });

  test('several keys make aligned columns, and with the key dso, functions do not show theirs', async () => {
    expect(await rowsOf(['comm', 'function', 'dso'])).toEqual([
      '   per       period samples comm    function  dso',
      ' 54.55      3000000       1 worker  memcpy    /usr/lib/libc.so.6',
      ' 36.36      2000000       2 app     compute   /bin/app',
      '  9.09       500000       1 other   schedule  [kernel.kallsyms]',
    ]);
  });

  test('event puts all events into one table, weighted by samples', async () => {
    expect((await reportOf(buildProfile(SAMPLES), { sort: ['event'] })).split('\n')).toEqual([
      '# cpu-clock: 4 samples, period 5500000 ns',
      '# page-faults: 1 sample, period 7',
      '   per       period samples event',
      ' 80.00      5500000       4 cpu-clock',
      ' 20.00            7       1 page-faults',
      '',
    ]);
  });

  test('a key given twice is one column', async () => {
    expect(await rowsOf(['dso', 'dso'])).toEqual(await rowsOf(['dso']));
  });
});

describe('report: children', () => {
  test('callers include what they call, self shows their own share, and recursion counts once', async () => {
    const report = await reportOf(
      buildProfile([
        { timeNs: 0, period: 3, stack: ['main', 'fib', 'fib', 'fib'] },
        { timeNs: 1, period: 1, stack: ['main', 'fib', { name: 'outer', inlined: [{ name: 'fib' }] }, 'leaf'] },
      ]),
      { children: true },
    );
    expect(report.split('\n').slice(1, -1)).toEqual([
      '   per       period samples   self function',
      '100.00            4       2  75.00 fib (app)',
      '100.00            4       2   0.00 main (app)',
      ' 25.00            1       1  25.00 leaf (app)',
      ' 25.00            1       1   0.00 outer (app)',
    ]);
  });

  test('with the key dso, files include what they call', async () => {
    const report = await reportOf(buildProfile(SAMPLES.slice(2, 3)), { children: true, sort: ['dso'] });
    expect(report.split('\n').slice(2, -1)).toEqual(['100.00      3000000       1   0.00 /bin/app', '100.00      3000000       1 100.00 /usr/lib/libc.so.6']);
  });
});

/** `[period, samples]` of each row, by table. */
function numbersOf(report: string): [number, number][][] {
  return report.split('\n\n').map((table) =>
    table
      .split('\n')
      .filter((line) => /^ *\d+\.\d\d +\d/.test(line))
      .map((line) => line.trim().split(/ +/))
      .map((cells): [number, number] => [Number(cells[1]), Number(cells[2])]),
  );
}

test('report: with any keys, the rows of any profile add up to its events, and children never exceed them', async () => {
  const keys = fc.uniqueArray(fc.constantFrom(...REPORT_KEYS), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(randomProfile, keys, async (profile, sort) => {
      const events = profile.events.filter((event) => event.samples > 0);
      const report = await reportOf(profile, { sort });
      const tables = numbersOf(report);
      const sum = (rows: readonly (readonly [number, number])[]) => rows.reduce(([a, b], [period, samples]) => [a + period, b + samples], [0, 0]);
      const held = events.map((event): [number, number] => [event.period, event.samples]);
      expect(tables.map(sum)).toEqual(sort.includes('event') ? [sum(held)] : held);
      const withChildren = numbersOf(await reportOf(profile, { sort, children: true }));
      withChildren.forEach((rows, index) => {
        expect(rows.length).toBeGreaterThanOrEqual(tables[index].length);
        for (const [, samples] of rows) expect(samples).toBeLessThanOrEqual(sort.includes('event') ? sum(held)[1] : held[index][1]);
      });
      expect(await reportOf(profile, { sort })).toBe(report);
    }),
    { numRuns: runs(150, 40) },
  );
});
