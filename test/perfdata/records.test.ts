import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RICH } from '../../fuzz/seeds/rich-recording.ts';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { recordTypeNameOf } from '../../src/perfdata/abi/constants.ts';
import { KERNEL_RECORDS } from '../../src/perfdata/records/kernel-records.ts';
import { MappedFiles } from '../../src/perfdata/records/mapped-files.ts';
import { PERF_RECORD_NAMES, type PerfRecord, readRecord } from '../../src/perfdata/records/perf-record.ts';
import { readSideBand } from '../../src/perfdata/records/side-band.ts';
import { TOOL_RECORDS } from '../../src/perfdata/records/tool-records.ts';
import { readAttr } from '../../src/perfdata/samples/attr.ts';
import { compileSampleId, readSampleId } from '../../src/perfdata/samples/sample-id.ts';
import {
  type AttrSpec,
  type ByteOrder,
  ByteWriter,
  encodeRecord,
  misc,
  type ReadFormatBit,
  type RecordSpec,
  readFormatBits,
  record,
  toolRecords,
  writeAttr,
} from '../support/builders/recordings/perf-encoder.ts';
import { runs } from '../support/thoroughness.ts';

const READ_FORMAT: ReadFormatBit[] = ['timeEnabled', 'timeRunning', 'id', 'lost'];
const ATTR: AttrSpec = { ids: [0x77n], sampleType: ['tid', 'time', 'id', 'streamId', 'cpu', 'identifier'], flags: ['sampleIdAll'], readFormat: READ_FORMAT };
const TRAILER = { pid: 41, tid: 42, time: 0xfedcba9876543210n, id: 0x77n, streamId: 0x78n, cpu: 3 };
const TRAILER_BYTES = 48;
const HIGH = 0xffffffff81000000n;
const ORDERS: readonly ByteOrder[] = ['little', 'big'];
const WITH_TRAILER = { sampleId: TRAILER };

const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const BUILD_ID = bytes(...Array.from({ length: 20 }, (_, i) => 0xa0 + i));
const BUILD_ID_HEX = Buffer.from(BUILD_ID).toString('hex');

