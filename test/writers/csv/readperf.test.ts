import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { RecordLog } from '../../../src/stats/record-log.ts';
import { recordingStats } from '../../../src/stats/recording-stats.ts';
import { writeCsvTables } from '../../../src/writers/csv/csv.ts';
import { type AttrSpec, encodeFile, misc, type RecordSpec, record } from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';
import { parseCsvRows } from '../../support/readers/parse-csv.ts';

/** For a file that readperf can read: PERFFILE with attrs of 72 bytes, a frequency, and the name of the event. */
const ATTR: AttrSpec = {
  type: 0,
  config: 0n,
  freq: 1000n,
  ids: [7n],
  sampleType: ['ip', 'tid', 'time', 'period'],
  flags: ['sampleIdAll', 'mmap', 'comm', 'task'],
  sizeBytes: 72,
};
const BOOT = 2n ** 63n;
const at = (ns: bigint, pid: number, tid = pid) => ({ sampleId: { time: ns === 0n ? 0n : BOOT + ns, pid, tid } });
const sample = (ns: bigint, pid: number, ip: bigint, period: bigint, tid = pid) => record.sample({ ip, pid, tid, time: BOOT + ns, period });

/** A program with three children: two that have the same pid, one after the other, and one that runs another program. */
const RECORDS: readonly RecordSpec[] = [
  record.mmap(
    { pid: -1, tid: 0, addr: 0n, len: 0xffff_ffff_9fff_ffffn, pgoff: 0xffff_ffff_8100_0000n, filename: '[kernel.kallsyms]_text' },
    { misc: misc.kernel, ...at(0n, -1, 0) },
  ),
  record.comm({ pid: 100, comm: 'perf' }, at(0n, 100)),
  record.comm({ pid: 100, comm: 'app' }, at(1n, 100)),
  record.mmap({ pid: 100, addr: 0x40_0000n, len: 0x2000n, pgoff: 0x8000_0000_0000_1000n, filename: '/bin/app' }, at(2n, 100)),
  record.mmap({ pid: 100, addr: 0x7fff_0000_0000n, len: 0x1000n, filename: '[vdso]' }, at(3n, 100)),
  record.fork({ pid: 200, ppid: 100, tid: 200, ptid: 100 }, at(10n, 100)),
  record.fork({ pid: 200, ppid: 200, tid: 201, ptid: 200 }, at(11n, 200)),
  sample(12n, 100, 0x40_0010n, 250_000n),
  sample(13n, 200, 0x40_0020n, 5n, 201),
  sample(14n, 200, 0xffff_ffff_8100_0010n, 9n),
  record.exit({ pid: 200, ppid: 200, tid: 201, ptid: 200 }, at(15n, 200, 201)),
  record.exit({ pid: 200, ppid: 100, tid: 200, ptid: 100 }, at(16n, 200)),
  record.exit({ pid: 200, ppid: 100, tid: 200, ptid: 100 }, at(17n, 200)),
  record.fork({ pid: 200, ppid: 100, tid: 200, ptid: 100 }, at(20n, 100)),
  sample(21n, 200, 0x40_0030n, 3n),
  record.fork({ pid: 300, ppid: 100, tid: 300, ptid: 100 }, at(22n, 100)),
  record.comm({ pid: 300, comm: 'child' }, at(23n, 300)),
  sample(24n, 300, 0x40_0040n, 2n ** 53n + 1n),
];

