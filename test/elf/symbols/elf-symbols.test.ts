import { expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { readElfSymbols } from '../../../src/elf/symbols/elf-symbols.ts';
import { buildSectionElf } from '../../support/builders/elf/section-elf.ts';

const SYMBOL_BYTES = 24;

/** A table with a function `name` at offset 1 of the strings, in section `shndx`; 0: another file defines it. */
function tableOf(shndx: number, value: number): Uint8Array {
  const table = Buffer.alloc(2 * SYMBOL_BYTES);
  table.writeUInt32LE(1, SYMBOL_BYTES);
  table[SYMBOL_BYTES + 4] = 0x12;
  table.writeUInt16LE(shndx, SYMBOL_BYTES + 6);
  table.writeUInt32LE(value, SYMBOL_BYTES + 8);
  table.writeUInt32LE(8, SYMBOL_BYTES + 16);
  return table;
}

it.each([[true], [false]])('names of two tables are each read once (with .symtab: %s)', async (hasSymtab) => {
  const stub = Uint8Array.of(0xff, 0x25, 0xfa, 0x0f, 0, 0, ...new Array<number>(10).fill(0x90));
  const symtab = [
    { name: '.symtab', type: 2, link: 6, content: tableOf(1, 64) },
    { name: '.strtab', type: 3, content: Buffer.from('\0own\0') },
  ];
  const bytes = buildSectionElf({
    sections: [
      { name: '.plt', entsize: 16, content: stub },
      { name: '.rela.plt', type: 4, link: 3, content: new Uint8Array(BigUint64Array.of(0x1000n, 1n << 32n, 0n).buffer) },
      { name: '.dynsym', type: 11, link: 4, content: tableOf(0, 0) },
      { name: '.dynstr', type: 3, content: Buffer.from('\0open\0') },
      ...(hasSymtab ? symtab : []),
    ],
  });
  const source = new BufferSource(bytes);
  const elf = await ElfFile.open(source);
  const reads: number[] = [];
  source.readAt = (position, target) => {
    reads.push(position);
    return BufferSource.prototype.readAt.call(source, position, target);
  };
  const table = await readElfSymbols(elf, elf, { compatPerf: false });
  expect(Array.from({ length: table!.size }, (_, i) => table!.name(i)).sort()).toEqual(hasSymtab ? ['open@plt', 'own'] : ['open@plt']);
  const stringTables = elf.sections.filter(({ name }) => name.endsWith('str') || name === '.strtab').map(({ offset }) => offset);
  for (const offset of stringTables) expect(reads.filter((position) => position === offset).length).toBeLessThanOrEqual(1);
  expect(reads).toContain(elf.section('.dynstr')!.offset);
});
