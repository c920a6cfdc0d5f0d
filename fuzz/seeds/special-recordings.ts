import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AttrSpec,
  ByteWriter,
  dsoType,
  encodeFile,
  encodeRecord,
  encodeTracingData,
  type FeatureSpec,
  type FileSpec,
  hiperfFeatures,
  type RecordSpec,
  record,
  simpleperfFeatures,
  simpleperfRecords,
  splitRecord,
  type TraceFormatSpec,
  toolRecords,
  withStackId,
} from '../../test/support/builders/recordings/perf-encoder.ts';
import { randomTrace, randomTraceRecords } from '../../test/support/builders/recordings/random-trace.ts';
import { speRecording } from '../../test/support/builders/recordings/spe-recordings.ts';
import { traceCaseFields, traceCasePayload, traceCasePrintkFormats, traceCases } from '../../test/support/builders/recordings/trace-cases.ts';
import { projectRoot } from '../project-root.ts';
import { rawZstdBlock, rawZstdFrame, runZstdFrame } from '../zstd-frame.ts';
import { ATTRS, at, BUILD_ID, CLOCK, FEATURES, RECORDS, RICH, samples, sideBand } from './rich-recording.ts';

/** Samples of one event with few fields, so that most mutations change something. */
export const LEAN: FileSpec = {
  attrs: [{ name: 'cpu-clock', period: 1n, sampleType: ['ip', 'tid', 'time', 'callchain'] }],
  records: [0n, 1n, 2n].map((i) => record.sample({ ip: 0x400000n + i, pid: 9, time: 5n - i, callchain: [0x400000n + i, 0x400100n] })),
};

/** Names that are keys of every object, or that change where a path leads. */
export const HOSTILE_NAMES: readonly string[] = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '../../../etc/passwd', ''];