/** Each record, and what its fields are read as. Values differ from each other, so that one read from the wrong place is noticed. */
const KERNEL: readonly (readonly [name: string, spec: RecordSpec, fields: object])[] = [
  [
    'MMAP',
    record.mmap({ pid: -1, tid: 2, addr: HIGH, len: 0x1000n, pgoff: HIGH + 1n, filename: '[kernel.kallsyms]_text' }, { ...WITH_TRAILER, misc: 1 }),
    { misc: 1, pid: -1, tid: 2, addr: HIGH, len: 0x1000n, pgoff: HIGH + 1n, filename: '[kernel.kallsyms]_text' },
  ],
  ['LOST', record.lost({ id: 5n, lost: 6n }, WITH_TRAILER), { id: 5n, lost: 6n }],
  ['COMM', record.comm({ pid: 1, tid: 2, comm: 'größer', exec: true }, WITH_TRAILER), { pid: 1, tid: 2, comm: 'größer', isExec: true }],
  ['COMM', record.comm({ pid: 1, tid: 2, comm: '' }, WITH_TRAILER), { comm: '', isExec: false }],
  ['EXIT', record.exit({ pid: 1, ppid: 2, tid: 3, ptid: 4, time: 5n }, WITH_TRAILER), { pid: 1, ppid: 2, tid: 3, ptid: 4, time: 5n }],
  ['THROTTLE', record.throttle({ time: 1n, id: 2n, streamId: 3n }, WITH_TRAILER), { time: 1n, id: 2n, streamId: 3n }],
  ['UNTHROTTLE', record.unthrottle({ time: 1n, id: 2n, streamId: 3n }, WITH_TRAILER), { time: 1n, id: 2n, streamId: 3n }],
  ['FORK', record.fork({ pid: 1, ppid: 2, tid: 3, ptid: 4, time: 2n ** 64n - 1n }, WITH_TRAILER), { pid: 1, ppid: 2, tid: 3, ptid: 4, time: 2n ** 64n - 1n }],
  [
    'READ',
    record.read({ pid: 1, tid: 2, read: { timeEnabled: 3n, timeRunning: 4n, values: [{ value: 5n, id: 6n, lost: 7n }] } }, WITH_TRAILER),
    { pid: 1, tid: 2, read: { timeEnabled: 3n, timeRunning: 4n, values: [{ value: 5n, id: 6n, lost: 7n }] } },
  ],
  [
    'MMAP2',
    record.mmap2(
      { pid: 1, tid: 2, addr: 3n, len: 4n, pgoff: 5n, maj: 6, min: 7, ino: 8n, inoGeneration: 9n, prot: 1, flags: 0x1802, filename: '/bin/a' },
      WITH_TRAILER,
    ),
    { pid: 1, tid: 2, addr: 3n, len: 4n, pgoff: 5n, maj: 6, min: 7, ino: 8n, inoGeneration: 9n, prot: 1, flags: 0x1802, filename: '/bin/a' },
  ],
  [
    'MMAP2',
    record.mmap2({ pid: 1, addr: 3n, len: 4n, buildId: BUILD_ID.subarray(0, 16), filename: '/bin/a' }, WITH_TRAILER),
    { misc: misc.user | misc.mmapBuildId, buildId: BUILD_ID_HEX.slice(0, 32), prot: 5, flags: 2, filename: '/bin/a' },
  ],
  ['AUX', record.aux({ offset: 1n, size: 2n, flags: 3n }, WITH_TRAILER), { auxOffset: 1n, auxSize: 2n, flags: 3n }],
  ['ITRACE_START', record.itraceStart({ pid: 1, tid: 2 }, WITH_TRAILER), { pid: 1, tid: 2 }],
  ['LOST_SAMPLES', record.lostSamples({ lost: 9n }, WITH_TRAILER), { lost: 9n }],
  ['SWITCH', record.switch({}, WITH_TRAILER), { isOut: false, isPreempted: false }],
  ['SWITCH', record.switch({ out: true, preempt: true }, WITH_TRAILER), { isOut: true, isPreempted: true }],
  [
    'SWITCH_CPU_WIDE',
    record.switchCpuWide({ out: true, nextPrevPid: -1, nextPrevTid: 2 }, WITH_TRAILER),
    { isOut: true, isPreempted: false, nextPrevPid: -1, nextPrevTid: 2 },
  ],
  [
    'NAMESPACES',
    record.namespaces(
      {
        pid: 1,
        tid: 2,
        links: [
          { dev: 3n, ino: 4n },
          { dev: 5n, ino: 6n },
        ],
      },
      WITH_TRAILER,
    ),
    {
      pid: 1,
      tid: 2,
      links: [
        { dev: 3n, ino: 4n },
        { dev: 5n, ino: 6n },
      ],
    },
  ],
  [
    'KSYMBOL',
    record.ksymbol({ addr: HIGH, len: 2, ksymType: 1, unregister: true, name: 'bpf_prog' }, WITH_TRAILER),
    { addr: HIGH, len: 2, ksymType: 1, flags: 1, name: 'bpf_prog' },
  ],
  [
    'BPF_EVENT',
    record.bpfEvent({ bpfType: 1, flags: 2, id: 3, tag: bytes(1, 2, 3, 4, 5, 6, 7, 8) }, WITH_TRAILER),
    { bpfType: 1, flags: 2, id: 3, tag: bytes(1, 2, 3, 4, 5, 6, 7, 8) },
  ],
  ['CGROUP', record.cgroup({ id: 1n, path: '/a/b' }, WITH_TRAILER), { id: 1n, path: '/a/b' }],
  [
    'TEXT_POKE',
    record.textPoke({ addr: HIGH, oldBytes: bytes(1, 2, 3), newBytes: bytes(4, 5) }, WITH_TRAILER),
    { addr: HIGH, oldBytes: bytes(1, 2, 3), newBytes: bytes(4, 5) },
  ],
  ['AUX_OUTPUT_HW_ID', record.auxOutputHwId({ hwId: 0x123456789abcdefn }, WITH_TRAILER), { hwId: 0x123456789abcdefn }],
  ['CALLCHAIN_DEFERRED', record.callchainDeferred({ cookie: 1n, ips: [2n, HIGH] }, WITH_TRAILER), { cookie: 1n, ips: [2n, HIGH] }],
];

