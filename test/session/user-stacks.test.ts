import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { BufferSource } from '../../src/base/byte-source.ts';
import { Diagnostics } from '../../src/base/diagnostics.ts';
import { PerfconvError } from '../../src/base/errors.ts';
import { LIBRARY_OPTIONS } from '../../src/base/option-words.ts';
import { type ReadProfileOptions, readProfile } from '../../src/pipeline/read-profile.ts';
import { requireMergedSamples, requireSamples } from '../../src/pipeline/require-samples.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { compressedRecords } from '../support/compressed-records.ts';
import { decode, type PlainSample } from '../support/decode.ts';
import { DUMPING, dumpedStack } from '../support/dumped-stack.ts';
import { buildElf, DATA, TEXT } from '../support/elf-builder.ts';
import { assembleFrames, assembleFrameTable, CfaCode } from '../support/frame-assembler.ts';
import { MadeFiles } from '../support/made-symbol-files.ts';
import { splitRecord } from '../support/perf-encoder/simpleperf.ts';
import {
  type AttrSpec,
  context,
  encodeFile,
  encodePipe,
  encodeRecord,
  misc,
  type RecordSpec,
  record,
  type SampleFields,
  toolRecords,
} from '../support/perf-encoder.ts';
import { buildSectionElf } from '../support/section-elf.ts';
import { META } from '../support/simpleperf-recordings.ts';

const FEATURES = { arch: 'x86_64' };
const APP = '/bin/app';
const LIBRARY = '/lib/libwork.so';
const MAIN = 0x400100n;

function mapped(time: bigint, addr: bigint, filename: string, pid = 100): RecordSpec {
  return record.mmap2({ pid, addr, len: 0x10000n, pgoff: 0n, filename }, { sampleId: { time } });
}

function start(): RecordSpec[] {
  return [mapped(1n, 0x400000n, APP), mapped(2n, 0x500000n, LIBRARY)];
}

function sample(time: bigint, ips: readonly bigint[], fields: SampleFields = {}): RecordSpec {
  return record.sample({ time, ip: ips[0], pid: 100, callchain: [], ...dumpedStack(ips, ips.length, 16), ...fields });
}

async function decodeAll(records: readonly RecordSpec[], options: ReadProfileOptions = {}, attr: AttrSpec = DUMPING) {
  return decode(encodeFile({ attrs: [attr], records, features: FEATURES }), options);
}

/** `time: leaf caller caller`, with brackets around the address of a frame without a file. */
function shown(samples: readonly PlainSample[]): string[] {
  return samples.map(
    ({ time, frames }) => `${time}: ${frames.map(({ dso, address }) => (dso === undefined ? `[${address}]` : address.toString(16))).join(' ')}`,
  );
}

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

