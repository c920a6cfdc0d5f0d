import { describe, expect, it } from 'vitest';
import { BufferSource } from '../../src/base/byte-source.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import { readPltEntries } from '../../src/elf/elf-plt.ts';
import { readPltStubs } from '../../src/elf/elf-plt-stubs.ts';
import { buildElf } from '../support/elf-builder.ts';
import { buildSectionElf } from '../support/section-elf.ts';

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

  it('are found on i386 by address and by register, on s390x, and on x86-64 after endbr', async () => {
    expect(await slotsOf(3, [0xc00425ff, 0x00680804, 0xe9000000, 0xffffffe0], { is32: true })).toEqual([[0, 16, 0x0804c004]]);
    expect(await slotsOf(3, [0xfb1e0ff3, 0x0010a3ff, 0x0f660000, 0x0000441f], { is32: true, section: '.plt.sec' })).toEqual([[0, 16, 0x10]]);
    const entry = [0xc0100000, 0x0d00e310, 0x10000004, 0x07f10d10, 0xe310100c, 0x0014c0f4, 0xffffffe5, 0];
    expect(await slotsOf(22, entry, { littleEndian: false })).toEqual([[0, 32, 0x1a00]]);
    expect(await slotsOf(62, [0xfb1e0ff3, 0x2f7525ff, 0x0f660000, 0x0000441f], { section: '.plt.sec' })).toEqual([[0, 16, 10 + 0x2f75]]);
  });

  it('are none if the code has no known form', async () => {
    for (const machine of [3, 22, 40, 62, 183, 243, 999]) {
      expect(await slotsOf(machine, new Array<number>(16).fill(0), { littleEndian: machine !== 22 })).toEqual([]);
      expect(await slotsOf(machine, [], { littleEndian: machine !== 22 })).toEqual([]);
    }
  });
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
  await expect(readPltEntries(await ElfFile.open(new BufferSource(bytes, '/bin/x')), true)).rejects.toThrow('names of its symbols overlap');
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
    const { entries, names } = await readPltEntries(elf, false);
    return [...entries.map(({ nameOffset, nameLength }) => Buffer.from(names).toString('latin1', nameOffset, nameOffset + nameLength)), isRead];
  };
  expect(await read(0x1000, 0x1000)).toEqual(['open@plt', false]);
  expect(await read(0x2000, 0x1000)).toEqual(['open@plt', true]);
});
