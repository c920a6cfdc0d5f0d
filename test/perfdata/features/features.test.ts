import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { FEATURE_NAMES } from '../../../src/perfdata/abi/constants.ts';
import { type Features, readFeature } from '../../../src/perfdata/features/features.ts';
import {
  type AttrSpec,
  type ByteOrder,
  type FeatureName,
  type FeatureSpec,
  featureBits,
  featureBytes,
} from '../../support/builders/recordings/perf-encoder.ts';

const ATTRS: AttrSpec[] = [
  { name: 'cycles:u', type: 0, freq: 4000n, ids: [11n, 12n], sampleType: ['ip', 'tid', 'time'], flags: ['excludeKernel'] },
  { name: 'faults', config: 2n, period: 1n, ids: [2n ** 40n], sampleType: ['ip'], branchSampleType: 8n },
];
const TAG = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 0xff]);
const ID = new Uint8Array(20).map((_, i) => i + 1);
const ID_HEX = '0102030405060708090a0b0c0d0e0f1011121314';

/** Every feature, with a value in which no two fields are alike, and what it is to be read as. */
const CASES: { readonly [Name in FeatureName]?: { readonly value: FeatureSpec[Name]; readonly expected: object; readonly before?: Partial<Features> } } = {
  buildIds: {
    value: [
      { pid: -1, misc: 1, buildId: ID, filename: '[kernel.kallsyms]' },
      { pid: 77, buildId: ID.subarray(0, 16), filename: '/usr/lib/käse.so' },
      { pid: 77, buildId: ID.subarray(0, 8), filename: '/bin/a', sizeByte: false },
    ],
    expected: {
      buildIds: [
        { pid: -1, buildId: ID_HEX, filename: '[kernel.kallsyms]', misc: 0x8001 },
        { pid: 77, buildId: ID_HEX.slice(0, 32), filename: '/usr/lib/käse.so', misc: 0x8002 },
        { pid: 77, buildId: ID_HEX.slice(0, 16), filename: '/bin/a', misc: 2 },
      ],
    },
  },
  hostname: { value: 'fixture-host', expected: { hostname: 'fixture-host' } },
  osRelease: { value: '6.1.0-9-amd64', expected: { osrelease: '6.1.0-9-amd64' } },
  version: { value: '', expected: { version: '' } },
  arch: { value: 'ppc64', expected: { arch: 'ppc64' } },
  nrCpus: { value: { available: 64, online: 60 }, expected: { nrCpusAvailable: 64, nrCpusOnline: 60 } },
  cpuDesc: { value: 'POWER9, altivec supported', expected: { cpudesc: 'POWER9, altivec supported' } },
  cpuid: { value: '004e1202', expected: { cpuid: '004e1202' } },
  totalMem: { value: 267_000_000_000n, expected: { totalMemKib: 267_000_000_000 } },
  cmdline: { value: ['/usr/bin/perf', 'record', '', '-a'], expected: { cmdline: ['/usr/bin/perf', 'record', '', '-a'] } },
  eventDesc: {
    value: ATTRS,
    expected: {
      eventDesc: [
        {
          name: 'cycles:u',
          ids: [11n, 12n],
          attr: { type: 0, sampleFreq: 4000n, samplePeriod: 0n, sampleType: 7, flags: new Set(['exclude_kernel', 'freq']) },
        },
        { name: 'faults', ids: [2n ** 40n], attr: { type: 1, config: 2n, samplePeriod: 1n, branchSampleType: 8 } },
      ],
    },
  },
  cpuTopology: {
    before: { nrCpusAvailable: 3 },
    value: {
      cores: ['0-1', '2'],
      threads: ['0', '1', '2'],
      cpus: [
        { coreId: 4, socketId: 0, dieId: 1 },
        { coreId: 5, socketId: 0, dieId: 1 },
        { coreId: -1, socketId: -1, dieId: 2 },
      ],
      dies: ['0-1', '2'],
    },
    expected: {
      cpuTopology: {
        cores: ['0-1', '2'],
        threads: ['0', '1', '2'],
        dies: ['0-1', '2'],
        cpus: [
          { coreId: 4, socketId: 0, dieId: 1 },
          { coreId: 5, socketId: 0, dieId: 1 },
          { coreId: -1, socketId: -1, dieId: 2 },
        ],
      },
    },
  },
  numaTopology: {
    value: [
      { node: 0, total: 5_000_000_000n, free: 7n, cpus: '0-3' },
      { node: 8, total: 1n, free: 0n, cpus: '' },
    ],
    expected: {
      numaTopology: [
        { node: 0, memTotalKib: 5_000_000_000, memFreeKib: 7, cpus: '0-3' },
        { node: 8, memTotalKib: 1, memFreeKib: 0, cpus: '' },
      ],
    },
  },
  branchStack: { value: true, expected: { hasBranchStack: true } },
  pmuMappings: {
    value: [
      { type: 4, name: 'cpu' },
      { type: 1, name: 'software' },
    ],
    expected: {
      pmuMappings: [
        { type: 4, name: 'cpu' },
        { type: 1, name: 'software' },
      ],
    },
  },
  groupDesc: {
    value: [{ name: '{anon_group}', leaderIdx: 1, nrMembers: 2 }],
    expected: { groupDesc: [{ name: '{anon_group}', leaderIndex: 1, memberCount: 2 }] },
  },
  auxtrace: {
    value: [
      { offset: 0x1000n, size: 48n },
      { offset: 0x9000n, size: 5_000_000_000n },
    ],
    expected: { auxtrace: { entries: 2, sizeBytes: 5_000_000_048 } },
  },
  stat: { value: new Uint8Array(0), expected: { isStat: true } },
  cache: {
    value: [
      { level: 1, lineSize: 64, sets: 63, ways: 8, type: 'Data', size: '32K', map: '0' },
      { level: 3, lineSize: 128, sets: 4096, ways: 16, type: 'Unified', size: '8192K', map: '0-3' },
    ],
    expected: {
      cache: [
        { level: 1, lineBytes: 64, sets: 63, ways: 8, type: 'Data', size: '32K', cpus: '0' },
        { level: 3, lineBytes: 128, sets: 4096, ways: 16, type: 'Unified', size: '8192K', cpus: '0-3' },
      ],
    },
  },
  sampleTime: { value: { first: 2n ** 63n, last: 2n ** 63n + 1n }, expected: { sampleTime: { first: 2n ** 63n, last: 2n ** 63n + 1n } } },
  memTopology: {
    value: {
      blockSize: 0x8000000n,
      nodes: [
        { node: 0n, bits: 70, memory: [0, 1, 2, 31, 32, 63, 64, 69] },
        { node: 1n, bits: 64, memory: [5, 62, 63] },
        { node: 2n, bits: 0, memory: [] },
      ],
    },
    expected: {
      memTopology: {
        blockBytes: 0x8000000,
        nodes: [
          { node: 0, blockCount: 8, blocks: '0-2,31-32,63-64,69' },
          { node: 1, blockCount: 3, blocks: '5,62-63' },
          { node: 2, blockCount: 0, blocks: '' },
        ],
      },
    },
  },
  clockid: { value: 4_000_000n, expected: { clockidResolutionNs: 4_000_000 } },
  dirFormat: { value: 1n, expected: { dirFormatVersion: 1 } },
  bpfProgInfo: {
    value: [
      {
        id: 5,
        type: 26,
        name: 'fentry',
        tag: TAG,
        jited: new Uint8Array(13),
        functions: [{ address: 0xffffffffc0248588n, size: 72, tag: TAG, typeId: 5 }],
        btfId: 10,
      },
      { id: 6, type: 1, name: 'old', tag: TAG, jited: new Uint8Array(8), functions: [], infoSize: 104 },
    ],
    expected: {
      bpfPrograms: [
        {
          id: 5,
          type: 26,
          name: 'fentry',
          tag: '01020304050607ff',
          functions: [{ address: 0xffffffffc0248588n, sizeBytes: 72, tag: '01020304050607ff', typeId: 5 }],
          jitedBytes: 13,
          xlatedBytes: 0,
          btfId: 10,
        },
        { id: 6, type: 1, name: 'old', tag: '01020304050607ff', functions: [], jitedBytes: 8, xlatedBytes: 0, btfId: 0 },
      ],
    },
  },
  bpfBtf: {
    value: [
      { id: 10, data: new Uint8Array(30) },
      { id: 11, data: new Uint8Array(0) },
    ],
    expected: {
      bpfBtf: [
        { id: 10, sizeBytes: 30 },
        { id: 11, sizeBytes: 0 },
      ],
    },
  },
  compressed: {
    value: { version: 0, type: 1, level: 3, ratio: 97, mmapLen: 528_384 },
    expected: { compressed: { version: 0, type: 1, level: 3, ratio: 97, mmapBytes: 528_384 } },
  },
  cpuPmuCaps: {
    value: [
      { name: '__proto__', value: '1' },
      { name: 'max_precise', value: '3' },
    ],
    expected: {
      cpuPmuCaps: [
        { name: '__proto__', value: '1' },
        { name: 'max_precise', value: '3' },
      ],
    },
  },
  clockData: {
    value: { clockid: -1, wallClockNs: 1_767_545_218_014_657_000n, clockidTimeNs: 405_068_949_598n },
    expected: { clockData: { clockid: -1, wallClockNs: 1_767_545_218_014_657_000n, clockNs: 405_068_949_598n } },
  },
  hybridTopology: {
    value: [
      { pmu: 'cpu_core', cpus: '0-3' },
      { pmu: 'cpu_atom', cpus: '4-11' },
    ],
    expected: {
      hybridTopology: [
        { pmuName: 'cpu_core', cpus: '0-3' },
        { pmuName: 'cpu_atom', cpus: '4-11' },
      ],
    },
  },
  pmuCaps: {
    value: [
      { pmu: 'cpu_core', caps: [{ name: 'branches', value: '32' }] },
      { pmu: 'intel_pt', caps: [] },
    ],
    expected: {
      pmuCaps: [
        { pmuName: 'cpu_core', caps: [{ name: 'branches', value: '32' }] },
        { pmuName: 'intel_pt', caps: [] },
      ],
    },
  },
  cpuDomainInfo: {
    value: {
      schedstatVersion: 17,
      maxDomains: 2,
      cpus: [
        { cpu: 0, domains: [{ domain: 0, name: 'SMT', mask: '0003', list: '0-1' }] },
        { cpu: 1, domains: [] },
      ],
    },
    expected: {
      cpuDomains: {
        schedstatVersion: 17,
        maxDomains: 2,
        cpus: [
          { cpu: 0, domains: [{ domain: 0, name: 'SMT', cpuMask: '0003', cpus: '0-1' }] },
          { cpu: 1, domains: [] },
        ],
      },
    },
  },
  eMachine: { value: { machine: 62, flags: 0x5000400 }, expected: { eMachine: { machine: 62, flags: 0x5000400 } } },
  clnSize: { value: 64, expected: { cacheLineBytes: 64 } },
};