describe('stacks that do not reach their start', () => {
  const records = [...start(), sample(10n, [0x500010n, MAIN]), sample(11n, [0x500010n, 0x500020n, MAIN], dumpedStack([0x500010n, 0x500020n, MAIN], 2))];

  it('have a root that says so', async () => {
    const symbolizer = new Symbolizer(new MadeFiles(), { debugDirs: [], compatPerf: false }, new Diagnostics());
    const { samples, profile, diagnostics } = await decodeAll(records, { symbolizer });
    expect(shown(samples)).toEqual(['10: 10 100', '11: 10 20 [0]']);
    const root = profile.stacks.parent(profile.stacks.parent(profile.samples?.stack[1] ?? -1));
    const location = profile.stacks.location(root);
    expect(profile.strings.get(profile.functions.name(profile.locations.lineFunction(location, 0)))).toBe('[truncated]');
    expect(profile.locations.isStandIn(location)).toBe(true);
    expect(diagnostics.list().map(({ code, severity, message }) => `${severity} ${code}: ${message}`)).toContain(
      'info truncated-stacks: 50 % of the unwound stacks do not reach the start of their thread: 50 % are cut off by the size of the stack dumps (record with --call-graph dwarf,16384)',
    );
  });

  it('are reported with what opens files if none are read', async () => {
    const { samples, diagnostics } = await decodeAll(records);
    expect(shown(samples)).toEqual(['10: 10 100', '11: 10 20 [0]']);
    expect(diagnostics.list()).toEqual([
      expect.objectContaining({
        code: 'truncated-stacks',
        severity: 'warning',
        message:
          '50 % of the recorded stacks do not reach the start of their thread: they are unwound with the binaries that ran, which only option symbolFiles can open here',
      }),
    ]);
  });

  it('are told from whole stacks with the same frames, in either order', async () => {
    const cut = (time: bigint) => sample(time, [0x500010n, 0x500020n, MAIN], dumpedStack([0x500010n, 0x500020n, MAIN], 2));
    const whole = (time: bigint) => sample(time, [0x500010n, 0x500020n]);
    const { samples } = await decodeAll([...start(), whole(10n), cut(11n), whole(12n)]);
    expect(shown(samples)).toEqual(['10: 10 20', '11: 10 20 [0]', '12: 10 20']);
  });

  it('have their own callers after one that was replaced by the recorded callchain', async () => {
    const cut = (time: bigint, ips: readonly bigint[], fields: SampleFields = {}) => sample(time, ips, { ...dumpedStack(ips, 2), ...fields });
    const others = [0x500030n, 0x500040n, MAIN];
    const callchain = [context.user, 0x500030n, 0x500040n, 0x500050n];
    const { samples } = await decodeAll([...start(), cut(10n, [0x500010n, 0x500020n, MAIN]), cut(11n, others, { callchain }), cut(12n, others)]);
    expect(shown(samples)).toEqual(['10: 10 20 [0]', '11: 30 40 50', '12: 30 40 [0]']);
  });

  it('stay as they are if that was asked for', async () => {
    expect(shown((await decodeAll(records, { truncated: 'keep' })).samples)).toEqual(['10: 10 100', '11: 10 20']);
  });

  it('are given as the reason if no sample is left without them', async () => {
    const bytes = encodeFile({ attrs: [DUMPING], records: [...start(), records[records.length - 1]], features: FEATURES });
    const result = await readProfile(new BufferSource(bytes, 'recording'), { truncated: 'drop' }, new Diagnostics());
    expect(() => requireSamples(result, undefined, LIBRARY_OPTIONS)).toThrow('no sample is left: none of the stacks (1) reaches');
    expect(() => requireMergedSamples(result.profile, [result.session, result.session], LIBRARY_OPTIONS)).toThrow(
      /^no sample is left: none of the stacks \(2\) reaches .* \({ truncated: 'drop' }\)$/,
    );
  });

  it('are not given as the reason if they would be shown', async () => {
    const attr: AttrSpec = { ...DUMPING, name: 'context-switches', type: 1, config: 3n };
    const bytes = encodeFile({ attrs: [attr], records: [...start(), records[records.length - 1]], features: FEATURES });
    const filter = { events: ['sleeping'] };
    for (const truncated of ['mark', 'drop'] as const) {
      const result = await readProfile(new BufferSource(bytes, 'recording'), { truncated, offCpu: true, filter }, new Diagnostics());
      expect(result.session.unwindEnds.cut).toBe(1);
      expect(() => requireSamples(result, filter, LIBRARY_OPTIONS)).toThrow('the recording has no event sleeping');
      expect(() => requireMergedSamples(result.profile, [result.session], LIBRARY_OPTIONS)).toThrow('passes the filters');
    }
  });

  it('are left out with their samples if that was asked for, and counted', async () => {
    const { samples, diagnostics, session } = await decodeAll(records, { truncated: 'drop' });
    expect(shown(samples)).toEqual(['10: 10 100']);
    expect(session.sampleCount).toBe(2);
    expect(diagnostics.list()).toContainEqual(expect.objectContaining({ code: 'truncated-dropped', severity: 'info', count: 1 }));
  });

  it('are not marked if no more frames were asked for', async () => {
    const { samples } = await decodeAll([...start(), sample(10n, [0x500010n, 0x500020n, MAIN])], { maxStack: 2 });
    expect(shown(samples)).toEqual(['10: 10 20']);
  });

  it('are not confused with code at address 0', async () => {
    const zero = record.sample({ time: 12n, ip: 0n, pid: 100, callchain: [context.user, 0n], stackUser: { data: new Uint8Array() } });
    const { profile } = await decodeAll([...records, zero]);
    const [, cut, atZero] = profile.samples?.stack ?? [];
    const rootOf = (stack: number): number => (profile.stacks.parent(stack) < 0 ? profile.stacks.location(stack) : rootOf(profile.stacks.parent(stack)));
    expect(rootOf(cut)).not.toBe(rootOf(atZero));
  });
});

