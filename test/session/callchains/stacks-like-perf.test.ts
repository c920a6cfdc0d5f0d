import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import type { ReadProfileOptions } from '../../../src/pipeline/read-profile.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { buildElf, DATA, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { buildSectionElf } from '../../support/builders/elf/section-elf.ts';
import { MadeFiles } from '../../support/builders/made-symbol-files.ts';
import { APP, decodeAll, FEATURES, LIBRARY, MAIN, mapped, sample, shown, start } from '../../support/builders/recordings/dumped-recording.ts';
import { DUMPING, dumpedStack } from '../../support/builders/recordings/dumped-stack.ts';
import {
  type AttrSpec,
  context,
  encodeFile,
  type FeatureSpec,
  type RecordSpec,
  record,
  type SampleFields,
} from '../../support/builders/recordings/perf-encoder.ts';
import { assembleFrames, assembleFrameTable, CfaCode } from '../../support/builders/unwind/frame-assembler.ts';
import { decode } from '../../support/readers/decode.ts';

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

  it('are missing in a process of whose files none is there, unless it maps a vdso that the header does not list, and no other root directory is searched', async () => {
    const records = [...start(), mapped(3n, 0x7fff_77c7_d000n, '[vdso]'), sample(10n, [0x500010n, MAIN])];
    const shownWith = async (places: { readonly symfs?: string }, buildIds: FeatureSpec['buildIds'] = []): Promise<string[]> => {
      const symbolizer = new Symbolizer(new MadeFiles(), { debugDirs: [], compatPerf: true, ...places }, new Diagnostics());
      const file = encodeFile({ attrs: [DUMPING], records, features: { ...FEATURES, buildIds } });
      return shown((await decode(file, { compatPerf: true, symbolizer })).samples);
    };
    const buildId = new Uint8Array(20).fill(0xab);
    expect([await shownWith({}), await shownWith({}, [{ buildId, filename: '/lib/other.so' }])]).toEqual([['10: 10'], ['10: 10']]);
    expect([await shownWith({ symfs: '/root' }), await shownWith({}, [{ buildId, filename: '[vdso]' }])]).toEqual([['10: '], ['10: ']]);
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
