import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import { type GoCode, openGoCode } from '../../src/gopclntab/go-code.ts';
import { mayHaveGoTable } from '../../src/gopclntab/go-functions.ts';
import { GoTable } from '../../src/gopclntab/go-table.ts';
import { StepBudget, ValueTable } from '../../src/gopclntab/value-table.ts';
import type { SourceFrame } from '../../src/symbol-table/code-symbols.ts';
import { ByteFields } from '../support/builders/byte-fields.ts';
import { buildElf, DATA, TEXT } from '../support/builders/elf/elf-builder.ts';
import { type BuiltGoTable, buildGoTable, type GoTablePlan } from '../support/builders/elf/go-table-builder.ts';

type Version = GoTablePlan['version'];

interface Form {
  readonly version: Version;
  readonly littleEndian: boolean;
  readonly classBits: 32 | 64;
  readonly quantum?: number;
}

/** Where in `.data` the inlined calls are. */
const CALLS_AT = 0x300;
const SOURCE_FILES = ['/src/main.go', '/src/work.go'];

/** main.run (64 bytes), into which main.add was inlined (8 to 16), and into that main.one (12 to 16); main.(*T).Do (32 bytes). */
function planOf({ version, littleEndian, classBits, quantum = 1 }: Form, textStart = 0): GoTablePlan {
  const base = version >= 18 ? 0 : TEXT.vaddr + 0x100;
  const inlineIndexes = [
    [8, -1],
    [12, 0],
    [16, 1],
    [64, -1],
  ] as const;
  const lines = [
    [8, 10],
    [12, 20],
    [16, 30],
    [24, 11],
    [32, 12],
    [64, 13],
  ] as const;
  const files = [
    [12, 0],
    [16, 1],
    [64, 0],
  ] as const;
  return {
    version,
    littleEndian,
    pointerSize: classBits === 64 ? 8 : 4,
    quantum,
    textStart,
    fileNames: SOURCE_FILES,
    functions: [
      { name: 'main.run', start: base, startLine: 9, files, lines, inlineIndexes, inlineTree: 16 },
      { name: 'main.(*T).Do', start: base + 64, startLine: 50, files: [[32, 1]], lines: [[32, 51]] },
    ],
    end: base + 96,
    otherNames: ['main.add', 'main.one'],
  };
}

/** The runtime's record: the table's address (0: its section has none), the names', first and last address, and what functions count from. */
function moduleData({ littleEndian, classBits }: Form, { namesAt, nameOffset }: BuiltGoTable): Uint8Array {
  const words = new Array<number>(64).fill(1);
  Object.assign(words, { 0: 0, 1: namesAt, 20: TEXT.vaddr + 0x100, 21: TEXT.vaddr + 0x160, 22: TEXT.vaddr + 0x100, 40: DATA.vaddr + CALLS_AT });
  const data = new ByteFields(littleEndian);
  for (const word of words) data.uint(word, classBits / 8);
  while (data.length < CALLS_AT + 16) data.bytes(0);
  // Calls have the kind of function, its name, the place of the call in the outermost function, and the line of their function.
  data.bytes(0, 0, 0, 0).u32(nameOffset('main.add'), 16, 19);
  data.bytes(0, 0, 0, 0).u32(nameOffset('main.one'), 8, 29);
  return data.done();
}

function elfOf(form: Form, { table = buildGoTable(planOf(form)), hasModuleData = true, section = '.gopclntab' } = {}): Uint8Array {
  const bytes = buildElf({ classBits: form.classBits, littleEndian: form.littleEndian, moreSections: [{ name: section, content: table.bytes }] });
  if (hasModuleData) bytes.set(moduleData(form, table), DATA.offset);
  return bytes;
}

async function open(bytes: Uint8Array, wantsLines = true, damages: string[] = []): Promise<GoCode | undefined> {
  return openGoCode(await ElfFile.open(new BufferSource(bytes, 'program')), wantsLines, ({ message }) => damages.push(message));
}

const START = TEXT.offset + 0x100;

function functionsOf(code: GoCode | undefined): string[] {
  if (code === undefined) return [];
  const { starts, sizes, nameOffsets, nameLengths, names } = code.functions;
  return Array.from(
    starts,
    (start, i) => `${start - START}+${sizes[i]} ${new TextDecoder().decode(names.subarray(nameOffsets[i], nameOffsets[i] + nameLengths[i]))}`,
  );
}

