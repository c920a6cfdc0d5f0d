import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import type { Decompressor } from '../../../src/base/streams/decompressor.ts';
import type { UnwindModule } from '../../../src/unwind/modules/unwind-module.ts';
import { readUnwindModule } from '../../../src/unwind/modules/unwind-module.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import type { PlannedElfSection } from '../../support/builders/elf/section-elf.ts';
import { assembleFrames, assembleFrameTable, CfaCode, type PlannedCie, type PlannedFde } from '../../support/builders/unwind/frame-assembler.ts';
import { madeElf, madeModule } from '../../support/builders/unwind/unwound.ts';

const FRAMES_AT = 0x8000;
const TABLE_AT = 0xa000;
const CIE: PlannedCie = { returnAddress: 16, code: code().defCfa(7, 8).offset(16, 1) };

function code(): CfaCode {
  return new CfaCode();
}

/** A function whose CFA tells which it is. */
function fde(start: number, cfaOffset: number, sizeBytes = 0x100): PlannedFde {
  return { start, sizeBytes, code: code().defCfaOffset(cfaOffset) };
}

const FDES = [fde(0x1000, 16), fde(0x1100, 32), fde(0x1300, 48)];

function section(name: string, addr: number, content: Uint8Array, more: Partial<PlannedElfSection> = {}): PlannedElfSection {
  return { name, flags: 2, addr, content, ...more };
}

/** The CFA offsets of the rules at some addresses; −1 for none, −2 for a damaged one. */
function cfaOffsets(module: UnwindModule, ...svmas: number[]): number[] {
  return svmas.map((svma) => {
    const rule = module.ruleAt(svma);
    return rule < 0 ? rule : module.rules.data[rule + 2];
  });
}

const ADDRESSES = [0xfff, 0x1000, 0x10ff, 0x1100, 0x11ff, 0x1200, 0x12ff, 0x1300, 0x13ff, 0x1400];
const EXPECTED = [-1, 16, 16, 32, 32, -1, -1, 48, 48, -1];

