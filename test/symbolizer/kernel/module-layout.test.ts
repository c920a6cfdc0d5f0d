import { describe, expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { Kallsyms } from '../../../src/symbolizer/kernel/kallsyms.ts';
import { ModuleLayout } from '../../../src/symbolizer/kernel/module-layout.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import { buildSectionElf, type PlannedElfSection } from '../../support/builders/elf/section-elf.ts';

const CODE = 6;
const DATA = 3;
const START = -0x3f000000;
const AARCH64 = 183;
const SYMBOL_SIZE_BYTES = 24;

type PlannedFunction = readonly [name: string, section: string, value: number];

/** Code of the module, of its start, and beside it. As the kernel lays it out: .text at 0, .text.unlikely at 0x44, .exit.text at 0x50. */
const SECTIONS = [section('.data', DATA, 0x20), section('.text', CODE, 0x41, 16), section('.init.text', CODE, 0x10, 16)].concat(
  section('.text.unlikely', CODE, 9, 4),
  section('.exit.text', CODE, 0x10, 16),
);
const FUNCTIONS: readonly PlannedFunction[] = [
  ['run', '.text', 0],
  ['stop', '.text', 0x20],
  ['init', '.init.text', 0],
  ['fail', '.text.unlikely', 1],
  ['leave', '.exit.text', 8],
];

function section(name: string, flags: number, sizeBytes: number, addralign = 1): PlannedElfSection {
  return { name, flags, addralign, content: new Uint8Array(sizeBytes) };
}

interface ModulePlan {
  readonly sections?: readonly PlannedElfSection[];
  readonly functions?: readonly PlannedFunction[];
  readonly type?: number;
  readonly machine?: number;
}

/** A module; all of its functions have 4 bytes. */
function moduleOf({ sections = SECTIONS, functions = FUNCTIONS, type = 1, machine = 62 }: ModulePlan = {}): Promise<ElfFile> {
  const names = new ByteFields().bytes(0);
  const symbols = new ByteFields().put(new Uint8Array(SYMBOL_SIZE_BYTES));
  for (const [name, inSection, value] of functions) {
    const index = sections.findIndex((each) => each.name === inSection) + 1;
    symbols.u32(names.length).bytes(0x12, 0).u16(index).uint(value, 8).uint(4, 8);
    names.text(name);
  }
  const tables = [
    { name: '.symtab', type: 2, link: sections.length + 2, entsize: SYMBOL_SIZE_BYTES, content: symbols.done() },
    { name: '.strtab', type: 3, content: names.done() },
  ];
  return ElfFile.open(new BufferSource(buildSectionElf({ type, machine, sections: [...sections, ...tables] })));
}

const startOf = async (plan: ModulePlan = {}, compatPerf = false): Promise<ModuleLayout> => ModuleLayout.ofStart(await moduleOf(plan), START, { compatPerf });

/** By the kernel's list of the module: addresses from the module's start on. */
async function listOf(listed: readonly (readonly [name: string, address: number])[], plan: ModulePlan = {}): Promise<ModuleLayout> {
  const lines = listed.map(([name, address]) => `${BigInt.asUintN(64, BigInt(START + address)).toString(16)} t ${name}\t[module]\n`);
  const kallsyms = Kallsyms.parse(new TextEncoder().encode(lines.join('')));
  return ModuleLayout.ofList(await moduleOf(plan), kallsyms.module('module')!);
}

/** The functions that are known, with their places from the module's start on. */
async function functionsOf(layout: ModuleLayout, compatPerf = false): Promise<[string, number][]> {
  const table = await layout.readSymbols({ compatPerf });
  return Array.from({ length: table?.size ?? 0 }, (_, i) => [table!.name(i), table!.start(i) - START]);
}

const svmasOf = (layout: ModuleLayout, ...addresses: number[]): number[] => addresses.map((address) => layout.svmaOf(START + address));

describe('where the code of a module is by where it begins', () => {
  it('is section after section on x86, but for code that is gone once the module has started', async () => {
    const layout = await startOf();
    expect(layout.isEmpty).toBe(false);
    expect(await functionsOf(layout)).toEqual([
      ['run', 0],
      ['stop', 0x20],
      ['fail', 0x45],
      ['leave', 0x58],
    ]);
    expect(svmasOf(layout, -1, 0, 0x40, 0x41, 0x43, 0x44, 0x4c, 0x4d, 0x50, 0x5f, 0x60)).toEqual([
      ...[Number.NaN, 0, 0x40, Number.NaN, Number.NaN, 0x44, 0x4c, Number.NaN, 0x50, 0x5f, Number.NaN],
    ]);
  });

  it('is known of .text alone where the kernel puts stubs between sections', async () => {
    const layout = await startOf({ machine: AARCH64 });
    expect(await functionsOf(layout)).toEqual([
      ['run', 0],
      ['stop', 0x20],
    ]);
    expect(svmasOf(layout, 0, 0x40, 0x44, 0x50)).toEqual([0, 0x40, Number.NaN, Number.NaN]);
  });

  it('is known of .text alone to perf', async () => {
    const layout = await startOf({}, true);
    expect(await functionsOf(layout, true)).toEqual([
      ['run', 0],
      ['stop', 0x20],
    ]);
    expect(svmasOf(layout, 0x44)).toEqual([Number.NaN]);
  });

  it('is known of nothing in a module without .text where that alone counts, and in a file that is no module', async () => {
    const sections = SECTIONS.filter(({ name }) => name !== '.text');
    for (const layout of [await startOf({ sections, functions: [], machine: AARCH64 }), await startOf({ type: 2 })]) {
      expect(layout.isEmpty).toBe(true);
      expect(await layout.readSymbols({ compatPerf: false })).toBeUndefined();
      expect(svmasOf(layout, 0)).toEqual([Number.NaN]);
    }
  });

  it('leaves out symbols of data and of places outside their section', async () => {
    const functions: PlannedFunction[] = [
      ['table', '.data', 0],
      ['behind', '.text', 0x41],
      ['last', '.text', 0x40],
      ['before', '.exit.text', -1],
    ];
    expect(await functionsOf(await startOf({ functions }))).toEqual([['last', 0x40]]);
  });
});

describe("where the code of a module is by the kernel's list", () => {
  it('is, for each section, where one of its functions is, wherever that is', async () => {
    const layout = await listOf([
      ['stop', 0x1020],
      ['fail', 0x5001],
      ['unknown', 0x7000],
      ['init', -0x8000],
    ]);
    expect(await functionsOf(layout)).toEqual([
      ['init', -0x8000],
      ['run', 0x1000],
      ['stop', 0x1020],
      ['fail', 0x5001],
    ]);
    // Debug information has the code of the start behind all other code.
    expect(svmasOf(layout, 0x1000, 0x1040, 0x1041, 0x5000, 0x5008, 0x5009, -0x8000)).toEqual([0, 0x40, Number.NaN, 0x44, 0x4c, Number.NaN, 0x60]);
  });

  it('is not taken from names that several functions have, in the list or in the file', async () => {
    const functions: PlannedFunction[] = [...FUNCTIONS, ['twice', '.exit.text', 0], ['twice', '.text.unlikely', 5]];
    const layout = await listOf(
      [
        ['run', 0x1000],
        ['run', 0x9000],
        ['stop', 0x2020],
        ['twice', 0x3000],
      ],
      { functions },
    );
    expect(await functionsOf(layout)).toEqual([
      ['run', 0x2000],
      ['stop', 0x2020],
    ]);
  });

  it('is unknown where the list has none of its functions, or the file is no module', async () => {
    expect((await listOf([['other', 0x1000]])).isEmpty).toBe(true);
    expect((await listOf([['run', 0x1000]], { type: 2 })).isEmpty).toBe(true);
    expect((await listOf([['table', 0x1000]], { functions: [['table', '.data', 0]] })).isEmpty).toBe(true);
  });
});