async function framesAt(code: GoCode | undefined, ...distances: number[]): Promise<string[]> {
  const found: string[] = [];
  const textOf = ({ function: described, file, line }: SourceFrame): string =>
    `${described?.name} (${described?.file}:${described?.startLine}) ${file}:${line}`;
  await code?.lines?.lookup(
    Float64Array.from(distances, (distance) => START + distance),
    (index, frames) => {
      found[index] = frames.map(textOf).join(' < ');
    },
  );
  return found;
}

const FORMS: readonly Form[] = ([2, 16, 18, 20] as const).flatMap((version) =>
  ([64, 32] as const).flatMap((classBits) => [true, false].map((littleEndian) => ({ version, classBits, littleEndian }))),
);
const PLAIN: Form = { version: 20, classBits: 64, littleEndian: true };
const NAMES = ['0+64 main.run', '64+32 main.(*T).Do'];

describe('the functions of a Go program', () => {
  test.each(FORMS)('have their names and sizes: Go 1.$version, $classBits bits, little-endian: $littleEndian', async (form) => {
    expect(functionsOf(await open(elfOf(form)))).toEqual(NAMES);
  });

  test.each(FORMS.filter(({ version }) => version === 20))('have lines and inlined calls: $classBits bits, little-endian: $littleEndian', async (form) => {
    expect(await framesAt(await open(elfOf(form)), 0, 8, 12, 16, 63, 64, 95)).toEqual([
      'main.run (/src/main.go:9) /src/main.go:10',
      'main.add (/src/main.go:19) /src/main.go:20 < main.run (/src/main.go:9) /src/main.go:11',
      'main.one (/src/work.go:29) /src/work.go:30 < main.add (/src/main.go:19) /src/main.go:20 < main.run (/src/main.go:9) /src/main.go:11',
      'main.run (/src/main.go:9) /src/main.go:11',
      'main.run (/src/main.go:9) /src/main.go:13',
      'main.(*T).Do (/src/work.go:50) /src/work.go:51',
      'main.(*T).Do (/src/work.go:50) /src/work.go:51',
    ]);
  });

  test('count in instructions if these have a fixed size', async () => {
    expect((await framesAt(await open(elfOf({ ...PLAIN, quantum: 4 })), 12, 63))[0]).toMatch(/^main\.one .* < main\.add /);
  });

  test('are not found outside their code', async () => {
    expect(await framesAt(await open(elfOf(PLAIN)), -1, 96)).toEqual([]);
  });

  test('have no lines if these are not asked for, or are in another form in this version', async () => {
    expect((await open(elfOf(PLAIN), false))?.lines).toBeUndefined();
    expect((await open(elfOf({ ...PLAIN, version: 18 })))?.lines).toBeUndefined();
  });

  test('count from where the header says if the runtime’s data is not found', async () => {
    const table = buildGoTable(planOf(PLAIN, TEXT.vaddr + 0x100));
    expect(functionsOf(await open(elfOf(PLAIN, { table, hasModuleData: false })))).toEqual(NAMES);
    expect(await open(elfOf(PLAIN, { hasModuleData: false }))).toBeUndefined();
  });

  test('are found in the section of position-independent programs', async () => {
    expect(functionsOf(await open(elfOf(PLAIN, { section: '.data.rel.ro.gopclntab' })))).toEqual(NAMES);
  });

  test('are found among other data, where other linkers put the table', async () => {
    const table = buildGoTable(planOf(PLAIN, TEXT.vaddr + 0x100));
    // It looks like the beginning of a table, but is none.
    const before = new ByteFields().u32(0xfffffff1).bytes(0, 0, 1, 8).u64(3, 0).done();
    const content = new ByteFields().put(before).put(table.bytes).done();
    const moreSections = [
      { name: '.go.buildinfo', content: new Uint8Array(8) },
      { name: '.data.rel.ro', content },
    ];
    expect(functionsOf(await open(buildElf({ classBits: 64, littleEndian: true, moreSections })))).toEqual(NAMES);
  });

  test('count from what relocations put into the runtime’s data', async () => {
    const table = buildGoTable(planOf(PLAIN));
    const words = new DataView(moduleData(PLAIN, table).slice().buffer);
    const relocations = new ByteFields();
    for (const index of [0, 1, 20, 21, 22, 40]) relocations.u64(DATA.vaddr + 8 * index, 8, words.getBigUint64(8 * index, true));
    const moreSections = [
      { name: '.gopclntab', content: table.bytes },
      { name: '.rela.dyn', type: 4, content: relocations.done() },
    ];
    const bytes = buildElf({ classBits: 64, littleEndian: true, moreSections });
    bytes.set(new Uint8Array(words.buffer).subarray(CALLS_AT), DATA.offset + CALLS_AT);
    const code = await open(bytes);
    expect(functionsOf(code)).toEqual(NAMES);
    expect((await framesAt(code, 12))[0]).toMatch(/^main\.one .* < main\.add .* < main\.run /);
  });

  test('are not looked for in programs that are not of Go', async () => {
    const elf = await ElfFile.open(new BufferSource(elfOf(PLAIN, { section: '.data.rel.ro' }), 'program'));
    expect(mayHaveGoTable(elf)).toBe(false);
    expect(await openGoCode(elf, true, () => {})).toBeUndefined();
  });
});