describe('.eh_frame', () => {
  const { bytes, fdeOffsets } = assembleFrames([[CIE, FDES]], { addr: FRAMES_AT });
  const entries = FDES.map(({ start }, i): [number, number] => [start, FRAMES_AT + fdeOffsets[i]]);
  const frames = section('.eh_frame', FRAMES_AT, bytes);
  const withTable = (table: Uint8Array): Promise<UnwindModule> => madeModule('x86_64', [], [frames, section('.eh_frame_hdr', TABLE_AT, table)]);

  test('is searched by the table of .eh_frame_hdr', async () => {
    expect(cfaOffsets(await withTable(assembleFrameTable(TABLE_AT, FRAMES_AT, entries)), ...ADDRESSES)).toEqual(EXPECTED);
  });

  test('is found by .eh_frame_hdr if there are no section headers, but perf then does not find that header', async () => {
    const elf = await madeElf('x86_64', [], [frames, section('.eh_frame_hdr', TABLE_AT, assembleFrameTable(TABLE_AT, FRAMES_AT, entries))]);
    const [framesAt, headerAt] = [elf.section('.eh_frame')!, elf.section('.eh_frame_hdr')!];
    const load = { type: 1, flags: 4, align: 1, vaddr: FRAMES_AT, offset: framesAt.offset, filesz: framesAt.sizeBytes, memsz: framesAt.sizeBytes };
    const header = { ...load, type: 0x6474e550, vaddr: TABLE_AT, offset: headerAt.offset, filesz: headerAt.sizeBytes };
    const stripped = Object.assign(Object.create(Object.getPrototypeOf(elf)), elf, { sections: [], segments: [load, header], section: () => undefined });
    const module = await readUnwindModule(stripped);
    expect(cfaOffsets(module, ...ADDRESSES)).toEqual(EXPECTED);
    expect(module.frameTable?.count).toBe(3);
    expect((await readUnwindModule(stripped, { usesAllTables: false })).frameTable).toBeUndefined();
  });

  test.each([
    ['is missing', undefined],
    ['is empty', assembleFrameTable(TABLE_AT, FRAMES_AT, [])],
    ['lacks an entry', assembleFrameTable(TABLE_AT, FRAMES_AT, entries.slice(0, 2))],
    ['lacks the first entry', assembleFrameTable(TABLE_AT, FRAMES_AT, entries.slice(1))],
    ['is not sorted', assembleFrameTable(TABLE_AT, FRAMES_AT, [...entries].reverse())],
    ['is of another section', assembleFrameTable(TABLE_AT, FRAMES_AT + 8, entries)],
    [
      'leads to other functions',
      assembleFrameTable(
        TABLE_AT,
        FRAMES_AT,
        entries.map(([start], i) => [start, entries[(i + 1) % 3][1]]),
      ),
    ],
    [
      'leads out of the section',
      assembleFrameTable(
        TABLE_AT,
        FRAMES_AT,
        entries.map(([start]) => [start, FRAMES_AT + 0x7000]),
      ),
    ],
    ['is said to be longer than it is', assembleFrameTable(TABLE_AT, FRAMES_AT, entries).fill(0x7f, 8, 12)],
    ['is of another version', Uint8Array.of(2, ...assembleFrameTable(TABLE_AT, FRAMES_AT, entries).subarray(1))],
    ['is cut off', assembleFrameTable(TABLE_AT, FRAMES_AT, entries).subarray(0, 3)],
  ])('is searched without the table if that %s', async (_name, table) => {
    const module = table === undefined ? await madeModule('x86_64', [], [frames]) : await withTable(table);
    // In another order, which has other entries read first.
    const backwards = table === undefined ? await madeModule('x86_64', [], [frames]) : await withTable(table);
    expect(cfaOffsets(module, ...ADDRESSES)).toEqual(EXPECTED);
    expect(cfaOffsets(backwards, ...[...ADDRESSES].reverse())).toEqual([...EXPECTED].reverse());
  });

  test.each([
    ['has no entries', assembleFrameTable(TABLE_AT, FRAMES_AT, [])],
    ['is left out', Uint8Array.of(...assembleFrameTable(TABLE_AT, FRAMES_AT, []).subarray(0, 2), 0xff, 0xff, 0, 0, 0, 0)],
  ])('is searched without the table if that %s, although perf then finds nothing', async (_name, table) => {
    const elf = await madeElf('x86_64', [], [frames, section('.eh_frame_hdr', TABLE_AT, table)]);
    expect(cfaOffsets(await readUnwindModule(elf), ...ADDRESSES)).toEqual(EXPECTED);
    const asPerf = await readUnwindModule(elf, { usesAllTables: false });
    expect(asPerf.frameTable?.count).toBe(0);
    expect(cfaOffsets(asPerf, ...ADDRESSES)).toEqual(EXPECTED.map(() => -1));
  });

  test.each([
    ['leaves out', FRAMES_AT],
    ['leaves out, as it is that of a part of the section', FRAMES_AT + fdeOffsets[0]],
  ])('has rules that the table %s, although perf then does not find them', async (_name, framesAt) => {
    const table = assembleFrameTable(TABLE_AT, framesAt, entries.slice(0, 2));
    const elf = await madeElf('x86_64', [], [frames, section('.eh_frame_hdr', TABLE_AT, table)]);
    expect(cfaOffsets(await readUnwindModule(elf), ...ADDRESSES)).toEqual(EXPECTED);
    expect(cfaOffsets(await readUnwindModule(elf, { usesAllTables: false }), ...ADDRESSES)).toEqual([-1, 16, 16, 32, 32, -1, -1, -1, -1, -1]);
  });

  test('is searched by a table that leaves out only functions that the linker has removed', async () => {
    const removed = assembleFrames([[CIE, [fde(0, 64), FDES[0], fde(0, 64, 0x10), FDES[1], fde(0x1300, 64, 0), FDES[2]]]], { addr: FRAMES_AT });
    const kept = [1, 3, 5].map((i, at): [number, number] => [FDES[at].start, FRAMES_AT + removed.fdeOffsets[i]]);
    const table = section('.eh_frame_hdr', TABLE_AT, assembleFrameTable(TABLE_AT, FRAMES_AT, kept));
    const module = await madeModule('x86_64', [], [section('.eh_frame', FRAMES_AT, removed.bytes), table]);
    expect(cfaOffsets(module, ...ADDRESSES)).toEqual(EXPECTED);
    expect(module.firstFrames?.table?.count).toBe(3);
  });

  test('may have its functions in any order', async () => {
    const shuffled = assembleFrames([[CIE, [FDES[2], FDES[0], FDES[1]]]], { addr: FRAMES_AT });
    expect(cfaOffsets(await madeModule('x86_64', [], [section('.eh_frame', FRAMES_AT, shuffled.bytes)]), ...ADDRESSES)).toEqual(EXPECTED);
  });

  test('may be several sections in a row, each with its end', async () => {
    const first = assembleFrames([[CIE, FDES.slice(0, 2)]], { addr: FRAMES_AT });
    const second = assembleFrames([[CIE, FDES.slice(2)]], { addr: FRAMES_AT + first.bytes.length });
    const joined = new ByteFields().put(first.bytes).put(second.bytes).done();
    expect(cfaOffsets(await madeModule('x86_64', [], [section('.eh_frame', FRAMES_AT, joined)]), ...ADDRESSES)).toEqual(EXPECTED);
  });

  test('has nothing for code at address 0 that linkers discarded', async () => {
    const thrown = assembleFrames([[CIE, [fde(0, 64, 0x2000), ...FDES]]], { addr: FRAMES_AT });
    const module = await madeModule('x86_64', [], [section('.eh_frame', FRAMES_AT, thrown.bytes)]);
    expect(cfaOffsets(module, 0x500, ...ADDRESSES)).toEqual([-1, ...EXPECTED]);
  });

  test('is read on after entries that make no sense, up to one that cannot be skipped', async () => {
    const odd = assembleFrames([[{ ...CIE, version: 9 }, [fde(0x2000, 64)]]], { addr: FRAMES_AT });
    const good = assembleFrames([[CIE, FDES]], { addr: FRAMES_AT + odd.bytes.length });
    const joined = new ByteFields().put(odd.bytes).put(good.bytes).u32(0x7fff_ffff).put(good.bytes).done();
    expect(cfaOffsets(await madeModule('x86_64', [], [section('.eh_frame', FRAMES_AT, joined)]), 0x2000, ...ADDRESSES)).toEqual([-1, ...EXPECTED]);
  });

  test('has damaged rules, which are counted once per address', async () => {
    const damaged = assembleFrames([[CIE, [{ start: 0x1000, sizeBytes: 0x100, code: code().raw(0x3f) }]]], { addr: FRAMES_AT });
    const module = await madeModule('x86_64', [], [section('.eh_frame', FRAMES_AT, damaged.bytes)]);
    expect(cfaOffsets(module, 0x1000, 0x1000, 0x1001)).toEqual([-2, -2, -2]);
    expect(module.damagedRules).toBe(2);
  });
});