// Observed: readperf, built with a perf_event.h whose attr has 72 bytes, and run on the bytes of this recording.
const OBSERVED = {
  'stat.csv': `record,count
MMAP,3
LOST,0
COMM,3
EXIT,3
THROTTLE,0
UNTHROTTLE,0
FORK,4
READ,0
SAMPLE,5
unknown,0
`,
  'overview.csv': `nr,type,pid,tid,time,info
0,MMAP,4294967295,0,0,[kernel.kallsyms]_text,0,18446744072098938879,18446744071578845184
1,COMM,100,100,0,perf
2,COMM,100,100,9223372036854775809,app
3,MMAP,100,100,9223372036854775810,/bin/app,4194304,8192,9223372036854779904
4,MMAP,100,100,9223372036854775811,[vdso],140733193388032,4096,0
5,FORK,200,200,9223372036854775818,100
6,FORK,200,201,9223372036854775819,200
7,SAMPLE,100,100,9223372036854775820,4194320,250000
8,SAMPLE,200,201,9223372036854775821,4194336,5
9,SAMPLE,200,200,9223372036854775822,18446744071578845200,9
10,EXIT,200,201,9223372036854775823,
11,EXIT,200,200,9223372036854775824,
12,EXIT,200,200,9223372036854775825,
13,FORK,200,200,9223372036854775828,100
14,SAMPLE,200,200,9223372036854775829,4194352,3
15,FORK,300,300,9223372036854775830,100
16,COMM,300,300,9223372036854775831,child
17,SAMPLE,300,300,9223372036854775832,4194368,9007199254740993
`,
  'processes.csv': `"pid","comm","#mmap","fork","exit","samples","period"
200,"",0,9223372036854775819,9223372036854775824,2,14
100,"app",1,0,18446744073709551615,1,250000
200,"",0,9223372036854775828,18446744073709551615,1,3
300,"child",0,9223372036854775830,18446744073709551615,1,9007199254740993
-1,"",1,0,18446744073709551615,0,0
`,
} as const;

/** perfconv's rows, by pid with −1 last. They follow perf where readperf does not: see docs/readperf.md. */
const PROCESSES_AS_PERF = [
  // The vdso is a map, too.
  ['100', 'app', '2', '0', '18446744073709551615', '1', '250000'],
  // A child has its parent's name, and the fork of one of its threads does not count as its own.
  ['200', 'app', '0', '9223372036854775818', '9223372036854775824', '2', '14'],
  ['200', 'app', '0', '9223372036854775828', '18446744073709551615', '1', '3'],
  ['300', 'child', '0', '9223372036854775830', '18446744073709551615', '1', '9007199254740993'],
  ['-1', ':-1', '1', '0', '18446744073709551615', '0', '0'],
];

async function tables(): Promise<ReadonlyMap<string, string>> {
  const log = new RecordLog();
  const bytes = encodeFile({ attrs: [ATTR], records: RECORDS, version: 1, attrSize: 72, eventTypes: [{ config: 0n, name: 'cycles' }] });
  const { profile, session } = await decode(bytes, { keepSamples: false, observer: log });
  const sinks = new Map<string, BufferSink>();
  await writeCsvTables(profile, recordingStats(session, log), async (fileName) => {
    const sink = new BufferSink();
    sinks.set(fileName, sink);
    return sink;
  });
  return new Map([...sinks].map(([fileName, sink]) => [fileName, sink.text()]));
}

describe('compared with readperf’s tables', () => {
  test('stat.csv is the same', async () => {
    expect((await tables()).get('stat.csv')).toBe(OBSERVED['stat.csv']);
  });

  test('overview.csv is the same except for the added columns', async () => {
    const [, ...theirs] = parseCsvRows(OBSERVED['overview.csv']);
    const [, ...ours] = parseCsvRows((await tables()).get('overview.csv') ?? '');
    expect(ours.map((row) => row.slice(0, -1))).toEqual(theirs.map((row) => [...row, '', '', ''].slice(0, 9)));
  });

  test('processes.csv has the same columns, and the same values except where perf’s differ from readperf’s', async () => {
    const [theirHeader, ...theirs] = parseCsvRows(OBSERVED['processes.csv']);
    const [header, ...ours] = parseCsvRows((await tables()).get('processes.csv') ?? '');
    expect(header.slice(0, 7)).toEqual(theirHeader);
    expect(ours.map((row) => row.slice(0, 7))).toEqual(PROCESSES_AS_PERF);
    // Exit times, samples and periods agree in every row.
    const byFork = (rows: readonly (readonly string[])[]) => rows.map((row) => [row[0], ...row.slice(4, 7)].join()).sort();
    expect(byFork(ours)).toEqual(byFork(theirs));
  });
});