const TOOL: readonly (readonly [name: string, spec: RecordSpec, fields: object])[] = [
  [
    'HEADER_ATTR',
    toolRecords.headerAttr({ type: 1, config: 2n, period: 3n, ids: [4n, 5n], sampleType: ['ip'] }),
    { attr: { type: 1, config: 2n }, ids: [4n, 5n] },
  ],
  ['HEADER_EVENT_TYPE', toolRecords.headerEventType({ eventId: 3n, name: 'cycles' }), { eventId: 3n, name: 'cycles' }],
  ['HEADER_TRACING_DATA', toolRecords.tracingData(bytes(1, 2, 3)), { dataSize: 8 }],
  ['HEADER_BUILD_ID', toolRecords.headerBuildId({ pid: -1, buildId: BUILD_ID, filename: '/bin/a' }), { pid: -1, buildId: BUILD_ID_HEX, filename: '/bin/a' }],
  ['FINISHED_ROUND', toolRecords.finishedRound(), {}],
  [
    'ID_INDEX',
    toolRecords.idIndex([{ id: 1n, idx: 2n, cpu: 3n }, { id: 5n }]),
    {
      entries: [
        { id: 1n, idx: 2n, cpu: 3, tid: -1 },
        { id: 5n, idx: 0n, cpu: -1, tid: -1 },
      ],
      guests: [],
    },
  ],
  ['AUXTRACE_INFO', toolRecords.auxtraceInfo({ auxtraceType: 1, priv: [2n, 3n] }), { auxtraceType: 1, priv: [2n, 3n] }],
  [
    'AUXTRACE',
    toolRecords.auxtrace({ data: bytes(1, 2), offset: 3n, reference: 4n, idx: 5, tid: -1, cpu: 7 }),
    { auxSize: 2n, auxOffset: 3n, reference: 4n, idx: 5, tid: -1, cpu: 7 },
  ],
  [
    'AUXTRACE_ERROR',
    toolRecords.auxtraceError({ errorType: 1, code: 2, cpu: 3, pid: 4, tid: 5, ip: 6n, msg: 'bare' }),
    { errorType: 1, code: 2, cpu: 3, pid: 4, tid: 5, format: 0, ip: 6n, msg: 'bare' },
  ],
  ['AUXTRACE_ERROR', toolRecords.auxtraceError({ errorType: 1, code: 2, time: 7n, msg: 'timed' }), { format: 1, time: 7n, msg: 'timed' }],
  [
    'AUXTRACE_ERROR',
    toolRecords.auxtraceError({ errorType: 1, code: 2, time: 7n, msg: 'guest', guest: { machinePid: 8, vcpu: 9 } }),
    { format: 2, time: 7n, msg: 'guest', machinePid: 8, vcpu: 9 },
  ],
  [
    'THREAD_MAP',
    toolRecords.threadMap([{ pid: 5, comm: 'app' }, { pid: -1 }]),
    {
      threads: [
        { pid: 5, comm: 'app' },
        { pid: -1, comm: '' },
      ],
    },
  ],
  ['CPU_MAP', toolRecords.cpuMap([0, 3, 0xffff]), { cpus: [0, 3, -1] }],
  ['CPU_MAP', toolRecords.cpuMask(8, [0b1011n | (1n << 40n), 1n << 63n]), { cpus: [0, 1, 3, 40, 127] }],
  ['CPU_MAP', toolRecords.cpuMask(4, [0b1011n, 1n << 31n]), { cpus: [0, 1, 3, 63] }],
  ['CPU_MAP', toolRecords.cpuRange({ first: 0, last: 0xffff }), { cpuRange: { first: 0, last: 0xffff, any: false } }],
  ['CPU_MAP', toolRecords.cpuRange({ first: 2, last: 5, any: true }), { cpuRange: { first: 2, last: 5, any: true } }],
  ['STAT_CONFIG', toolRecords.statConfig([{ tag: 0n, val: 1n }]), { terms: [{ tag: 0n, val: 1n }] }],
  ['STAT', toolRecords.stat({ id: 1n, cpu: 2, thread: 3, val: 4n, ena: 5n, run: 6n }), { id: 1n, cpu: 2, thread: 3, val: 4n, ena: 5n, run: 6n }],
  ['STAT_ROUND', toolRecords.statRound({ roundType: 1n, time: 2n }), { roundType: 1n, time: 2n }],
  ['EVENT_UPDATE', toolRecords.eventUpdate({ id: 1n, name: 'cycles:u' }), { updateType: 2n, id: 1n, name: 'cycles:u' }],
  ['EVENT_UPDATE', toolRecords.eventUpdate({ id: 1n, unit: 'ms' }), { updateType: 0n, unit: 'ms' }],
  ['EVENT_UPDATE', toolRecords.eventUpdate({ id: 1n, scale: 0.25 }), { updateType: 1n, scale: 0.25 }],
  ['EVENT_UPDATE', toolRecords.eventUpdateCpus({ id: 1n, mask: 0b110n }), { updateType: 3n, cpus: [1, 2] }],
  ['EVENT_UPDATE', toolRecords.eventUpdateCpuRange({ id: 1n, first: 1, last: 0xfffe }), { updateType: 3n, cpuRange: { first: 1, last: 0xfffe, any: false } }],
  ['TIME_CONV', toolRecords.timeConv({ shift: 1n, mult: 2n, zero: 3n }), { timeShift: 1n, timeMult: 2n, timeZero: 3n }],
  [
    'TIME_CONV',
    toolRecords.timeConvCycles({ shift: 1n, mult: 2n, zero: 3n, cycles: 4n, mask: 5n, capZero: 1, capShort: 0 }),
    { timeShift: 1n, timeMult: 2n, timeZero: 3n, timeCycles: 4n, timeMask: 5n, capUserTimeZero: 1, capUserTimeShort: 0 },
  ],
  ['HEADER_FEATURE', toolRecords.headerFeature('hostname', 'host'), { feature: 3, name: 'HOSTNAME' }],
  ['COMPRESSED', toolRecords.compressed(bytes(1, 2, 3)), { data: bytes(1, 2, 3) }],
  ['FINISHED_INIT', toolRecords.finishedInit(), {}],
  ['COMPRESSED2', toolRecords.compressed2(bytes(1, 2, 3)), { dataSize: 3n, data: bytes(1, 2, 3, 0, 0, 0, 0, 0) }],
  [
    'BPF_METADATA',
    toolRecords.bpfMetadata({ progName: 'prog', entries: [{ key: 'k', value: 'v' }] }),
    { progName: 'prog', entries: [{ key: 'k', value: 'v' }] },
  ],
  [
    'SCHEDSTAT_CPU',
    toolRecords.schedstatCpu({ timestamp: 1n, cpu: 2, version: 17, counters: bytes(9) }),
    { timestamp: 1n, cpu: 2, version: 17, counters: bytes(9) },
  ],
  [
    'SCHEDSTAT_DOMAIN',
    toolRecords.schedstatDomain({ timestamp: 1n, cpu: 2, version: 17, domain: 3, counters: bytes(9) }),
    { timestamp: 1n, cpu: 2, version: 17, domain: 3, counters: bytes(9) },
  ],
];

