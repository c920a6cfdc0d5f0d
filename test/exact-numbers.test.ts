import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ExactSums } from '../src/base/tables/exact-sums.ts';
import { type AttrSpec, encodeFile, misc, type RecordSpec, record } from './support/builders/recordings/perf-encoder.ts';
import { runMain } from './support/programs/run-main.ts';
import { parseCsv } from './support/readers/parse-csv.ts';
import { readPprof } from './support/readers/read-pprof.ts';

// 64-bit numbers must be exact in every table and text; doubles are so only up to 2^53.

const ATTR: AttrSpec = {
  name: 'cycles',
  type: 4,
  config: 1n,
  period: 1n,
  ids: [7n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'period'],
  flags: ['sampleIdAll'],
};
const ODD = 2n ** 53n + 1n;
const LARGE = 2n ** 62n + 12_345_678_901n;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-exact-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const put = (name: string, attrs: readonly AttrSpec[], records: readonly RecordSpec[]): string => {
  const path = join(dir, name);
  writeFileSync(path, encodeFile({ attrs, records, features: { eventDesc: true } }));
  return path;
};

const run = async (...args: string[]): Promise<string> => {
  const { status, stdout, stderr } = await runMain(['-q', ...args]);
  // One of the recordings has a LOST record.
  expect(stderr.replace(/^perfconv: data lost: perf could not keep up .*\n/, '')).toBe('');
  expect(status).toBe(0);
  return stdout.toString();
};

const sample = (period: bigint, time: bigint, ip = 0x40_0010n): RecordSpec => record.sample({ id: 7n, ip, pid: 100, time, period });
const map = record.mmap2({ pid: 100, addr: 0x40_0000n, len: 0x2000n, filename: '/bin/app' }, { sampleId: { time: 1n } });

/** The sum of all periods of a recording, according to every format. */
async function sumsOf(...inputs: string[]): Promise<Record<string, bigint>> {
  const add = (numbers: Iterable<string | bigint>): bigint => [...numbers].reduce((sum: bigint, number) => sum + BigInt(number), 0n);
  const tables = join(dir, 'tables');
  const merged = join(dir, 'merged.pb');
  await run(...inputs, '-t', 'csv', '-o', `${tables}/`);
  await run(...inputs, '-o', merged);
  await run(...inputs, '-t', 'folded', '-o', join(dir, 'all.folded'));
  await run(...inputs, '-o', join(dir, 'all.speedscope.json'));
  const speedscope = readFileSync(join(dir, 'all.speedscope.json'), 'utf8');
  const profiles = speedscope.split('{"type":"sampled"').slice(1);
  // If there are several, the first one is the sum of the others.
  const threads = profiles.length === 1 ? profiles : profiles.slice(1);
  const periods = (table: string) => parseCsv(readFileSync(join(tables, `${table}.csv`), 'utf8')).map(({ period }) => period);
  const report = await run('report', ...inputs);
  const { samples } = readPprof(readFileSync(merged));
  return {
    results: add(periods('results')),
    processes: add(periods('processes')),
    folded: add([...readFileSync(join(dir, 'all.folded'), 'utf8').matchAll(/ (\d+)$/gm)].map(([, number]) => number)),
    headline: add([...report.matchAll(/period (\d+)/g)].map(([, number]) => number)),
    reportJson: add(exactNumbers(await run('report', '--json', '--children', ...inputs), 'selfPeriod')),
    tree: add(exactNumbers(await run('report', '--tree', '--json', '--sort', 'comm', '--percent-limit', '0', ...inputs), 'selfPeriod')),
    treeRoots: add(rootPeriods(await run('report', '--tree', '--json', '--percent-limit', '0', ...inputs))),
    report: add([...report.matchAll(/^ *[\d.]+ +(\d+) /gm)].map(([, number]) => number)),
    speedscopeEnds: add(threads.flatMap((text) => [...text.matchAll(/"endValue":(\d+)/g)].map(([, number]) => number))),
    speedscopeWeights: add(threads.flatMap(weightsOf)),
    speedscopeFirst: add(weightsOf(profiles[0])),
    pprof: add(samples.map(({ values }) => values.get('cycles/count') ?? 0n)),
  };
}

/** The values of a field in JSON, with all their digits. */
const exactNumbers = (json: string, field: string): string[] => [...json.matchAll(new RegExp(`"${field}":"?(\\d+)`, 'g'))].map(([, number]) => number);

