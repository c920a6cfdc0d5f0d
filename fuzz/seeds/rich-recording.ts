import { EVERY_FEATURE } from '../../test/support/builders/recordings/every-feature.ts';
import {
  type AttrSpec,
  branchCounters,
  branchHwIndex,
  context,
  type FeatureSpec,
  type FileSpec,
  type RecordSpec,
  record,
  type SampleBit,
  type SampleFields,
  toolRecords,
} from '../../test/support/builders/recordings/perf-encoder.ts';

// A recording of a few kilobytes with every sample field, every header feature and every kind of record once or twice, except records that only pipes have and
// records that hold others: encoded-seeds.ts makes those from it.

const KERNEL_START = 0xffffffff81000000n;
export const BUILD_ID = Uint8Array.from({ length: 20 }, (_, i) => i * 11);
export const CLOCK: AttrSpec = {
  name: 'cpu-clock',
  period: 1_000_000n,
  ids: [7n, 17n],
  sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period', 'callchain'],
  flags: ['sampleIdAll', 'mmap', 'mmap2', 'comm', 'commExec', 'task', 'deferCallchain'],
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
export const ATTRS: readonly AttrSpec[] = [CLOCK, CYCLES, FULL];

export const FEATURES: FeatureSpec = EVERY_FEATURE;

export const at = (time: number) => ({ sampleId: { time: BigInt(time) } });

/** Records about tasks, maps, and code that appears and disappears. */
export function sideBand(name: string, comm: string): RecordSpec[] {
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

export function samples(): RecordSpec[] {
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

/** A sample in the kernel whose user part comes in a record of its own. */
function deferred(cookie: bigint, time: number): RecordSpec {
  const callchain = [context.kernel, KERNEL_START + 0x123n, context.userDeferred, cookie];
  return record.sample({ ip: KERNEL_START + 0x123n, pid: 100, tid: 100, time: BigInt(time), cpu: 0, period: 1n, callchain }, { misc: 1 });
}

/** All other records that the kernel and the perf tool write. */
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
    ...[1n, 1n, 2n].map((cookie, i) => deferred(cookie, 7_000_010 + i)),
    record.callchainDeferred({ cookie: 1n, ips: [0x400100n, 0x400200n] }, { sampleId: { pid: 100, tid: 100, time: 7_000_020n } }),
    toolRecords.finishedRound(),
    toolRecords.idIndex([{ id: 7n, cpu: 0n }, { id: 8n }]),
    toolRecords.threadMap([{ pid: 100, comm: 'app' }]),
    toolRecords.cpuMap([0, 1]),
    toolRecords.timeConv({ shift: 31n, mult: 1n << 30n, zero: 0n }),
    toolRecords.auxtraceInfo({ auxtraceType: 1, priv: [1n, 2n] }),
    toolRecords.auxtrace({ data: new Uint8Array(24), tid: 100, cpu: 0 }),
    toolRecords.cpuMask(8, [0xfn]),
    toolRecords.cpuRange({ first: 0, last: 3 }),
    toolRecords.timeConvCycles({ shift: 31n, mult: 1n << 30n, zero: 0n, cycles: 5n, mask: 0xffffffffn, capZero: 1, capShort: 1 }),
    toolRecords.statConfig([{ tag: 0n, val: 1n }]),
    toolRecords.stat({ id: 7n, cpu: 0, thread: 0, val: 5n, ena: 6n, run: 6n }),
    toolRecords.statRound({ roundType: 1n, time: 7n }),
    toolRecords.auxtraceError({ errorType: 1, code: 5, msg: 'lost trace' }),
    toolRecords.headerEventType({ eventId: 1n, name: 'old-name' }),
    toolRecords.headerBuildId({ buildId: BUILD_ID, filename: '/bin/late' }),
    toolRecords.legacyHeaderString(70, 'host'),
    toolRecords.bpfMetadata({ progName: 'prog', entries: [{ key: 'key', value: 'value' }] }),
    toolRecords.schedstatCpu({ timestamp: 1n, cpu: 0, version: 17, counters: new Uint8Array(72) }),
    toolRecords.schedstatDomain({ timestamp: 1n, cpu: 0, version: 17, domain: 0, counters: new Uint8Array(184) }),
    toolRecords.eventUpdateCpus({ id: 8n, mask: 3n }),
    toolRecords.eventUpdate({ id: 8n, name: 'renamed' }),
    toolRecords.eventUpdate({ id: 8n, unit: 'J' }),
    toolRecords.eventUpdate({ id: 8n, scale: 0.5 }),
    record.exit({ pid: 101, ppid: 100 }, at(8_000_000)),
    toolRecords.finishedRound(),
    toolRecords.finishedInit(),
  ];
}

export const RECORDS: readonly RecordSpec[] = [...sideBand('/bin/app', 'app'), ...samples(), ...rest()];
export const RICH: FileSpec = { attrs: ATTRS, records: RECORDS, features: FEATURES };
