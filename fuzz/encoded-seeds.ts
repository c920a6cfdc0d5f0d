import { gzipSync } from 'node:zlib';
import {
  type AttrSpec,
  ByteWriter,
  branchCounters,
  branchHwIndex,
  context,
  encodeFile,
  encodePipe,
  encodeRecord,
  type FeatureSpec,
  type FileSpec,
  type RecordSpec,
  record,
  type SampleBit,
  type SampleFields,
  toolRecords,
} from '../test/support/perf-encoder.ts';
import { type Seed, type SeedKind, SINGLE_FILE } from './seed.ts';
import { tracingData } from './tracing-data.ts';
import { rawZstdBlock, rawZstdFrame, runZstdFrame } from './zstd-frame.ts';

// Recordings of a few kilobytes in which every kind of record and every field of a sample is there once or twice.

const KERNEL_START = 0xffffffff81000000n;
const BUILD_ID = Uint8Array.from({ length: 20 }, (_, i) => i * 11);
/** Names that are keys of every object, or move along paths. */
export const HOSTILE_NAMES: readonly string[] = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '../../../etc/passwd', ''];

const CLOCK: AttrSpec = {
  name: 'cpu-clock',
  period: 1_000_000n,
  ids: [7n, 17n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', 'callchain'],
  flags: ['sampleIdAll', 'mmap', 'mmap2', 'comm', 'commExec', 'task'],
};
const CYCLES: AttrSpec = {
  ...CLOCK,
  name: 'cycles:u',
  type: 0,
  config: 0n,
  ids: [8n, 18n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'addr', 'id', 'streamId', 'cpu', 'period', 'read', 'callchain', 'raw', 'branchStack'],
  readFormat: ['group', 'id', 'timeEnabled', 'timeRunning', 'lost'],
  branchSampleType: branchHwIndex | branchCounters | 8n,
};
const FULL: AttrSpec = {
  ...CLOCK,
  name: 'faults',
  config: 2n,
  ids: [9n],
  sampleType: [
    'identifier',
    'ip',
    'tid',
    'time',
    'regsUser',
    'stackUser',
    'weightStruct',
    'dataSrc',
    'transaction',
    'regsIntr',
    'physAddr',
    'cgroup',
    'dataPageSize',
    'codePageSize',
    'aux',
  ] satisfies SampleBit[],
  sampleRegsUser: 0x1ffn,
  sampleRegsIntr: 3n,
};
const ATTRS = [CLOCK, CYCLES, FULL];

const FEATURES: FeatureSpec = {
  buildIds: [
    { buildId: BUILD_ID, filename: '/bin/app' },
    { buildId: BUILD_ID.subarray(0, 16), filename: '[kernel.kallsyms]', misc: 1, sizeByte: false },
  ],
  hostname: 'fixture-host',
  osRelease: '6.1.0',
  version: '6.1',
  arch: 'x86_64',
  nrCpus: { available: 4, online: 2 },
  cpuDesc: 'a processor',
  cpuid: 'AuthenticAMD,25,1,1',
  totalMem: 16_000_000n,
  cmdline: ['perf', 'record', '-g', './app'],
  eventDesc: true,
  pmuMappings: [
    { type: 1, name: 'software' },
    { type: 4, name: 'cpu' },
  ],
  groupDesc: [{ name: 'group', leaderIdx: 1, nrMembers: 2 }],
  sampleTime: { first: 3_000n, last: 9_000_000n },
  clockid: 1n,
  clockData: { clockid: 1, wallClockNs: 1_700_000_000_000_000_000n, clockidTimeNs: 3_000n },
};

const at = (time: number) => ({ sampleId: { time: BigInt(time) } });

/** Tasks, maps and code that comes and goes. */
function sideBand(name: string, comm: string): RecordSpec[] {
  return [
    record.mmap({ pid: -1, tid: 0, addr: KERNEL_START, len: 0x1000000n, pgoff: KERNEL_START, filename: '[kernel.kallsyms]_text' }, { ...at(1), misc: 1 }),
    record.mmap({ pid: -1, tid: 0, addr: 0xffffffffc0000000n, len: 0x10000n, filename: '/lib/modules/6.1.0/kernel/nf_tables.ko' }, { ...at(2), misc: 1 }),
    record.comm({ pid: 100, comm, exec: true }, at(1_000)),
    record.mmap2({ pid: 100, addr: 0x400000n, len: 0x10000n, filename: name, maj: 8, min: 1, ino: 77n }, at(2_000)),
    record.mmap2({ pid: 100, addr: 0x7f0000000000n, len: 0x20000n, pgoff: 0x1000n, filename: '/lib/libc.so.6', buildId: BUILD_ID }, at(2_001)),
    record.mmap2({ pid: 100, addr: 0x7f0000008000n, len: 0x1000n, filename: '//anon' }, at(2_002)),
    record.fork({ pid: 101, ppid: 100 }, at(2_500)),
    record.fork({ pid: 100, ppid: 100, tid: 102, ptid: 100 }, at(2_501)),
    record.ksymbol({ addr: 0xffffffffc0100000n, len: 256, name: 'bpf_prog_0123456789abcdef_f' }, at(2_600)),
    record.bpfEvent({ bpfType: 1, id: 5 }, at(2_601)),
    record.cgroup({ id: 5n, path: '/user.slice' }, at(2_602)),
    record.namespaces({ pid: 100, links: [{ dev: 3n, ino: 4n }] }, at(2_603)),
    record.textPoke({ addr: KERNEL_START + 16n, oldBytes: new Uint8Array(5), newBytes: new Uint8Array(5) }, at(2_604)),
  ];
}

function samples(): RecordSpec[] {
  const list: RecordSpec[] = [];
  for (let i = 0; i < 6; i++) {
    const fields: SampleFields = {
      ip: i % 2 === 0 ? 0x400123n + BigInt(i) : KERNEL_START + 0x123n,
      pid: 100 + (i % 2),
      tid: i === 4 ? 102 : 100 + (i % 2),
      time: BigInt(3_000 + i * 1_000_000),
      cpu: i % 2,
      period: BigInt(1_000_000 + i),
      callchain: [context.kernel, KERNEL_START + 0x123n, context.user, 0x400123n + BigInt(i), 0x7f0000001000n, 0x400200n],
      read: { timeEnabled: 5n, timeRunning: 5n, values: [8n, 18n].map((id) => ({ value: BigInt(i * 100), id, lost: 0n })) },
      raw: Uint8Array.of(1, 0, 0, 0, 100, 0, 0, 0, i, 0, 0, 0),
      branchStack: { hwIdx: 0n, entries: [{ from: 0x400100n, to: 0x400123n, predicted: true }], counters: [1n] },
      regsUser: { abi: 2, regs: Array.from({ length: 9 }, (_, nth) => BigInt(nth * 0x1000)) },
      regsIntr: { abi: 2, regs: [1n, 2n] },
      stackUser: { data: new Uint8Array(64).fill(i), dynSize: 48n },
      weightStruct: { var1: 1, var2: 2, var3: 3 },
      aux: new Uint8Array(8),
    };
    list.push(record.sample(fields, { misc: i % 2 === 0 ? 2 : 1, attr: i % 3 }));
  }
  return list;
}

/** What else the kernel and the perf tool write. */
function rest(): RecordSpec[] {
  return [
    record.lost({ lost: 3n }, at(7_000_000)),
    record.throttle({ time: 7_000_001n }, at(7_000_001)),
    record.unthrottle({ time: 7_000_002n }, at(7_000_002)),
    record.read({ pid: 100, read: { values: [{ value: 5n }] } }, at(7_000_003)),
    record.aux({ size: 8n }, at(7_000_004)),
    record.itraceStart({ pid: 100 }, at(7_000_005)),
    record.lostSamples({ lost: 1n }, at(7_000_006)),
    record.switch({ out: true }, at(7_000_007)),
    record.switchCpuWide({ nextPrevPid: 101 }, at(7_000_008)),
    record.auxOutputHwId({ hwId: 1n }, at(7_000_009)),
    record.callchainDeferred({ cookie: 1n, ips: [0x400100n, 0x400200n] }, at(7_000_010)),
    toolRecords.finishedRound(),
    toolRecords.idIndex([{ id: 7n, cpu: 0n }, { id: 8n }]),
    toolRecords.threadMap([{ pid: 100, comm: 'app' }]),
    toolRecords.cpuMap([0, 1]),
    toolRecords.timeConv({ shift: 31n, mult: 1n << 30n, zero: 0n }),
    toolRecords.auxtraceInfo({ auxtraceType: 1, priv: [1n, 2n] }),
    toolRecords.auxtrace({ data: new Uint8Array(24), tid: 100, cpu: 0 }),
    toolRecords.eventUpdate({ id: 8n, name: 'renamed' }),
    toolRecords.eventUpdate({ id: 8n, unit: 'J' }),
    toolRecords.eventUpdate({ id: 8n, scale: 0.5 }),
    record.exit({ pid: 101, ppid: 100 }, at(8_000_000)),
    toolRecords.finishedRound(),
    toolRecords.finishedInit(),
  ];
}

const RECORDS = [...sideBand('/bin/app', 'app'), ...samples(), ...rest()];
const RICH: FileSpec = { attrs: ATTRS, records: RECORDS, features: FEATURES };

const single = (kind: SeedKind, name: string, bytes: Uint8Array): Seed => ({ kind, name, files: new Map([[SINGLE_FILE, bytes]]) });

/** The samples of one event with few fields: most of what is mutated changes something. */
function lean(): FileSpec {
  const attr: AttrSpec = { name: 'cpu-clock', period: 1n, sampleType: ['ip', 'tid', 'time', 'callchain'] };
  return {
    attrs: [attr],
    records: [0n, 1n, 2n].map((i) => record.sample({ ip: 0x400000n + i, pid: 9, time: 5n - i, callchain: [0x400000n + i, 0x400100n] })),
  };
}

function hostile(): FileSpec {
  const attrs = HOSTILE_NAMES.map((name, i): AttrSpec => ({ ...CLOCK, name, config: BigInt(i), ids: [BigInt(30 + i)] }));
  const records = HOSTILE_NAMES.flatMap((name, i): RecordSpec[] => {
    const pid = 200 + i;
    return [
      record.comm({ pid, comm: name.slice(0, 15) }, at(i)),
      record.mmap2({ pid, addr: BigInt(0x10000 * (i + 1)), len: 0x10000n, filename: i % 2 === 0 ? name : `/${name}` }, at(i)),
      record.sample({ ip: BigInt(0x10000 * (i + 1) + 5), pid, time: BigInt(100 + i), period: 1n, callchain: [BigInt(0x10000 * (i + 1) + 5)] }, { attr: i }),
      record.cgroup({ id: BigInt(i), path: name }, at(i)),
      record.ksymbol({ addr: 0xffffffffc0000000n + BigInt(i * 256), len: 256, name: name === '' ? 'x' : name }, at(i)),
      toolRecords.eventUpdate({ id: BigInt(30 + i), unit: name }),
    ];
  });
  const [proto] = HOSTILE_NAMES;
  const features: FeatureSpec = {
    ...FEATURES,
    hostname: proto,
    arch: proto,
    cmdline: HOSTILE_NAMES,
    pmuMappings: HOSTILE_NAMES.map((name, type) => ({ type, name })),
    groupDesc: [{ name: proto, leaderIdx: 0, nrMembers: 2 }],
    buildIds: HOSTILE_NAMES.map((filename) => ({ buildId: BUILD_ID, filename })),
  };
  return { attrs, records, features };
}

const TRACEPOINT: AttrSpec = {
  name: 'sched:sched_switch',
  type: 2,
  config: 1n,
  period: 1n,
  ids: [40n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'raw'],
};

function tracepoints(byteOrder: 'little' | 'big'): FileSpec {
  const raw = (id: number): Uint8Array => {
    const out = new ByteWriter(byteOrder);
    // common_type, flags, preempt count, pid; then the event's fields: a number, 16 characters, a __data_loc of 5 bytes.
    out
      .u16(id)
      .u8(1)
      .u8(0)
      .u32(100)
      .u32(42)
      .fixedString('app', 16)
      .u32((5 << 16) | 32);
    return out.raw(new TextEncoder().encode('text\0')).align(8).bytes();
  };
  const records = [record.comm({ pid: 100, comm: 'app' })];
  for (let i = 0; i < 3; i++) records.push(record.sample({ ip: 1n, pid: 100, time: BigInt(i), cpu: 0, raw: raw(1 + (i % 2)) }));
  return { byteOrder, attrs: [TRACEPOINT], records, features: { ...FEATURES, groupDesc: [], tracingData: tracingData(byteOrder) } };
}

/** Records in COMPRESSED (81) or COMPRESSED2 (83) records: one zstd stream over all of them, records reaching from one into the next. */
function compressed(type: 81 | 83): FileSpec {
  const inner = joined(RECORDS.filter((one) => one.payload === undefined).map((one) => encodeRecord(one, ATTRS)));
  const half = inner.length >> 1;
  const chunks = [
    rawZstdFrame(inner.subarray(0, half), { isLast: false }),
    rawZstdBlock(inner.subarray(half), true),
    rawZstdFrame(encodeRecord(toolRecords.finishedRound(), ATTRS)),
    runZstdFrame(0, 64),
  ];
  const records = chunks.map((chunk) => record.opaque(type, type === 81 ? chunk : sized(chunk)));
  return { attrs: ATTRS, records, features: { ...FEATURES, compressed: { version: 1, type: 1, level: 1, ratio: 3, mmapLen: 1 << 19 } } };
}

/** COMPRESSED2: the size of the data goes before them, padding behind. */
function sized(data: Uint8Array): Uint8Array {
  return new ByteWriter('little').u64(BigInt(data.length)).raw(data).align(8).bytes();
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new ByteWriter('little');
  for (const part of parts) out.raw(part);
  return out.bytes();
}

/** perf before Linux 3.2: another magic, and names of events in a section of their own. */
function versionOne(): Uint8Array {
  const bytes = encodeFile({ ...RICH, attrSize: 64 });
  bytes.set(new TextEncoder().encode('PERFFILE'));
  const types = new ByteWriter('little');
  for (const [i, attr] of ATTRS.entries()) types.u64(BigInt(i)).fixedString(attr.name ?? '', 64);
  const all = joined([bytes, types.bytes()]);
  const header = new DataView(all.buffer, all.byteOffset);
  header.setBigUint64(56, BigInt(bytes.length), true);
  header.setBigUint64(64, BigInt(types.length), true);
  return all;
}

/** `perf record --threads`: `data` has the header and the side band, each `data.N` records of some CPUs. */
function directory(): Seed {
  const first = encodeFile({
    ...RICH,
    records: [...sideBand('/bin/app', 'app'), toolRecords.finishedRound()],
    features: { ...FEATURES, dirFormat: new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0]) },
  });
  const bytesOf = (records: readonly RecordSpec[]): Uint8Array => joined(records.map((one) => encodeRecord(one, ATTRS)));
  const list = samples();
  return {
    kind: 'directory',
    name: 'threads',
    files: new Map([
      ['data', first],
      ['data.0', bytesOf([...list.slice(0, 3), toolRecords.finishedRound()])],
      ['data.1', bytesOf([...list.slice(3), toolRecords.finishedRound()])],
    ]),
  };
}