const names = Object.keys(CASES) as FeatureName[];

function sectionOf(name: FeatureName, byteOrder: ByteOrder): Uint8Array {
  return featureBytes(name, CASES[name]?.value, { byteOrder, attrs: ATTRS });
}

function read(name: FeatureName, bytes: Uint8Array, byteOrder: ByteOrder): { features: Features; diagnostics: Diagnostics } {
  const features: Features = { present: new Set(), ...CASES[name]?.before };
  const diagnostics = new Diagnostics();
  readFeature(features, featureBits[name], new ByteView(bytes, byteOrder === 'little'), 0x1000, diagnostics);
  return { features, diagnostics };
}

it('every feature except TRACING_DATA has a case', () => {
  expect(names.map((name) => featureBits[name]).sort((a, b) => a - b)).toEqual(Array.from({ length: 33 }, (_, i) => i + 2));
  expect(FEATURE_NAMES.slice(1, 35)).not.toContain(undefined);
});

describe.each(['little', 'big'] as const)('%s-endian feature', (byteOrder) => {
  it.each(names)('%s is read whole', (name) => {
    const { features, diagnostics } = read(name, sectionOf(name, byteOrder), byteOrder);
    expect(features).toMatchObject({ ...CASES[name]?.expected, present: new Set([featureBits[name]]) });
    expect(diagnostics.list()).toEqual([]);
  });

  it.each([
    ['clockid', featureBytes('clockid', 0n, { byteOrder, attrs: ATTRS })],
    ['compressed', featureBytes('compressed', { version: 1, type: 0, level: 0, ratio: 0, mmapLen: 0 }, { byteOrder, attrs: ATTRS })],
    ['clockData', featureBytes('clockData', { clockid: 0, wallClockNs: 0n, clockidTimeNs: 0n }, { byteOrder, attrs: ATTRS })],
  ] as const)('%s is absent where perf stat writes it with nothing to say', (name, bytes) => {
    const { features, diagnostics } = read(name, bytes, byteOrder);
    expect(features).toEqual({ present: new Set([featureBits[name]]) });
    expect(diagnostics.list()).toEqual([]);
  });

  it.each(names)('%s, listed with nothing written for it, is no damage', (name) => {
    const { features, diagnostics } = read(name, new Uint8Array(0), byteOrder);
    expect(features.present).toEqual(new Set([featureBits[name]]));
    expect(diagnostics.list()).toEqual([]);
  });

  it.each(names)('%s, cut off at any byte, is reported and keeps a beginning of what it was', (name) => {
    const whole = sectionOf(name, byteOrder);
    const { features: all } = read(name, whole, byteOrder);
    for (let length = 1; length < whole.length; length++) {
      const { features, diagnostics } = read(name, whole.subarray(0, length), byteOrder);
      const found = diagnostics.list();
      // Sections that may also end here are whole.
      if (!mayEndAt(name, whole, length)) {
        expect(found, `${length} bytes`).toMatchObject([{ code: 'feature-damaged', severity: 'warning', count: 1, firstOffset: 0x1000 }]);
        expect(found[0].message).toContain(FEATURE_NAMES[featureBits[name]]);
      }
      for (const [key, value] of Object.entries(features)) expectBeginning(value, all[key as keyof Features], `${key} of ${length} bytes`);
    }
  });

  it.each(names)('%s with bits of any byte flipped gives values or a finding', (name) => {
    const whole = sectionOf(name, byteOrder);
    for (let at = 0; at < whole.length; at++) {
      for (const flip of [0xff, 0x80, 0x01]) {
        const bytes = whole.slice();
        bytes[at] ^= flip;
        const { diagnostics } = read(name, bytes, byteOrder);
        expect(diagnostics.list().filter(({ code }) => code !== 'feature-damaged')).toEqual([]);
      }
    }
  });
});

