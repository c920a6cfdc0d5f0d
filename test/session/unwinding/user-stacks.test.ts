import { describe, expect, it, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import type { ReadProfileOptions } from '../../../src/pipeline/read-profile.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { APP, decodeAll, FEATURES, LIBRARY, MAIN, mapped, sample, shown, start } from '../../support/builders/recordings/dumped-recording.ts';
import { DUMPING, dumpedStack } from '../../support/builders/recordings/dumped-stack.ts';
import {
  type AttrSpec,
  context,
  encodeFile,
  misc,
  type RecordSpec,
  record,
  type SampleFields,
  toolRecords,
} from '../../support/builders/recordings/perf-encoder.ts';
import { META } from '../../support/builders/recordings/simpleperf-recordings.ts';
import { assembleFrames, CfaCode } from '../../support/builders/unwind/frame-assembler.ts';
import { decode } from '../../support/readers/decode.ts';

describe('stacks of samples with registers and a dump', () => {
  describe('at a switch', () => {
    const attr: AttrSpec = { ...DUMPING, name: 'context-switches', type: 1, config: 3n };
    const at = (time: bigint) => ({ sampleId: { pid: 100, tid: 101, time } });
    const records = [
      ...start(),
      sample(10n, [0x500010n, 0x500020n, MAIN], { tid: 101 }),
      record.switch({ out: true }, at(11n)),
      record.switch({}, at(31n)),
      sample(40n, [0x500010n, MAIN], { tid: 102 }),
    ];

    it('become those of the time off the CPU', async () => {
      const { samples, session } = await decodeAll(records, { offCpu: true, filter: { events: ['off-cpu:waiting'] } }, attr);
      expect(samples.map(({ period }) => period)).toEqual([20]);
      expect(shown(samples)).toEqual(['11: 10 20 100']);
      expect(session.unwindEnds.all).toBe(2);
    });

    it('are not unwound for threads that were not asked for', async () => {
      const { samples, session } = await decodeAll(records, { offCpu: true, filter: { tids: [102] } }, attr);
      expect(shown(samples)).toEqual(['40: 10 100']);
      expect(session.unwindEnds.all).toBe(1);
    });
  });

  it('are whole, with return addresses as callers', async () => {
    const { samples, diagnostics, session } = await decodeAll([...start(), sample(10n, [0x500010n, 0x500020n, MAIN])]);
    const frame = (dso: string, address: bigint, isReturnAddress: boolean) => ({ dso, address, isReturnAddress, cpumode: 2 });
    expect(samples[0].frames).toEqual([frame(LIBRARY, 0x10n, false), frame(LIBRARY, 0x20n, true), frame(APP, 0x100n, true)]);
    expect(diagnostics.list()).toEqual([]);
    expect(session.unwindEnds).toMatchObject({ complete: 1, cut: 0 });
  });

  it('follow the kernel part of the callchain', async () => {
    const kernel = [context.kernel, 0xffffffff81000010n, 0xffffffff81000020n];
    const records = [...start(), sample(10n, [0x500010n, MAIN], { ip: kernel[1], callchain: kernel })];
    const { samples } = await decodeAll(records.with(-1, { ...records[2], misc: misc.kernel }));
    expect(shown(samples)).toEqual([`10: [${kernel[1]}] [${kernel[2]}] 10 100`]);
    expect(samples[0].frames.map(({ isReturnAddress }) => isReturnAddress)).toEqual([false, true, false, true]);
  });

  it('follow the address of the kernel where nothing else of it was recorded', async () => {
    const address = 0xffffffff81000010n;
    const records = [...start(), sample(10n, [0x500010n, MAIN], { ip: address })];
    expect(shown((await decodeAll(records.with(-1, { ...records[2], misc: misc.kernel }))).samples)).toEqual([`10: [${address}] 10 100`]);
    expect(shown((await decodeAll(records)).samples)).toEqual(['10: 10 100']);
  });

  it('are the address of the sample alone if the registers that unwinding needs were not recorded', async () => {
    const attr: AttrSpec = { ...DUMPING, sampleRegsUser: 1n << 6n };
    const fields = { ...dumpedStack([0x500010n, MAIN]), regsUser: { abi: 2 as const, regs: [0n] } };
    for (const truncated of ['mark', 'drop'] as const) {
      const { samples, session } = await decodeAll([...start(), sample(10n, [0x500010n, MAIN], fields)], { truncated }, attr);
      expect(shown(samples)).toEqual(['10: 10']);
      expect(session.unwindEnds.notUnwound).toBe(1);
    }
    const withoutAddress = { ...attr, sampleType: ['tid', 'time', 'callchain', 'regsUser', 'stackUser'] } satisfies AttrSpec;
    expect(shown((await decodeAll([...start(), sample(10n, [0x500010n, MAIN], fields)], {}, withoutAddress)).samples)).toEqual(['10: ']);
  });

  it('go through run-time code by frame pointers, wherever it lies', async () => {
    for (const at of [0x7fd7_7000_0000n, 0x7fd7_f000_0000n]) {
      const { samples } = await decodeAll([...start(), mapped(3n, at, '//anon'), sample(10n, [at + 0x10n, at + 0x20n, MAIN])]);
      expect(shown(samples)).toEqual([`10: ${(at + 0x10n).toString(16)} ${(at + 0x20n).toString(16)} 100`]);
    }
  });

  it('have callers in run-time code even while it is writable and not executable', async () => {
    const [before, at, behind] = [0x8f0000n, 0x900000n, 0x910000n];
    const data = (addr: bigint, len: bigint): RecordSpec =>
      record.mmap2({ pid: 100, addr, len, filename: '//anon', prot: 3 }, { misc: misc.user | misc.mmapData, sampleId: { time: 4n } });
    const called = (from: bigint): RecordSpec => sample(10n, [0x500010n, from + 0x10n]);
    const shownWith = async (options: ReadProfileOptions, ...records: RecordSpec[]): Promise<(string | undefined)[][]> => {
      const { samples } = await decodeAll([...start(), mapped(3n, at, '//anon'), ...records], options);
      return samples.map(({ frames }) => frames.map(({ dso }) => dso));
    };
    const whole = [[LIBRARY, '/tmp/perf-100.map']];
    expect(await shownWith({}, data(at, 0x10000n), called(at))).toEqual(whole);
    expect(await shownWith({}, data(before, 0x30000n), called(at))).toEqual(whole);
    expect(await shownWith({}, data(at + 0x8000n, 0x10000n), called(at + 0x8000n))).toEqual(whole);
    // What was not code before is not code now.
    for (const other of [before, behind]) expect(await shownWith({}, data(before, 0x30000n), called(other))).toEqual([[LIBRARY, '//anon']]);
    expect(await shownWith({ compatPerf: true }, data(at, 0x10000n), called(at))).not.toEqual(whole);
  });

  it.each(['[stack]', '/usr/share/locale/C.utf8/LC_CTYPE'])('end before a return address in %s that is not mapped as code', async (filename) => {
    const data = record.mmap2({ pid: 100, addr: 0x900000n, len: 0x10000n, filename, prot: 3 }, { misc: misc.user | misc.mmapData, sampleId: { time: 3n } });
    const { samples, session } = await decodeAll([...start(), data, sample(10n, [0x500010n, 0x500020n, 0x900010n, MAIN])]);
    expect(shown(samples)).toEqual(['10: 10 20 [0]']);
    expect(session.unwindEnds).toMatchObject({ complete: 0, cut: 1 });
  });

  it('go through the files that perf inject makes of JIT functions by their rules, or by what their code does, or else by frame pointers', async () => {
    const [code, rsp, rip] = [0x501000n, 7, 16];
    const cie = { returnAddress: rip, code: new CfaCode().defCfa(rsp, 16).offset(rip, 1) };
    const { bytes } = assembleFrames([[cie, [{ start: TEXT.vaddr, sizeBytes: TEXT.sizeBytes, code: new CfaCode() }]]], { addr: TEXT.vaddr + 0x900 });
    const rules = { moreSections: [{ name: '.eh_frame', addr: TEXT.vaddr + 0x900, content: bytes }] };
    const ips = [code + 0x10n, code + 0x110n, MAIN];
    const whole = sample(10n, ips);
    const { regsUser } = dumpedStack(ips);
    const withoutFp = sample(10n, ips, { regsUser: { abi: 2, regs: regsUser?.regs?.with(0, 0x1234n) ?? [] } });
    const stackOf = async (path: string, taken: RecordSpec, plan = {}, end: readonly number[] = []): Promise<string[]> => {
      const files = new MadeFiles();
      const elf = buildElf({ classBits: 64, littleEndian: true, ...plan });
      elf.set(end, TEXT.offset + 0x200);
      files.content.set(path, elf);
      const map = record.mmap2({ pid: 100, addr: code, len: 0x1000n, pgoff: BigInt(TEXT.offset), filename: path }, { sampleId: { time: 2n } });
      const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false }, new Diagnostics());
      return shown((await decodeAll([mapped(1n, 0x400000n, APP), map, taken], { symbolizer, truncated: 'keep' })).samples);
    };
    const jitted = '/home/u/.debug/jit/jitted-100-7.so';
    expect(await stackOf(jitted, whole)).toEqual(['10: 1010 1110 100']);
    expect(await stackOf(jitted, withoutFp)).toEqual(['10: 1010']);
    expect(await stackOf(jitted, withoutFp, rules)).toEqual(['10: 1010 1110 100']);
    const popAndReturn = [0x5d, 0xc3];
    expect(await stackOf(jitted, withoutFp, {}, popAndReturn)).toEqual(['10: 1010 1110 100']);
    // No call is before the return address.
    expect(await stackOf(LIBRARY, whole)).toEqual(['10: 1010']);
    expect(await stackOf(LIBRARY, withoutFp, {}, popAndReturn)).toEqual(['10: 1010']);
  });

  it('replace the user part of the callchain, unless that shows more', async () => {
    const callchain = [context.user, 0x500010n, 0x500444n, 0x400444n];
    const { samples, session } = await decodeAll([
      ...start(),
      sample(10n, [0x500010n, MAIN], { callchain }),
      sample(11n, [0x500010n, MAIN], { callchain, ...dumpedStack([0x500010n, 0x500020n, MAIN], 2) }),
    ]);
    expect(shown(samples)).toEqual(['10: 10 100', '11: 10 444 444']);
    expect(session.unwindEnds).toMatchObject({ complete: 1, cut: 0, betterRecorded: 1 });
  });

  it('have return addresses as callers in the kernel, although simpleperf records calls in its callchains', async () => {
    const callchain = [context.kernel, 0xffffffff_81000010n, 0xffffffff_81000020n, context.user, 0x500010n];
    const records = [...start(), sample(10n, [0x500010n, MAIN], { callchain }), sample(11n, [0x500010n], { callchain, regsUser: { abi: 0 } })];
    const { samples } = await decode(encodeFile({ attrs: [DUMPING], records, features: FEATURES, foreignFeatures: [META] }));
    expect(samples.map(({ frames }) => frames.map(({ isReturnAddress }) => isReturnAddress))).toEqual([
      [false, true, false, true],
      [false, false, false],
    ]);
  });

  test.each<[string, SampleFields]>([
    ['no registers', { regsUser: { abi: 0 } }],
    ['no stack', { stackUser: { data: new Uint8Array() } }],
  ])('stay as recorded with %s', async (_, fields) => {
    const { samples, session } = await decodeAll([...start(), sample(10n, [0x500010n, MAIN], { callchain: [context.user, 0x500010n, 0x500444n], ...fields })]);
    expect(shown(samples)).toEqual(['10: 10 444']);
    expect(session.unwindEnds.all).toBe(0);
  });

  it('see the process as it was at their time, even if its maps come later in the file', async () => {
    const records = [
      mapped(1n, 0x400000n, APP),
      sample(50n, [0x500010n, MAIN]),
      sample(30n, [0x500010n, MAIN]),
      mapped(40n, 0x500000n, LIBRARY),
      toolRecords.finishedRound(),
    ];
    const { samples } = await decodeAll(records);
    expect(samples.map(({ time, frames }) => [time, frames[0].dso])).toEqual([
      [30n, undefined],
      [50n, LIBRARY],
    ]);
  });
});

describe('filters', () => {
  it('keep unwanted stacks from being unwound', async () => {
    const other = record.sample({ time: 12n, ip: 0x400010n, pid: 200, callchain: [], ...dumpedStack([0x400010n, MAIN]) });
    const { samples, session } = await decodeAll([...start(), sample(10n, [0x500010n, MAIN]), other], { filter: { pids: [200] } });
    expect(samples).toHaveLength(1);
    expect(session.unwindEnds.all).toBe(1);
  });
});

describe('samples that count for several events', () => {
  it('have the same stack for each', async () => {
    const attr: AttrSpec = { ...DUMPING, ids: [7n], sampleType: [...DUMPING.sampleType, 'read', 'id'], readFormat: ['id', 'group'] };
    const other: AttrSpec = { ...attr, name: 'page-faults', config: 2n, ids: [8n] };
    const read = {
      values: [
        { value: 5n, id: 7n },
        { value: 3n, id: 8n },
      ],
    };
    const bytes = encodeFile({ attrs: [attr, other], records: [...start(), sample(10n, [0x500010n, MAIN], { id: 7n, read })], features: FEATURES });
    const { samples } = await decode(bytes);
    expect(shown(samples)).toEqual(['10: 10 100', '10: 10 100']);
  });
});