describe('the tables that perf 6.1 uses', () => {
  const table = section('.eh_frame_hdr', TABLE_AT, assembleFrameTable(TABLE_AT, FRAMES_AT, []));
  const debugFrames: PlannedElfSection = {
    name: '.debug_frame',
    content: assembleFrames([[{ ...CIE, version: 4, augmentation: '' }, FDES]], { isDebugFrame: true }).bytes,
  };
  const read = async (sections: readonly PlannedElfSection[], usesAllTables: boolean): Promise<UnwindModule> =>
    readUnwindModule(await madeElf('x86_64', [], sections), { usesAllTables });

  test('have no .debug_frame beside an .eh_frame_hdr', async () => {
    expect(cfaOffsets(await read([table, debugFrames], false), ...ADDRESSES)).toEqual(ADDRESSES.map(() => -1));
    expect(cfaOffsets(await read([table, debugFrames], true), ...ADDRESSES)).toEqual(EXPECTED);
    expect(cfaOffsets(await read([debugFrames], false), ...ADDRESSES)).toEqual(EXPECTED);
  });

  test('may be an .eh_frame_hdr without entries, and without an .eh_frame', async () => {
    expect((await read([table], false)).frameTable).toMatchObject({ count: 0, addr: TABLE_AT });
    expect((await read([debugFrames], false)).frameTable).toBeUndefined();
  });
});