/** Whether a section can end here and be whole, without what later perfs appended, or without the next CPU's domains. */
function mayEndAt(name: FeatureName, whole: Uint8Array, length: number): boolean {
  if (name === 'buildIds') return length % 100 === 0;
  // As simpleperf writes it, without the number of entries.
  if (name === 'auxtrace') return length % 16 === 0;
  if (name === 'cpuDomainInfo') return length === 8 || length === whole.length - 8;
  if (name === 'cpuTopology') return length === 4 + 2 * 68 + 4 + 3 * 68 || length === 4 + 2 * 68 + 4 + 3 * 68 + 24;
  return false;
}

/** Expects a list to be a beginning of the whole one, and any other value to be the whole one or to hold beginnings. */
function expectBeginning(part: unknown, whole: unknown, what: string): void {
  if (Array.isArray(part) && Array.isArray(whole)) {
    expect(part.length, what).toBeLessThanOrEqual(whole.length);
    for (const [i, each] of part.entries()) expectBeginning(each, whole[i], what);
  } else if (part instanceof Set) expect(part, what).toEqual(whole);
  else if (typeof part === 'object' && part !== null && typeof whole === 'object' && whole !== null) {
    for (const [key, value] of Object.entries(part)) if (key !== 'entries' && key !== 'sizeBytes') expectBeginning(value, whole[key as never], what);
  } else expect(part, what).toEqual(whole);
}

