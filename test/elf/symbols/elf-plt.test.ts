import { describe, expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { readPltEntries, readPltEntriesByOrder } from '../../../src/elf/symbols/elf-plt.ts';
import { readPltStubs } from '../../../src/elf/symbols/elf-plt-stubs.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import { buildElf, DATA } from '../../support/builders/elf/elf-builder.ts';
import { buildSectionElf } from '../../support/builders/elf/section-elf.ts';

/** Start, size and slot of each stub in these words of code, at svma 0 with the GOT at 0. */
async function slotsOf(machine: number, words: readonly number[], options: { littleEndian?: boolean; section?: string; is32?: boolean } = {}) {
  const { littleEndian = true, section = '.plt', is32 = false } = options;
  const content = Buffer.alloc(words.length * 4);
  for (const [i, word] of words.entries()) littleEndian ? content.writeUInt32LE(word >>> 0, i * 4) : content.writeUInt32BE(word >>> 0, i * 4);
  const moreSections = [{ name: section, content }];
  const elf = await ElfFile.open(new BufferSource(buildElf({ classBits: is32 ? 32 : 64, littleEndian, machine, moreSections })));
  const offset = elf.section(section)!.offset;
  return (await readPltStubs(elf)).map(({ start, sizeBytes, slot }) => [start - offset, sizeBytes, slot]);
}

describe('stubs of the PLT', () => {
  it('are found on aarch64, with and without bti', async () => {
    const header = [0xa9bf7bf0, 0xb0000010, 0xf9400a11, 0x91004210, 0xd61f0220, 0xd503201f, 0xd503201f, 0xd503201f];
    const plain = [0xb0000010, 0xf9400e11, 0x91006210, 0xd61f0220];
    const guarded = [0xd503245f, 0xf0fffff0, 0xf9400211, 0x91000210, 0xd61f0220, 0xd503201f];
    // The header reads a slot, too; it has no relocation.
    expect(await slotsOf(183, [...header, ...plain, ...guarded])).toEqual([
      [4, 28, 0x1010],
      [32, 16, 0x1018],
      [48, 24, -0x1000],
    ]);
  });

  it('are found on Arm: short, long, and reached from Thumb code', async () => {
    const plain = [0xe28fc600, 0xe28cca10, 0xe5bcfb88];
    const long = [0xe28fc200, 0xe28cc601, 0xe28cca10, 0xe5bcf004];
    const fromThumb = [0x46c04778, 0xe28fc600, 0xe28cca10, 0xe5bcf000];
    const fromNewThumb = [0xe7fd4778, 0xe28fc600, 0xe28cca10, 0xe5bcf000];
    expect(await slotsOf(40, [...plain, ...long, ...fromThumb, ...fromNewThumb], { is32: true })).toEqual([
      [0, 12, 8 + 0x10000 + 0xb88],
      [12, 16, 12 + 8 + 0x100000 + 0x10000 + 4],
      [28, 16, 32 + 8 + 0x10000],
      [44, 16, 48 + 8 + 0x10000],
    ]);
  });

  it('are found on RISC-V of 64 and 32 bits', async () => {
    expect(await slotsOf(243, [0x00002e17, 0xd10e3e03, 0x000e0367, 0x00000013])).toEqual([[0, 16, 0x2000 - 0x2f0]]);
    expect(await slotsOf(243, [0x00000017, 0xfffffe17, 0x010e2e03, 0x000e0367], { is32: true })).toEqual([[0, 16, 4 - 0x1000 + 0x10]]);
  });

  it('are found on LoongArch of 64 and 32 bits', async () => {
    const header = [0x1c00346e, 0x0011bdad, 0x28e441cf, 0x02ff51ad, 0x02e441cc, 0x004505ad, 0x28c0218c, 0x4c0001e0];
    expect(await slotsOf(258, [...header, 0x1c00346f, 0x28e401ef, 0x4c0001ed, 0x03400000])).toEqual([[32, 16, 32 + 0x1a3000 - 0x700]]);
    expect(await slotsOf(258, [0x1dffffef, 0x28801def, 0x4c0001ed, 0x03400000], { is32: true })).toEqual([[0, 16, -0x1000 + 7]]);
  });

  it('are found on i386 by address and by register, on s390x, and on x86-64 after endbr', async () => {
    expect(await slotsOf(3, [0xc00425ff, 0x00680804, 0xe9000000, 0xffffffe0], { is32: true })).toEqual([[0, 16, 0x0804c004]]);
    expect(await slotsOf(3, [0xfb1e0ff3, 0x0010a3ff, 0x0f660000, 0x0000441f], { is32: true, section: '.plt.sec' })).toEqual([[0, 16, 0x10]]);
    const entry = [0xc0100000, 0x0d00e310, 0x10000004, 0x07f10d10, 0xe310100c, 0x0014c0f4, 0xffffffe5, 0];
    expect(await slotsOf(22, entry, { littleEndian: false })).toEqual([[0, 32, 0x1a00]]);
    expect(await slotsOf(62, [0xfb1e0ff3, 0x2f7525ff, 0x0f660000, 0x0000441f], { section: '.plt.sec' })).toEqual([[0, 16, 10 + 0x2f75]]);
  });

  it('are found on MIPS of 32 and 64 bits', async () => {
    const entry = [0x3c0f0041, 0x8df99500, 0x03200008, 0x25f89500];
    for (const littleEndian of [true, false])
      expect(await slotsOf(8, [...entry, ...entry], { is32: true, littleEndian })).toEqual([
        [0, 16, 0x409500],
        [16, 16, 0x409500],
      ]);
    expect(await slotsOf(8, [0x3c0f0041, 0xddf91500, 0x03200008, 0x65f81500])).toEqual([[0, 16, 0x411500]]);
  });

  it('read slots relative to where they are mapped', async () => {
    const ADDR = 0x40000;
    const stubsAt = async (machine: number, words: readonly number[], classBits: 32 | 64 = 64): Promise<number[]> => {
      const littleEndian = machine !== 22;
      const content = new ByteFields(littleEndian).u32(...words).done();
      const file = buildSectionElf({ classBits, machine, littleEndian, sections: [{ name: '.plt', addr: ADDR, flags: 6, content }] });
      return (await readPltStubs(await ElfFile.open(new BufferSource(file)))).map(({ slot }) => slot - ADDR);
    };
    const aarch64 = [0xb0000010, 0xf9400e11, 0x91006210, 0xd61f0220];
    expect(await stubsAt(183, [...aarch64, ...aarch64])).toEqual([0x1018, 0x1018]);
    const arm = [0xe28fc601, 0xe28cca10, 0xe5bcf004];
    expect(await stubsAt(40, [...arm, ...arm], 32)).toEqual([8 + 0x110004, 12 + 8 + 0x110004]);
    const riscv = [0x00002e17, 0xd10e3e03, 0x000e0367, 0x00000013];
    expect(await stubsAt(243, [...riscv, ...riscv])).toEqual([0x2000 - 0x2f0, 0x10 + 0x2000 - 0x2f0]);
    const loongarch = [0x1c00346f, 0x28e401ef, 0x4c0001ed, 0x03400000];
    expect(await stubsAt(258, [...loongarch, ...loongarch])).toEqual([0x1a3000 - 0x700, 0x10 + 0x1a3000 - 0x700]);
    const s390x = [0xc0100000, 0x0d00e310, 0x10000004, 0x07f10d10, 0xe310100c, 0x0014c0f4, 0xffffffe5, 0];
    expect(await stubsAt(22, [...s390x, ...s390x])).toEqual([0x1a00, 0x20 + 0x1a00]);
    const x86 = [0xfb1e0ff3, 0x2f7525ff, 0x0f660000, 0x0000441f];
    expect(await stubsAt(62, [...x86, ...x86])).toEqual([10 + 0x2f75, 0x10 + 10 + 0x2f75]);
    const retpoline = [0x751d8b4c, 0xe800002f, 0, 0];
    expect(await stubsAt(62, [...retpoline, ...retpoline])).toEqual([7 + 0x2f75, 0x10 + 7 + 0x2f75]);
  });

  it('are none if a register or an instruction is another one', async () => {
    expect(await slotsOf(183, [0xb0000011, 0xf9400e11, 0x91006210, 0xd61f0220])).toEqual([]);
    expect(await slotsOf(40, [0xe28fc600, 0xe28cca10, 0xe59cfb88], { is32: true })).toEqual([]);
    expect(await slotsOf(40, [0xe28fc600, 0xe28cca10], { is32: true })).toEqual([]);
    expect(await slotsOf(8, [0x3c0e0041, 0x8df99500, 0x03200008, 0x25f89500], { is32: true })).toEqual([]);
    expect(await slotsOf(3, [0x00828b50, 0, 0, 0], { is32: true })).toEqual([]);
  });

  it('are none if the code has no known form', async () => {
    for (const machine of [3, 8, 22, 40, 62, 183, 243, 258, 999]) {
      expect(await slotsOf(machine, new Array<number>(16).fill(0), { littleEndian: machine !== 22 })).toEqual([]);
      expect(await slotsOf(machine, [], { littleEndian: machine !== 22 })).toEqual([]);
    }
  });
});

it.each([32, 64] as const)(
  'stubs of MIPS of %s bits have the names of the symbols that lead to them, and their slots those of relocations',
  async (classBits) => {
    const names = Buffer.from('\0near\0far\0own\0called\0');
    const fields = (): ByteFields => new ByteFields(true);
    const word = classBits / 8;
    /** st_info and st_other are 0. */
    const symbol = (name: number, shndx: number, value: number): Uint8Array =>
      classBits === 64 ? fields().u32(name).u16(0, shndx).uint(value, 8).uint(0, 8).done() : fields().u32(name, value, 0).u16(0, shndx).done();
    const STUBS_AT = 0x1000;
    const symbols = fields();
    for (const bytes of [symbol(0, 0, 0), symbol(6, 0, STUBS_AT + 16), symbol(1, 0, STUBS_AT), symbol(10, 1, STUBS_AT + 4), symbol(14, 0, 0)])
      symbols.put(bytes);
    // r_info: with 64 bits, the symbol, a special symbol, and three types
    const info = classBits === 64 ? fields().u32(4).bytes(0, 0, 0, 127) : fields().u32((4 << 8) | 127);
    const plt = fields().u32(0x3c0f0041, classBits === 64 ? 0xddf91500 : 0x8df91500, 0x03200008, 0);
    const file = buildSectionElf({
      classBits,
      machine: 8,
      sections: [
        { name: '.MIPS.stubs', addr: STUBS_AT, flags: 6, content: new Uint8Array(32) },
        { name: '.plt', addr: 0x2000, flags: 6, content: plt.done() },
        { name: '.rel.plt', type: 9, link: 4, content: fields().uint(0x411500, word).put(info.done()).done() },
        { name: '.dynsym', type: 11, link: 5, content: symbols.done() },
        { name: '.dynstr', type: 3, content: names },
      ],
    });
    const elf = await ElfFile.open(new BufferSource(file));
    const stubsOf = async (compatPerf: boolean): Promise<unknown[]> => {
      const { entries, names: found } = await (compatPerf ? readPltEntriesByOrder(elf) : readPltEntries(elf, elf));
      return entries.map(({ start, sizeBytes, nameOffset, nameLength }) => [
        start,
        sizeBytes,
        Buffer.from(found).toString('latin1', nameOffset, nameOffset + nameLength),
      ]);
    };
    const at = elf.section('.MIPS.stubs')!.offset;
    expect(await stubsOf(false)).toEqual([
      [elf.section('.plt')!.offset, 16, 'called@plt'],
      [at, 16, 'near@plt'],
      [at + 16, 16, 'far@plt'],
    ]);
    // perf 6.1 does not know these stubs.
    expect((await stubsOf(true)).some((entry) => String(entry).includes('near'))).toBe(false);
  },
);

it('stubs are named in the order of their relocations as perf does, as far as the section has whole ones', async () => {
  const relocation = (slot: number): Uint8Array => new Uint8Array(BigUint64Array.of(BigInt(slot), (1n << 32n) | 7n, 0n).buffer);
  const symbols = new Uint8Array(48);
  symbols[24] = 1;
  const named = async (pltBytes: number): Promise<number[][]> => {
    const bytes = buildSectionElf({
      sections: [
        { name: '.plt', entsize: 16, content: new Uint8Array(pltBytes) },
        { name: '.rela.plt', type: 4, link: 3, content: Buffer.concat([relocation(0x1000), relocation(0x1008)]) },
        { name: '.dynsym', type: 11, link: 4, content: symbols },
        { name: '.dynstr', type: 3, content: Buffer.from('\0open\0') },
      ],
    });
    const elf = await ElfFile.open(new BufferSource(bytes));
    const { entries } = await readPltEntriesByOrder(elf);
    return entries.map(({ start, sizeBytes }) => [start - elf.section('.plt')!.offset, sizeBytes]);
  };
  expect([await named(48), await named(47), await named(16)]).toEqual([
    [
      [16, 16],
      [32, 16],
    ],
    [[16, 16]],
    [],
  ]);
});

it('stubs of a hostile file, which all have the same long name, are refused', async () => {
  const count = 2000;
  const relocations = new Uint8Array(Uint32Array.from({ length: count * 4 }, (_, i) => (i % 4 === 3 ? 1 : 0)).buffer);
  const symbols = new Uint8Array(48);
  symbols[24] = 1;
  const bytes = buildSectionElf({
    sections: [
      { name: '.plt', entsize: 1, content: new Uint8Array(count) },
      { name: '.rel.plt', type: 9, link: 3, content: relocations },
      { name: '.dynsym', type: 11, link: 4, content: symbols },
      { name: '.dynstr', type: 3, content: Buffer.from(`\0${'a'.repeat(5000)}\0`) },
    ],
  });
  const elf = await ElfFile.open(new BufferSource(bytes, '/bin/x'));
  await expect(readPltEntriesByOrder(elf)).rejects.toThrow('names of its symbols overlap');
});

it("stubs of LLVM's linker against Spectre are recognized by what they load", async () => {
  expect(await slotsOf(62, [0xd91d8b4c, 0xe8000022, 0xffffffe4, 0xffffd1e9])).toEqual([[0, 16, 7 + 0x22d9]]);
  expect(await slotsOf(62, [0xd91d8b4c, 0xe8000022, 0xffffffe4, 0xffffd1e9, 0x00000068, 0xffb5e900, 0xccccccff, 0xcccccccc])).toEqual([[0, 32, 7 + 0x22d9]]);
  const i386 = { is32: true };
  expect(await slotsOf(3, [0x3304a150, 0xe5e80040, 0xe9ffffff, 0xffffffd1, 0x00000068, 0xffb6e900, 0xccccccff, 0xcccccccc], i386)).toEqual([[0, 32, 0x403304]]);
  expect(await slotsOf(3, [0x0c838b50, 0xe8000000, 0xffffffe4, 0xffffd1e9, 0x000068ff, 0xb5e90000, 0xccffffff, 0xcccccccc], i386)).toEqual([[0, 32, 0xc]]);
});

it('stubs are looked for in relocations of data only if some have no names', async () => {
  const stub = Uint8Array.of(0xff, 0x25, 0xfa, 0x0f, 0, 0, ...new Array<number>(10).fill(0x90));
  const symbols = new Uint8Array(48);
  symbols[24] = 1;
  const relocation = (slot: number): Uint8Array => new Uint8Array(BigUint64Array.of(BigInt(slot), 1n << 32n, 0n).buffer);
  /** The names that are found, and whether the relocations of data were read. */
  const read = async (jumpSlot: number, dataSlot: number) => {
    const bytes = buildSectionElf({
      sections: [
        { name: '.plt', entsize: 16, content: stub },
        { name: '.rela.plt', type: 4, link: 4, content: relocation(jumpSlot) },
        { name: '.rela.dyn', type: 4, link: 4, content: relocation(dataSlot) },
        { name: '.dynsym', type: 11, link: 5, content: symbols },
        { name: '.dynstr', type: 3, content: Buffer.from('\0open\0') },
      ],
    });
    const source = new BufferSource(bytes);
    const elf = await ElfFile.open(source);
    const data = elf.section('.rela.dyn')!.offset;
    let isRead = false;
    source.readAt = (position, target) => {
      isRead ||= position === data;
      return BufferSource.prototype.readAt.call(source, position, target);
    };
    const { entries, names } = await readPltEntries(elf, elf);
    return [...entries.map(({ nameOffset, nameLength }) => Buffer.from(names).toString('latin1', nameOffset, nameOffset + nameLength)), isRead];
  };
  expect(await read(0x1000, 0x1000)).toEqual(['open@plt', false]);
  expect(await read(0x2000, 0x1000)).toEqual(['open@plt', true]);
});

it('stubs are looked for behind the relative relocations, of which the dynamic section says how many there are', async () => {
  const [DT_RELA, DT_REL, DT_RELACOUNT, DT_RELCOUNT] = [7n, 17n, 0x6ffffff9n, 0x6ffffffan];
  const stub = Uint8Array.of(0xff, 0x25, 0xfa, 0x0f, 0, 0, ...new Array<number>(10).fill(0x90));
  const symbols = new Uint8Array(48);
  symbols[24] = 1;
  /** The first two are relative, but the second one also has a symbol, to be told from the third. */
  const rows = BigUint64Array.of(0x2000n, 8n, 0n, 0x1000n, 8n | (1n << 32n), 0n, 0x1000n, 6n | (1n << 32n), 0n);
  const firstRead = async (dynamic: readonly bigint[]) => {
    const bytes = buildSectionElf({
      sections: [
        { name: '.plt', entsize: 16, content: stub },
        { name: '.rela.dyn', type: 4, link: 3, content: new Uint8Array(rows.buffer) },
        { name: '.dynsym', type: 11, link: 4, content: symbols },
        { name: '.dynstr', type: 3, content: Buffer.from('\0open\0') },
        { name: '.dynamic', type: 6, content: new Uint8Array(BigUint64Array.from(dynamic).buffer) },
      ],
    });
    const source = new BufferSource(bytes);
    const elf = await ElfFile.open(source);
    const { offset, sizeBytes } = elf.section('.rela.dyn')!;
    const reads: number[] = [];
    source.readAt = (position, target) => {
      if (position >= offset && position < offset + sizeBytes) reads.push((position - offset) / 24);
      return BufferSource.prototype.readAt.call(source, position, target);
    };
    return [(await readPltEntries(elf, elf)).entries.length, reads[0]];
  };
  expect(await firstRead([DT_RELA, 0n, DT_RELACOUNT, 2n, 0n, 0n])).toEqual([1, 2]);
  expect(await firstRead([DT_RELA, 0n, 0n, 0n])).toEqual([1, 0]);
  // Those of other sections say nothing of this one.
  expect(await firstRead([DT_RELA, 0x5000n, DT_RELACOUNT, 2n, 0n, 0n])).toEqual([1, 0]);
  expect(await firstRead([DT_REL, 0n, DT_RELCOUNT, 2n, 0n, 0n])).toEqual([1, 0]);
  // A wrong count loses names, but nothing more.
  expect(await firstRead([DT_RELA, 0n, DT_RELACOUNT, 0xffff_ffffn, 0n, 0n])).toEqual([0, undefined]);
});

describe('stubs of functions that are chosen when the program starts', () => {
  /** A symbol of 64-bit files. */
  const symbol = (nameAt: number, info: number, value: number): Uint8Array => new Uint8Array(Uint32Array.of(nameAt, (1 << 16) | info, value, 0, 16, 0).buffer);
  const [LOCAL_FUNC, GLOBAL_IFUNC, WEAK_IFUNC] = [0x02, 0x1a, 0x2a];
  const NAMES = '\0bcmp\0memcmp\0__memcmp\0sinf32x\0sin\0memcmp_ifunc\0';
  const at = (name: string): number => NAMES.indexOf(`\0${name}\0`) + 1;
  /** `jmp *slot(%rip)` and two bytes to fill up, at an address. */
  const jump = (address: number, slot: number): number[] => [0xff, 0x25, ...new Uint8Array(Int32Array.of(slot - address - 6).buffer), 0x66, 0x90];

  const namesOf = async (bytes: Uint8Array): Promise<[number, number, string][]> => {
    const elf = await ElfFile.open(new BufferSource(bytes, '/bin/x'));
    const { entries, names } = await readPltEntries(elf, elf);
    const offset = elf.section('.plt')!.offset;
    return entries.map(({ start, sizeBytes, nameOffset, nameLength }) => [
      start - offset,
      sizeBytes,
      Buffer.from(names).toString('latin1', nameOffset, nameOffset + nameLength),
    ]);
  };

  it('have its name, also in a static program, where they are short', async () => {
    const relocations = [0x1000, 0x1008, 0x1010].flatMap((slot, i) => [BigInt(slot), 37n, BigInt(0x500 + i * 0x100)]);
    const bytes = buildSectionElf({
      sections: [
        { name: '.plt', content: Uint8Array.of(...jump(0, 0x1000), ...jump(8, 0x1008), ...jump(16, 0x1010)) },
        { name: '.rela.plt', type: 4, content: new Uint8Array(BigUint64Array.from(relocations).buffer) },
        {
          name: '.symtab',
          type: 2,
          link: 4,
          content: Buffer.concat([
            symbol(0, 0, 0),
            symbol(at('memcmp_ifunc'), LOCAL_FUNC, 0x500),
            symbol(at('__memcmp'), GLOBAL_IFUNC, 0x500),
            symbol(at('bcmp'), WEAK_IFUNC, 0x500),
            symbol(at('memcmp'), GLOBAL_IFUNC, 0x500),
            symbol(at('sinf32x'), WEAK_IFUNC, 0x700),
            symbol(at('sin'), WEAK_IFUNC, 0x700),
          ]),
        },
        { name: '.strtab', type: 3, content: Buffer.from(NAMES) },
      ],
    });
    // Nothing has a name for the second.
    expect(await namesOf(bytes)).toEqual([
      [0, 8, 'memcmp@plt'],
      [16, 8, 'sin@plt'],
    ]);
  });

  it('have its name where the slot has the address of what chooses', async () => {
    const bytes = buildElf({
      classBits: 32,
      littleEndian: true,
      machine: 3,
      moreSections: [
        { name: '.plt', content: Uint8Array.of(0xff, 0x25, ...new Uint8Array(Uint32Array.of(DATA.vaddr).buffer), 0x66, 0x90) },
        { name: '.rel.plt', type: 9, content: new Uint8Array(Uint32Array.of(DATA.vaddr, 42).buffer) },
      ],
      symbols: [{ name: 'strlen', value: 0x1234, type: 10 }],
    });
    bytes.writeUInt32LE(0x1234, DATA.offset);
    expect(await namesOf(bytes)).toEqual([[0, 8, 'strlen@plt']]);
  });
});
