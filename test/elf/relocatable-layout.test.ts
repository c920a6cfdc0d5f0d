import { describe, expect, it } from 'vitest';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import { relocatableLayout } from '../../src/elf/relocatable-layout.ts';
import { buildSectionElf, type PlannedElfSection } from '../support/builders/elf/section-elf.ts';

const CODE = 6;
const DATA = 3;
const section = (name: string, flags: number, sizeBytes: number, addralign = 1): PlannedElfSection => ({
  name,
  flags,
  addralign,
  content: new Uint8Array(sizeBytes),
});

async function layoutOf(sections: readonly PlannedElfSection[], type = 1) {
  return relocatableLayout(await ElfFile.open(new BufferSource(buildSectionElf({ type, sections }))));
}

describe('relocatableLayout', () => {
  it('puts code first, as the kernel does with a module: aligned, in the order of headers, init code last', async () => {
    const layout = await layoutOf([
      section('.data', DATA, 10, 8),
      section('.text', CODE, 0x21, 16),
      section('.init.text', CODE, 0x10, 16),
      section('.text.unlikely', CODE, 5, 4),
      section('.comment', 0, 9),
      section('.exit.text', CODE, 7, 16),
    ]);
    expect(Array.from(layout!)).toEqual([-1, 0x50, 0, 0x40, 0x24, -1, 0x30, -1]);
  });

  it('is for relocatable files only', async () => {
    expect(await layoutOf([section('.text', CODE, 1)], 2)).toBeUndefined();
  });

  it('leaves out sections with impossible sizes', async () => {
    const layout = await layoutOf([
      { ...section('.text', CODE, 4), sizeBytes: 2 ** 53 },
      { ...section('.text.b', CODE, 4), addralign: 2 ** 60 },
      section('.text.c', CODE, 4, 4),
    ]);
    expect(Array.from(layout!)).toEqual([-1, -1, 0, 4, -1]);
  });
});
