import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { RecordLog } from '../../../src/stats/record-log.ts';
import { writeOverviewCsv } from '../../../src/writers/csv/overview.ts';
import { writeProcessesCsv } from '../../../src/writers/csv/processes.ts';
import { writeResultsCsv } from '../../../src/writers/csv/results.ts';
import { writeStatCsv } from '../../../src/writers/csv/stat.ts';
import { buildProfile } from '../../support/builders/profiles/build-profile.ts';
import { type AttrSpec, encodeFile, type RecordSpec, record, toolRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { recordRow } from '../../support/builders/recordings/record-row.ts';
import { csvTextsOf } from '../../support/readers/csv-texts.ts';
import { parseCsv } from '../../support/readers/parse-csv.ts';

type Write = (sink: BufferSink) => Promise<void>;

async function textOf(write: Write): Promise<string> {
  const sink = new BufferSink();
  await write(sink);
  return sink.text();
}

const sampleType = ['ip', 'tid', 'time', 'id', 'period'] as const;
const clock: AttrSpec = { name: 'cpu-clock', period: 1_000_000n, ids: [7n], sampleType, flags: ['sampleIdAll'] };
const faults: AttrSpec = { name: 'page-faults', config: 2n, period: 1n, ids: [8n], sampleType, flags: ['sampleIdAll'] };

const at = (time: bigint) => ({ sampleId: { time } });

describe('stat.csv', () => {
  test('has a row per kind of record', async () => {
    const kinds = [
      { record: 'MMAP', count: 1 },
      { record: 'unknown', count: 0 },
    ];
    expect(await textOf((sink) => writeStatCsv(kinds, sink))).toBe('record,count\nMMAP,1\nunknown,0\n');
  });
});

describe('overview.csv', () => {
  const records: RecordSpec[] = [
    record.mmap({ pid: -1, tid: 0, addr: 0xffffffff81000000n, len: 0x1000n, pgoff: 0xffffffff81000000n, filename: '[kernel.kallsyms]_text' }, at(0n)),
    record.comm({ pid: 100, comm: 'a "b", c' }, at(1_000n)),
    record.sample({ ip: 0xffffffff81000010n, pid: 100, tid: 101, time: 5_000n, period: 250_000n }),
    record.mmap2({ pid: 100, addr: 0x400000n, len: 0x2000n, pgoff: 0x1000n, filename: '/bin/a,b' }, at(2_000n)),
    record.fork({ pid: 200, ppid: 100, ptid: 101 }, at(3_000n)),
    record.exit({ pid: 200, ppid: 100 }, at(4_000n)),
    record.sample({ ip: 0x400010n, pid: 200, time: 3_500n, period: 1n }, { attr: 1 }),
    record.lost({ lost: 9n }, { sampleId: { time: 6_000n, pid: 100, tid: 100 } }),
    record.switch({ out: true }, { sampleId: { time: 7_000n, pid: 100, tid: 101 } }),
    toolRecords.finishedRound(),
    { type: 99, misc: 0, attr: 0, writeBody: () => {} },
  ];

  test('has every record in time order, with the details of its type', async () => {
    const { 'overview.csv': text } = await csvTextsOf(encodeFile({ attrs: [clock, faults], records }));
    expect(text.split('\n')).toEqual([
      'nr,type,pid,tid,time,info,info2,info3,info4,event',
      '0,MMAP,4294967295,0,0,[kernel.kallsyms]_text,18446744071578845184,4096,18446744071578845184,',
      '9,FINISHED_ROUND,4294967295,4294967295,0,,,,,',
      '10,unknown,4294967295,4294967295,0,99,,,,',
      '1,COMM,100,100,1000,"a ""b"", c",,,,',
      '3,MMAP2,100,100,2000,"/bin/a,b",4194304,8192,4096,',
      '4,FORK,200,200,3000,100,,,,',
      '6,SAMPLE,200,200,3500,4194320,1,,,page-faults',
      '5,EXIT,200,200,4000,,,,,',
      '2,SAMPLE,100,101,5000,18446744071578845200,250000,,,cpu-clock',
      '7,LOST,100,100,6000,9,,,,',
      '8,SWITCH,100,101,7000,out,,,,',
      '',
    ]);
  });

  test('has all records, even those that filters exclude', async () => {
    const bytes = encodeFile({ attrs: [clock, faults], records });
    const all = await csvTextsOf(bytes);
    const filtered = await csvTextsOf(bytes, { filter: { pids: [200] } });
    expect(filtered['overview.csv']).toBe(all['overview.csv']);
    expect(filtered['stat.csv']).toBe(all['stat.csv']);
    expect(parseCsv(filtered['results.csv']).map(({ period, event }) => [period, event])).toEqual([['1', 'page-faults']]);
  });

  test.each([
    [0n, 0, '0'],
    [0n, 12, '12'],
    [1_700_000_000_123_456_789n, 211, '1700000000123457000'],
    [1_700_000_000_000_000_000n, -1, '1699999999999999999'],
    [999_999_999_999_999n, 1, '1000000000000000'],
    [1_000_000_000_000_000n, -1, '999999999999999'],
    [3_000_000_000_000_000n, -1_999_999_999_999_999, '1000000000000001'],
    [18_446_744_073_709_551_000n, 615, '18446744073709551615'],
    [5n, Number.NaN, '0'],
  ])('prints the time %s + %d exactly', async (baseTime, timeNs, expected) => {
    const log = new RecordLog();
    log.sample(recordRow({ nr: 0, timeNs, event: 0, pid: 1, tid: 1, period: 1 }));
    const text = await textOf((sink) => writeOverviewCsv({ log, baseTime }, [], sink));
    expect(parseCsv(text)[0].time).toBe(expected);
  });

  test('has one row for a sample that carries the counters of a group', async () => {
    const attrs: AttrSpec[] = [clock, faults].map((attr) => ({ ...attr, sampleType: [...sampleType, 'read'], readFormat: ['id', 'group'] }));
    const values = (first: bigint, second: bigint) => ({
      values: [
        { value: first, id: 7n },
        { value: second, id: 8n },
      ],
    });
    const tables = await csvTextsOf(
      encodeFile({
        attrs,
        records: [
          record.sample({ ip: 1n, pid: 5, time: 10n, period: 1n, read: values(1000n, 3n) }),
          record.sample({ ip: 1n, pid: 5, time: 20n, period: 1n, read: values(2500n, 3n) }),
        ],
      }),
    );
    expect(tables['overview.csv'].split('\n').slice(1)).toEqual(['0,SAMPLE,5,5,10,1,1000,,,cpu-clock', '1,SAMPLE,5,5,20,1,1500,,,cpu-clock', '']);
    expect(tables['stat.csv']).toContain('\nSAMPLE,2\n');
    expect(parseCsv(tables['processes.csv']).map(({ event, samples, period }) => [event, samples, period])).toEqual([
      ['cpu-clock', '2', '2500'],
      ['page-faults', '1', '3'],
    ]);
  });
});

describe('processes.csv', () => {
  const process = { process: 0, mmaps: 0, forkTime: undefined, exitTime: undefined, forks: 0, exits: 0, threads: 1 };

  test('has a row per process and event with samples, with readperf’s columns first', async () => {
    const profile = buildProfile([
      { timeNs: 0, pid: 100, comm: 'app', stack: ['main'], period: 3_000 },
      { timeNs: 1, pid: 100, tid: 101, comm: 'app', stack: ['main', 'f'], period: 1_000 },
      { timeNs: 2, pid: 100, comm: 'app', stack: ['main'], event: 'page-faults', period: 5 },
      { timeNs: 3, pid: -1, tid: -1, comm: ':-1', stack: ['main'], period: 2_000 },
    ]);
    const processes = [
      { process: 0, pid: 100, comm: 'an "app"', mmaps: 4, forkTime: 5n, exitTime: 2n ** 63n + 1n, forks: 1, exits: 2, threads: 3 },
      { ...process, process: -1, pid: 200, comm: 'idle' },
      { ...process, process: 1, pid: -1, comm: ':-1', mmaps: 7 },
    ];
    expect(await textOf((sink) => writeProcessesCsv([processes], profile, sink))).toBe(
      [
        '"pid","comm","#mmap","fork","exit","samples","period","event","percent","tids","forks","exits"',
        '100,"an ""app""",4,5,9223372036854775809,2,4000,"cpu-clock",66.67,3,1,2',
        '100,"an ""app""",4,5,9223372036854775809,1,5,"page-faults",100.00,3,1,2',
        '200,"idle",0,0,18446744073709551615,0,0,"cpu-clock",0.00,1,0,0',
        '200,"idle",0,0,18446744073709551615,0,0,"page-faults",0.00,1,0,0',
        '-1,":-1",7,0,18446744073709551615,1,2000,"cpu-clock",33.33,1,0,0',
        '-1,":-1",7,0,18446744073709551615,0,0,"page-faults",0.00,1,0,0',
        '',
      ].join('\n'),
    );
  });

  test('lists the processes of a recording without samples', async () => {
    const tables = await csvTextsOf(encodeFile({ attrs: [clock, faults], records: [record.comm({ pid: 100, comm: 'app' }, at(1n))] }));
    expect(tables['processes.csv'].split('\n').slice(1)).toEqual(['100,"app",0,0,18446744073709551615,0,0,"cpu-clock",0.00,1,0,0', '']);
    const withoutEvents: Profile = { ...buildProfile([]), events: [] };
    const text = await textOf((sink) => writeProcessesCsv([[{ ...process, pid: 1, comm: 'init' }]], withoutEvents, sink));
    expect(text.split('\n').slice(1)).toEqual(['1,"init",0,0,18446744073709551615,0,0,"",0.00,1,0,0', '']);
  });
});

describe('results.csv', () => {
  test('adds up samples by the function of their leaf, sorted by decreasing period', async () => {
    const hot = { name: 'hot', file: '/src/hot.c', line: 12, inlined: [{ name: 'inlined into hot' }] };
    const profile = buildProfile([
      { timeNs: 0, stack: ['main', hot], period: 100 },
      { timeNs: 1, stack: ['main', { ...hot, address: 0x5000 }], period: 200, tid: 101 },
      { timeNs: 2, stack: ['start', hot], period: 300, tid: 101 },
      { timeNs: 3, stack: ['main'], period: 1_000 },
      { timeNs: 4, stack: ['main'], period: 7, event: 'page-faults' },
      { timeNs: 5, stack: ['main', { name: 'x', dso: '/lib/a "b".so', unresolved: true }], period: 50 },
      { timeNs: 6, stack: ['main', { name: 'y', dso: '/lib/a "b".so', unresolved: true }], period: 50 },
      { timeNs: 7, stack: ['main', { name: 'hot', dso: '/lib/other.so' }], period: 250 },
      { timeNs: 8, stack: [], period: 50 },
    ]);
    expect(await textOf((sink) => writeResultsCsv(profile, sink))).toBe(
      [
        'period,samples,filename,function,event,percent,tids,dso,build_id,line',
        '1000,1,"??","main","cpu-clock",50.00,1,"/bin/app","",',
        '600,3,"/src/hot.c","hot","cpu-clock",30.00,2,"/bin/app","",',
        '250,1,"??","hot","cpu-clock",12.50,1,"/lib/other.so","",',
        '100,2,"??","??","cpu-clock",5.00,1,"/lib/a ""b"".so","",',
        '50,1,"??","??","cpu-clock",2.50,1,"[unknown]","",',
        '7,1,"??","main","page-faults",100.00,1,"/bin/app","",',
        '',
      ].join('\n'),
    );
  });

  test('has the build id, and the line at which a function begins', async () => {
    const profile = buildProfile([{ timeNs: 0, stack: ['main'], period: 5 }]);
    const { strings, functions, locations, stacks, totals } = profile;
    const func = functions.intern(strings.intern('f'), 0, strings.intern('f.c'), 41);
    locations.setLines(stacks.location(totals.stack(0)), [{ function: func, line: 43, column: 0, file: 0 }], 0);
    const withBuildId: Profile = { ...profile, mappings: [{ ...profile.mappings[0], buildId: 'ab12' }] };
    const [row] = parseCsv(await textOf((sink) => writeResultsCsv(withBuildId, sink)));
    expect(row).toMatchObject({ filename: 'f.c', function: 'f', build_id: 'ab12', line: '41' });
  });

  test('has the first file that is known for any place of a function', async () => {
    const files = [undefined, 'f.c', 'other.c'];
    const profile = buildProfile(files.map((file, i) => ({ timeNs: i, stack: [{ name: 'f', address: 0x1000 * (i + 1), ...(file && { file }) }], period: 5 })));
    const rows = parseCsv(await textOf((sink) => writeResultsCsv(profile, sink)));
    expect(rows.map(({ filename, samples }) => [filename, samples])).toEqual([['f.c', '3']]);
  });

  test('sorts rows of equal period by decreasing samples, then by first sample', async () => {
    const profile = buildProfile([
      { timeNs: 0, stack: ['z'], period: 4 },
      { timeNs: 1, stack: ['a'], period: 4 },
      { timeNs: 2, stack: ['m'], period: 2 },
      { timeNs: 3, stack: ['m'], period: 2 },
    ]);
    const rows = parseCsv(await textOf((sink) => writeResultsCsv(profile, sink)));
    expect(rows.map((row) => row.function)).toEqual(['m', 'z', 'a']);
  });
});
