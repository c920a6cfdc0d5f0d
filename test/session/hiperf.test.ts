import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { openRecording, type PerfRecord } from '../../src/index.ts';
import { anonymousInfo } from '../../src/info/recording-info.ts';
import { type Features, readFeature } from '../../src/perfdata/features/features.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT } from '../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';
import { DUMPING, dumpedStack } from '../support/builders/recordings/dumped-stack.ts';
import {
  type AttrSpec,
  context,
  encodeFile,
  type FeatureSpec,
  type ForeignFeature,
  type HiperfFileSpec,
  hiperfFeatures,
  misc,
  type RecordSpec,
  record,
  withStackId,
} from '../support/builders/recordings/perf-encoder.ts';
import { CLOCK, comm, kernelMap, LIB, libMap, namesOf, SWITCHES, sampleAt } from '../support/builders/recordings/simpleperf-recordings.ts';
import { type Decoded, decode } from '../support/readers/decode.ts';

const CYCLES: AttrSpec = { ...CLOCK, name: 'hw-cpu-cycles', type: 0 };
const KERNEL = 0xffffffc0_10000000n;

interface Parts {
  readonly attrs?: readonly AttrSpec[];
  readonly features?: FeatureSpec;
}

function bytesOf(records: readonly RecordSpec[], foreignFeatures: readonly ForeignFeature[], { attrs = [CYCLES], features = {} }: Parts = {}): Uint8Array {
  return encodeFile({ attrs, records, foreignFeatures, features: { arch: 'aarch64', ...features } });
}

function decodeHiperf(records: readonly RecordSpec[], foreignFeatures: readonly ForeignFeature[], parts: Parts = {}): Promise<Decoded> {
  return decode(bytesOf(records, foreignFeatures, parts), { offCpuTimes: true });
}

async function recordsOf(bytes: Uint8Array): Promise<PerfRecord[]> {
  const records: PerfRecord[] = [];
  for await (const one of (await openRecording(bytes)).records()) records.push(one);
  return records;
}