describe('a damaged table', () => {
  test('of an unknown version is reported with its place', async () => {
    const table = buildGoTable(planOf(PLAIN));
    table.bytes[0] = 0x10;
    await expect(open(elfOf(PLAIN, { table }))).rejects.toThrow('program: .gopclntab: unknown version');
  });

  test('is reported when its parts are beyond its end', async () => {
    const table = buildGoTable(planOf(PLAIN));
    new DataView(table.bytes.buffer).setUint32(8, 0x3fffff, true);
    await expect(open(elfOf(PLAIN, { table }))).rejects.toThrow('parts lie beyond its end');
  });

  test('leaves out the functions that are damaged, and reports that once', async () => {
    const table = buildGoTable(planOf(PLAIN));
    // The second function's record says that its values are beyond the end.
    new DataView(table.bytes.buffer).setUint32(table.bytes.length - 44 + 20, 0x7fffffff, true);
    const damages: string[] = [];
    const code = await open(elfOf(PLAIN, { table }), true, damages);
    expect(functionsOf(code)).toEqual(NAMES);
    expect((await framesAt(code, 0, 64, 72)).map((frames) => frames?.slice(0, 8))).toEqual(['main.run']);
    expect(damages).toEqual(['program: .gopclntab: offsets lie beyond its end']);
    // Its name, too.
    new DataView(table.bytes.buffer).setUint32(table.bytes.length - 44 + 4, 0x7fffffff, true);
    expect(functionsOf(await open(elfOf(PLAIN, { table }), true, damages))).toEqual(NAMES.slice(0, 1));
    expect(damages.slice(1)).toEqual(['program: .gopclntab: names lie beyond its end']);
  });

  test('without a place for its inlined calls still has lines, and reports that', async () => {
    const bytes = elfOf(PLAIN);
    bytes.fill(0xff, DATA.offset + CALLS_AT, DATA.offset + CALLS_AT + 48);
    const damages: string[] = [];
    const code = await open(bytes, true, damages);
    expect(await framesAt(code, 12)).toEqual(['main.run (/src/work.go:9) /src/work.go:30']);
    expect(damages).toEqual(['program: .gopclntab: nothing says where inlined calls are']);
  });

  test('with inlined calls in a circle still gives a stack that ends', async () => {
    const bytes = elfOf(PLAIN);
    // main.one is called from where it is itself.
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(DATA.offset + CALLS_AT + 32 + 8, 12, true);
    const [frames] = await framesAt(await open(bytes), 12);
    expect(frames.split(' < ').length).toBe(257);
  });

  test('throws nothing but PerfconvError, and does not hang', async () => {
    const whole = elfOf(PLAIN);
    const tableAt = whole.indexOf(0xf1, DATA.offset + DATA.sizeBytes);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = whole.slice();
        for (const [at, value] of changes) bytes[(at < 300 ? tableAt : DATA.offset + CALLS_AT - 300) + at] = value;
        try {
          await framesAt(await open(bytes), 0, 8, 12, 16, 64, 95);
        } catch (error) {
          expect(error).toBeInstanceOf(PerfconvError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

test('values are decoded only as often as the budget allows', () => {
  const { bytes } = buildGoTable(planOf(PLAIN));
  const table = GoTable.read(new ByteView(bytes, true), 'program');
  const { lines } = table.positionsOf(0);
  const values = new ValueTable(table, new StepBudget(table, 6 + 2));
  values.decode(lines, 64);
  expect([0, 8, 63, 64].map((distance) => values.at(distance))).toEqual([10, 20, 13, -1]);
  expect(() => values.decode(lines, 64)).toThrow('program: .gopclntab: tables of positions overlap');
});
