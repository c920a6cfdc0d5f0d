import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { FrameSection } from '../../../src/elf/frame-tables/frame-section.ts';
import { findFunctionStarts, visitFrameRanges } from '../../../src/elf/frame-tables/function-starts.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import { buildElf, DATA, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { assembleExidx } from '../../support/builders/unwind/exidx-assembler.ts';

interface Form {
  readonly littleEndian: boolean;
  readonly classBits: 32 | 64;
  readonly augmentation: string;
  /** Bytes after the length of the augmentation data. */
  readonly data: readonly number[];
  readonly encoding: number;
  readonly version?: number;
}

const ADDR = 0x402000;
const PLAIN: Form = { littleEndian: true, classBits: 64, augmentation: 'zR', data: [0x1b], encoding: 0x1b };

/** A section with a CIE and an FDE for each range. */
function frames(form: Form, ranges: readonly (readonly [start: number, sizeBytes: number])[], addr = ADDR): Uint8Array {
  const { littleEndian, classBits, augmentation, data, encoding, version = 1 } = form;
  const section = new ByteFields(littleEndian);
  const cie = new ByteFields(littleEndian).u32(0).bytes(version).text(augmentation);
  if (augmentation === 'eh') cie.uint(0, classBits / 8);
  if (version === 4) cie.bytes(classBits / 8, 0);
  cie.uleb(1).sleb(-8);
  if (version === 1) cie.bytes(16);
  else cie.uleb(16);
  if (augmentation.startsWith('z')) cie.uleb(data.length).bytes(...data);
  put(section, cie);
  for (const [start, sizeBytes] of ranges) {
    const at = section.length + 8;
    const pointerSize = { 0: classBits / 8, 2: 2, 3: 4, 4: 8, 10: 2, 11: 4, 12: 8 }[encoding & 15] ?? 4;
    const first = (encoding & 0x10) === 0 ? start : start - (addr + at);
    put(
      section,
      new ByteFields(littleEndian)
        .u32(at - 4)
        .uint(first, pointerSize)
        .uint(sizeBytes, pointerSize)
        .uleb(0),
    );
  }
  return section.done();
}

function put(section: ByteFields, entry: ByteFields): void {
  while (entry.length % 4 !== 0) entry.bytes(0);
  section.u32(entry.length).put(entry.done());
}

function rangesIn(bytes: Uint8Array, { littleEndian, classBits }: Pick<Form, 'littleEndian' | 'classBits'> = PLAIN, addr = ADDR): number[][] {
  const found: number[][] = [];
  const frames = { view: new ByteView(bytes, littleEndian), addr, addressSize: classBits === 64 ? 8 : 4, textAddr: 0, dataAddr: 0 } as const;
  visitFrameRanges(new FrameSection({ ...frames, isDebugFrame: false, hasCodeAtZero: true }), (start, end) => found.push([start, end]));
  return found;
}

const RANGES = [
  [0x401000, 0x20],
  [0x401040, 0x100],
] as const;
const EXPECTED = RANGES.map(([start, sizeBytes]) => [start, start + sizeBytes]);

describe('.eh_frame', () => {
  for (const littleEndian of [true, false]) {
    for (const classBits of [32, 64] as const) {
      test.each<[string, Omit<Form, 'littleEndian' | 'classBits'>]>([
        ['relative, signed, 4 bytes', { augmentation: 'zR', data: [0x1b], encoding: 0x1b }],
        ['relative, signed, 8 bytes', { augmentation: 'zR', data: [0x1c], encoding: 0x1c }],
        ['absolute, 4 bytes', { augmentation: 'zR', data: [0x03], encoding: 0x03 }],
        ['relative to data, which begins at 0', { augmentation: 'zR', data: [0x3b], encoding: 0x03 }],
        ['absolute pointers', { augmentation: 'zR', data: [0x00], encoding: 0x00 }],
        ['no augmentation', { augmentation: '', data: [], encoding: 0x00 }],
        ['gcc 2', { augmentation: 'eh', data: [], encoding: 0x00 }],
        ['a signal frame', { augmentation: 'zRS', data: [0x1b], encoding: 0x1b }],
        ['a personality routine and exception tables', { augmentation: 'zPLR', data: [0x9b, 1, 2, 3, 4, 0x1b, 0x1b], encoding: 0x1b }],
        ['pointer authentication', { augmentation: 'zRB', data: [0x1b], encoding: 0x1b }],
        ['version 3', { augmentation: 'zR', data: [0x1b], encoding: 0x1b, version: 3 }],
        ['version 4', { augmentation: 'zR', data: [0x1b], encoding: 0x1b, version: 4 }],
      ])(`is read, ${littleEndian ? 'little' : 'big'}-endian, ${classBits} bits: %s`, (_, form) => {
        expect(rangesIn(frames({ ...form, littleEndian, classBits }, RANGES), { littleEndian, classBits })).toEqual(EXPECTED);
      });
    }
  }

  test('is read on after a terminator, since linkers join sections', () => {
    const first = frames(PLAIN, RANGES.slice(0, 1));
    const bytes = new ByteFields()
      .put(first)
      .u32(0)
      .put(frames(PLAIN, RANGES.slice(1), ADDR + first.length + 4))
      .done();
    expect(rangesIn(bytes)).toEqual(EXPECTED);
  });

  test('is skipped where pointers are indirect', () => {
    expect(rangesIn(frames({ ...PLAIN, data: [0x9b] }, RANGES))).toEqual([]);
  });

  test('is skipped where no CIE describes an entry, or a range is empty', () => {
    const bytes = frames(PLAIN, [[0x401000, 0], ...RANGES]);
    expect(rangesIn(bytes)).toEqual(EXPECTED);
    bytes[4] = 1;
    expect(rangesIn(bytes)).toEqual([]);
  });

  test('ends where an entry overruns the section, whatever its bytes are', () => {
    const whole = frames(PLAIN, RANGES);
    expect(rangesIn(whole.subarray(0, -1))).toEqual(EXPECTED.slice(0, 1));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(whole.length), (noise, at) => {
        rangesIn(new ByteFields().put(whole.subarray(0, at)).put(noise).put(whole.subarray(at)).done());
        rangesIn(noise, { littleEndian: false, classBits: 32 });
      }),
    );
  });
});