/** Hostile names everywhere in a recording where there are names. */
export function hostile(): FileSpec {
  const attrs = HOSTILE_NAMES.map((name, i): AttrSpec => ({ ...CLOCK, name, config: BigInt(i), ids: [BigInt(30 + i)] }));
  const records = HOSTILE_NAMES.flatMap((name, i): RecordSpec[] => {
    const pid = 200 + i;
    const start = BigInt(0x10000 * (i + 1));
    return [
      record.comm({ pid, comm: name.slice(0, 15) }, at(i)),
      record.mmap2({ pid, addr: start, len: 0x10000n, filename: i % 2 === 0 ? name : `/${name}` }, at(i)),
      record.sample({ ip: start + 5n, pid, time: BigInt(100 + i), period: 1n, callchain: [start + 5n] }, { attr: i }),
      record.cgroup({ id: BigInt(i), path: name }, at(i)),
      record.ksymbol({ addr: 0xffffffffc0000000n + BigInt(i * 256), len: 256, name: name === '' ? 'x' : name }, at(i)),
      toolRecords.eventUpdate({ id: BigInt(30 + i), unit: name }),
      toolRecords.bpfMetadata({ progName: name, entries: [{ key: name, value: name }] }),
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
    cpuPmuCaps: HOSTILE_NAMES.map((name) => ({ name, value: name })),
    pmuCaps: HOSTILE_NAMES.map((name) => ({ pmu: name, caps: [{ name, value: name }] })),
  };
  return { attrs, records, features };
}

/** Traces of Arm's Statistical Profiling Extension, of two CPUs and a thread, with names of threads in one of them. */
export function armSpe(): FileSpec {
  const pieces = [
    { bytes: randomTrace({ count: 12, seed: 1, threads: [100, 200] }) },
    { bytes: randomTrace({ count: 12, seed: 2, threads: [] }), cpu: 1, flags: 1n },
    { bytes: randomTrace({ count: 4, seed: 3, threads: [] }), cpu: -1 },
  ];
  return speRecording({ pieces, records: randomTraceRecords(), isOfTasks: true, cpuid: '0x00000000410fd0c1' });
}

const TRACEPOINT: AttrSpec = {
  name: 'sched:sched_switch',
  type: 2,
  config: 1n,
  period: 1n,
  ids: [40n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'raw'],
};
/** Print formats per recording: many, because their parser is the most exposed. */
const PRINT_FORMATS_PER_SEED = 24;

/** Tracepoints, each with one of the tests' print formats; `nth` chooses which. */
export function tracepoints(byteOrder: 'little' | 'big', nth: number): FileSpec {
  const cases = traceCases.slice(nth * PRINT_FORMATS_PER_SEED, (nth + 1) * PRINT_FORMATS_PER_SEED);
  const formats = cases.map(([printFmt], i): TraceFormatSpec => {
    const fields = traceCaseFields.map((field, place) => (place === i ? { ...field, declaration: 'int __proto__' } : field));
    return { name: i === 0 ? 'sched_switch' : `case_${i}`, id: i + 1, fields, printFmt };
  });
  const data = encodeTracingData({
    byteOrder,
    systems: [{ name: 'sched', formats }],
    printkFormats: traceCasePrintkFormats,
    cmdlines: '100 app\n101 __proto__\n',
  });
  const raw = (id: number): Uint8Array => new ByteWriter(byteOrder).u16(id).u8(1).u8(0).u32(100).raw(traceCasePayload).bytes();
  const records = [
    record.comm({ pid: 100, comm: 'app' }),
    ...cases.map((_, i) => record.sample({ ip: 1n, pid: 100, time: BigInt(i), cpu: 0, raw: raw(i + 1) })),
  ];
  return { byteOrder, attrs: [TRACEPOINT], records, features: { hostname: 'host', eventDesc: true, tracingData: data } };
}

/** Number of seeds that the tests' print formats fill. */
export const TRACEPOINT_SEEDS = Math.ceil(traceCases.length / PRINT_FORMATS_PER_SEED);

/** Records to put into COMPRESSED records. */
const INNER = joined(RECORDS.filter((one) => one.payload === undefined).map((one) => encodeRecord(one, ATTRS)));

/**
 * Records in COMPRESSED (81) or COMPRESSED2 (83) records: one zstd stream over all of these, with records that span two
 * of them.
 */
export function compressed(type: 81 | 83): FileSpec {
  const half = INNER.length >> 1;
  return compressedRecording(type, [
    rawZstdFrame(INNER.subarray(0, half), { isLast: false }),
    rawZstdBlock(INNER.subarray(half), true),
    rawZstdFrame(encodeRecord(toolRecords.finishedRound(), ATTRS)),
    runZstdFrame(0, 64),
  ]);
}

/** The same records, compressed by zstd itself: `records.zst` holds them in two frames, of levels 3 and 19. */
export function trulyCompressed(): FileSpec {
  const stream = new Uint8Array(readFileSync(join(projectRoot(), 'fuzz/records.zst')));
  const third = Math.ceil(stream.length / 3);
  return compressedRecording(
    81,
    [0, 1, 2].map((nth) => stream.subarray(nth * third, (nth + 1) * third)),
  );
}

function compressedRecording(type: 81 | 83, chunks: readonly Uint8Array[]): FileSpec {
  // COMPRESSED2: the size comes before the data, and padding after.
  const sized = (data: Uint8Array): Uint8Array => new ByteWriter('little').u64(BigInt(data.length)).raw(data).align(8).bytes();
  const records = chunks.map((chunk) => record.opaque(type, type === 81 ? chunk : sized(chunk)));
  return { attrs: ATTRS, records, features: { ...FEATURES, compressed: { version: 1, type: 1, level: 1, ratio: 3, mmapLen: 1 << 19 } } };
}

/** Like `perf record --threads`: `data` holds the header and the side-band records, each `data.N` the records of some CPUs. */
export function directory(): ReadonlyMap<string, Uint8Array> {
  const bytesOf = (records: readonly RecordSpec[]): Uint8Array => joined(records.map((one) => encodeRecord(one, ATTRS)));
  const [round, list] = [toolRecords.finishedRound(), samples()];
  return new Map([
    ['data', encodeFile({ ...RICH, records: [...sideBand('/bin/app', 'app'), round] })],
    ['data.0', bytesOf([...list.slice(0, 3), round])],
    ['data.1', bytesOf([...list.slice(3), round])],
  ]);
}

/** simpleperf's records, features, binaries and symbols. */
export function simpleperf(): FileSpec {
  const file = {
    path: '/system/lib64/libc.so',
    type: dsoType.elf,
    minVaddr: 0x1000n,
    offsetOfMinVaddr: 0n,
    symbols: [
      { vaddr: 0x1000n, len: 64, name: 'memcpy' },
      { vaddr: 0x2000n, len: 64, name: '__proto__' },
    ],
  };
  const dex = { path: '/data/app/base.vdex', type: dsoType.dex, dexFileOffsets: [0x28n, 0x100n], symbols: file.symbols };
  const kernel = { path: '[kernel.kallsyms]', type: dsoType.kernel, symbols: [{ vaddr: 0xffffffff81000000n, len: 0x1000, name: '_text' }] };
  const regs = { abi: 2n, mask: 7n, values: [1n, 2n, 3n] };
  return {
    ...RICH,
    records: [
      ...sideBand('/system/lib64/libc.so', 'app'),
      simpleperfRecords.kernelSymbol('ffffffff81000000 T _text\n'),
      simpleperfRecords.dso({ type: 2n, id: 1n, name: '/system/lib64/libc.so' }),
      simpleperfRecords.symbol({ addr: 0x1000n, len: 64n, dsoId: 1n, name: 'memcpy' }),
      simpleperfRecords.eventId(ATTRS.flatMap(({ ids = [] }, attr) => ids.map((id) => ({ attr: BigInt(attr), id })))),
      simpleperfRecords.callchain({ pid: 100, tid: 100, type: 0n, time: 3_000n, ips: [0x400100n, 0x400200n], sps: [1n, 2n] }),
      simpleperfRecords.unwindingResult({ time: 3_000n, regs, stack: { data: new Uint8Array(16), dynSize: 16n }, callchain: { ips: [1n], sps: [2n] } }),
      simpleperfRecords.tracingData(encodeTracingData({ systems: [] })),
      simpleperfRecords.debug({ time: 5n, text: 'debug' }),
      ...samples().flatMap((one, i) => (i === 1 ? splitRecord(one, ATTRS, 32) : [one])),
    ],
    foreignFeatures: [
      simpleperfFeatures.file([file]),
      simpleperfFeatures.metaInfo({
        simpleperf_version: '1.0',
        event_type_info: 'cpu-clock,1,0\n__proto__,2,47',
        clockid: 'monotonic',
        __proto__x: 'y',
        trace_offcpu: 'true',
      }),
      simpleperfFeatures.debugUnwind([{ path: '/data/debug', size: 4n }]),
      simpleperfFeatures.debugUnwindFile(new Uint8Array(4)),
      simpleperfFeatures.file2([file, dex, kernel]),
      simpleperfFeatures.initMap(sideBand('/bin/early', 'early').slice(0, 4), ATTRS),
    ],
  };
}

/** hiperf's features, with samples whose callchains are in its tables. */
export function hiperf(): FileSpec {
  const sample = (ip: bigint, time: bigint): RecordSpec => record.sample({ ip, pid: 100, time, callchain: [] });
  const nodes = [
    { index: 1, address: 0x400100n, caller: 2 },
    { index: 2, address: 0x400200n, caller: 0 },
    { index: 3, address: 0x400300n, caller: 1 },
  ];
  const symbols = [
    { vaddr: 0x1001n, len: 64, name: 'memcpy' },
    { vaddr: 0x2000n, len: 64, name: '__proto__' },
  ];
  return {
    ...LEAN,
    features: { arch: 'aarch64' },
    records: [
      ...sideBand('/system/lib64/libc.so', 'app'),
      withStackId(sample(0x400100n, 3n), 1, 2),
      withStackId(sample(0x400300n, 4n), 3, 3),
      withStackId(sample(0x400300n, 5n), 4, 1),
    ],
    foreignFeatures: [
      hiperfFeatures.cmdline('hiperf record --dedup_stack'),
      hiperfFeatures.symbols([
        { path: '/system/lib64/libc.so', type: 3, codeAddress: 0x1000n, codeOffset: 0n, buildId: 'ab'.repeat(20), symbols },
        { path: '[anon:JSVM_JIT]', type: 8, symbols },
      ]),
      hiperfFeatures.workload('/bin/app'),
      hiperfFeatures.recordTime('2026-11-29'),
      hiperfFeatures.offCpu(),
      hiperfFeatures.stackTables([{ pid: 100, nodes }]),
    ],
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new ByteWriter('little');
  for (const part of parts) out.raw(part);
  return out.bytes();
}
