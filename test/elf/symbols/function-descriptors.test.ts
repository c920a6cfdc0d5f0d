import { expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { readElfSymbols } from '../../../src/elf/symbols/elf-symbols.ts';
import { buildElf, DATA, TEXT } from '../../support/builders/elf/elf-builder.ts';

const EM_PPC64 = 21;
const DESCRIPTOR_BYTES = 24;

/** Names of the symbols and the offsets of their starts in `.text`. */
async function functionsOf(machine: number, codeAddresses: readonly number[]): Promise<[string, number][]> {
  const content = Buffer.alloc(codeAddresses.length * DESCRIPTOR_BYTES);
  for (const [i, address] of codeAddresses.entries()) content.writeBigUInt64BE(BigInt(address), i * DESCRIPTOR_BYTES);
  const symbols = [
    { name: 'second', value: 0, sizeBytes: 16, section: 3 },
    { name: 'first', value: DESCRIPTOR_BYTES, sizeBytes: 32, section: 3 },
    { name: '.local', value: TEXT.vaddr + 0x200, sizeBytes: 8 },
    { name: 'table', value: DATA.vaddr, sizeBytes: 8, type: 1, section: 2 },
  ];
  const elf = await ElfFile.open(
    new BufferSource(buildElf({ classBits: 64, littleEndian: false, machine, symbols, moreSections: [{ name: '.opd', content }] })),
  );
  const table = (await readElfSymbols(elf, elf, { compatPerf: false }))!;
  return Array.from({ length: table.size }, (_, i) => [table.name(i), table.start(i) - TEXT.offset]);
}

it('functions of PowerPC begin where their descriptors say', async () => {
  const functions = await functionsOf(EM_PPC64, [TEXT.vaddr + 0x80, TEXT.vaddr + 0x40]);
  expect(functions).toEqual([
    ['first', 0x40],
    ['second', 0x80],
    ['.local', 0x200],
    ['table', DATA.offset - TEXT.offset],
  ]);
});

it('a section .opd means nothing on other machines', async () => {
  const inText = (await functionsOf(62, [TEXT.vaddr + 0x80, TEXT.vaddr + 0x40])).filter(([, start]) => start >= 0 && start < TEXT.sizeBytes);
  expect(inText).toEqual([['.local', 0x200]]);
});