describe('function starts', () => {
  async function startsOf(ranges: readonly (readonly [number, number])[], addresses: readonly number[]): Promise<number[]> {
    // The builder gives further sections no address.
    const content = frames(PLAIN, ranges, 0);
    const elf = await ElfFile.open(new BufferSource(buildElf({ classBits: 64, littleEndian: true, moreSections: [{ name: '.eh_frame', content }] })));
    return [...(await findFunctionStarts(elf, Float64Array.from(addresses)))];
  }
  /** The offset of an address in `.text`. */
  const offset = (address: number): number => address - TEXT.vaddr + TEXT.offset;

  test('are svmas of the functions at file offsets; −1 between functions and outside segments', async () => {
    const asked = [0x401000, 0x40101f, 0x401020, 0x401040, 0x40113f, 0x401140].map(offset);
    expect(await startsOf(RANGES, [1, ...asked])).toEqual([-1, 0x401000, 0x401000, -1, 0x401040, 0x401040, -1]);
  });

  test('are those of the first range where ranges overlap', async () => {
    expect(
      await startsOf(
        [
          [0x401010, 0x20],
          [0x401000, 0x100],
          [0x401008, 0x100],
        ],
        [0x401004, 0x401010, 0x401080, 0x401104].map(offset),
      ),
    ).toEqual([0x401000, 0x401010, 0x401000, 0x401008]);
  });

  test('are found at once for a hundred thousand addresses in as many ranges', async () => {
    const ranges = Array.from({ length: 100_000 }, () => [TEXT.vaddr, TEXT.sizeBytes] as const);
    const addresses = Array.from({ length: 100_000 }, (_, i) => TEXT.offset + (i * TEXT.sizeBytes) / 100_000);
    expect(new Set(await startsOf(ranges, addresses))).toEqual(new Set([TEXT.vaddr]));
  });

  test('are −1 without the section', async () => {
    const elf = await ElfFile.open(new BufferSource(buildElf({ classBits: 64, littleEndian: true })));
    expect([...(await findFunctionStarts(elf, Float64Array.of(TEXT.offset)))]).toEqual([-1]);
  });
});

