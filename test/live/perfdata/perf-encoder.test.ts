import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AttrSpec, FileSpec, RecordSpec, SampleBit, SampleFields } from '../../support/builders/recordings/perf-encoder.ts';
import {
  branchHwIndex,
  context,
  encodeFile,
  encodePipe,
  eventType,
  misc,
  record,
  sampleBits,
  softwareEvent,
  toolRecords,
} from '../../support/builders/recordings/perf-encoder.ts';
import { parseReportStats } from '../../support/perf/perf-report-text.ts';
import { parsePerfScript } from '../../support/perf/perf-script-text.ts';
import { announceSkipped, makeTempDir, readWithPerf, removeTempDir, whyNoPerf } from '../../support/perf/perf-tool.ts';

// Tests can only rely on the encoder if perf reads what it writes as intended.

const whyNot = whyNoPerf();
if (whyNot !== undefined) announceSkipped("the encoder's check against perf", whyNot);

const bytes = (count: number, first = 1): Uint8Array => Uint8Array.from({ length: count }, (_, index) => first + index);
const sampleIdAll = { flags: ['sampleIdAll', 'mmap', 'comm', 'mmap2', 'excludeGuest'] } as const;
/** The parts that are not in a text, ignoring the number of blanks. */
const absentFrom = (text: string, parts: readonly string[]): string[] => {
  const tight = text.replaceAll(/[ \t]+/g, ' ');
  return parts.filter((part) => !tight.includes(part));
};
const byteOrders = ['little', 'big'] as const;