const ALL = [...KERNEL.map((one) => [...one, TRAILER_BYTES] as const), ...TOOL.map((one) => [...one, 0] as const)];
const READ_FORMAT_WORD = READ_FORMAT.reduce((word, name) => word | (1 << readFormatBits[name]), 0);

/** Numbers of the types with a decoder, and that of SAMPLE, whose fields depend on its event. */
const DECODED_TYPES = [...Object.values<{ readonly type: number }>({ ...KERNEL_RECORDS, ...TOOL_RECORDS }).map(({ type }) => type), 9];

/** Bytes before and after a record that belong to no field. */
const JUNK = 64;

/** A record between junk, and the size in its header. */
function laidOut(spec: RecordSpec, byteOrder: ByteOrder): { view: ByteView; size: number } {
  const whole = encodeRecord(spec, [ATTR], byteOrder);
  const view = new ByteView(new Uint8Array(JUNK + whole.length + JUNK).fill(0xa5), byteOrder === 'little');
  view.bytes.set(whole, JUNK);
  return { view, size: view.u16(JUNK + 6) };
}

function read(view: ByteView, size: number, trailerBytes: number): PerfRecord {
  const place = { view, at: JUNK, size, type: view.u32(JUNK), misc: view.u16(JUNK + 4), fileOffset: 0x1f30 };
  return readRecord(place, trailerBytes, READ_FORMAT_WORD);
}