describe('sections as other versions write them', () => {
  const topology = { cores: ['0-1'], threads: ['0', '1'] };

  it.each([
    ['before CPU ids', topology, []],
    [
      'before dies',
      {
        ...topology,
        cpus: [
          { coreId: 1, socketId: 2 },
          { coreId: 3, socketId: 4 },
        ],
      },
      [
        { coreId: 1, socketId: 2 },
        { coreId: 3, socketId: 4 },
      ],
    ],
  ])('are read: CPU_TOPOLOGY from %s', (_when, value, cpus) => {
    const features: Features = { present: new Set(), nrCpusAvailable: 2 };
    const diagnostics = new Diagnostics();
    readFeature(features, 13, new ByteView(featureBytes('cpuTopology', value, { byteOrder: 'little', attrs: [] }), true), 0, diagnostics);
    expect(features.cpuTopology).toEqual({ ...topology, dies: [], cpus });
    expect(diagnostics.list()).toEqual([]);
  });

  it('are read: only the lists of CPU_TOPOLOGY without NRCPUS', () => {
    const features: Features = { present: new Set() };
    readFeature(features, 13, new ByteView(sectionOf('cpuTopology', 'little'), true), 0, new Diagnostics());
    expect(features.cpuTopology).toMatchObject({ threads: ['0', '1', '2'], cpus: [], dies: [] });
  });

  it.each(['little', 'big'] as const)('are read: BUILD_ID without pids, %s-endian', (byteOrder) => {
    const value = [
      { misc: 1, buildId: ID, filename: '[kernel.kallsyms]', noPid: true },
      { buildId: ID.subarray(0, 16), filename: '/lib/ld.so', noPid: true },
    ];
    const { features, diagnostics } = read('buildIds', featureBytes('buildIds', value, { byteOrder, attrs: [] }), byteOrder);
    expect(features.buildIds).toEqual([
      { pid: -1, buildId: ID_HEX, filename: '[kernel.kallsyms]', misc: 1 },
      { pid: -1, buildId: ID_HEX.slice(0, 32), filename: '/lib/ld.so', misc: 2 },
    ]);
    expect(diagnostics.list()).toEqual([]);
  });

  it('are read: the pids of BUILD_ID, despite bytes that simpleperf did not clear', () => {
    const bytes = sectionOf('buildIds', 'little').slice();
    bytes.set(new TextEncoder().encode('/bin'), 232);
    expect(read('buildIds', bytes, 'little').features.buildIds).toMatchObject([
      { filename: '[kernel.kallsyms]' },
      { pid: 77 },
      { pid: 77, filename: '/bin/a' },
    ]);
  });

  it('are read: BUILD_ID up to an entry of size 0', () => {
    const whole = sectionOf('buildIds', 'little');
    const padded = new Uint8Array(whole.length + 16);
    padded.set(whole);
    expect(read('buildIds', padded, 'little')).toMatchObject({ features: { buildIds: { length: 3 } } });
  });

  it('are read: AUXTRACE from simpleperf, without the number of entries', () => {
    const bytes = sectionOf('auxtrace', 'little').subarray(8);
    expect(read('auxtrace', bytes, 'little').features.auxtrace).toEqual({ entries: 2, sizeBytes: 5_000_000_048 });
  });
});

