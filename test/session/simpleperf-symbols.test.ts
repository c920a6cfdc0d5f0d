import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import type { ReadProfileOptions } from '../../src/pipeline/read-profile.ts';
import { type SymbolFiles, Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import {
  context,
  dsoType,
  misc,
  record,
  type SimpleperfFileSpec,
  simpleperfFeatures,
  simpleperfRecords,
  splitRecord,
} from '../support/builders/recordings/perf-encoder.ts';
import { CLOCK, comm, decodeRecording, kernelMap, LIB, libMap, META, namesOf, sampleAt } from '../support/builders/recordings/simpleperf-recordings.ts';

describe('symbols inside the recording', () => {
  const lib: SimpleperfFileSpec = {
    path: LIB,
    type: dsoType.elf,
    minVaddr: 0x24000n,
    offsetOfMinVaddr: 0x4000n,
    symbols: [
      { vaddr: 0x25000n, len: 0x100, name: 'callee' },
      { vaddr: 0x25100n, len: 0x100, name: 'caller' },
    ],
  };
  const sample = sampleAt(10n, [context.user, 0x7000_1010n, 0x7000_1100n]);

  it.each([
    ['FILE', simpleperfFeatures.file],
    ['FILE2', simpleperfFeatures.file2],
  ])('of %s name user code, by virtual address', async (_, encode) => {
    const decoded = await decodeRecording({ records: [comm, libMap, sample], features: [META, encode([lib])] });
    // Callers are the calls themselves: a call at the very start of a function belongs to that function.
    expect(namesOf(decoded)).toEqual(['callee', 'caller']);
    expect(decoded.profile.mappings.map(({ name, hasSymbols }) => [name, hasSymbols])).toEqual([[LIB, true]]);
    expect(decoded.diagnostics.list()).toEqual([]);
  });

  it('of old recordings are counted from the lowest map of code', async () => {
    const { offsetOfMinVaddr, ...old } = lib;
    const data = record.mmap2({ pid: 100, addr: 0x6000_0000n, len: 0x1000n, pgoff: 0n, filename: LIB, prot: 1 }, { sampleId: { time: 2n } });
    const decoded = await decodeRecording({ records: [comm, data, libMap, sample], features: [simpleperfFeatures.file([old])] });
    expect(namesOf(decoded)).toEqual(['callee', 'caller']);
  });

  it('in records of their own name user code, too', async () => {
    const symbols = (lib.symbols ?? []).map(({ vaddr, len, name }) => simpleperfRecords.symbol({ addr: vaddr, len: BigInt(len), dsoId: 5n, name }));
    const dso = simpleperfRecords.dso({ type: 2n, id: 5n, minVaddr: 0x24000n, name: LIB });
    const lost = simpleperfRecords.symbol({ addr: 1n, len: 1n, dsoId: 6n, name: 'lost' });
    const decoded = await decodeRecording({ records: [comm, libMap, sample, dso, ...symbols, lost] });
    expect(namesOf(decoded)).toEqual(['callee', 'caller']);
    expect(decoded.diagnostics.list().map(({ code, count }) => [code, count])).toEqual([['bad-record', 1]]);
  });

  it('name the kernel, and modules by their own symbols or the kernel’s', async () => {
    const module = (name: string, addr: bigint) =>
      record.mmap({ pid: -1, addr, len: 0x1000n, filename: `/vendor/lib/modules/${name}.ko` }, { misc: misc.kernel });
    const decoded = await decodeRecording({
      records: [
        kernelMap,
        module('own', 0xffffff80_00010000n),
        module('listed', 0xffffff80_00020000n),
        comm,
        sampleAt(10n, [context.kernel, 0xffffff80_00010050n, 0xffffff80_00020050n, 0xffffff90_00000010n]),
      ],
      features: [
        META,
        simpleperfFeatures.file2([
          {
            path: '[kernel.kallsyms]',
            type: dsoType.kernel,
            symbols: [
              { vaddr: 0xffffff80_00020000n, len: 0x100, name: 'listed_function [listed]' },
              { vaddr: 0xffffff90_00000000n, len: 0x100, name: 'do_work' },
            ],
          },
          {
            path: '/vendor/lib/modules/own.ko',
            type: dsoType.kernelModule,
            minVaddr: 0x8n,
            offsetOfMinVaddr: 0x40n,
            symbols: [{ vaddr: 0x10n, len: 0x20, name: 'own_function' }],
          },
        ]),
      ],
    });
    expect(namesOf(decoded)).toEqual(['own_function', 'listed_function', 'do_work']);
    expect(decoded.samples[0].frames.map(({ dso }) => dso)).toEqual(['[own]', '[listed]', '[kernel.kallsyms]']);
  });

  it('name the kernel by its kallsyms, which come in pieces if they are large', async () => {
    const filler = Array.from({ length: 4000 }, (_, i) => `ffffff8100${i.toString(16).padStart(6, '0')} t filler_${i}\n`).join('');
    const kallsyms = simpleperfRecords.kernelSymbol(`${filler}ffffff9000000000 T do_work\nffffff9000000100 T after\n`);
    const sample = sampleAt(10n, [context.kernel, 0xffffff90_00000010n]);
    for (const records of [[kallsyms], splitRecord(kallsyms, [CLOCK], 65_000), splitRecord(kallsyms, [CLOCK], 1001)]) {
      const decoded = await decodeRecording({ records: [...records, kernelMap, sample] });
      expect(namesOf(decoded)).toEqual(['do_work']);
      expect(decoded.session.counts.get(32769)).toBe(1);
      expect(decoded.diagnostics.list()).toEqual([]);
    }
  });

  it('name Java methods that are interpreted or compiled at run time', async () => {
    const jar = '/system/framework/framework.jar';
    const jit = (addr: bigint, file: string) =>
      record.mmap2({ pid: 100, addr, len: 0x100n, pgoff: 0x3c78n, filename: file, prot: 0x4000 }, { sampleId: { time: 2n } });
    const [first, next] = ['perf.data_jit_app_cache:15480-17544', 'perf.data_jit_app_cache:17544-18000'];
    const [second, old] = ['perf.data_jit_zygote_cache:0-99', '/data/TemporaryFile-x'];
    const recording = {
      records: [
        comm,
        record.mmap2({ pid: 100, addr: 0x8000_0000n, len: 0x10000n, pgoff: 0x1000n, filename: jar, prot: 1 }, { sampleId: { time: 2n } }),
        jit(0x9c9e_b000n, first),
        jit(0x9c9e_b100n, next),
        jit(0x9c9e_c000n, second),
        jit(0x9c9e_d000n, old),
        // Here, an interpreted method is at its first instruction.
        sampleAt(10n, [context.user, 0x9c9e_b010n, 0x9c9e_b110n, 0x9c9e_c010n, 0x9c9e_d010n, 0x8000_0100n]),
      ],
      features: [
        META,
        simpleperfFeatures.file2([
          { path: jar, type: dsoType.dex, dexFileOffsets: [44n], symbols: [{ vaddr: 0x1100n, len: 8, name: 'java.lang.Thread.run' }] },
          { path: first, type: dsoType.elf, offsetOfMinVaddr: 0n, symbols: [{ vaddr: 0x9c9e_b000n, len: 0x100, name: 'a.jitted' }] },
          { path: next, type: dsoType.elf, offsetOfMinVaddr: 0n, symbols: [{ vaddr: 0x9c9e_b100n, len: 0x100, name: 'a.next' }] },
          { path: second, type: dsoType.elf, offsetOfMinVaddr: 0n, symbols: [{ vaddr: 0x9c9e_c000n, len: 0x100, name: 'b.jitted' }] },
          { path: old, type: dsoType.elf, offsetOfMinVaddr: 0n, symbols: [{ vaddr: 0x9c9e_d000n, len: 0x100, name: 'c.jitted' }] },
        ]),
      ],
    };
    const decoded = await decodeRecording(recording);
    expect(namesOf(decoded)).toEqual(['a.jitted', 'a.next', 'b.jitted', 'c.jitted', 'java.lang.Thread.run']);
    expect(decoded.samples[0].frames.map(({ dso }) => dso)).toEqual(['[JIT app cache]', '[JIT app cache]', '[JIT zygote cache]', '[JIT cache]', jar]);
    // As in perf, it is in the file that simpleperf put it into.
    const likePerf = await decodeRecording(recording, { compatPerf: true });
    expect(likePerf.samples[0].frames[0]).toMatchObject({ dso: first, address: 0x3c88n });
  });

  it('name the code of a JIT that wrote perf-PID.map, even if no record maps it', async () => {
    const recordings = [
      [],
      [record.fork({ pid: 100, ppid: 1, time: 0n }, { sampleId: { time: 1n } })],
      [record.comm({ pid: 100, comm: 'node', exec: true }, { sampleId: { time: 1n } })],
    ];
    for (const records of recordings) {
      const decoded = await decodeRecording({
        records: [...records, sampleAt(10n, [context.user, 0x5000_0010n, 0x5000_1020n, 0x5000_3000n])],
        features: [
          META,
          simpleperfFeatures.file2([
            {
              path: 'perf-100.map',
              type: dsoType.symbolMap,
              symbols: [
                { vaddr: 0x5000_1000n, len: 0x100, name: 'JS:b' },
                { vaddr: 0x5000_0000n, len: 0x100, name: 'JS:a' },
              ],
            },
          ]),
        ],
      });
      expect(namesOf(decoded)).toEqual(['JS:a', 'JS:b', '0x50003000']);
      expect(decoded.samples[0].frames.map(({ dso }) => dso)).toEqual(['/tmp/perf-100.map', '/tmp/perf-100.map', undefined]);
    }
  });

  it('are asked before files, which are asked for the rest', async () => {
    const asked: string[] = [];
    const none: SymbolFiles = {
      open: async (path) => {
        asked.push(path);
        return undefined;
      },
      defaultBuildIdDir: () => undefined,
      decompress: async () => new Uint8Array(),
      runningKernel: async () => undefined,
      ownVdso: async () => undefined,
    };
    const features = [META, simpleperfFeatures.file2([lib])];
    const decodeWithFiles = async (chain: readonly bigint[], options: ReadProfileOptions = {}) => {
      const diagnostics = new Diagnostics();
      const symbolizer = new Symbolizer(none, { debugDirs: [], compatPerf: false }, diagnostics);
      const decoded = await decodeRecording({ records: [comm, libMap, sampleAt(10n, chain)], features }, { symbolizer, ...options });
      return { names: namesOf(decoded), findings: diagnostics.list() };
    };
    expect(await decodeWithFiles([context.user, 0x7000_1010n])).toEqual({ names: ['callee'], findings: [] });
    expect(asked).toEqual([]);
    // The rest is looked for, but a missing file is not reported if the recording names most of it.
    expect(await decodeWithFiles([context.user, 0x7000_1010n, 0x7000_2000n])).toEqual({ names: ['callee', '0x6000'], findings: [] });
    expect(asked.length).toBeGreaterThan(0);
    // perf does not know them.
    expect((await decodeWithFiles([context.user, 0x7000_1010n], { compatPerf: true })).names).toEqual(['0x5010']);
  });
});