/** The periods of the roots of trees in JSON. */
const rootPeriods = (json: string): string[] => [...json.matchAll(/"depth":0,.*?"period":"?(\d+)/g)].map(([, number]) => number);

const weightsOf = (text: string): string[] => [...text.matchAll(/"weights":\[([\d,]+)\]/g)].flatMap(([, list]) => list.split(','));

const everywhere = (sum: bigint) =>
  Object.fromEntries(
    [
      'results',
      'processes',
      'folded',
      'headline',
      'reportJson',
      'tree',
      'treeRoots',
      'report',
      'speedscopeEnds',
      'speedscopeWeights',
      'speedscopeFirst',
      'pprof',
    ].map((key) => [key, sum]),
  );

describe('periods', () => {
  test.each([
    ['of one sample', [ODD]],
    ['that add up beyond 2^53', [2n ** 53n - 1n, 1n, 1n]],
    ['that are odd and even', [ODD, ODD + 1n, 3n, ODD + 2n]],
    ['of 2^62 and more', [LARGE, ODD]],
  ])('%s have exact sums in every format', async (_what, periods) => {
    const input = put('sums.data', [ATTR], [map, ...periods.map((period, i) => sample(period, BigInt(i + 2), i % 2 === 0 ? 0x40_0010n : 0x40_0011n))]);
    const sum = periods.reduce((all, period) => all + period);
    expect(await sumsOf(input)).toEqual(everywhere(sum));
    const [event] = JSON.parse(await run('info', '--json', input)).events;
    expect(BigInt(event.period)).toBe(sum);
    expect(await run('info', input)).toContain(`period ${sum.toLocaleString('en-US')}`);
  });

  test('of merged recordings add up exactly', async () => {
    const inputs = [ODD, ODD + 2n, LARGE].map((period, i) => put(`merged-${i}.data`, [ATTR], [map, sample(period, 2n), sample(1n, 3n)]));
    expect(await sumsOf(...inputs)).toEqual(everywhere(2n * ODD + 2n + LARGE + 3n));
  });

  test.each([ODD, 2n ** 63n + 1n, 2n ** 64n - 1n])('of single samples are exact in text: %d', async (period) => {
    const input = put('single.data', [ATTR], [map, sample(period, 5n), sample(4n, 6n)]);
    expect(await run(input, '-t', 'script', '-F', 'period', '-o', '-')).toMatch(new RegExp(`^ *${period} *\\n *4 *\\n$`));
    expect(await run('dump', '--type', 'SAMPLE', input)).toContain(` period=${period}\n`);
    await run(input, '-t', 'csv', '-o', `${join(dir, 'single')}/`);
    expect(readFileSync(join(dir, 'single/overview.csv'), 'utf8')).toContain(`,4194320,${period},`);
  });

  test('that only the events carry have exact sums', async () => {
    const attr: AttrSpec = { ...ATTR, period: ODD, sampleType: ['identifier', 'ip', 'tid', 'time'] };
    const input = put('fixed.data', [attr], [map, sample(0n, 2n), sample(0n, 3n)]);
    expect(await sumsOf(input)).toEqual(everywhere(2n * ODD));
    const [event] = JSON.parse(await run('info', '--json', input)).events;
    expect([event.attr.samplePeriod, event.period]).toEqual([String(ODD), String(2n * ODD)]);
    expect(await run('info', input)).toContain(`sample_period ${ODD}`);
  });

  test('that are differences of counters have exact sums', async () => {
    const attr: AttrSpec = { ...ATTR, sampleType: [...(ATTR.sampleType ?? []), 'read'], readFormat: ['id'] };
    const start = 2n ** 60n + 1n;
    const read = (value: bigint, time: bigint) => record.sample({ id: 7n, ip: 0x40_0010n, pid: 100, time, period: 1n, read: { values: [{ value, id: 7n }] } });
    const input = put('read.data', [attr], [map, read(start, 2n), read(start + 3n, 3n), read(start + 3n + ODD, 4n)]);
    expect(await run(input, '-t', 'script', '-F', 'period', '-o', '-')).toMatch(new RegExp(`^ *${start} *\\n *3 *\\n *${ODD} *\\n$`));
    expect(await sumsOf(input)).toEqual(everywhere(start + 3n + ODD));
  });
});

describe('64-bit numbers are exact', () => {
  const attrs = [{ ...ATTR, ids: [7n, ODD] }];
  const kernel = { addr: 0x1234_5678_9abc_def1n, len: 0xffff_ffff_9fff_ffffn, pgoff: 0x8765_4321_0fed_cba9n };

  test('in maps, symbols of the kernel, and records of losses', async () => {
    const records = [
      record.mmap({ pid: -1, tid: 0, ...kernel, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel, sampleId: { time: 1n } }),
      record.mmap2({ pid: 100, addr: kernel.pgoff, len: kernel.addr, pgoff: kernel.len, filename: '/bin/app' }, { sampleId: { time: 2n } }),
      record.ksymbol({ addr: kernel.pgoff, len: 0xffff_ffff, name: 'bpf' }, { sampleId: { time: 3n } }),
      record.lost({ lost: ODD }, { sampleId: { time: 4n } }),
      sample(1n, 5n, kernel.addr),
    ];
    const input = put('maps.data', attrs, records);
    await run(input, '-t', 'csv', '-o', `${join(dir, 'maps')}/`);
    const rows = parseCsv(readFileSync(join(dir, 'maps/overview.csv'), 'utf8')).map((row) => [row.info, row.info2, row.info3, row.info4]);
    expect(rows).toEqual([
      ['[kernel.kallsyms]_text', ...[kernel.addr, kernel.len, kernel.pgoff].map(String)],
      ['/bin/app', ...[kernel.pgoff, kernel.addr, kernel.len].map(String)],
      ['bpf', String(kernel.pgoff), '4294967295', ''],
      [String(ODD), '', '', ''],
      [String(kernel.addr), '1', '', ''],
    ]);
    const dumped = await run('dump', '--json', input);
    for (const number of [kernel.addr, kernel.len, kernel.pgoff]) expect(dumped).toContain(`"0x${number.toString(16)}"`);
    expect(dumped).toContain(`"lost":"${ODD}"`);
  });

  test('in messages about losses, and in their sums', async () => {
    const lost = [ODD, 2n ** 64n - 3n, 1n];
    const records = lost.flatMap((count, i) => [
      record.lost({ lost: count }, { sampleId: { time: BigInt(i) } }),
      record.lostSamples({ lost: count + 2n }, { sampleId: { time: BigInt(i) } }),
    ]);
    const input = put('lost.data', [ATTR], [...records, sample(1n, 5n)]);
    const counts = [lost, lost.map((count) => count + 2n)].map((list) => String(list.reduce((sum, count) => sum + count)));
    const { stderr } = await runMain(['report', input]);
    for (const count of counts) expect(stderr).toContain(`(${count} times, first at 0x`);
    const { diagnostics } = JSON.parse(await run('info', '--json', input));
    expect(diagnostics.map(({ count }: { count: unknown }) => count)).toEqual(counts);
  });

  test('for memory and clocks', async () => {
    const path = join(dir, 'machine.data');
    const features = { totalMem: ODD, clockid: ODD, numaTopology: [{ node: 0, total: ODD, free: 7n, cpus: '0' }], dirFormat: ODD } as const;
    writeFileSync(path, encodeFile({ attrs: [ATTR], records: [sample(1n, 5n)], features }));
    const info = JSON.parse(await run('info', '--json', path));
    expect([info.host.totalMemKib, info.clock.resolutionNs, info.numaNodes[0].memTotalKib, info.directoryVersion]).toEqual([ODD, ODD, ODD, ODD].map(String));
    expect(info.numaNodes[0].memFreeKib).toBe(7);
    expect(await run('info', path)).toContain(`resolution ${ODD} ns`);
  });

  test('in ids of events', async () => {
    const input = put('ids.data', attrs, [sample(1n, 5n)]);
    expect(JSON.parse(await run('info', '--json', input)).events[0].ids).toEqual([7, String(ODD)]);
    expect(await run('info', input)).toContain(`7 ${ODD}`);
  });
});

test('ExactSums keeps every digit, whatever the order', () => {
  const numbers = fc.array(fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 9n })), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(numbers, (list) => {
      const sums = new ExactSums();
      for (const number of list) sums.add(300, Number(number), Number(number - BigInt(Number(number))));
      expect(BigInt(sums.value(300)) + BigInt(sums.remainder(300))).toBe(list.reduce((sum, number) => sum + number));
      expect([sums.value(0), sums.remainder(0), sums.value(10_000)]).toEqual([0, 0, 0]);
    }),
  );
});