describe('.debug_frame', () => {
  const { bytes } = assembleFrames([[{ ...CIE, version: 4, augmentation: '' }, FDES]], { isDebugFrame: true });
  const decompressor: Decompressor = {
    decompress: async (compression, packed) => {
      if (compression !== 'zlib') throw new PerfconvError('unsupported', compression);
      return new Uint8Array((await import('node:zlib')).inflateSync(packed));
    },
  };
  const packed = deflateSync(bytes);
  const plain: PlannedElfSection = { name: '.debug_frame', content: bytes };
  const compressed: PlannedElfSection = { name: '.debug_frame', flags: 0x800, content: new ByteFields().u32(1, 0).u64(bytes.length, 1).put(packed).done() };
  const gnu: PlannedElfSection = {
    name: '.zdebug_frame',
    content: new ByteFields().put(Buffer.from('ZLIB')).put(new ByteFields(false).u64(bytes.length).done()).put(packed).done(),
  };

  test.each([
    ['plain', plain],
    ['compressed', compressed],
    ['compressed in GNU’s way', gnu],
  ])('is read: %s', async (_name, frames) => {
    expect(cfaOffsets(await madeModule('x86_64', [], [frames], { decompressor }), ...ADDRESSES)).toEqual(EXPECTED);
  });

  test('is read from the debug file', async () => {
    const debug = await madeElf('x86_64', [], [plain]);
    expect(cfaOffsets(await madeModule('x86_64', [], [], { debug }), ...ADDRESSES)).toEqual(EXPECTED);
  });

  test('has what .eh_frame lacks, and nothing else', async () => {
    const eh = assembleFrames([[CIE, [fde(0x1000, 80)]]], { addr: FRAMES_AT });
    const module = await madeModule('x86_64', [], [section('.eh_frame', FRAMES_AT, eh.bytes), plain]);
    expect(cfaOffsets(module, 0x1000, 0x1100, 0x1200)).toEqual([80, 32, -1]);
  });

  test('is left out if it cannot be unpacked', async () => {
    const damaged = { ...compressed, content: compressed.content.slice(0, -20) };
    for (const frames of [damaged, { ...compressed, content: new ByteFields().u32(7, 0).u64(bytes.length, 1).put(packed).done() }]) {
      const failing: Decompressor = { decompress: async () => Promise.reject(new PerfconvError('damaged', 'cut off')) };
      const module = await madeModule('x86_64', [], [frames], { decompressor: failing });
      expect(module.hasRules).toBe(false);
    }
    expect((await madeModule('x86_64', [], [compressed])).hasRules).toBe(false);
  });
});

test('rules are the same however often they are asked for, and at however many addresses', async () => {
  const { bytes } = assembleFrames([[CIE, [fde(0x1_0000, 16, 0x10_0000)]]], { addr: 0x20_0000 });
  const module = await madeModule('x86_64', [], [section('.eh_frame', 0x20_0000, bytes)]);
  const rules = new Set<number>();
  for (let round = 0; round < 2; round++) for (let i = 0; i < 10_000; i++) rules.add(module.ruleAt(0x1_0000 + 7 * i));
  expect([...rules]).toHaveLength(1);
  expect(cfaOffsets(module, 0x1_0000, 0x11_0000, -1)).toEqual([16, -1, -1]);
});

test('files of machines whose stacks are not unwound have no rules', async () => {
  const elf = await madeElf('x86_64', []);
  const other = Object.assign(Object.create(Object.getPrototypeOf(elf)), elf, { machine: 43 });
  const module = await readUnwindModule(other);
  expect([module.registers, module.hasRules]).toEqual([undefined, false]);
});