describe.each(ORDERS)('%s-endian records', (byteOrder) => {
  it.each(ALL)('of type %s are read', (name, spec, fields, trailerBytes) => {
    const { view, size } = laidOut(spec, byteOrder);
    const found = read(view, size, trailerBytes);
    expect(found).toMatchObject({ type: name, offset: 0x1f30, size, misc: spec.misc, ...fields });
  });

  it.each(ALL)('of type %s, cut off at any byte, are read as far as they go or damaged', (name, spec, _fields, trailerBytes) => {
    const { view, size } = laidOut(spec, byteOrder);
    for (let cut = 8; cut < size; cut++) {
      // What was cut off is not there: no reader may look beyond the end.
      const short = new ByteView(view.bytes.slice(0, JUNK + cut), view.littleEndian);
      const found = read(short, cut, trailerBytes);
      expect([name, 'DAMAGED'], `${name} of ${cut} bytes`).toContain(found.type);
      if (found.type !== 'DAMAGED') continue;
      expect(found).toMatchObject({ recordType: name, offset: 0x1f30, size: cut });
    }
  });
});

describe('records', () => {
  it('of every type have a test here', () => {
    const seen = new Set(ALL.map(([name]) => name));
    const others = ['SAMPLE', 'LEGACY_HEADER', 'SIMPLEPERF', 'UNKNOWN', 'DAMAGED'];
    expect([...seen, ...others].sort()).toEqual([...PERF_RECORD_NAMES].sort());
  });

  it('also have a name by their number, which statistics and the search after damage use', () => {
    for (const [name, { type }] of ALL) expect([name, name.replace(/^HEADER_/, '')], `type ${type}`).toContain(recordTypeNameOf(type));
  });

  it('of every number with a name are decoded, since they are not reported as unknown', () => {
    const named = Array.from({ length: 256 }, (_, type) => type).filter((type) => recordTypeNameOf(type) !== undefined);
    expect(named.filter((type) => !DECODED_TYPES.includes(type)).map(recordTypeNameOf)).toEqual([]);
  });

  it('of every type are in the recording that fuzzing begins with, except those of pipes and those that hold others', () => {
    const present = new Set(RICH.records.map(({ type }) => type));
    const missing = DECODED_TYPES.filter((type) => !present.has(type)).map(recordTypeNameOf);
    expect(missing).toEqual(['ATTR', 'TRACING_DATA', 'FEATURE', 'COMPRESSED', 'COMPRESSED2']);
  });

  it('too small for their fixed fields are damaged, and the problem tells both sizes', () => {
    const { view } = laidOut(record.fork({ pid: 1, ppid: 2 }), 'little');
    expect(read(view, 28, 0)).toEqual({
      type: 'DAMAGED',
      offset: 0x1f30,
      size: 28,
      misc: 0,
      recordType: 'FORK',
      problem: 'fields of 32 bytes overrun record of 28 bytes',
    });
    expect(read(view, 40, 48)).toMatchObject({ type: 'DAMAGED', problem: 'sample_id trailer of 48 bytes overruns record of 40 bytes' });
  });

  it('are not expanded: a range of CPUs stays a range', () => {
    for (const spec of [toolRecords.cpuRange({ first: 0, last: 0xffff }), toolRecords.eventUpdateCpuRange({ id: 1n, first: 0, last: 0xffff })]) {
      const { view, size } = laidOut(spec, 'little');
      const text = JSON.stringify(read(view, size, 0), (_key, value) => (typeof value === 'bigint' ? String(value) : value));
      expect(text.length).toBeLessThan(200);
    }
  });

  it('of an unknown type keep their bytes', () => {
    const { view, size } = laidOut(record.opaque(99, bytes(1, 2, 3)), 'little');
    expect(read(view, size, 0)).toMatchObject({ type: 'UNKNOWN', number: 99, data: bytes(1, 2, 3) });
  });

  it('with a count that overruns them are damaged', () => {
    const lists = ALL.filter(([name]) => ['NAMESPACES', 'CALLCHAIN_DEFERRED', 'ID_INDEX', 'THREAD_MAP', 'STAT_CONFIG'].includes(name));
    expect(lists).toHaveLength(5);
    for (const [name, spec, , trailerBytes] of lists) {
      const { view, size } = laidOut(spec, 'little');
      const count = { NAMESPACES: 16, CALLCHAIN_DEFERRED: 16 }[name] ?? 8;
      for (const huge of [2n ** 64n - 1n, 2n ** 32n, BigInt(size)]) {
        new DataView(view.bytes.buffer).setBigUint64(JUNK + count, huge, true);
        expect(read(view, size, trailerBytes), name).toMatchObject({ type: 'DAMAGED', problem: expect.stringContaining('overruns record') });
      }
    }
  });

  it('of any bytes at all are read without an exception', () => {
    const types = ALL.map(([, spec]) => spec.type);
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.uint8Array({ minLength: 0, maxLength: 120 }), fc.boolean(), fc.nat(31), (type, body, little, readFormat) => {
        const view = new ByteView(new Uint8Array(8 + body.length), little);
        view.bytes.set(body, 8);
        const place = { view, at: 0, size: view.length, type, misc: 0xffff, fileOffset: 0 };
        expect(PERF_RECORD_NAMES).toContain(readRecord(place, 0, readFormat).type);
      }),
      { numRuns: runs(3000, 800) },
    );
  });

  it('keep their values when their buffer is refilled', () => {
    for (const [name, spec, fields, trailerBytes] of ALL) {
      const { view, size } = laidOut(spec, 'little');
      const found = read(view, size, trailerBytes);
      view.bytes.fill(0xee);
      expect(found, name).toMatchObject({ type: name, ...fields });
    }
  });
});

