import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { type SymbolFiles, Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import {
  context,
  encodeFile,
  type ForeignFeature,
  hiperfFeatures,
  misc,
  type RecordSpec,
  record,
  simpleperfFeatures,
  toolRecords,
} from '../../support/builders/recordings/perf-encoder.ts';
import { APP, CLOCK, sampleAt, startApp } from '../../support/builders/recordings/recorded-app.ts';
import { decode } from '../../support/readers/decode.ts';

describe('maps', () => {
  it('name anonymous code as perf does, separately for each process', async () => {
    const anon = (pid: number, filename: string, prot = 7): RecordSpec =>
      record.mmap2({ pid, addr: 0x700000n, len: 0x1000n, filename, prot }, { sampleId: { time: 3n } });
    const records = [anon(100, '//anon'), anon(200, '//anon'), anon(300, '[heap]', 3), anon(400, '[vdso]', 5)];
    const at = (pid: number): RecordSpec => sampleAt(10n, 0x700010n, undefined, pid);
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...records, at(100), at(200), at(300), at(400)] }));
    expect(samples.map(({ frames: [frame] }) => [frame.dso, frame.address])).toEqual([
      ['/tmp/perf-100.map', 0x700010n],
      ['/tmp/perf-200.map', 0x700010n],
      ['[heap]', 0x700010n],
      ['[vdso32]', 0x10n],
    ]);
  });

  it('name code in memory that has a name as other code without a file, but not as perf does, nor in recordings that have its functions', async () => {
    const map = record.mmap2({ pid: 100, addr: 0x700000n, len: 0x1000n, filename: '[anon:v8]', prot: 7 }, { sampleId: { time: 3n } });
    const spec = { attrs: [CLOCK], records: [map, sampleAt(10n, 0x700010n)] };
    const frameOf = async (foreignFeatures: readonly ForeignFeature[] = [], compatPerf = false) => {
      const { samples } = await decode(encodeFile({ ...spec, foreignFeatures }), { compatPerf });
      return [samples[0].frames[0].dso, samples[0].frames[0].address];
    };
    expect(await frameOf()).toEqual(['/tmp/perf-100.map', 0x700010n]);
    expect(await frameOf([], true)).toEqual(['[anon:v8]', 0x10n]);
    expect(await frameOf([simpleperfFeatures.metaInfo({})])).toEqual(['[anon:v8]', 0x10n]);
    expect(await frameOf([hiperfFeatures.symbols([])])).toEqual(['[anon:v8]', 0x700010n]);
  });

  it('of the vdso begin at its beginning, also where an old kernel gives its address for its place in the file', async () => {
    const vdso = record.mmap({ pid: 100, addr: 0x7fff_77c7_d000n, len: 0x1000n, pgoff: 0x7fff_77c7_d000n, filename: '[vdso]' }, { sampleId: { time: 3n } });
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [vdso, sampleAt(10n, 0x7fff_77c7_d70cn)] }));
    expect(samples[0].frames).toEqual([{ dso: '[vdso]', address: 0x70cn, isReturnAddress: false, cpumode: 2 }]);
  });

  it("of programs in virtual machines are the process's, as perf reads them, unless ids are of virtual machines", async () => {
    const map = record.mmap2(
      { pid: 100, addr: 0x400000n, len: 0x10000n, pgoff: 0x1000n, filename: APP, ino: 5n },
      { misc: misc.guestUser, sampleId: { time: 3n } },
    );
    const dsoOf = async (...first: readonly RecordSpec[]) => {
      const { samples, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records: [...first, map, sampleAt(10n, 0x400010n)] }));
      return [samples[0].frames[0].dso, diagnostics.list().map(({ code }) => code)];
    };
    expect(await dsoOf()).toEqual([APP, []]);
    expect(await dsoOf(toolRecords.idIndex([{ id: 1n, machinePid: 0n }]))).toEqual([APP, []]);
    expect(await dsoOf(toolRecords.idIndex([{ id: 1n }, { id: 2n, machinePid: 812n }]))).toEqual([undefined, ['guest-map']]);
  });

  it('of processes that perf cannot see, which all have the number 0, are forgotten at their forks', async () => {
    const fork = (time: bigint): RecordSpec => record.fork({ pid: 0, ppid: 0, tid: 0, ptid: 0 }, { sampleId: { time } });
    const exec = [
      record.comm({ pid: 0, comm: 'app', exec: true }, { sampleId: { time: 20n } }),
      record.mmap2({ pid: 0, addr: 0x400000n, len: 0x10000n, pgoff: 0x1000n, filename: APP, ino: 5n }, { sampleId: { time: 21n } }),
    ];
    const at = (time: bigint): RecordSpec => sampleAt(time, 0x400010n, undefined, 0);
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(0), at(10n), fork(11n), at(12n), ...exec, at(30n)] }));
    expect(samples.map(({ comm, frames: [{ dso }] }) => [comm, dso])).toEqual([
      ['app', APP],
      ['app', undefined],
      ['app', APP],
    ]);
    expect(diagnostics.list()).toMatchObject([{ code: 'unseen-processes', severity: 'warning', message: expect.stringContaining('--pid=host') }]);
    // Threads and children of other processes have numbers.
    const seen = [
      ...startApp(),
      record.fork({ pid: 101, ppid: 100, tid: 101, ptid: 100 }, { sampleId: { time: 5n } }),
      sampleAt(10n, 0x400010n, undefined, 101),
    ];
    const other = await decode(encodeFile({ attrs: [CLOCK], records: seen }));
    expect([other.samples[0].frames[0].dso, other.diagnostics.list()]).toEqual([APP, []]);
  });

  it('distinguish the vdso of 32-bit programs, also by build id', async () => {
    const vdso = (pid: number, addr: bigint): RecordSpec => record.mmap2({ pid, addr, len: 0x2000n, filename: '[vdso]', prot: 5 }, { sampleId: { time: 3n } });
    const records = [vdso(100, 0x7ffe_1234_0000n), vdso(200, 0xf7f2_0000n), sampleAt(10n, 0x7ffe_1234_0010n), sampleAt(11n, 0xf7f2_0010n, undefined, 200)];
    const buildIds = [
      { buildId: new Uint8Array(20).fill(0x64), filename: '[vdso]' },
      { buildId: new Uint8Array(20).fill(0x32), filename: '[vdso32]' },
    ];
    const vdsosOf = async (arch: string, compatPerf = false): Promise<string[]> => {
      const { profile } = await decode(encodeFile({ attrs: [CLOCK], records, features: { arch, buildIds } }), { compatPerf });
      return profile.mappings.map(({ kind, name, buildId }) => `${kind} ${name} ${buildId.slice(0, 2)}`);
    };
    expect(await vdsosOf('x86_64')).toEqual(['vdso [vdso] 64', 'vdso [vdso32] 32']);
    expect(await vdsosOf('mips64')).toEqual(['vdso [vdso] 64', 'vdso [vdso32] 32']);
    // perf 6.1 takes them for one there.
    expect(await vdsosOf('mips64', true)).toEqual(['vdso [vdso] 64']);
    // A 32-bit kernel has only one.
    expect(await vdsosOf('i686')).toEqual(['vdso [vdso] 64']);
  });

  it('take build ids from the record, or by name from the header', async () => {
    const id = new Uint8Array(20).fill(0xab);
    const records = [
      record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename: '/lib/a.so', buildId: id }, { sampleId: { time: 1n } }),
      record.mmap2({ pid: 100, addr: 0x500000n, len: 0x1000n, filename: '/lib/b.so', ino: 9n }, { sampleId: { time: 1n } }),
      sampleAt(10n, 0x400001n),
    ];
    const { profile } = await decode(
      encodeFile({ attrs: [CLOCK], records, features: { buildIds: [{ buildId: new Uint8Array(20).fill(0xcd), filename: '/lib/b.so' }] } }),
    );
    expect(profile.mappings.map((mapping) => [mapping.name, mapping.buildId])).toEqual([
      ['/lib/a.so', 'ab'.repeat(20)],
      ['/lib/b.so', 'cd'.repeat(20)],
    ]);
  });

  describe('of text that a program moves to huge pages', () => {
    const HUGE = 0x200000n;
    const text = (start: bigint, end: bigint): RecordSpec =>
      record.mmap2({ pid: 100, addr: start, len: end - start, pgoff: start - 0x400000n, filename: APP, ino: 5n }, { sampleId: { time: 1n } });
    const anon = (start: bigint, end: bigint, pid = 100): RecordSpec =>
      record.mmap2({ pid, addr: start, len: end - start, pgoff: start, filename: '//anon', prot: 5 }, { sampleId: { time: 1n } });
    const [FROM, TO] = [0x572000n, 0xa41000n];
    const framesOf = async (records: RecordSpec[], ips: bigint[], compatPerf = false): Promise<unknown[]> => {
      const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...records, ...ips.map((ip) => sampleAt(10n, ip))] }), { compatPerf });
      return samples.map(({ frames: [{ dso, address }] }) => [dso, address]);
    };

    it('still belong to its file, whether it was moved before or during the recording', async () => {
      const ips = [FROM, 3n * HUGE, 3n * HUGE + 0x123n, 5n * HUGE - 1n, TO - 1n];
      const inFile = ips.map((ip) => [APP, ip - 0x400000n]);
      const [from, to] = [3n * HUGE, 5n * HUGE];
      expect(await framesOf([text(FROM, TO), anon(from, to), anon(from, to)], ips)).toEqual(inFile);
      expect(await framesOf([text(FROM, from), anon(from, to), text(to, TO)], ips)).toEqual(inFile);
      const asPerf = ips.map((ip) => (ip >= from && ip < to ? ['/tmp/perf-100.map', ip] : [APP, ip - 0x400000n]));
      expect(await framesOf([text(FROM, TO), anon(from, to)], ips, true)).toEqual(asPerf);
      expect(await framesOf([text(FROM, from), anon(from, to), text(to, TO)], ips, true)).toEqual(asPerf);
    });

    it('belong to no file unless they are whole huge pages of it', async () => {
      const perfMap = (ip: bigint): unknown[] => ['/tmp/perf-100.map', ip];
      const [page, from] = [0x1000n, 3n * HUGE];
      expect(await framesOf([text(FROM, TO), anon(from, from + page)], [from])).toEqual([perfMap(from)]);
      expect(await framesOf([text(FROM, TO), anon(from + page, from + page + HUGE)], [from + page])).toEqual([perfMap(from + page)]);
      expect(await framesOf([text(FROM, TO), anon(from, 6n * HUGE)], [from])).toEqual([perfMap(from)]);
      expect(await framesOf([text(FROM, TO), anon(from, from + HUGE, 200)], [from])).toEqual([[APP, from - 0x400000n]]);
      expect(await framesOf([anon(from, from + HUGE), text(from + HUGE, TO)], [from])).toEqual([perfMap(from)]);
      const library = record.mmap2({ pid: 100, addr: from, len: HUGE, pgoff: 0n, filename: '/lib/a.so', ino: 6n }, { sampleId: { time: 1n } });
      expect(await framesOf([text(FROM, TO), library], [from])).toEqual([['/lib/a.so', 0n]]);
      const elsewhere = record.mmap2({ pid: 100, addr: from + HUGE, len: page, pgoff: 0n, filename: APP, ino: 5n }, { sampleId: { time: 1n } });
      expect(await framesOf([text(FROM, from), anon(from, from + HUGE), elsewhere], [from])).toEqual([perfMap(from)]);
    });
  });

  it('keep two files under one name apart', async () => {
    const map = (pid: number, ino: bigint): RecordSpec =>
      record.mmap2({ pid, addr: 0x400000n, len: 0x1000n, filename: '/lib/a.so', ino }, { sampleId: { time: 1n } });
    const { profile } = await decode(encodeFile({ attrs: [CLOCK], records: [map(1, 5n), map(2, 6n), map(3, 5n), sampleAt(10n, 1n)] }));
    expect(profile.mappings).toHaveLength(2);
  });

  it('cast doubt on a build id that the header has for a name if two files share it', async () => {
    const PATH = '/lib/a.so';
    type FileFields = { maj?: number; ino: bigint } | { buildId: Uint8Array };
    const map = (pid: number, file: FileFields): RecordSpec =>
      record.mmap2({ pid, addr: 0x400000n, len: 0x1000n, filename: PATH, ...file }, { sampleId: { time: 1n } });
    const id = (byte: number): Uint8Array => new Uint8Array(20).fill(byte);
    const file = buildElf({ classBits: 64, littleEndian: true, buildId: 'cd'.repeat(20), symbols: [{ name: 'f', value: TEXT.vaddr, sizeBytes: 64 }] });
    const doubts = async (...files: FileFields[]): Promise<number> => {
      const machine = new MadeFiles();
      machine.content.set(PATH, file);
      const diagnostics = new Diagnostics();
      const symbolizer = new Symbolizer(machine, { debugDirs: [], compatPerf: false }, diagnostics);
      const records = [...files.map((one, i) => map(i + 1, one)), ...files.map((_, i) => sampleAt(10n, 0x400000n, undefined, i + 1))];
      await decode(encodeFile({ attrs: [CLOCK], records, features: { buildIds: [{ buildId: id(0xcd), filename: PATH }] } }), { symbolizer });
      return diagnostics.count('build-id-shared');
    };
    expect(await doubts({ ino: 5n }, { ino: 6n })).toBe(2);
    expect(await doubts({ ino: 5n }, { ino: 5n })).toBe(0);
    // On overlayfs, one file has two devices: that of its layer, which the kernel reports, and that of the overlay, which perf gets from /proc.
    expect(await doubts({ maj: 8, ino: 5n }, { maj: 0, ino: 5n })).toBe(0);
    expect(await doubts({ maj: 8, ino: 5n }, { maj: 0, ino: 5n }, { maj: 8, ino: 6n })).toBe(3);
    // A file without a recorded inode may be any of them.
    expect(await doubts({ ino: 5n }, { ino: 0n })).toBe(0);
    expect(await doubts({ buildId: id(0xab) }, { buildId: id(0xcd) })).toBe(0);
  });

  it('of one file stay together, whether written by perf (without inode generation) or the kernel', async () => {
    const map = (pid: number, inoGeneration: bigint): RecordSpec =>
      record.mmap2({ pid, addr: 0x400000n, len: 0x1000n, filename: '/lib/a.so', ino: 5n, inoGeneration }, { sampleId: { time: 1n } });
    const { profile } = await decode(encodeFile({ attrs: [CLOCK], records: [map(1, 0n), map(2, 77n), sampleAt(10n, 1n)] }));
    expect(profile.mappings).toHaveLength(1);
  });

  it('of run-time code in the kernel are named by the record itself', async () => {
    const records = [
      record.ksymbol({ addr: 0xffffffffc0000000n, len: 0x100, name: 'bpf_prog_mine' }, { sampleId: { time: 1n } }),
      sampleAt(10n, 0n, [context.kernel, 0xffffffffc0000010n]),
    ];
    const files: SymbolFiles = {
      open: async () => undefined,
      ownVdso: async () => undefined,
      runningKernel: async () => undefined,
      defaultBuildIdDir: () => undefined,
      decompress: async () => new Uint8Array(),
    };
    const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false }, new Diagnostics());
    const { profile } = await decode(encodeFile({ attrs: [CLOCK], records }), { symbolizer });
    const { locations, functions, strings } = profile;
    expect(strings.get(functions.name(locations.lineFunction(0, 0)))).toBe('bpf_prog_mine');
    expect(locations.symbolOffset(0)).toBe(0x10);
  });
});