const clock: AttrSpec = {
  ...sampleIdAll,
  name: 'cpu-clock',
  period: 1000n,
  ids: [7n, 8n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', 'callchain'],
};
const faults: AttrSpec = { ...clock, name: 'page-faults', config: BigInt(softwareEvent.pageFaults), ids: [9n] };

const start: RecordSpec[] = [
  record.comm({ pid: 100, comm: 'my app', exec: true }, { sampleId: { time: 1n } }),
  record.mmap2({ pid: 100, addr: 0x400000n, len: 0x2000n, pgoff: 0x1000n, filename: '/opt/my app', ino: 5n, maj: 8, min: 1 }, { sampleId: { time: 2n } }),
  record.fork({ pid: 100, ppid: 100, tid: 101, ptid: 100, time: 3n }, { sampleId: { time: 3n } }),
];

describe.skipIf(whyNot !== undefined)('perf reads what the encoder writes', () => {
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
  });
  afterAll(() => removeTempDir(directory));

  const write = (name: string, content: Uint8Array): string => {
    const file = join(directory, name);
    writeFileSync(file, content);
    return file;
  };
  const dump = (spec: FileSpec): string => readWithPerf('script', write('dump.data', encodeFile(spec)), ['-D']);

  const typical: FileSpec = {
    attrs: [clock, faults],
    records: [
      ...start,
      record.sample({ ip: 0x400123n, pid: 100, tid: 101, time: 5_000_000_001n, cpu: 3, period: 12345n, callchain: [context.user, 0x400123n, 0x401200n] }),
      record.sample({ ip: 0x400124n, pid: 100, time: 5_000_000_002n, cpu: 1, period: 1n }, { attr: 1 }),
      record.sample({ ip: 0x500000n, pid: 100, time: 5_000_000_003n, cpu: 1, period: 2n, id: 8n, callchain: [context.user, 0x500000n] }),
      toolRecords.finishedRound(),
    ],
    features: { eventDesc: true },
  };
  const typicalSamples = [
    {
      comm: 'my app',
      pid: '100',
      tid: '101',
      cpu: '003',
      time: '5.000000001',
      period: '12345',
      event: 'cpu-clock',
      frames: [{ ip: '1123', symbol: '[unknown]', dso: '/opt/my app' }, { ip: '2200' }],
    },
    { comm: 'my app', pid: '100', tid: '100', cpu: '001', time: '5.000000002', period: '1', event: 'page-faults', frames: [] },
    { time: '5.000000003', period: '2', event: 'cpu-clock', frames: [{ ip: '500000', symbol: '[unknown]', dso: '[unknown]' }] },
  ];
  const fields = ['--ns', '-F', 'comm,pid,tid,cpu,time,event,period,ip,sym,symoff,dso'];

  test.each(byteOrders)('a file, %s-endian', (byteOrder) => {
    const file = write('typical.data', encodeFile({ ...typical, byteOrder }));
    expect(parsePerfScript(readWithPerf('script', file, fields))).toMatchObject(typicalSamples);
    const stats = parseReportStats(readWithPerf('report', file, ['--stats']));
    expect(Object.fromEntries(stats.records)).toEqual({ COMM: 1, MMAP2: 1, FORK: 1, SAMPLE: 3, FINISHED_ROUND: 1 });
    expect(Object.fromEntries(stats.samples)).toEqual({ 'cpu-clock': 2, 'page-faults': 1 });
  });

  // Only little-endian: perf 6.1 itself misreads big-endian pipes.
  test('a pipe', () => {
    const file = write(
      'pipe.data',
      encodePipe({ ...typical, features: { eventDesc: true, hostname: 'fixture-host', groupDesc: [{ name: 'g', leaderIdx: 0, nrMembers: 2 }] } }),
    );
    expect(parsePerfScript(readWithPerf('script', file, fields))).toMatchObject(typicalSamples);
    expect(Object.fromEntries(parseReportStats(readWithPerf('report', file, ['--stats'])).records)).toMatchObject({
      ATTR: 2,
      FEATURE: 4,
      EVENT_UPDATE: 2,
      SAMPLE: 3,
    });
  });

  // perf 6.1 refuses the larger ones.
  test.each([64, 72, 80, 96, 104, 112, 120, 128])('attrs of %i bytes', (sizeBytes) => {
    const file = write('size.data', encodeFile({ ...typical, attrs: [clock, faults].map((attr) => ({ ...attr, sizeBytes })) }));
    expect(parsePerfScript(readWithPerf('script', file, fields))).toMatchObject(typicalSamples);
  });

  const everything: SampleFields = {
    ip: 0x400123n,
    pid: 100,
    time: 5n,
    addr: 0xdead0000n,
    streamId: 77n,
    cpu: 3,
    period: 12345n,
    read: { timeEnabled: 1n, timeRunning: 2n, values: [{ value: 55n, id: 7n, lost: 2n }] },
    callchain: [context.user, 0x400123n, 0x401200n],
    raw: bytes(5),
    branchStack: { hwIdx: 9n, entries: [{ from: 0x400001n, to: 0x400010n, predicted: true, cycles: 5, type: 4 }] },
    regsUser: { abi: 2, regs: [0x11n, 0x22n, 0x33n] },
    stackUser: { data: bytes(16), dynSize: 8n },
    weight: 66n,
    weightStruct: { var1: 66, var2: 67, var3: 68 },
    dataSrc: 0x68100142n,
    transaction: 5n,
    regsIntr: { abi: 2, regs: [0x44n] },
    physAddr: 0x1234000n,
    cgroup: 3n,
    dataPageSize: 4096n,
    codePageSize: 2n ** 21n,
    aux: bytes(9),
  };
  const extras: Partial<AttrSpec> = {
    readFormat: ['timeEnabled', 'timeRunning', 'id', 'lost'],
    branchSampleType: branchHwIndex | 9n,
    sampleRegsUser: 0x181n,
    sampleRegsIntr: 0x100n,
    sampleStackUser: 16,
    auxSampleSize: 16,
  };
  /** The first and last fields of a sample, which surround each other one: a field of wrong size or in a wrong place moves the last. */
  const sentinels: readonly SampleBit[] = ['identifier', 'ip', 'tid', 'codePageSize'];
  const alone = (Object.keys(sampleBits) as SampleBit[])
    .filter((bit) => !sentinels.includes(bit))
    .map((bit, index): AttrSpec & { bit: SampleBit } => ({
      ...sampleIdAll,
      ...extras,
      bit,
      config: BigInt(index),
      type: eventType.raw,
      period: 1n,
      ids: [100n + BigInt(index)],
      sampleType: [...sentinels, bit],
    }));

  describe.each(byteOrders)('every sample bit alone, %s-endian', (byteOrder) => {
    test.each(alone.map((attr) => [attr.bit, attr] as const))('%s', (_, attr) => {
      const text = dump({ byteOrder, attrs: [attr], records: [record.sample(everything)] });
      expect(text).toContain(' .. code page size: 2M');
      expect(text).toContain('): 100/100: 0x400123 ');
    });

    test('an empty field leaves no trace', () => {
      const attr: AttrSpec = {
        ...sampleIdAll,
        ...extras,
        type: eventType.raw,
        period: 1n,
        sampleType: [...sentinels, 'regsUser', 'stackUser', 'branchStack', 'callchain', 'raw'],
      };
      const text = dump({ byteOrder, attrs: [attr], records: [record.sample({ pid: 100, codePageSize: 2n ** 21n })] });
      expect(text).toContain(' .. code page size: 2M');
    });

    test('every field in one sample', () => {
      const sampleType = (Object.keys(sampleBits) as SampleBit[]).filter((bit) => bit !== 'weightStruct');
      const text = dump({ byteOrder, attrs: [{ ...clock, ...extras, sampleType }], records: [...start, record.sample(everything)] });
      expect(
        absentFrom(text, [
          'PERF_RECORD_SAMPLE(IP, 0x2): 100/100: 0x400123 period: 12345 addr: 0xdead0000',
          '... FP chain: nr:3',
          '..... 2: 0000000000401200',
          '... branch stack: nr:1',
          '0000000000400001 -> 0000000000400010 5 cycles P',
          '... user regs: mask 0x181 ABI 64-bit',
          '.... AX 0x0000000000000011',
          '... ustack: size 8, offset 0x',
          '. data_src: 0x68100142',
          '.. phys_addr: 0x1234000',
          '.. data page size: 4K',
          '.. code page size: 2M',
          '..... id 0000000000000007, value 0000000000000037, lost 2',
        ]),
      ).toEqual([]);
    });
  });

  test('weights of both kinds', () => {
    const attr: AttrSpec = { ...clock, type: eventType.raw, name: 'r1', sampleType: ['identifier', 'ip', 'tid', 'weightStruct'] };
    const spec: FileSpec = {
      attrs: [attr, { ...attr, ids: [9n], sampleType: ['identifier', 'ip', 'tid', 'weight'] }],
      records: [record.sample(everything), record.sample({ ...everything, weight: 2n ** 33n }, { attr: 1 })],
    };
    expect(readWithPerf('script', write('weight.data', encodeFile(spec)), ['-F', 'tid,weight']).match(/\d+/g)).toEqual(['100', '66', '100', String(2n ** 33n)]);
  });

  test('a group read is one sample per member, each with the increase of its counter', () => {
    const leader: AttrSpec = {
      ...sampleIdAll,
      name: 'cpu-clock',
      period: 1n,
      ids: [7n],
      readFormat: ['id', 'group', 'lost'],
      sampleType: ['identifier', 'ip', 'tid', 'time', 'read', 'period'],
    };
    const member: AttrSpec = { ...leader, name: 'page-faults', config: 2n, ids: [9n] };
    const sample = (time: bigint, a: bigint, b: bigint): RecordSpec =>
      record.sample({
        ip: 1n,
        pid: 1,
        time,
        period: 3n,
        read: {
          values: [
            { value: a, id: 7n },
            { value: b, id: 9n, lost: 1n },
          ],
        },
      });
    const file = write(
      'group.data',
      encodeFile({ attrs: [leader, member], records: [sample(1000n, 10n, 1n), sample(2000n, 25n, 4n), sample(3000n, 25n, 9n)], features: { eventDesc: true } }),
    );
    // A counter that did not increase gives no sample.
    expect(parsePerfScript(readWithPerf('script', file)).map(({ event, period }) => [event, period])).toEqual([
      ['cpu-clock', '10'],
      ['page-faults', '1'],
      ['cpu-clock', '15'],
      ['page-faults', '3'],
      ['page-faults', '5'],
    ]);
  });

  test.each(byteOrders)('every kernel record with its fields, %s-endian', (byteOrder) => {
    const attrs: AttrSpec[] = [
      { ...clock, readFormat: ['timeEnabled', 'timeRunning', 'id', 'lost'], sampleType: ['identifier', 'ip', 'tid', 'time', 'id', 'streamId', 'cpu'] },
    ];
    const sampleId = { pid: 100, tid: 101, time: 5n, cpu: 3 };
    const at = { sampleId };
    const text = dump({
      byteOrder,
      attrs,
      records: [
        record.mmap({ pid: 100, addr: 0x500000n, len: 0x2000n, pgoff: 0x1000n, filename: '/opt/lib' }, at),
        record.lost({ lost: 12n }, at),
        record.comm({ pid: 100, tid: 101, comm: 'worker 1' }, at),
        record.fork({ pid: 100, ppid: 100, tid: 101, ptid: 100, time: 5n }, at),
        record.read({ pid: 100, tid: 101, read: { timeEnabled: 56n, timeRunning: 57n, values: [{ value: 55n, id: 58n, lost: 59n }] } }, at),
        record.mmap2({ pid: 100, addr: 0x600000n, len: 0x1000n, filename: '/opt/with id', buildId: bytes(20) }, at),
        record.aux({ offset: 0x10n, size: 0x20n, flags: 1n }, at),
        record.itraceStart({ pid: 100, tid: 101 }, at),
        record.lostSamples({ lost: 13n }, at),
        record.switch({ out: true }, at),
        record.switchCpuWide({ nextPrevPid: 14, nextPrevTid: 15 }, at),
        record.namespaces({ pid: 100, tid: 101, links: [1n, 2n, 3n, 4n, 5n, 6n, 7n].map((ino) => ({ dev: 4n, ino })) }, at),
        record.ksymbol({ addr: 0xffffffffc0000000n, len: 64, name: 'bpf_prog_1' }, at),
        record.bpfEvent({ bpfType: 1, id: 77, tag: bytes(8) }, at),
        record.cgroup({ id: 21n, path: '/slice' }, at),
        record.textPoke({ addr: 0xffffffff81000000n, oldBytes: bytes(3), newBytes: bytes(5, 9) }, at),
        record.auxOutputHwId({ hwId: 22n }, at),
        record.throttle({ time: 5n }, at),
        record.unthrottle({ time: 5n }, at),
        record.exit({ pid: 100, ppid: 100, tid: 101, ptid: 100, time: 5n }, at),
      ],
    });
    expect(
      absentFrom(text, [
        'PERF_RECORD_MMAP 100/100: [0x500000(0x2000) @ 0x1000]: x /opt/lib',
        'PERF_RECORD_LOST',
        'PERF_RECORD_COMM: worker 1:100/101',
        'PERF_RECORD_FORK(100:101):(100:100)',
        'PERF_RECORD_READ: 100 101 cpu-clock 55',
        'time enabled : 56',
        'time running : 57',
        'id : 58',
        'PERF_RECORD_MMAP2 100/100: [0x600000(0x1000) @ 0 <0102030405060708090a0b0c0d0e0f1011121314>]',
        'PERF_RECORD_AUX offset: 0x10 size: 0x20 flags: 0x1 [T]',
        'PERF_RECORD_ITRACE_START pid: 100 tid: 101',
        'PERF_RECORD_LOST_SAMPLES',
        'PERF_RECORD_SWITCH OUT',
        'PERF_RECORD_SWITCH_CPU_WIDE IN prev pid/tid: 14/15',
        'PERF_RECORD_NAMESPACES 100/101 - nr_namespaces: 7',
        'PERF_RECORD_CGROUP cgroup: 21 /slice',
        'PERF_RECORD_AUX_OUTPUT_HW_ID hw_id: 0x16',
        'PERF_RECORD_THROTTLE',
        'PERF_RECORD_UNTHROTTLE',
        'PERF_RECORD_EXIT(100:101):(100:100)',
      ]),
    ).toEqual([]);
    // perf 6.1 forgets to swap these fields, and KSYMBOL and BPF_EVENT as a whole.
    const unswapped = [
      'lost : 59',
      'PERF_RECORD_KSYMBOL addr ffffffffc0000000 len 64 type 1 flags 0x0 name bpf_prog_1',
      'PERF_RECORD_BPF_EVENT type 1, flags 0, id 77',
      'old len 3 new len 5\n Old bytes: 01 02 03\n New bytes: 09 0a 0b 0c 0d',
    ];
    if (byteOrder === 'little') expect(absentFrom(text, unswapped)).toEqual([]);
    // The trailer is where perf looks for it: each of the 20 has cpu 3 and time 5.
    expect(text.match(/^3 5 0x/gm)).toHaveLength(byteOrder === 'little' ? 20 : 18);
  });

  test.each(byteOrders)('every tool record is framed as perf frames it, %s-endian', (byteOrder) => {
    const records: RecordSpec[] = [
      toolRecords.idIndex([
        { id: 7n, cpu: 1n },
        { id: 8n, tid: 5n },
      ]),
      toolRecords.threadMap([{ pid: 100, comm: 'app' }]),
      toolRecords.cpuMap([0, 1, 5]),
      toolRecords.timeConv({ shift: 1n, mult: 2n, zero: 3n }),
      toolRecords.eventUpdate({ id: 7n, unit: 'ms' }),
      toolRecords.eventUpdate({ id: 7n, scale: 0.5 }),
      toolRecords.headerBuildId({ buildId: bytes(20), filename: '/opt/my app', pid: -1 }),
      toolRecords.headerEventType({ eventId: 0n, name: 'cpu-clock' }),
      toolRecords.finishedInit(),
      toolRecords.finishedRound(),
    ];
    const text = dump({ byteOrder, attrs: [clock], records: [...start, ...records] });
    for (const name of ['ID_INDEX', 'THREAD_MAP', 'CPU_MAP', 'TIME_CONV', 'EVENT_UPDATE', 'BUILD_ID', 'FINISHED_INIT', 'FINISHED_ROUND'])
      expect(text).toContain(`PERF_RECORD_${name}`);
    expect(text).toContain('nr: 2');
  });

  test.each(byteOrders)('features, %s-endian', (byteOrder) => {
    const file = write(
      'features.data',
      encodeFile({
        ...typical,
        byteOrder,
        features: {
          hostname: 'fixture-host',
          osRelease: '6.9.1',
          version: '6.8',
          arch: 'riscv64',
          nrCpus: { available: 8, online: 4 },
          cpuDesc: 'a processor',
          cpuid: 'vendor,1',
          totalMem: 1234n,
          cmdline: ['perf', 'record', 'a b'],
          eventDesc: true,
          pmuMappings: [{ type: 1, name: 'software' }],
          groupDesc: [{ name: 'both', leaderIdx: 0, nrMembers: 2 }],
          sampleTime: { first: 5_000_000_001n, last: 5_000_002_002n },
          clockid: 1n,
          clockData: { clockid: 1, wallClockNs: 1_600_000_000_000_000_000n, clockidTimeNs: 1000n },
          buildIds: [
            { misc: misc.user, buildId: bytes(20), filename: '/opt/my app' },
            { misc: misc.user, buildId: bytes(16), filename: '/opt/short' },
            { misc: misc.kernel, buildId: bytes(20, 50), filename: '[kernel.kallsyms]' },
          ],
        },
      }),
    );
    const header = readWithPerf('report', file, ['--header-only']);
    expect(
      absentFrom(header, [
        'hostname : fixture-host',
        'os release : 6.9.1',
        'perf version : 6.8',
        'arch : riscv64',
        'nrcpus online : 4',
        'nrcpus avail : 8',
        'cpudesc : a processor',
        'cpuid : vendor,1',
        'total memory : 1234 kB',
        'cmdline : perf record a b',
        'event : name = cpu-clock, , id = { 7, 8 }, type = 1, size = 128',
        'event : name = page-faults, , id = { 9 }, type = 1, size = 128, config = 0x2',
        'pmu mappings: software = 1',
        'group: both{cpu-clock,page-faults}',
        'time of first sample : 5.000000',
        'time of last sample : 5.000002',
        'clockid: monotonic (1)',
        'reference time: 2020-09-13 12:26:40.000000',
      ]),
    ).toEqual([]);
    const buildIds = readWithPerf('buildid-list', file);
    expect(buildIds).toContain('0102030405060708090a0b0c0d0e0f1011121314 /opt/my app');
    expect(buildIds).toMatch(/^0102030405060708090a0b0c0d0e0f10 +\/opt\/short$/m);
  });

  test('attr flags: every bit in its place, in both byte orders', () => {
    const attr: AttrSpec = {
      ...clock,
      preciseIp: 2,
      flags: ['sampleIdAll', 'mmap', 'comm', 'mmap2', 'excludeKernel', 'buildId', 'contextSwitch', 'watermark', 'mmapData'],
    };
    const list = (byteOrder: 'little' | 'big'): string =>
      readWithPerf('evlist', write('flags.data', encodeFile({ byteOrder, attrs: [attr], records: start, features: { eventDesc: true } })), ['-v']);
    for (const flag of ['exclude_kernel', 'mmap', 'comm', 'watermark', 'mmap_data', 'sample_id_all', 'mmap2', 'context_switch', 'build_id'])
      for (const byteOrder of byteOrders) expect(list(byteOrder)).toContain(`${flag}: 1`);
    expect(list('little')).toContain('precise_ip: 2');
    // perf 6.1 swaps these two bits; the word on a big-endian machine has the field's high bit first.
    expect(list('big')).toContain('precise_ip: 1');
  });
});
