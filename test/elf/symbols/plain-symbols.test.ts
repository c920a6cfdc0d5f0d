import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { readElfSymbols } from '../../../src/elf/symbols/elf-symbols.ts';
import { PlainSymbols } from '../../../src/elf/symbols/plain-symbols.ts';
import { MAX_ENTRIES } from '../../../src/elf/wasm/contract.ts';
import { buildElf, DATA, type PlannedSymbol, TEXT } from '../../support/builders/elf/elf-builder.ts';
import { runs } from '../../support/thoroughness.ts';

const HALF = TEXT.sizeBytes / 2;

async function contents(symbols: readonly PlannedSymbol[], machine: number, littleEndian: boolean) {
  const elf = await ElfFile.open(new BufferSource(buildElf({ classBits: 64, littleEndian, machine, symbols })));
  const table = await readElfSymbols(elf, elf, { compatPerf: false });
  return table && Array.from({ length: table.size }, (_, i) => [table.name(i), table.start(i), table.end(i)]);
}

/** Compares with a big-endian file, since only little-endian tables are read in WebAssembly. */
async function expectSame(symbols: readonly PlannedSymbol[], machine = 62): Promise<void> {
  expect(await contents(symbols, machine, true)).toEqual(await contents(symbols, machine, false));
}

/** Functions in the upper half of `.text`. */
function functions(count: number): PlannedSymbol[] {
  return Array.from({ length: count }, (_, i) => ({ name: `function_${i}`, value: TEXT.vaddr + HALF + (i % HALF), sizeBytes: i % 5 }));
}

describe('symbols that are collected in WebAssembly', () => {
  const symbol = fc.record({
    name: fc.constantFrom('', 'f', '_f', 'eightchr', 'longer_than_eight', '$x', '$x.a', '$other', '$d', '$xrv64gc', '.L0'),
    value: fc.oneof(
      fc.integer({ min: TEXT.vaddr, max: TEXT.vaddr + HALF }),
      fc.constantFrom(TEXT.vaddr + TEXT.sizeBytes, DATA.vaddr + DATA.sizeBytes),
      fc.integer({ min: DATA.vaddr, max: DATA.vaddr + DATA.sizeBytes }),
      fc.constantFrom(0, 1, 0x10, TEXT.vaddr - 1, 2 ** 52, 2 ** 53, 2 ** 63, 2 ** 63 + 2 ** 62, 2 ** 64 - 2 ** 12),
    ),
    sizeBytes: fc.constantFrom(0, 1, 16, 2 ** 32, 2 ** 53, 2 ** 63),
    type: fc.constantFrom(0, 0, 1, 2, 2, 3, 4, 6, 10),
    binding: fc.constantFrom(0, 1, 2, 10),
    visibility: fc.constantFrom(0, 1, 2, 3),
    section: fc.constantFrom(0, 1, 1, 1, 2, 99, 0xfeff, 0xff00, 0xfff1, 0xffff),
  });

  it('are the same as without it', async () => {
    // Enough for the table to be read in WebAssembly.
    const many = functions(1400);
    await fc.assert(
      fc.asyncProperty(fc.array(symbol, { minLength: 20, maxLength: 40 }), fc.constantFrom(62, 183, 243), async (symbols, machine) => {
        await expectSame([...symbols, ...many], machine);
        await expectSame([...many, ...symbols], machine);
      }),
      { numRuns: runs(300, 12) },
    );
  });

  it('are the same in tables that do not fit in memory at once', async () => {
    for (const count of [MAX_ENTRIES - 2, MAX_ENTRIES - 1, MAX_ENTRIES, 2 * MAX_ENTRIES + 10]) await expectSame(functions(count));
  });

  it('are nearly all symbols of a usual table', async () => {
    const symbols = functions(2 * MAX_ENTRIES);
    const elf = await ElfFile.open(new BufferSource(buildElf({ classBits: 64, littleEndian: true, symbols })));
    const section = elf.sections.find(({ name }) => name === '.symtab')!;
    const names = await elf.readSection(elf.sections[section.link]);
    const plain = PlainSymbols.over((await elf.readSection(section)).bytes, names.bytes, elf.loads)!;
    expect(plain.read(0, false, Number.POSITIVE_INFINITY)).toBe(MAX_ENTRIES);
    // The first entry is no symbol.
    expect(plain.collected.starts.length).toBe(MAX_ENTRIES - 1);
    expect(plain.read(MAX_ENTRIES, false, Number.POSITIVE_INFINITY)).toBe(2 * MAX_ENTRIES);
  });

  it('are refused if their names overlap beyond reason', async () => {
    const long = 'n'.repeat(1 << 12);
    const symbols = Array.from({ length: 1400 }, (_, i) => ({ name: long, value: TEXT.vaddr + i }));
    await expect(contents(symbols, 62, true)).rejects.toThrow('symbol names overlap');
    await expect(contents(symbols, 62, false)).rejects.toThrow('symbol names overlap');
  });
});
