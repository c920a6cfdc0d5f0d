import { describe, expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { hasDynsym, readElfSymbols } from '../../../src/elf/symbols/elf-symbols.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';

const DT_HASH = 4;
const DT_DEBUG = 21;
const DT_GNU_HASH = 0x6ffffef5;
const EM_S390 = 22;
const EM_X86_64 = 62;
const VADDR = 0x40_0000;
/** File offsets of the tables, and of the functions. */
const AT = { dynamic: 0x100, symbols: 0x200, strings: 0x400, hash: 0x500, code: 0x1000, end: 0x2000 };
const NAMES = ['outer', 'inner', 'helper'];

interface BareElfPlan {
  readonly classBits?: 32 | 64;
  readonly littleEndian?: boolean;
  readonly machine?: number;
  /** Tag of the hash table; default DT_HASH. */
  readonly hashTag?: number;
  /** What the hash table holds. */
  readonly hash?: (fields: ByteFields) => void;
  /** Further entries of the dynamic section, before the others. */
  readonly firstTags?: readonly (readonly [tag: number, value: number])[];
}

/** A library without section headers, with three functions, from the gABI's structure definitions. */
function bareElf({ classBits = 64, littleEndian = true, machine = EM_X86_64, hashTag = DT_HASH, hash = sysvHash(4), firstTags = [] }: BareElfPlan): Uint8Array {
  const is64 = classBits === 64;
  const word = is64 ? 8 : 4;
  const fields = (): ByteFields => new ByteFields(littleEndian);
  const names = fields().bytes(0);
  const symbols = fields().put(new Uint8Array(is64 ? 24 : 16));
  for (const [i, name] of NAMES.entries()) {
    const value = VADDR + AT.code + 0x100 * i;
    symbols.u32(names.length);
    if (is64) symbols.bytes(0x12, 0).u16(12).u64(value, 0x80);
    else symbols.u32(value, 0x80).bytes(0x12, 0).u16(12);
    names.text(name);
  }
  const table = fields();
  hash(table);
  const tags = [...firstTags, [5, VADDR + AT.strings], [6, VADDR + AT.symbols], [10, names.length], [hashTag, VADDR + AT.hash]] as [number, number][];
  const dynamic = fields();
  for (const [tag, value] of [...tags, [0, 0]]) dynamic.uint(tag, word).uint(value, word);
  const segment = (type: number, offset: number, sizeBytes: number, flags: number): Uint8Array => {
    const header = fields().u32(type);
    if (is64) header.u32(flags);
    header
      .uint(offset, word)
      .uint(VADDR + offset, word)
      .uint(VADDR + offset, word)
      .uint(sizeBytes, word)
      .uint(sizeBytes, word);
    if (!is64) header.u32(flags);
    return header.uint(0x1000, word).done();
  };
  const ehsize = is64 ? 64 : 52;
  const header = fields()
    .bytes(0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, littleEndian ? 1 : 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    .u16(3, machine)
    .u32(1)
    .uint(0, word)
    .uint(ehsize, word)
    .uint(0, word)
    .u32(0)
    .u16(ehsize, is64 ? 56 : 32, 2, 0, 0, 0)
    .put(segment(1, 0, AT.end, 5))
    .put(segment(2, AT.dynamic, dynamic.length, 4));
  const file = new Uint8Array(AT.end);
  const parts: [number, ByteFields][] = [
    [0, header],
    [AT.dynamic, dynamic],
    [AT.symbols, symbols],
    [AT.strings, names],
    [AT.hash, table],
  ];
  for (const [at, part] of parts) file.set(part.done(), at);
  return file;
}

/** One bucket, and as many chains as there are symbols. */
function sysvHash(symbolCount: number, wordBytes = 4): (fields: ByteFields) => void {
  return (fields) => {
    for (const value of [1, symbolCount, 1]) fields.uint(value, wordBytes);
  };
}

/** Buckets that begin at these symbols, and a chain word for each symbol from `first` on. */
function gnuHash(first: number, buckets: readonly number[], chains: readonly number[], bloomBytes: number): (fields: ByteFields) => void {
  return (fields) => {
    fields
      .u32(buckets.length, first, 1, 6)
      .put(new Uint8Array(bloomBytes))
      .u32(...buckets, ...chains);
  };
}

async function open(plan: BareElfPlan): Promise<ElfFile> {
  return ElfFile.open(new BufferSource(bareElf(plan)));
}

/** Names of the functions, and the offsets of their starts in the code. */
async function functionsOf(plan: BareElfPlan, compatPerf = false): Promise<[string, number][] | undefined> {
  const elf = await open(plan);
  const table = await readElfSymbols(elf, elf, { compatPerf });
  return table && Array.from({ length: table.size }, (_, i) => [table.name(i), table.start(i) - AT.code]);
}

const ALL = [
  ['outer', 0],
  ['inner', 0x100],
  ['helper', 0x200],
];

describe('a file without section headers', () => {
  it.each([
    { classBits: 64, littleEndian: true },
    { classBits: 64, littleEndian: false },
    { classBits: 32, littleEndian: true },
    { classBits: 32, littleEndian: false },
  ] as const)('has the functions of dynamic linking ($classBits bits, little-endian: $littleEndian)', async (plan) => {
    const { classBits } = plan;
    expect(await functionsOf(plan)).toEqual(ALL);
    expect(await functionsOf({ ...plan, hashTag: DT_GNU_HASH, hash: gnuHash(1, [1, 0, 2], [0x10, 0x20, 0x31], classBits / 8) })).toEqual(ALL);
  });

  it('is known to have functions before they are read', async () => {
    expect(hasDynsym(await open({}))).toBe(true);
  });

  it('of 64-bit s390 has a hash table of 64-bit words', async () => {
    expect(await functionsOf({ machine: EM_S390, littleEndian: false, hash: sysvHash(4, 8) })).toEqual(ALL);
  });

  it('has the functions up to the end of the last chain', async () => {
    const hash = gnuHash(1, [1, 2], [0x11, 0x21, 0x31], 8);
    expect(await functionsOf({ hashTag: DT_GNU_HASH, hash })).toEqual(ALL.slice(0, 2));
  });

  it('has the functions that are not in its hash table', async () => {
    const hash = gnuHash(3, [0, 0], [], 8);
    expect(await functionsOf({ hashTag: DT_GNU_HASH, hash })).toEqual(ALL.slice(0, 2));
  });

  it('is read by the first entry of a tag', async () => {
    expect(await functionsOf({ firstTags: [[5, VADDR + AT.code]] })).toBeUndefined();
  });

  it('has no names if no hash table tells how many there are', async () => {
    expect(await functionsOf({ hashTag: DT_DEBUG })).toBeUndefined();
  });

  it('has no names with --compat perf, as in perf', async () => {
    expect(await functionsOf({}, true)).toBeUndefined();
  });

  it('with a chain that never ends has as many functions as the file can hold', async () => {
    const hash = gnuHash(1, [1], [0x10, 0x20, 0x30], 8);
    expect(await functionsOf({ hashTag: DT_GNU_HASH, hash })).toEqual(ALL);
  });

  it.each([
    ['no mapped symbols', [[6, 0x10_0000]]],
    ['no mapped names', [[5, 0x10_0000]]],
    ['a dynamic section that ends before them', [[0, 0]]],
  ] as const)('with %s has no names', async (_, firstTags) => {
    expect(await functionsOf({ firstTags })).toBeUndefined();
  });
});