/** simpleperf's records: 32-bit sizes from type 32768 on. */
function simpleperf(): FileSpec {
  const text = (value: string): Uint8Array => new ByteWriter('little').cString(value).bytes();
  const dso = new ByteWriter('little').u32(2).u32(1).u64(0n).raw(text('/system/lib64/libc.so')).bytes();
  const symbol = new ByteWriter('little').u64(0x1000n).u64(64n).u64(1n).raw(text('memcpy')).bytes();
  const [first, second] = [samples()[0], samples()[1]].map((one) => encodeRecord(one, ATTRS));
  return {
    ...RICH,
    records: [
      ...sideBand('/bin/app', 'app'),
      record.opaque(32769, new ByteWriter('little').u32(24).cString('ffffffff81000000 T _text').bytes()),
      record.opaque(32770, dso),
      record.opaque(32771, symbol),
      record.opaque(32772, first.subarray(0, 32)),
      record.opaque(32772, first.subarray(32)),
      record.opaque(32773, new Uint8Array()),
      record.opaque(32774, new ByteWriter('little').u64(2n).u64(0n).u64(7n).u64(1n).u64(8n).bytes()),
      record.opaque(32775, new ByteWriter('little').u32(100).u32(100).u64(0n).u64(3_000n).u64(1n).u64(0x400100n).u64(0x7ffe0000n).bytes()),
      record.opaque(32776, new Uint8Array(64)),
      record.opaque(32777, joined([new ByteWriter('little').u32(8).bytes(), second.subarray(0, 8)])),
      ...samples(),
    ],
  };
}