describe('a recording of hiperf', () => {
  const lib: HiperfFileSpec = {
    path: LIB,
    type: 3,
    codeAddress: 0x25000n,
    codeOffset: 0x4000n,
    symbols: [
      // Thumb code: the lowest bit is set.
      { vaddr: 0x26001n, len: 0x100, name: 'ns::callee(int)' },
      { vaddr: 0x26100n, len: 0x100, name: 'caller' },
    ],
  };

  it('names code by the symbols in it', async () => {
    const decoded = await decodeHiperf(
      [kernelMap, comm, libMap, sampleAt(10n, [context.kernel, KERNEL + 0x10n, context.user, 0x7000_1000n, 0x7000_1100n])],
      [hiperfFeatures.symbols([lib, { path: '[kernel.kallsyms]', type: 0, symbols: [{ vaddr: KERNEL, len: 0, name: 'finish_task_switch' }] }])],
    );
    // Only functions that samples led to are listed, so the address of a caller leads to its function, and the byte before it may not.
    expect(namesOf(decoded)).toEqual(['finish_task_switch', 'ns::callee(int)', 'caller']);
    expect(decoded.diagnostics.list()).toEqual([]);
  });

  it('has build ids, which are checked: a library of another build is refused', async () => {
    const recorded = 'ab'.repeat(16);
    const code = record.mmap2({ pid: 100, addr: 0x7000_0000n, len: 0x1000n, pgoff: BigInt(TEXT.offset), filename: LIB, prot: 5 }, { sampleId: { time: 2n } });
    const records = [comm, code, sampleAt(10n, [context.user, 0x7000_0010n])];
    const files = [
      { ...lib, buildId: recorded, symbols: [] },
      { path: '/system/lib/liba.so', type: 3 },
      { path: '/system/lib/libb.so', type: 3, buildId: 'none' },
    ];
    const bytes = bytesOf(records, [hiperfFeatures.symbols(files)]);
    const namesWith = async (buildId: string): Promise<string[]> => {
      const machine = new MadeFiles();
      machine.content.set(LIB, buildElf({ classBits: 64, littleEndian: true, buildId, symbols: [{ name: 'local', value: TEXT.vaddr, sizeBytes: 0x100 }] }));
      return namesOf(await decode(bytes, { symbolizer: new Symbolizer(machine, { debugDirs: [], compatPerf: false }, new Diagnostics()) }));
    };
    expect(await namesWith(recorded)).toEqual(['local']);
    expect(await namesWith('cd'.repeat(16))).toEqual(['0x1010']);
    expect((await (await openRecording(bytes)).info()).buildIds).toEqual([{ file: LIB, buildId: recorded }]);
  });

  it('keeps the lowest bit of addresses on machines without Thumb code', async () => {
    const decoded = await decodeHiperf([comm, libMap, sampleAt(10n, [context.user, 0x7000_1000n, 0x7000_1001n])], [hiperfFeatures.symbols([lib])], {
      features: { arch: 'x86_64' },
    });
    expect(namesOf(decoded)).toEqual(['0x5000', 'ns::callee(int)']);
  });

  it('names no code of a file of which it does not say where its code begins', async () => {
    const unset: HiperfFileSpec = { path: LIB, type: 3, symbols: [{ vaddr: 0x5000n, len: 0x100, name: 'misplaced' }] };
    expect(namesOf(await decodeHiperf([comm, libMap, sampleAt(10n, [context.user, 0x7000_1010n])], [hiperfFeatures.symbols([unset])]))).toEqual(['0x5010']);
  });

  it('names modules from where they were loaded, and code made at run time by its address', async () => {
    const module = record.mmap({ pid: -1, addr: 0xffffffc0_00020000n, len: 0x1000n, filename: '/vendor/modules/hi_irq.ko' }, { misc: misc.kernel });
    const code = record.mmap2({ pid: 100, addr: 0x5000_0000n, len: 0x1000n, filename: '[anon:JSVM_JIT]', prot: 5 }, { sampleId: { time: 2n } });
    const decoded = await decodeHiperf(
      [kernelMap, module, comm, code, sampleAt(10n, [context.kernel, 0xffffffc0_00020050n, context.user, 0x5000_0008n])],
      [
        hiperfFeatures.symbols([
          { path: '/vendor/modules/hi_irq.ko', type: 1, symbols: [{ vaddr: 0x40n, len: 0x20, name: 'hi_irq' }] },
          { path: '[anon:JSVM_JIT]', type: 8, symbols: [{ vaddr: 0x5000_0000n, len: 0x10, name: 'onClick' }] },
        ]),
      ],
    );
    expect(namesOf(decoded)).toEqual(['hi_irq', 'onClick']);
  });

  it('has the stacks of its tables', async () => {
    const chain = [context.kernel, KERNEL + 0x10n, context.user, 0x7000_1010n, 0x7000_1110n];
    const nodes = chain.map((address, i) => ({ index: 7 * (i + 1), address: BigInt.asUintN(64, address), caller: i + 1 < chain.length ? 7 * (i + 2) : 0 }));
    // In recordings from 2023, the indexes are smaller, and the tables have the number of HIPERF_HM_DEVHOST.
    for (const indexBits of [20, 23] as const) {
      const samples = [withStackId(sampleAt(10n, []), 7, chain.length, indexBits), withStackId(sampleAt(11n, []), 28, 2, indexBits)];
      const tables = hiperfFeatures.stackTables([{ pid: 100, nodes: [...nodes].reverse() }], indexBits);
      const decoded = await decodeHiperf([kernelMap, comm, libMap, ...samples], [tables]);
      expect(decoded.samples.map(({ frames }) => frames.map(({ address }) => address))).toEqual([
        [KERNEL + 0x10n, 0x5010n, 0x5110n],
        [0x5010n, 0x5110n],
      ]);
      expect(decoded.diagnostics.list()).toEqual([]);
    }
  });

  it('reports stacks that its tables lack, and reads no endless ones', async () => {
    const endless = [
      { index: 7, address: 0x7000_1010n, caller: 8 },
      { index: 8, address: 0x7000_1110n, caller: 7 },
      { index: 9, address: 0x7000_1010n, caller: 10 },
    ];
    const decoded = await decodeHiperf(
      [comm, libMap, ...[7, 9, 11].map((leaf, i) => withStackId(sampleAt(BigInt(10 + i), []), leaf, 0xfffff))],
      [hiperfFeatures.stackTables([{ pid: 100, nodes: endless }])],
    );
    expect(decoded.samples.map(({ frames }) => frames.length)).toEqual([512, 1, 1]);
    expect(decoded.diagnostics.list()).toMatchObject([
      { code: 'stack-too-long', count: 1, severity: 'loss', message: expect.stringContaining('more than 512 entries') },
      { code: 'unknown-stack-id', count: 2, severity: 'loss', message: expect.stringContaining('lacks the callers') },
    ]);
  });

  it('takes a stack that ends early as whole: addresses of zero are counted, but not stored', async () => {
    const tables = hiperfFeatures.stackTables([{ pid: 100, nodes: [{ index: 7, address: 0x7000_1010n, caller: 0 }] }]);
    const decoded = await decodeHiperf([comm, libMap, withStackId(sampleAt(10n, []), 7, 3)], [tables]);
    expect(decoded.samples.map(({ frames }) => frames.length)).toEqual([1]);
    expect(decoded.diagnostics.list()).toEqual([]);
  });

  // The second table begins after the count of tables, and a head of 12 bytes and a node of 12 bytes.
  it.each([
    ['is cut off', (bytes: Uint8Array) => bytes.subarray(0, -1)],
    ['has an index of more than 23 bits', (bytes: Uint8Array) => bytes.with(28 + 15, 0xff)],
    ['counts more nodes than it has', (bytes: Uint8Array) => bytes.with(28 + 8, 0xff)],
    ['is the second of a process', (bytes: Uint8Array) => bytes.with(28, 100)],
  ])('reports a table that %s, and has the stacks of those before it', async (_, damage) => {
    const tables = [0x7000_1010n, 0x7000_1110n].map((address, i) => ({ pid: 100 + i, nodes: [{ index: 7, address, caller: 0 }] }));
    const { bit, bytes } = hiperfFeatures.stackTables(tables);
    const decoded = await decodeHiperf([comm, libMap, withStackId(sampleAt(10n, []), 7, 1)], [{ bit, bytes: damage(bytes) }]);
    expect(decoded.samples.map(({ frames }) => frames.map(({ address }) => address))).toEqual([[0x5010n]]);
    expect(decoded.diagnostics.list().map(({ code }) => code)).toEqual(['feature-damaged']);
  });

  it('has no more tables or files than recordings have, and says so', () => {
    const limit = 1 << 16;
    const tables = hiperfFeatures.stackTables(Array.from({ length: limit + 1 }, (_, pid) => ({ pid, nodes: [{ index: 7, address: 1n, caller: 0 }] })));
    const symbols = hiperfFeatures.symbols(Array.from({ length: limit + 1 }, () => ({ path: '', type: 3 })));
    const features: Features = { present: new Set() };
    const diagnostics = new Diagnostics();
    for (const { bit, bytes } of [tables, symbols]) readFeature(features, bit, new ByteView(bytes, true), 0, diagnostics);
    expect(features.hiperf?.files).toHaveLength(limit);
    expect([limit - 1, limit].map((pid) => features.hiperf?.stackTables?.find(pid, 7 | (1 << 23), 0))).toEqual(['whole', 'incomplete']);
    expect(diagnostics.count('feature-damaged')).toBe(2);
  });

  it('has the pids of servers between registers and stack on HarmonyOS’s own kernel', async () => {
    const server: AttrSpec = { ...CYCLES, sampleType: [...CYCLES.sampleType, 'serverPids'] };
    const sample = record.sample({ time: 10n, pid: 100, tid: 100, period: 1n, callchain: [], serverPids: [200n, 300n] });
    const features = [hiperfFeatures.stackTables([{ pid: 100, nodes: [{ index: 7, address: 0x7000_1010n, caller: 0 }] }])];
    const bytes = bytesOf([comm, libMap, withStackId(sample, 7, 1)], features, { attrs: [server] });
    const decoded = await decode(bytes);
    expect(decoded.samples.map(({ frames }) => frames.map(({ address }) => address))).toEqual([[0x5010n]]);
    expect(decoded.diagnostics.list()).toEqual([]);
    expect((await recordsOf(bytes)).at(-1)).toMatchObject({ serverPids: [200n, 300n], stackId: 7n | (1n << 23n) });
    const info = await (await openRecording(bytes)).info();
    expect(info.events[0].attr.sampleType.at(-1)).toBe('SERVER_PID');

    const dumping: AttrSpec = { ...DUMPING, sampleType: [...DUMPING.sampleType, 'serverPids'] };
    const dump = dumpedStack([0x7000_1010n, 0x7000_1110n]);
    const dumped = record.sample({ time: 10n, pid: 100, tid: 100, callchain: [], serverPids: [200n], ...dump });
    const [dumpRecord] = await recordsOf(bytesOf([dumped], [hiperfFeatures.symbols([])], { attrs: [dumping] }));
    expect(dumpRecord).toMatchObject({ serverPids: [200n], userStack: { bytes: dump.stackUser?.data } });
  });

  it('shows in its records what leads to a stack', async () => {
    const records = await recordsOf(bytesOf([withStackId(sampleAt(10n, []), 7, 1)], [hiperfFeatures.stackTables([{ pid: 100, nodes: [] }])]));
    expect(records).toMatchObject([{ type: 'SAMPLE', callchain: [], stackId: 7n | (1n << 23n) }]);
    expect(records[0]).not.toHaveProperty('surplusBytes');
  });

  it('counts how long its switches took', async () => {
    const switches: AttrSpec = { ...SWITCHES, name: 'sched:sched_switch' };
    const decoded = await decodeHiperf(
      [comm, sampleAt(10n, [context.user, 1n]), sampleAt(20n, [context.user, 1n], { attr: 1, period: 1n }), sampleAt(50n, [context.user, 1n])],
      [hiperfFeatures.symbols([]), hiperfFeatures.offCpu()],
      { attrs: [CYCLES, switches], features: { eventDesc: true } },
    );
    expect(decoded.samples.map(({ event, period }) => [event, period])).toEqual([
      ['hw-cpu-cycles', 250_000],
      ['sched:sched_switch', 30],
      ['hw-cpu-cycles', 250_000],
    ]);
  });

  it('tells its command line, when it was made and what it ran', async () => {
    const features = [
      hiperfFeatures.cmdline('hiperf record -d 1'),
      hiperfFeatures.symbols([]),
      hiperfFeatures.workload('/home/me/run'),
      hiperfFeatures.recordTime('Wed Dec  6 21:28:45 2023'),
    ];
    const recording = await openRecording(bytesOf([comm, sampleAt(10n, [context.user, 1n])], features));
    const info = await recording.info();
    expect(info).toMatchObject({
      commandLine: ['hiperf', 'record', '-d', '1'],
      hiperf: [
        { name: 'hiperf_workloader_cmd', value: '/home/me/run' },
        { name: 'hiperf_record_time', value: 'Wed Dec  6 21:28:45 2023' },
      ],
      features: ['ARCH', 'CMDLINE', 'HIPERF_FILES_SYMBOL', 'HIPERF_WORKLOAD_CMD', 'HIPERF_RECORD_TIME'],
      diagnostics: [],
    });
    expect(info.simpleperf).toBeUndefined();
    expect(anonymousInfo(info).hiperf?.map(({ name }) => name)).toEqual(['hiperf_record_time']);
  });

  it('is not taken for one of simpleperf: its events keep perf’s names', async () => {
    const decoded = await decodeHiperf([comm, sampleAt(10n, [context.user, 1n])], [hiperfFeatures.symbols([])], { attrs: [{ ...CLOCK, type: 0 }] });
    expect(decoded.samples.map(({ event }) => event)).toEqual(['cycles']);
  });
});