describe('stacks with compatPerf', () => {
  /** Address −1. */
  const UNREAD = '[18446744073709551615]';
  const RULED = { app: 0x401000n, library: 0x501000n };
  const [RSP, RIP] = [7, 16];

  /**
   * Files whose functions all have 8 bytes on the stack, with rules that say so.
   * @param code what their text begins with
   * @param tableAt where their `.eh_frame_hdr` is, after its `.eh_frame`
   * @param hasEntries whether the `.eh_frame_hdr` lists anything
   * @param firstBytes the size of the function that their text begins with; the rules say that the one after it has no caller
   */
  function perfOptions(
    hasTable = true,
    code: readonly number[] = [],
    tableAt = TEXT.vaddr + 0x900,
    hasEntries = true,
    firstBytes = TEXT.sizeBytes,
  ): ReadProfileOptions {
    const cie = { returnAddress: RIP, code: new CfaCode().defCfa(RSP, 16).offset(RIP, 1) };
    const framesAt = tableAt - 0x100;
    const first = { start: TEXT.vaddr, sizeBytes: firstBytes, code: new CfaCode() };
    const last = { start: TEXT.vaddr + firstBytes, sizeBytes: TEXT.sizeBytes - firstBytes, code: new CfaCode().undefined(RIP) };
    const functions = [first, last].filter(({ sizeBytes }) => sizeBytes > 0);
    const frames = assembleFrames([[cie, functions]], { addr: framesAt });
    const entries = hasEntries ? functions.map(({ start }, i) => [start, framesAt + frames.fdeOffsets[i]] as const) : [];
    const table = { name: '.eh_frame_hdr', addr: tableAt, content: assembleFrameTable(tableAt, framesAt, entries) };
    const moreSections = [{ name: '.eh_frame', addr: framesAt, content: frames.bytes }, ...(hasTable ? [table] : [])];
    const elf = buildElf({ classBits: 64, littleEndian: true, moreSections, loadsHeader: true });
    elf.set(code, TEXT.offset);
    const files = new MadeFiles();
    for (const path of [APP, LIBRARY]) files.content.set(path, elf);
    return { compatPerf: true, symbolizer: new Symbolizer(files, { debugDirs: [], compatPerf: true }, new Diagnostics()) };
  }

  const text = (time: bigint, addr: bigint, filename: string): RecordSpec =>
    record.mmap2({ pid: 100, addr, len: 0x1000n, pgoff: BigInt(TEXT.offset), filename }, { sampleId: { time } });
  const maps = [text(1n, RULED.app, APP), text(2n, RULED.library, LIBRARY)];
  const ips = [RULED.library + 0x10n, RULED.library + 0x20n, RULED.app + 0x100n];

  it('have callers at the last byte of their calls', async () => {
    const { samples } = await decodeAll([...maps, sample(10n, ips)], perfOptions());
    expect(samples[0].frames.map(({ address, isReturnAddress }) => [address, isReturnAddress])).toEqual([
      [0x1010n, false],
      [0x101fn, false],
      [0x10ffn, false],
      // A return address of 0, as if it had not been read.
      [0xffff_ffff_ffff_ffffn, false],
    ]);
  });

  it('are not unwound in a process without known maps', async () => {
    expect(shown((await decodeAll([sample(10n, ips)], perfOptions())).samples)).toEqual(['10: ']);
    expect(shown((await decodeAll([sample(10n, ips)])).samples)).toEqual([`10: [${ips[0]}] [0]`]);
  });

  it('have as many frames as were asked for, not counting those of the kernel', async () => {
    const callchain = [context.kernel, 0xffffffff81000010n, 0xffffffff81000020n];
    const records = [...maps, sample(10n, ips, { callchain, ip: callchain[1] })];
    const depths = async (options: ReadProfileOptions) => (await decodeAll(records, { ...options, maxStack: 2 })).samples.map(({ frames }) => frames.length);
    expect([await depths(perfOptions()), await depths({ ...perfOptions(), compatPerf: false })]).toEqual([[4], [2]]);
  });

  it('end in code of files without .eh_frame_hdr', async () => {
    const records = [...maps, sample(10n, ips)];
    expect(shown((await decodeAll(records, perfOptions(false))).samples)).toEqual(['10: 1010']);
    expect(shown((await decodeAll(records, { ...perfOptions(false), compatPerf: false })).samples)).toEqual(['10: 1010 1020 1100']);
  });

  it('are missing in processes without recorded maps of files, as with --overwrite', async () => {
    const shownWith = async (name: string): Promise<string[]> => {
      const records = [mapped(1n, 0x900000n, name), sample(10n, [0x500010n, 0x500020n, MAIN], { callchain: [context.kernel, 0xffffffff81000010n] })];
      return shown((await decodeAll(records, { compatPerf: true })).samples);
    };
    const kernel = `10: [${0xffffffff81000010n}]`;
    expect([await shownWith('//anon'), await shownWith(LIBRARY)]).toEqual([[kernel], [`${kernel} [${0x500010n}]`]]);
  });

  it('are missing until the process maps a file that is there, whatever it has mapped before an exec', async () => {
    const options = (): ReadProfileOptions => {
      const files = new MadeFiles();
      files.content.set('/lib/here.so', buildElf({ classBits: 64, littleEndian: true }));
      files.content.set('/lib/text', new TextEncoder().encode('no ELF file'));
      return { compatPerf: true, symbolizer: new Symbolizer(files, { debugDirs: [], compatPerf: true }, new Diagnostics()) };
    };
    const records = [
      ...start(),
      // That of a 32-bit program, by its place.
      mapped(3n, 0x600000n, '[vdso]'),
      mapped(4n, 0x700000n, '/lib/text'),
      sample(10n, [0x500010n, MAIN]),
      mapped(20n, 0x800000n, '/lib/here.so'),
      sample(30n, [0x500010n, MAIN]),
      record.comm({ pid: 100, comm: 'app', exec: true }, { sampleId: { time: 40n } }),
      mapped(41n, 0x400000n, APP),
      sample(50n, [0x400010n, MAIN]),
    ];
    expect(shown((await decodeAll(records, options())).samples)).toEqual(['10: ', '30: 10', '50: 10']);
    expect(shown((await decodeAll(records, { ...options(), compatPerf: false })).samples)).toEqual(['10: 10 100', '30: 10 100', '50: 10 100']);
  });

  it('are missing in a process of whose files none is there, unless it maps the vdso and no other root directory is searched', async () => {
    const records = [...start(), mapped(3n, 0x7fff_77c7_d000n, '[vdso]'), sample(10n, [0x500010n, MAIN])];
    const shownWith = async (symfs: { readonly symfs?: string }): Promise<string[]> => {
      const symbolizer = new Symbolizer(new MadeFiles(), { debugDirs: [], compatPerf: true, ...symfs }, new Diagnostics());
      return shown((await decodeAll(records, { compatPerf: true, symbolizer })).samples);
    };
    expect([await shownWith({}), await shownWith({ symfs: '/root' })]).toEqual([['10: 10'], ['10: ']]);
  });

  it('are unwound by the file at the recorded path, whatever its build id', async () => {
    const records = [...maps, sample(10n, ips)];
    const attrs = [DUMPING];
    const buildId = new Uint8Array(20).fill(0xab);
    const features = { ...FEATURES, buildIds: [APP, LIBRARY].map((filename) => ({ buildId, filename })) };
    const shownWith = async (options: ReadProfileOptions) => shown((await decode(encodeFile({ attrs, records, features }), options)).samples);
    expect(await shownWith(perfOptions())).toEqual([`10: 1010 101f 10ff ${UNREAD}`]);
  });

  it('end in code of files whose .eh_frame_hdr is in no recorded map', async () => {
    const records = [...maps, sample(10n, ips)];
    const options = perfOptions(true, [], DATA.vaddr + 0x200);
    expect(shown((await decodeAll(records, options)).samples)).toEqual(['10: 1010']);
    // The maps of data, which perf records together with stacks.
    const data = [RULED.app, RULED.library].map((at, i) => mapped(3n, at + BigInt(DATA.vaddr - TEXT.vaddr), [APP, LIBRARY][i]));
    expect(shown((await decodeAll([...maps, ...data, sample(10n, ips)], options)).samples)).toEqual([`10: 1010 101f 10ff ${UNREAD}`]);
    expect(shown((await decodeAll(records, { ...options, compatPerf: false })).samples)).toEqual(['10: 1010 1020 1100']);
  });

  it('go on in code of files whose .eh_frame_hdr is in a map from before an exec', async () => {
    const data = [RULED.app, RULED.library].map((at, i) => mapped(3n, at + BigInt(DATA.vaddr - TEXT.vaddr), [APP, LIBRARY][i]));
    const exec = record.comm({ pid: 100, comm: 'app', exec: true }, { sampleId: { time: 5n } });
    const again = [text(6n, RULED.app, APP), text(7n, RULED.library, LIBRARY)];
    const { samples } = await decodeAll([...maps, ...data, exec, ...again, sample(10n, ips)], perfOptions(true, [], DATA.vaddr + 0x200));
    expect(shown(samples)).toEqual([`10: 1010 101f 10ff ${UNREAD}`]);
  });

  it('go on by rules found before the program mapped the file again, until an exec', async () => {
    const again = text(11n, RULED.library - 0x80000n, LIBRARY);
    const [exec, ...anew] = [
      record.comm({ pid: 100, comm: 'app', exec: true }, { sampleId: { time: 14n } }),
      text(15n, RULED.app, APP),
      text(16n, RULED.library, LIBRARY),
      text(17n, RULED.library - 0x80000n, LIBRARY),
    ];
    const [sp] = dumpedStack(ips).regsUser?.regs ?? [];
    const withoutFramePointer = (time: bigint, [leaf, ...callers]: readonly bigint[]): RecordSpec =>
      sample(time, [leaf, ...callers], { regsUser: { abi: 2, regs: [0n, sp, leaf] } });
    const others = ips.map((ip) => ip + 1n);
    const before = [...maps, withoutFramePointer(10n, ips), again, withoutFramePointer(12n, ips), withoutFramePointer(13n, others)];
    const records = [...before, exec, ...anew, withoutFramePointer(18n, ips)];
    expect(shown((await decodeAll(records, perfOptions())).samples)).toEqual([
      `10: 1010 101f 10ff ${UNREAD}`,
      `12: 1010 101f 10ff ${UNREAD}`,
      '13: 1011',
      '18: 1010',
    ]);
  });

  it('keep the rule first used for an address until an exec, whether it was sampled or follows a call that ends a function', async () => {
    const [leaf, end] = [RULED.library + 0x10n, RULED.library + 0x20n];
    const [sampled, called] = [(time: bigint) => sample(time, [end, leaf]), (time: bigint) => sample(time, [leaf, end, leaf])];
    const exec = [record.comm({ pid: 100, comm: 'app', exec: true }, { sampleId: { time: 13n } }), text(14n, RULED.library, LIBRARY)];
    const records = [...maps, sampled(10n), called(11n), called(12n), ...exec, called(15n), sampled(16n), called(17n)];
    const call = [0xe8, 0xe0, 0xff, 0xff, 0xff];
    const options = perfOptions(true, [...new Array<number>(0x20 - call.length).fill(0x90), ...call], undefined, true, 0x20);
    const whole = `1010 101f 100f ${UNREAD}`;
    expect(shown((await decodeAll(records, options)).samples)).toEqual([
      '10: 1020',
      '11: 1010 101f',
      '12: 1010 101f',
      `15: ${whole}`,
      `16: 1020 100f ${UNREAD}`,
      `17: ${whole}`,
    ]);
    const ours = shown((await decodeAll(records, { ...options, compatPerf: false })).samples);
    expect(ours).toEqual(['10: 1020', '11: 1010 1020 1010', '12: 1010 1020 1010', '15: 1010 1020 1010', '16: 1020', '17: 1010 1020 1010']);
  });

  it('go on in code of files whose .eh_frame_hdr is empty, whatever map it is in', async () => {
    const { samples } = await decodeAll([...maps, sample(10n, ips)], perfOptions(true, [], DATA.vaddr + 0x200, false));
    expect(shown(samples)).toEqual([`10: 1010 101f 10ff ${UNREAD}`]);
  });

  it('go on in JIT functions, which perf inject maps from anywhere in a page', async () => {
    const [textAt, framesAt, tableAt] = [0x80, 0x180, 0x200];
    const cie = { returnAddress: RIP, code: new CfaCode().defCfa(RSP, 16).offset(RIP, 1) };
    const frames = assembleFrames([[cie, [{ start: textAt, sizeBytes: 0x100, code: new CfaCode() }]]], { addr: framesAt });
    const sections = [
      { name: '.text', flags: 6, addr: textAt, content: new Uint8Array(0x100).fill(0x90) },
      { name: '.eh_frame', flags: 2, addr: framesAt, content: frames.bytes },
      { name: '.eh_frame_hdr', flags: 2, addr: tableAt, content: assembleFrameTable(tableAt, framesAt, [[textAt, framesAt + frames.fdeOffsets[0]]]) },
    ];
    const files = new MadeFiles();
    files.content.set(APP, buildSectionElf({ sections }));
    const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: true }, new Diagnostics());
    const map = record.mmap2({ pid: 100, addr: 0x700140n, len: 0x200n, pgoff: 0x40n, filename: APP }, { sampleId: { time: 1n } });
    const { samples } = await decodeAll([map, sample(10n, [0x700150n, 0x700160n])], { compatPerf: true, symbolizer });
    expect(shown(samples)).toEqual([`10: 50 5f ${UNREAD}`]);
  });

  it('end in address −1 where the dump ends, without reading its last word', async () => {
    const whole = dumpedStack(ips);
    const dump = (dynSize: bigint): SampleFields => ({ ...whole, stackUser: { data: whole.stackUser?.data ?? new Uint8Array(), dynSize } });
    const stack = mapped(3n, 0x7ffd_0000_0000n, '[stack]');
    const cut = sample(10n, ips, dump(16n));
    const records = [...maps, stack, cut, sample(11n, ips, dump(24n)), sample(12n, ips, dump(0n))];
    expect(shown((await decodeAll(records, perfOptions())).samples)).toEqual([`10: 1010 ${UNREAD}`, `11: 1010 101f ${UNREAD}`, '12: ']);
    // They are marked if that is asked for.
    expect(shown((await decodeAll([...maps, cut], { ...perfOptions(), truncated: 'mark' })).samples)).toEqual(['10: 1010 [0]']);
    // Without a recorded map of the stack, nothing was looked for in it.
    expect(shown((await decodeAll([...maps, cut], perfOptions())).samples)).toEqual(['10: 1010']);
  });

  it('end with their last frame on PowerPC', async () => {
    const [textAt, framesAt, tableAt] = [0x80, 0x180, 0x200];
    // The return address is 16 bytes above the frame.
    const cie = { returnAddress: 65, code: new CfaCode().defCfa(1, 16).offsetExtendedSf(65, -2) };
    const frames = assembleFrames([[cie, [{ start: textAt, sizeBytes: 0x100, code: new CfaCode() }]]], { addr: framesAt });
    const sections = [
      { name: '.text', flags: 6, addr: textAt, content: new Uint8Array(0x100) },
      { name: '.eh_frame', flags: 2, addr: framesAt, content: frames.bytes },
      { name: '.eh_frame_hdr', flags: 2, addr: tableAt, content: assembleFrameTable(tableAt, framesAt, [[textAt, framesAt + frames.fdeOffsets[0]]]) },
    ];
    const files = new MadeFiles();
    files.content.set(APP, buildSectionElf({ machine: 21, sections }));
    const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: true }, new Diagnostics());
    const map = record.mmap2({ pid: 100, addr: 0x700140n, len: 0x200n, pgoff: 0x40n, filename: APP }, { sampleId: { time: 1n } });
    // r1, nip, link
    const attr: AttrSpec = { ...DUMPING, sampleRegsUser: (1n << 1n) | (1n << 32n) | (1n << 36n) };
    const stack = new Uint8Array(16);
    const fields: SampleFields = { regsUser: { abi: 2, regs: [0x7ffd_0000_1000n, 0x700150n, 0n] }, stackUser: { data: stack, dynSize: 16n } };
    const records = [map, mapped(3n, 0x7ffd_0000_0000n, '[stack]'), sample(10n, [0x700150n], fields)];
    const file = encodeFile({ attrs: [attr], records, features: { arch: 'ppc64le' } });
    const { samples, session } = await decode(file, { compatPerf: true, symbolizer });
    expect(shown(samples)).toEqual(['10: 50']);
    expect(session.unwindEnds).toMatchObject({ cut: 1 });
  });

  it('end where a function whose return is probed returns to, and in probed instructions', async () => {
    const probed = 0x7fff_ffff_e000n;
    const records = [...maps, mapped(3n, probed, '[uprobes]'), sample(10n, [ips[0], probed, ips[2]]), sample(11n, [probed + 0x83n, probed])];
    const { samples, session } = await decodeAll(records, { ...perfOptions(), compatPerf: false, truncated: 'mark' });
    expect(shown(samples)).toEqual(['10: 1010 [0]', '11: 83 [0]']);
    expect(session.unwindEnds).toMatchObject({ probed: 2, broken: 0, cut: 2 });
    expect(session.unwindEnds.byFile.size).toBe(0);
  });

  it('end with the first address that is not in code, or is in code without a file', async () => {
    const records = [...maps, mapped(3n, 0x900000n, '//anon'), sample(10n, [ips[0], 0x7fff0000n, ips[2]]), sample(11n, [ips[0], 0x900010n, ips[2]])];
    expect(shown((await decodeAll(records, perfOptions())).samples)).toEqual(['10: 1010 [2147418111]', '11: 1010 90000f']);
  });

  describe('in a file that had a lower map before an exec', () => {
    const decodeMoved = async (by: bigint, options: ReadProfileOptions, top = 0n) => {
      const moved = ips.map((ip, i) => (i < 2 ? ip + by : ip));
      const { stackUser = { data: new Uint8Array() } } = dumpedStack(moved, moved.length, 16);
      if (top !== 0n) new DataView(stackUser.data.buffer).setBigUint64(0, top, true);
      const [sp] = dumpedStack(moved).regsUser?.regs ?? [];
      const withoutFramePointer: SampleFields = { regsUser: { abi: 2, regs: [0n, sp, moved[0]] }, stackUser };
      const exec = record.comm({ pid: 100, comm: 'app', exec: true }, { sampleId: { time: 5n } });
      const records = [...maps, exec, text(6n, RULED.app, APP), text(7n, RULED.library + by, LIBRARY), sample(10n, moved, withoutFramePointer)];
      return shown((await decodeAll(records, options)).samples);
    };

    it('go on from the stubs of its PLT', async () => {
      const stub = [...new Array<number>(16).fill(0x90), 0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0];
      const top = RULED.library + 0x80020n;
      expect([await decodeMoved(0x80000n, perfOptions(true, stub), top), await decodeMoved(0x80000n, perfOptions(), top)]).toEqual([
        ['10: 1010 101f'],
        ['10: 1010'],
      ]);
    });

    it('end elsewhere', async () => {
      const ours = { ...perfOptions(), compatPerf: false };
      expect([await decodeMoved(-0x80000n, perfOptions()), await decodeMoved(0x80000n, perfOptions())]).toEqual([
        [`10: 1010 101f 10ff ${UNREAD}`],
        ['10: 1010'],
      ]);
      expect([await decodeMoved(-0x80000n, ours), await decodeMoved(0x80000n, ours)]).toEqual([['10: 1010 1020 1100'], ['10: 1010 1020 1100']]);
    });
  });
});