describe('MMAP2 of kernels before 3.16', () => {
  it.each(ORDERS)('has no prot and no flags (%s-endian)', (byteOrder) => {
    const early = record.opaque(10, new Uint8Array(0));
    const writeBody = (out: ByteWriter): void => {
      out.u32(1).u32(2).u64(0x400000n).u64(0x1000n).u64(0n).u32(253).u32(1).u64(77n).u64(88n);
      out.cString('/usr/bin/true');
    };
    const { view, size } = laidOut({ ...early, writeBody }, byteOrder);
    const found = read(view, size, 0);
    expect(found).toMatchObject({ type: 'MMAP2', maj: 253, min: 1, ino: 77n, inoGeneration: 88n, filename: '/usr/bin/true' });
    expect(found).not.toHaveProperty('prot');
    expect(found).not.toHaveProperty('flags');
  });

  it('may have a name of two bytes without padding', () => {
    const writeBody = (out: ByteWriter): void => {
      out.u32(1).u32(2).u64(0x400000n).u64(0x1000n).u64(0n).u32(253).u32(1).u64(77n).u64(88n);
      out.raw(bytes(0x2f, 0x61, 0));
    };
    const { view, size } = laidOut({ ...record.opaque(10, new Uint8Array(0)), writeBody }, 'little');
    expect(size).toBe(67);
    expect(read(view, size, 0)).toMatchObject({ type: 'MMAP2', ino: 77n, filename: '/a' });
    expect(readSideBand(view, JUNK, JUNK + size, 10, 0, new MappedFiles())).toMatchObject({ kind: 'mmap', record: { filename: '/a', isExecutable: true } });
    expect(readSideBand(view, JUNK, JUNK + size - 3, 10, 0, new MappedFiles())).toBe('fields of 72 bytes overrun record of 64 bytes');
  });
});

