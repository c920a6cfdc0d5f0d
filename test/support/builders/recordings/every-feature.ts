import { type AttrSpec, btfObject, type FeatureSpec, type FileSpec, record } from './perf-encoder.ts';

/** Every header feature with a value. */
export const EVERY_FEATURE: FeatureSpec = {
  buildIds: [
    { pid: -1, misc: 1, buildId: new Uint8Array(20).fill(0xab), filename: '[kernel.kallsyms]' },
    { buildId: new Uint8Array(16).fill(0xcd), filename: '/home/jane/bin/app' },
  ],
  hostname: 'fixture-host',
  osRelease: '6.1.0-9-amd64',
  version: '6.1.187',
  arch: 'x86_64',
  nrCpus: { available: 4, online: 2 },
  cpuDesc: 'A CPU of 3 GHz',
  cpuid: 'GenuineIntel,6,106,6',
  totalMem: 24_684_092n,
  cmdline: ['/usr/bin/perf', 'record', '-e', '{cpu-clock,mem:0x400000:rw}', '--', '/home/jane/bin/app', "it's"],
  eventDesc: true,
  cpuTopology: {
    cores: ['0-3'],
    threads: ['0-1', '2-3'],
    cpus: [
      { coreId: 0, socketId: 0, dieId: 0 },
      { coreId: 0, socketId: 0, dieId: 0 },
      { coreId: 1, socketId: 0, dieId: 0 },
      { coreId: -1, socketId: -1, dieId: -1 },
    ],
    dies: ['0-3'],
  },
  numaTopology: [{ node: 0, total: 24_684_092n, free: 4_767_576n, cpus: '0-3' }],
  branchStack: true,
  pmuMappings: [
    { type: 1, name: 'software' },
    { type: 9, name: 'cpu_core' },
  ],
  groupDesc: [{ name: '{anon_group}', leaderIdx: 0, nrMembers: 2 }],
  auxtrace: [{ offset: 0x1000n, size: 48n }],
  stat: new Uint8Array(0),
  cache: [
    { level: 1, lineSize: 64, sets: 64, ways: 12, type: 'Data', size: '48K', map: '0-1' },
    { level: 1, lineSize: 64, sets: 64, ways: 12, type: 'Data', size: '48K', map: '2-3' },
    { level: 3, lineSize: 64, sets: 65536, ways: 12, type: 'Unified', size: '49152K', map: '0-3' },
  ],
  sampleTime: { first: 5_000_003_000n, last: 5_002_003_000n },
  memTopology: { blockSize: 0x8000000n, nodes: [{ node: 0n, bits: 200, memory: [0, 1, 2, 32, 33, 199] }] },
  clockid: 1n,
  dirFormat: 1n,
  bpfProgInfo: [
    {
      id: 5,
      type: 26,
      name: 'fentry_blk',
      tag: new Uint8Array(8).fill(0x53),
      jited: new Uint8Array(72),
      functions: [
        { address: 0xffffffffc0248588n, size: 72, tag: new Uint8Array(8).fill(0x53), typeId: 3 },
        { address: 0xffffffffc0250000n, size: 249, tag: new Uint8Array(8).fill(0x54), typeId: 5 },
      ],
      btfId: 10,
    },
  ],
  bpfBtf: [{ id: 10, data: btfObject('little', ['fentry_blk_account_io_start', 'charge']) }],
  compressed: { version: 0, type: 1, level: 1, ratio: 13, mmapLen: 528_384 },
  cpuPmuCaps: [{ name: 'max_precise', value: '3' }],
  clockData: { clockid: 1, wallClockNs: 1_767_545_218_014_657_000n, clockidTimeNs: 5_000_000_000n },
  hybridTopology: [{ pmu: 'cpu_core', cpus: '0-3' }],
  pmuCaps: [{ pmu: 'cpu_core', caps: [{ name: 'branches', value: '32' }] }],
  cpuDomainInfo: { schedstatVersion: 17, maxDomains: 1, cpus: [{ cpu: 0, domains: [{ domain: 0, name: 'SMT', mask: '3', list: '0-1' }] }] },
  eMachine: { machine: 62, flags: 0 },
  clnSize: 64,
};

const SAMPLE_TYPE = ['identifier', 'ip', 'tid', 'time', 'period'] as const;

const ATTRS: readonly AttrSpec[] = [
  {
    name: 'cpu-clock',
    freq: 4000n,
    ids: [1n, 2n],
    sampleType: SAMPLE_TYPE,
    readFormat: ['id', 'lost'],
    flags: ['sampleIdAll', 'useClockid', 'watermark'],
    wakeupEvents: 4096,
    preciseIp: 3,
    config1: 0x10n,
    config2: 0x11n,
    config3: 0x12n,
    config4: 0x13n,
    branchSampleType: 0x1n,
    sampleRegsUser: 0xff0fffn,
    sampleStackUser: 8192,
    clockid: 1,
    sampleRegsIntr: 0x5n,
    auxWatermark: 1024,
    sampleMaxStack: 127,
    auxSampleSize: 512,
    sigData: 0xabn,
    sizeBytes: 144,
  },
  {
    name: 'mem:0x400000:rw',
    type: 5,
    period: 1n,
    ids: [3n],
    sampleType: SAMPLE_TYPE,
    flags: ['sampleIdAll'],
    bpType: 3,
    config1: 0x400000n,
    config2: 4n,
    wakeupEvents: 1,
    sizeBytes: 144,
  },
];

const sample = (time: bigint, attr = 0) => record.sample({ id: attr === 0 ? 1n : 3n, ip: 0x400123n, pid: 100, time, period: 250_000n }, { attr });

/** Three samples, the first of which comes before two older ones. */
export const EVERYTHING: FileSpec = {
  attrs: ATTRS,
  features: EVERY_FEATURE,
  records: [
    record.comm({ pid: 100, comm: 'app', exec: true }, { sampleId: { time: 5_000_001_000n } }),
    record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename: '/home/jane/bin/app' }, { sampleId: { time: 5_000_002_000n } }),
    sample(5_002_003_000n),
    sample(5_000_003_000n),
    sample(5_001_003_000n, 1),
  ],
};