/** A killed recording: no data size, features promised and not there. */
const UNFINISHED: FileSpec = { ...RICH, unfinished: true };

/** Seeds of every kind out of the tests' encoder. Nothing in them comes from a machine. */
export function encodedSeeds(): Seed[] {
  const big = 'big';
  return [
    single('file', 'rich', encodeFile(RICH)),
    single('file', 'lean', encodeFile(lean())),
    single('file', 'unfinished', encodeFile(UNFINISHED)),
    single('file', 'attr-136', encodeFile({ ...RICH, attrSize: 136 })),
    single('pipe', 'rich', encodePipe(RICH)),
    single('pipe', 'lean', encodePipe(lean())),
    directory(),
    single('compressed', 'file-81', encodeFile(compressed(81))),
    single('compressed', 'file-83', encodeFile(compressed(83))),
    single('compressed', 'pipe-81', encodePipe(compressed(81))),
    single('simpleperf', 'records', encodeFile(simpleperf())),
    single('big-endian', 'file', encodeFile({ ...RICH, byteOrder: big })),
    single('big-endian', 'pipe', encodePipe({ ...RICH, byteOrder: big })),
    single('v1', 'file', versionOne()),
    single('tracepoint', 'file', encodeFile(tracepoints('little'))),
    single(
      'tracepoint',
      'pipe',
      encodePipe({ ...tracepoints('little'), records: [toolRecords.tracingData(tracingData('little')), ...tracepoints('little').records] }),
    ),
    single('tracepoint', 'big-endian', encodeFile(tracepoints(big))),
    single('names', 'file', encodeFile(hostile())),
    single('names', 'pipe', encodePipe(hostile())),
    single('wrapped', 'gzip', new Uint8Array(gzipSync(encodeFile(lean())))),
    single('wrapped', 'zstd', rawZstdFrame(encodeFile(lean()))),
    single('wrapped', 'zstd-pipe', rawZstdFrame(encodePipe(lean()))),
  ];
}