describe('sections with impossible values', () => {
  it.each([
    'cmdline',
    'eventDesc',
    'cpuTopology',
    'numaTopology',
    'pmuMappings',
    'groupDesc',
    'bpfProgInfo',
    'bpfBtf',
    'cpuPmuCaps',
    'hybridTopology',
    'pmuCaps',
  ] as const)('are reported: %s with a count that no section holds', (name) => {
    const bytes = sectionOf(name, 'little').slice();
    bytes.fill(0xff, 0, 4);
    expect(read(name, bytes, 'little').diagnostics.count('feature-damaged')).toBe(1);
  });

  it('are reported for a bitmap of 2^64 bits, but not for an index of 2^64 entries', () => {
    const memory = sectionOf('memTopology', 'little').slice();
    memory.fill(0xff, 40, 48);
    expect(read('memTopology', memory, 'little').diagnostics.count('feature-damaged')).toBe(1);
    const index = sectionOf('auxtrace', 'little').slice();
    index.fill(0xff, 0, 8);
    expect(read('auxtrace', index, 'little')).toMatchObject({ features: { auxtrace: { entries: 2 } } });
  });

  it('are read without bits after the end of a bitmap', () => {
    const bytes = sectionOf('memTopology', 'little').slice();
    // Bits 70 to 127 of the first node, whose bitmap begins at 48.
    bytes.fill(0xff, 48 + 9, 48 + 16);
    expect(read('memTopology', bytes, 'little').features.memTopology?.nodes[0]).toMatchObject({ blockCount: 8, blocks: '0-2,31-32,63-64,69' });
  });

  it('are read without an attr of 8 bytes', () => {
    const bytes = sectionOf('eventDesc', 'little').slice();
    new DataView(bytes.buffer).setUint32(4, 8, true);
    expect(read('eventDesc', bytes, 'little')).toMatchObject({ features: { eventDesc: [] } });
  });
});

it('unknown features are reported in one finding, with the size of the first', () => {
  const features: Features = { present: new Set() };
  const diagnostics = new Diagnostics();
  for (const bit of [99, 100]) readFeature(features, bit, new ByteView(new Uint8Array(24), true), 0x2000, diagnostics);
  expect(features.present).toEqual(new Set([99, 100]));
  expect(diagnostics.list()).toMatchObject([
    { code: 'unknown-feature', severity: 'info', count: 2, message: expect.stringContaining('feature 99 (24 bytes)') },
  ]);
});