describe('function starts by the table of .eh_frame_hdr', () => {
  type Range = readonly [start: number, sizeBytes: number];
  interface Table {
    /** By default all starts in ascending order, each with its FDE. */
    readonly entries?: readonly (readonly [start: number, fdeAt: number])[];
    /** Where it says that .eh_frame is; by default, where that really is. */
    readonly frameAddr?: number;
  }
  const asked = [0x401004, 0x401010, 0x401020, 0x401080, 0x401104, 0x401180].map((address) => address - TEXT.vaddr + TEXT.offset);
  /** The second range is inside the first, so that the two ways give different starts for it. */
  const NESTED: readonly Range[] = [
    [0x401000, 0x100],
    [0x401010, 0x20],
    [0x401100, 0x20],
  ];
  const BY_WALK = [0x401000, 0x401000, 0x401000, 0x401000, 0x401100, -1];
  const BY_TABLE = [0x401000, 0x401010, 0x401010, -1, 0x401100, -1];

  async function startsOf(ranges: readonly Range[], { entries = entriesOf(ranges), frameAddr = 0 }: Table = {}, addresses = asked): Promise<number[]> {
    // Version 1; absolute, absolute, relative to the header, which is at 0.
    const header = new ByteFields(true).bytes(1, 0x03, 0x03, 0x3b).u32(frameAddr, entries.length);
    for (const [start, fdeAt] of entries) header.u32(start, fdeAt);
    const moreSections = [
      { name: '.eh_frame', content: frames(PLAIN, ranges, 0) },
      { name: '.eh_frame_hdr', content: header.done() },
    ];
    const elf = await ElfFile.open(new BufferSource(buildElf({ classBits: 64, littleEndian: true, moreSections })));
    return [...(await findFunctionStarts(elf, Float64Array.from(addresses)))];
  }

  /** As linkers write them. */
  function entriesOf(ranges: readonly Range[]): [number, number][] {
    const entries = ranges.map(([start], i): [number, number] => [start, frames(PLAIN, ranges.slice(0, i), 0).length]);
    return entries.sort(([a], [b]) => a - b);
  }

  test('are read only from the FDEs that are needed', async () => {
    expect(await startsOf(NESTED)).toEqual(BY_TABLE);
  });

  test.each<[string, Table]>([
    ['leaves out an FDE', { entries: entriesOf(NESTED).slice(0, 2) }],
    ['is empty', { entries: [] }],
    ['is not sorted', { entries: [1, 2, 0].map((i) => entriesOf(NESTED)[i]) }],
    ['is of another section', { frameAddr: 4 }],
    ['has another start than the FDE', { entries: entriesOf(NESTED).map(([start, at], i) => [start + (i === 2 ? 4 : 0), at]) }],
    ['leads to no FDE', { entries: entriesOf(NESTED).map(([start, at], i) => [start, i === 2 ? 0 : at]) }],
    ['leads out of the section', { entries: entriesOf(NESTED).map(([start, at], i) => [start, i === 2 ? 0x7fff_fff0 : at]) }],
  ])('are read from all FDEs if the table %s', async (_, table) => {
    expect(await startsOf(NESTED, table)).toEqual(BY_WALK);
  });

  test('are read from all FDEs if several begin at one address, even if one is empty', async () => {
    for (const sizes of [
      [0x100, 0],
      [0, 0x100],
      [0x100, 0x20],
      [0x20, 0x100],
    ]) {
      const ranges = sizes.map((sizeBytes): [number, number] => [0x401000, sizeBytes]);
      expect(await startsOf(ranges)).toEqual(await startsOf(ranges, { entries: [] }));
      expect((await startsOf(ranges))[0]).toBe(0x401000);
    }
  });

  test('are the same as those from all FDEs', async () => {
    const gap = fc.integer({ min: 0, max: 3 });
    const addresses = Array.from({ length: 128 }, (_, i) => TEXT.offset + i);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(gap, fc.integer({ min: 1, max: 5 })), { minLength: 1, maxLength: 24 }), fc.nat(), async (parts, turn) => {
        const ranges: [number, number][] = [];
        let at = TEXT.vaddr;
        for (const [space, sizeBytes] of parts) {
          ranges.push([at + space, sizeBytes]);
          at += space + sizeBytes;
        }
        // FDEs are not always in the order of their code.
        const turned = [...ranges.slice(turn % ranges.length), ...ranges.slice(0, turn % ranges.length)];
        expect(await startsOf(turned, {}, addresses)).toEqual(await startsOf(turned, { entries: [] }, addresses));
      }),
      { numRuns: 50 },
    );
  });
});

describe('function starts by .ARM.exidx', () => {
  const ARM = 40;
  const INDEX_ADDR = 0x401800;

  async function startsOf(
    functions: readonly number[],
    asked: readonly number[],
    { machine = ARM, described = [] as [number, number][] } = {},
  ): Promise<number[]> {
    const index = assembleExidx(
      functions.map((start) => [start, 'cantunwind']),
      INDEX_ADDR,
      0,
    )[0];
    const form: Form = { ...PLAIN, classBits: 32 };
    const moreSections = [index, ...(described.length === 0 ? [] : [{ name: '.eh_frame', content: frames(form, described, 0) }])];
    const elf = await ElfFile.open(new BufferSource(buildElf({ classBits: 32, littleEndian: true, machine, moreSections })));
    const offsets = asked.map((address) => (address >= DATA.vaddr ? address - DATA.vaddr + DATA.offset : address - TEXT.vaddr + TEXT.offset));
    return [...(await findFunctionStarts(elf, Float64Array.from(offsets)))];
  }
  const END = TEXT.vaddr + TEXT.sizeBytes;

  test('each function ends where the next one begins, and the last one with the segment of the code', async () => {
    const asked = [0x401000, 0x40100f, 0x401010, 0x40111f, 0x401120, END - 1, DATA.vaddr];
    expect(await startsOf([0x401010, 0x401120], asked)).toEqual([-1, -1, 0x401010, 0x401010, 0x401120, 0x401120, -1]);
  });

  test('the last one has no code where no segment of code holds it', async () => {
    expect(await startsOf([0x401010, DATA.vaddr], [0x401010, DATA.vaddr, DATA.vaddr + 4])).toEqual([0x401010, -1, -1]);
    expect(await startsOf([END], [END - 1, DATA.vaddr])).toEqual([-1, -1]);
  });

  test('there are none in an empty index, and on other machines', async () => {
    expect(await startsOf([], [0x401010])).toEqual([-1]);
    expect(await startsOf([0x401010], [0x401010], { machine: 3 })).toEqual([-1]);
  });

  test('what .eh_frame says of a place comes first', async () => {
    expect(await startsOf([0x401000, 0x401100], [0x401004, 0x401044, 0x401084], { described: [[0x401040, 0x20]] })).toEqual([0x401000, 0x401040, 0x401000]);
  });
});