describe('MMAP2 with other bytes than PROT_* before MAP_*', () => {
  it.each(ORDERS)('is read as one of today, without what simpleperf would mean by them (%s-endian)', (byteOrder) => {
    // As hiperf wrote it. The bit of PROT_EXEC is not set.
    const { view, size } = laidOut(record.mmap2({ pid: 1, addr: 3n, len: 4n, filename: '/system/lib/liba.so', prot: 0x2f62_6961, flags: 2 }), byteOrder);
    expect(read(view, size, 0)).toMatchObject({ type: 'MMAP2', prot: 0x2f62_6961, flags: 2, filename: '/system/lib/liba.so' });
    expect(readSideBand(view, JUNK, JUNK + size, 10, 0, new MappedFiles())).toMatchObject({
      record: { filename: '/system/lib/liba.so', isExecutable: true, isJitSymfile: false },
    });
  });
});

describe('MMAP2 whose misc has the bit of build ids', () => {
  const PLACE = { pid: 1, addr: 3n, len: 4n, filename: '/bin/a' };

  // NVMe, device mapper, a SCSI disk, a virtual file system: each is where the length of a build id would be.
  it.each([
    [{ maj: 259, min: 5, ino: 77n, inoGeneration: 88n }],
    [{ maj: 254, min: 0, ino: 77n, inoGeneration: 0n }],
    [{ maj: 8, min: 1, ino: 77n, inoGeneration: 88n }],
    [{ maj: 0, min: 44, ino: 77n, inoGeneration: 0n }],
  ])('has the identity of a file if that is what it holds: %o', (identity) => {
    for (const byteOrder of ORDERS) {
      const { view, size } = laidOut(record.mmap2({ ...PLACE, ...identity }, { misc: misc.user | misc.mmapBuildId }), byteOrder);
      const found = read(view, size, 0);
      expect(found).toMatchObject({ type: 'MMAP2', ...identity, filename: '/bin/a' });
      expect(found).not.toHaveProperty('buildId');
      expect(readSideBand(view, JUNK, JUNK + size, 10, misc.user | misc.mmapBuildId, new MappedFiles())).toMatchObject({
        record: { fileIdentity: `${identity.maj}:${identity.min}:77`, buildId: '' },
      });
    }
  });

  it.each([1, 8, 15, 16, 20])('has a build id of %d bytes', (length) => {
    const { view, size } = laidOut(record.mmap2({ ...PLACE, buildId: BUILD_ID.subarray(0, length) }), 'little');
    expect(read(view, size, 0)).toMatchObject({ type: 'MMAP2', buildId: Buffer.from(BUILD_ID.subarray(0, length)).toString('hex') });
  });
});

describe('FORK and EXIT of Linux 2.6.31', () => {
  it.each(ORDERS)('have no time (%s-endian)', (byteOrder) => {
    for (const [name, type, kind] of [
      ['FORK', 7, 'fork'],
      ['EXIT', 4, 'exit'],
    ] as const) {
      const writeBody = (out: ByteWriter): void => void out.u32(10).u32(11).u32(12).u32(13);
      const { view, size } = laidOut({ ...record.opaque(type, new Uint8Array(0)), writeBody }, byteOrder);
      expect(size).toBe(24);
      const task = { pid: 10, ppid: 11, tid: 12, ptid: 13 };
      expect(read(view, size, 0)).toEqual({ type: name, offset: 0x1f30, size, misc: 0, ...task });
      expect(readSideBand(view, JUNK, JUNK + size, type, 0, new MappedFiles())).toMatchObject({ kind, record: task });
      expect(readSideBand(view, JUNK, JUNK + 28, type, 0, new MappedFiles())).toBe('fields of 32 bytes overrun record of 28 bytes');
      expect(readSideBand(view, JUNK, JUNK + 20, type, 0, new MappedFiles())).toBe('fields of 32 bytes overrun record of 20 bytes');
    }
  });
});

describe('the sample_id trailer', () => {
  it.each(ORDERS)('tells the time, the place and the event (%s-endian)', (byteOrder) => {
    const writer = new ByteWriter(byteOrder);
    writeAttr(writer, ATTR, () => new ByteWriter(byteOrder));
    const layout = compileSampleId(readAttr(new ByteView(writer.bytes(), byteOrder === 'little'), 0, 128, 0));
    expect(layout.sizeBytes).toBe(TRAILER_BYTES);
    const { view, size } = laidOut(record.comm({ pid: 1, comm: 'a' }, WITH_TRAILER), byteOrder);
    expect(readSampleId(view, JUNK + size, layout)).toEqual(TRAILER);
  });
});