describe('unwinding a recording', () => {
  /** One library per sample, mapped just before it, so that each sample has to wait for two files. */
  function manyFiles(count: number): RecordSpec[] {
    const records: RecordSpec[] = [mapped(1n, 0x400000n, APP)];
    for (let i = 0; i < count; i++) {
      const at = 0x500000n + BigInt(i) * 0x10000n;
      records.push(mapped(BigInt(10 + i * 2), at, `/lib/${i}.so`), sample(BigInt(11 + i * 2), [at + 0x10n, MAIN + BigInt(i)]));
    }
    return records;
  }
  const COUNT = 12;
  const records = manyFiles(COUNT);
  const expected = Array.from({ length: COUNT }, (_, i) => `${11 + i * 2}: 10 ${(0x100 + i).toString(16)}`);
  const files = (): ReadProfileOptions => {
    const here = new MadeFiles();
    const slow: typeof here.open = async (path) => {
      await new Promise((done) => setTimeout(done, 0));
      return MadeFiles.prototype.open.call(here, path);
    };
    here.open = slow;
    return { symbolizer: new Symbolizer(here, { debugDirs: [], compatPerf: false }, new Diagnostics()) };
  };
  const rounds = records.flatMap((each, i) => (i % 3 === 2 ? [each, toolRecords.finishedRound()] : [each]));

  test.each<[string, Uint8Array]>([
    ['without rounds', encodeFile({ attrs: [DUMPING], records, features: FEATURES })],
    ['with rounds', encodeFile({ attrs: [DUMPING], records: rounds, features: FEATURES })],
    ['through a pipe', encodePipe({ attrs: [DUMPING], records: rounds, features: FEATURES })],
    ['compressed', encodeFile({ attrs: [DUMPING], records: compressedRecords(records, [DUMPING], 'COMPRESSED', 700), features: FEATURES })],
    ['compressed with its rounds', encodeFile({ attrs: [DUMPING], records: compressedRecords(rounds, [DUMPING], 'COMPRESSED2', 60_000), features: FEATURES })],
    ['in pieces', encodeFile({ attrs: [DUMPING], records: records.flatMap((each) => splitRecord(each, [DUMPING], 100)), features: FEATURES })],
  ])('keeps samples in time order while they wait for files: %s', async (_, bytes) => {
    expect(shown((await decode(bytes, files())).samples)).toEqual(expected);
  });

  it('keeps samples in time order while they wait for files: in several files', async () => {
    const part = (rest: number) => Buffer.concat(records.filter((_, i) => i % 3 === rest).map((each) => encodeRecord(each, [DUMPING])));
    const source = Object.assign(new BufferSource(encodeFile({ attrs: [DUMPING], records: [], features: FEATURES }), 'data'), {
      parts: [0, 1, 2].map((rest) => new BufferSource(part(rest), `data.${rest}`)),
    });
    const { profile } = await readProfile(source, { keepSamples: true, ...files() }, new Diagnostics());
    const times = Array.from({ length: profile.samples?.size ?? 0 }, (_, row) => Number(profile.meta.startTime) + (profile.samples?.timeNs[row] ?? 0));
    expect(times).toEqual(Array.from({ length: COUNT }, (_, i) => 11 + i * 2));
  });

  it.each([
    ['in plain records', records],
    ['in compressed records', compressedRecords(records, [{ ...DUMPING, sampleType: DUMPING.sampleType.filter((bit) => bit !== 'time') }], 'COMPRESSED', 5000)],
    ['in pieces', records.flatMap((each) => splitRecord(each, [{ ...DUMPING, sampleType: DUMPING.sampleType.filter((bit) => bit !== 'time') }], 100))],
  ])('keeps samples without times in file order while they wait, %s', async (_, all) => {
    const timeless = { ...DUMPING, sampleType: DUMPING.sampleType.filter((bit) => bit !== 'time') };
    const { samples } = await decodeAll(all, files(), timeless);
    expect(shown(samples)).toEqual(expected.map((line) => line.replace(/^\d+/, 'undefined')));
  });

  it('keeps samples in file order while they wait if only they have times', async () => {
    const { samples } = await decodeAll([...records.slice(0, 5), sample(3n, [0x500020n, MAIN])], files(), { ...DUMPING, flags: [] });
    expect(shown(samples)).toEqual([...expected.slice(0, 2), '3: 20 100']);
  });

  it('opens each file once for its rules, and closes it', async () => {
    const here = new MadeFiles();
    here.content.set(APP, buildElf({ classBits: 64, littleEndian: true }));
    let mostOpen = 0;
    const { open } = here;
    here.open = async (path) => {
      mostOpen = Math.max(mostOpen, here.openCount);
      return open.call(here, path);
    };
    const symbolizer = new Symbolizer(here, { debugDirs: [], compatPerf: false }, new Diagnostics());
    await decodeAll([...start(), ...Array.from({ length: 50 }, (_, i) => sample(BigInt(10 + i), [0x500010n, MAIN]))], { symbolizer, debugInfo: 'none' });
    // The second time is for its names.
    expect(here.asked.filter((path) => path === APP)).toHaveLength(2);
    expect(here.openCount).toBe(0);
  });

  it('reports code that cannot be read', async () => {
    const here = new MadeFiles();
    here.content.set(APP, buildElf({ classBits: 64, littleEndian: true }));
    const { open } = here;
    here.open = async (path) => {
      const source = await open.call(here, path);
      if (source === undefined) return undefined;
      const { readAt } = source;
      source.readAt = async (position, target) => {
        const readsCode = position < TEXT.offset + TEXT.sizeBytes && position + target.length > TEXT.offset;
        if (readsCode) throw new PerfconvError('io', 'was replaced while it was being read', { file: path });
        return readAt.call(source, position, target);
      };
      return source;
    };
    const symbolizer = new Symbolizer(here, { debugDirs: [], compatPerf: false }, new Diagnostics());
    const map = record.mmap2({ pid: 100, addr: 0x401000n, len: 0x1000n, pgoff: BigInt(TEXT.offset), filename: APP }, { sampleId: { time: 1n } });
    const { samples, diagnostics } = await decodeAll([map, sample(10n, [0x401010n, 0x401020n])], { symbolizer, debugInfo: 'none' });
    expect(shown(samples)).toEqual(['10: 1010 1020']);
    const damage = diagnostics.list().find(({ code }) => code === 'unwind-rules-damaged');
    expect(damage?.message).toBe(`${APP}: was replaced while it was being read: stacks that lead there may end too early`);
  });

  it('opens the file that is missing, even if others were looked at since', async () => {
    const here = new MadeFiles();
    const other = '/lib/libother.so';
    const [sp, inOther, inLibrary] = [0x7ffd_0000_1000n, 0x600010n, 0x500020n];
    // The top of the stack leads to one file, the frame pointer to another.
    const words = new BigUint64Array([inOther, sp + 24n, inLibrary, 0n, 0n, 0n]);
    const stack = { data: new Uint8Array(words.buffer), dynSize: BigInt(words.byteLength) };
    const records = [
      ...start(),
      mapped(3n, 0x600000n, other),
      sample(10n, [0x500010n], { regsUser: { abi: 2, regs: [sp + 8n, sp, 0x500010n] }, stackUser: stack }),
    ];
    const symbolizer = new Symbolizer(here, { debugDirs: [], compatPerf: false }, new Diagnostics());
    const { samples } = await decodeAll(records, { symbolizer, debugInfo: 'none' });
    expect(shown(samples)).toEqual(['10: 10 20']);
    // Once for its rules, once for its names.
    expect([LIBRARY, other].map((name) => here.asked.filter((path) => path === name).length)).toEqual([2, 1]);
  });

  it('keeps what comes before the end of a truncated recording', async () => {
    const whole = encodeFile({ attrs: [DUMPING], records, features: FEATURES });
    const dataStart = Number(new DataView(whole.buffer).getBigUint64(40, true));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: dataStart, max: whole.length - 1 }), async (cut) => {
        const { samples } = await decode(whole.slice(0, cut));
        expect(expected.slice(0, samples.length)).toEqual(shown(samples));
      }),
      { numRuns: 40 },
    );
  });

  it('reads as much of a dump as the kernel says, but no more than the record has', async () => {
    const ips = [0x500010n, 0x500020n, MAIN];
    const { stackUser, ...rest } = dumpedStack(ips);
    const data = stackUser?.data ?? new Uint8Array();
    const { samples, session } = await decodeAll([
      ...start(),
      sample(10n, ips, { ...rest, stackUser: { data, dynSize: 16n } }),
      sample(11n, ips, { ...rest, stackUser: { data, dynSize: 0n } }),
      sample(12n, ips, { ...rest, stackUser: { data, dynSize: 1n << 60n } }),
    ]);
    expect(shown(samples)).toEqual(['10: 10 20 [0]', '11: 10 [0]', '12: 10 20 100']);
    // Less was dumped than asked for because there was no more: larger dumps would not help.
    expect(session.unwindEnds).toMatchObject({ complete: 1, truncated: 0, outOfReach: 1, withoutDump: 1 });
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
