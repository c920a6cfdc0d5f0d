import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { WasmLoan } from '../../../src/dwarf/encoding/wasm-instance.ts';
import { type LineTable, LineTableReader } from '../../../src/dwarf/lines/line-table.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import { type LineProgramPlan, makeLineProgram } from '../../support/builders/dwarf/line-program.ts';
import { memorySections } from '../../support/builders/dwarf/memory-sections.ts';
import { runs } from '../../support/thoroughness.ts';

const UNIT = { name: 'main.c', compDir: '/build' };

function sectionsOf(plan: LineProgramPlan, more: Parameters<typeof memorySections>[0] = {}, hasCodeAtZero = false) {
  const { littleEndian = true, addressSize = 8 } = plan;
  return memorySections({ line: makeLineProgram(plan), ...more }, { littleEndian, addressSize, hasCodeAtZero });
}

function read(plan: LineProgramPlan, more: Parameters<typeof memorySections>[0] = {}, hasCodeAtZero = false): Promise<LineTable> {
  return new LineTableReader(sectionsOf(plan, more, hasCodeAtZero)).read(0, UNIT);
}

/** Address, file, line and column of each row. */
function rowsOf({ rows }: LineTable): number[][] {
  return Array.from(rows.addresses, (address, i) => [address, rows.files[i], rows.lines[i], rows.columns[i]]);
}

function sequencesOf({ rows: { sequences } }: LineTable): number[][] {
  return Array.from(sequences.starts, (start, i) => [start, sequences.ends[i]]);
}

const BASE: LineProgramPlan = { version: 4, directories: ['inc'], files: [['a.c', 0]], program: () => {} };

describe('readLineTable', () => {
  const forms = [2, 3, 4, 5].flatMap((version) =>
    [false, true].flatMap((is64) =>
      [true, false].flatMap((littleEndian) => ([4, 8] as const).map((addressSize) => ({ version: version as 2 | 3 | 4 | 5, is64, littleEndian, addressSize }))),
    ),
  );

  it.each(forms)('reads version $version, 64-bit format $is64, little-endian $littleEndian, addresses of $addressSize bytes', async (form) => {
    const table = await read({
      ...form,
      directories: form.version === 5 ? ['/build', 'inc', '/usr/include'] : ['inc', '/usr/include'],
      files: [
        ['a.c', 0],
        ['b.h', 1],
        ['c.h', 2],
      ],
      program: (program) =>
        program
          .setAddress(0x401000)
          .setColumn(7)
          .special(0, 2)
          .setFile(2)
          .advanceLine(300)
          .advancePc(200)
          .copy()
          .constAddPc()
          .fixedAdvancePc(0x1234)
          .special(3, -4)
          .advancePc(1)
          .endSequence(),
    });
    const third = 0x401000 + 200 + 17 + 0x1234 + 3;
    expect(rowsOf(table)).toEqual([
      [0x401000, 1, 3, 7],
      [0x4010c8, 2, 303, 7],
      [third, 2, 299, 7],
    ]);
    expect(sequencesOf(table)).toEqual([[0x401000, third + 1]]);
    const first = form.version === 5 ? 0 : 1;
    expect([0, 1, 2].map((i) => table.file(first + i))).toEqual(['/build/a.c', '/build/inc/b.h', '/usr/include/c.h']);
    expect(table.file(form.version === 5 ? 3 : 0)).toBe(form.version === 5 ? '' : '/build/main.c');
    expect(table.file(1)).toBe(table.file(1));
    expect(table.rows.isCut).toBe(false);
  });

  it('skips unknown opcodes by their lengths', async () => {
    const table = await read({
      ...BASE,
      opcodeLengths: [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 3, 0],
      program: (program) =>
        program
          .setAddress(0x1000)
          .bytes(13, 0x81, 0x02, 1, 0xff, 0x7f)
          .bytes(14)
          .extended(0x80, 1, 2, 3)
          .extended(4, 0x05) // DW_LNE_set_discriminator
          .bytes(0, 0)
          .bytes(6, 7, 10, 11, 12, 0x90, 0x01)
          .copy()
          .advancePc(4)
          .endSequence(),
    });
    expect(rowsOf(table)).toEqual([[0x1000, 1, 1, 0]]);
  });

  it('takes opcodes from opcode_base on for special ones, however low it is', async () => {
    const table = await read({
      ...BASE,
      opcodeLengths: [0, 1, 1],
      lineBase: 0,
      lineRange: 4,
      program: (program) => program.setAddress(0x1000).bytes(4, 9).advancePc(1).endSequence(),
    });
    expect(rowsOf(table)).toEqual([
      [0x1000, 1, 1, 0],
      [0x1001, 1, 2, 0],
    ]);
  });

  it('advances by operations if an instruction has several', async () => {
    const table = await read({
      ...BASE,
      minimumInstructionLength: 16,
      maximumOperations: 3,
      program: (program) => program.setAddress(0x1000).copy().special(2, 1).special(2, 1).advancePc(7).copy().advancePc(2).endSequence(),
    });
    // Operations 0, 2, 4 and 11: instructions 0, 0, 1 and 3; 13 is in the one that begins at 0x1040.
    expect(rowsOf(table).map(([address]) => address)).toEqual([0x1000, 0x1000, 0x1010, 0x1030]);
    expect(sequencesOf(table)).toEqual([[0x1000, 0x1040]]);
  });

  it('has room for every row if an instruction has several operations', async () => {
    // Different numbers of rows of both kinds of opcodes, so that the memory for rows is full at any of them.
    for (let copies = 0; copies < 40; copies++) {
      const table = await read({
        ...BASE,
        maximumOperations: 3,
        program: (program) => {
          program.setAddress(0x1000);
          for (let i = 0; i < copies; i++) program.copy();
          for (let i = 0; i < 40; i++) program.special(0, 0);
          program.advancePc(3).endSequence();
        },
      });
      expect(rowsOf(table)).toEqual(Array.from({ length: copies + 40 }, () => [0x1000, 1, 1, 0]));
    }
  });

  it('takes 0 operations per instruction for 1', async () => {
    const table = await read({
      ...BASE,
      maximumOperations: 0,
      minimumInstructionLength: 4,
      program: (p) => p.setAddress(0x1000).special(1, 0).advancePc(2).endSequence(),
    });
    expect(sequencesOf(table)).toEqual([[0x1004, 0x100c]]);
  });

  it('adds files that the program defines', async () => {
    const table = await read({
      ...BASE,
      program: (program) =>
        program
          .setAddress(0x1000)
          .extended(3, ...Buffer.from('late.c\0'), 1, 0, 0)
          .setFile(2)
          .copy()
          .advancePc(1)
          .endSequence(),
    });
    expect(table.file(2)).toBe('/build/inc/late.c');
  });

  it('runs a program again after another one, without adding its files twice', async () => {
    const plan: LineProgramPlan = {
      ...BASE,
      program: (program) => {
        program.setAddress(0x1000).extended(3, ...Buffer.from('late.c\0'), 1, 0, 0);
        program.setFile(2).copy().advancePc(1).endSequence();
      },
    };
    const reader = new LineTableReader(sectionsOf(plan));
    const [table, other] = [await reader.read(0, UNIT), await reader.read(0, UNIT)];
    const first = table.rows;
    expect(first.ensureCurrent()).toBe(true);
    expect(other.rows.files[0]).toBe(2);
    // Rows that are kept do not keep the memory that they were in.
    expect([first.ensureCurrent(), first.addresses.buffer.byteLength]).toEqual([false, 0]);
    expect([table.rows.files[0], table.file(2), table.file(3)]).toEqual([2, '/build/inc/late.c', '']);
  });

  it('keeps kernel addresses as negative numbers', async () => {
    const table = await read({ ...BASE, program: (program) => program.setAddress(0xffffffff81000000n).copy().advancePc(16).endSequence() });
    expect(sequencesOf(table)).toEqual([[-0x7f000000, -0x7f000000 + 16]]);
    expect(table.find(-0x7f000000 + 3)).toBe(0);
  });
});

describe('find', () => {
  it('takes the last row that is not after the address', async () => {
    const table = await read({
      ...BASE,
      program: (program) => program.setAddress(0x1000).copy().special(0, 1).special(0, 1).special(4, 1).advancePc(4).endSequence(),
    });
    const lineAt = (svma: number): number => table.rows.lines[table.find(svma)] ?? -1;
    expect([0xfff, 0x1000, 0x1003, 0x1004, 0x1007, 0x1008].map(lineAt)).toEqual([-1, 3, 3, 4, 4, -1]);
  });

  it('searches sequences in any order, but not the gaps between them', async () => {
    const table = await read({
      ...BASE,
      program: (program) => {
        for (const start of [0x3000, 0x1000, 0x2000]) program.setAddress(start).advanceLine(start).copy().advancePc(0x10).endSequence();
      },
    });
    expect([0x1000, 0x100f, 0x1010, 0x2008, 0x3000, 0x300f, 0x3010].map((svma) => table.rows.lines[table.find(svma)] ?? -1)).toEqual([
      0x1001, 0x1001, -1, 0x2001, 0x3001, 0x3001, -1,
    ]);
  });

  it('sorts rows that go backwards', async () => {
    const table = await read({
      ...BASE,
      program: (program) => program.setAddress(0x1010).special(0, 1).setAddress(0x1000).special(0, 1).setAddress(0x1020).endSequence(),
    });
    expect([0x1000, 0x1011].map((svma) => table.rows.lines[table.find(svma)])).toEqual([3, 2]);
  });

  it('keeps rows of line 0, for code that belongs to no line', async () => {
    const table = await read({ ...BASE, program: (program) => program.setAddress(0x1000).copy().special(4, -1).advancePc(4).endSequence() });
    expect(table.rows.lines[table.find(0x1004)]).toBe(0);
  });

  it('finds the code of sequences that overlap', async () => {
    const table = await read({
      ...BASE,
      program: (program) => {
        program.setAddress(0x1000).copy().advancePc(0x100).endSequence();
        program.setAddress(0x1040).special(0, 8).advancePc(0x10).endSequence();
      },
    });
    expect([0x1020, 0x1044, 0x1080].map((svma) => table.rows.lines[table.find(svma)])).toEqual([1, 9, 1]);
  });

  it('makes room for a longer program after one with thousands of sequences, as with a section for each function', async () => {
    const loan = new WasmLoan();
    const readNext = (program: LineProgramPlan['program']) => new LineTableReader(sectionsOf({ ...BASE, program }), undefined, loan).read(0, UNIT);
    const many = await readNext((program) => {
      for (let i = 1; i <= 4000; i++)
        program
          .setAddress(0x1000 * i)
          .copy()
          .advancePc(0x10)
          .endSequence();
    });
    expect(sequencesOf(many)).toHaveLength(4000);
    const long = await readNext((program) => {
      program.setAddress(0x1000);
      for (let i = 0; i < 100_000; i++) program.special(1, 1);
      program.endSequence();
    });
    expect(long.rows.lines[long.find(0x1000 + 70_000)]).toBe(1 + 70_000);
  });
});

describe('code that the linker discarded', () => {
  const dead = (address: number | bigint, addressSize: 4 | 8 = 8): LineProgramPlan => ({
    ...BASE,
    addressSize,
    program: (program) => {
      // Advancing from the mark must not lead to an address.
      program.setAddress(address).advancePc(8).copy().advancePc(0x5000).endSequence();
      program.setAddress(0x1000).copy().advancePc(0x10).endSequence();
    },
  });

  it.each([
    [0, 8],
    [0xffffffffffffffffn, 8],
    [0xfffffffffffffffen, 8],
    [0xffffffff, 4],
    [0xfffffffe, 4],
  ] as const)('is left out if it is marked by address %s of %s bytes', async (address, addressSize) => {
    const table = await read(dead(address, addressSize));
    expect(sequencesOf(table)).toEqual([[0x1000, 0x1010]]);
    expect(rowsOf(table)).toHaveLength(1);
  });

  it('is recognized by the start of its sequence', async () => {
    const table = await read({
      ...BASE,
      program: (program) => program.setAddress(0).copy().setAddress(0x3000).copy().advancePc(4).endSequence(),
    });
    expect(rowsOf(table)).toEqual([]);
  });

  it('is not marked by 0 if there is code at 0', async () => {
    expect(sequencesOf(await read(dead(0), {}, true))).toEqual([
      [0x1000, 0x1010],
      [8, 0x5008],
    ]);
  });

  it('is not marked by an address of 8 bytes that would be -1 in 4', async () => {
    expect(sequencesOf(await read(dead(0xffffffff)))).toContainEqual([0x100000007, 0x100005007]);
  });
});

describe('header of version 5', () => {
  const program: LineProgramPlan['program'] = (program) => program.setAddress(0x1000).copy().advancePc(1).endSequence();

  it('may have names in string sections, digests and fields of any form', async () => {
    const str = new ByteFields().text('', 'from-str.c').done();
    const lineStr = new ByteFields().text('/build', 'from-line-str.c').done();
    const strOffsets = new ByteFields().u32(0x10, 0x10, 1).done();
    const tables = (fields: ByteFields): void => {
      fields.bytes(1, 1).uleb(0x1f).uleb(1).u32(0); // directories: DW_FORM_line_strp
      fields.bytes(4).uleb(1, 0x1f, 2, 0x0b, 5, 0x1e, 0x2001, 0x09).uleb(1); // path, directory, MD5, a vendor's block
      fields.u32(7).bytes(0, ...new Array<number>(16).fill(0xaa), 3, 1, 2, 3);
    };
    const table = await read({ version: 5, tables, program }, { line_str: lineStr });
    expect(table.file(0)).toBe('/build/from-line-str.c');

    const byStr = await read({ version: 5, tables: (fields) => fields.bytes(0).uleb(0).bytes(1).uleb(1, 0x0e).uleb(1).u32(1), program }, { str });
    expect(byStr.file(0)).toBe('/build/from-str.c');

    const byIndex = (form: number, bytes: readonly number[]) =>
      new LineTableReader(
        sectionsOf(
          {
            version: 5,
            tables: (fields) =>
              fields
                .bytes(0)
                .uleb(0)
                .bytes(1)
                .uleb(1, form)
                .uleb(1)
                .bytes(...bytes),
            program,
          },
          { str, str_offsets: strOffsets },
        ),
      ).read(0, { ...UNIT, strOffsetsBase: 4 });
    for (const [form, bytes] of [
      [0x1a, [1]],
      [0x25, [1]],
      [0x26, [1, 0]],
      [0x27, [1, 0, 0]],
      [0x28, [1, 0, 0, 0]],
    ] as const) {
      expect((await byIndex(form, bytes)).file(0)).toBe('/build/from-str.c');
    }
    expect((await byIndex(0x25, [200])).file(0)).toBe('');
  });

  it('may have names in the supplementary file', async () => {
    const sections = sectionsOf({ version: 5, tables: (fields) => fields.bytes(0).uleb(0).bytes(1).uleb(1, 0x1f21).uleb(1).u32(3), program });
    const supplementary = memorySections({ str: new ByteFields().text('ab', 'shared.c').done() });
    expect((await new LineTableReader(sections, supplementary).read(0, UNIT)).file(0)).toBe('/build/shared.c');
  });

  it('gives the directory of a unit that gives none', async () => {
    const reader = new LineTableReader(sectionsOf({ version: 5, directories: ['/made/here', 'src'], files: [['a.c', 1]], program }));
    expect((await reader.read(0, { name: '', compDir: '' })).file(0)).toBe('/made/here/src/a.c');
  });

  it.each([
    // As written by compilers that map prefixes of paths: both mean the same directory.
    ['both relative', './d', './d', ['d/m.c', 'd/inc/h.h', 'e.h']],
    ['only directory 0 relative', '/build/d', 'd', ['/build/d/m.c', '/build/d/inc/h.h', '/build/e.h']],
    ['only the attribute relative', 'd', '/build/d', ['/build/d/m.c', '/build/d/inc/h.h', '/build/e.h']],
    ['no attribute', '', './d', ['d/m.c', 'd/inc/h.h', 'e.h']],
    ['directory 0 empty', './d', '', ['d/m.c', 'd/inc/h.h', 'e.h']],
    ['both empty', '', '', ['m.c', 'inc/h.h', '../e.h']],
    ['a drive of Windows', 'C:\\build\\d', 'd', ['C:\\build\\d\\m.c', 'C:\\build\\d\\inc\\h.h', 'C:\\build\\e.h']],
  ])('takes directory 0 and DW_AT_comp_dir for one directory: %s', async (_, compDir, directory0, expected) => {
    const files = [
      ['m.c', 0],
      ['h.h', 1],
      ['e.h', 2],
      ['lost.c', 9],
    ] as const;
    const sections = sectionsOf({ version: 5, directories: [directory0, 'inc', '..'], files, program });
    const table = await new LineTableReader(sections).read(0, { name: 'm.c', compDir });
    expect([0, 1, 2].map((i) => table.file(i))).toEqual(expected);
    // A directory that the table does not have is taken to be the unit's.
    expect(table.file(3)).toBe(table.file(0).replace('m.c', 'lost.c'));
  });

  it('reads many strings in few pieces', async () => {
    const str = new ByteFields();
    const places = Array.from({ length: 2000 }, (_, i) => {
      const at = str.length;
      str.text(`file-${i}.c`);
      return at;
    });
    const sections = sectionsOf(
      {
        version: 5,
        tables: (fields) =>
          fields
            .bytes(0)
            .uleb(0)
            .bytes(1)
            .uleb(1, 0x0e)
            .uleb(2000)
            .u32(...places),
        program,
      },
      { str: str.done() },
    );
    const table = await new LineTableReader(sections).read(0, UNIT);
    expect([0, 999, 1999].map((i) => table.file(i))).toEqual(['/build/file-0.c', '/build/file-999.c', '/build/file-1999.c']);
    expect(sections.reads).toBeLessThan(10);
  });
});

describe('damage', () => {
  const good: LineProgramPlan = { ...BASE, program: (program) => program.setAddress(0x1000).copy().advancePc(1).endSequence() };

  it('to the unit is a PerfconvError', async () => {
    const reader = (line: Uint8Array) => new LineTableReader(memorySections({ line }, { name: '/bin/x' }));
    await expect(reader(new Uint8Array()).read(0, UNIT)).rejects.toThrow(PerfconvError);
    await expect(reader(new Uint8Array(100).fill(0xfe)).read(0, UNIT)).rejects.toThrow('/bin/x: line number program in .debug_line at 0x0');
    await expect(reader(makeLineProgram(good)).read(1e15, UNIT)).rejects.toThrow(PerfconvError);
    const future = makeLineProgram(good);
    future[4] = 6;
    await expect(reader(future).read(0, UNIT)).rejects.toThrow('version 6');
  });

  it('to lengths does not lead past the bytes that are there', async () => {
    for (const lie of [1, 1000, 0x7fff0000]) {
      expect(rowsOf(await read({ ...good, unitLengthLie: lie }))).toHaveLength(1);
      expect(rowsOf(await read({ ...good, headerLengthLie: lie }))).toEqual([]);
    }
    expect(rowsOf(await read({ ...good, is64: true, unitLengthLie: 2 ** 52 }))).toHaveLength(1);
    const cut = await read({ ...good, unitLengthLie: -3 });
    expect([rowsOf(cut), cut.rows.isCut]).toEqual([[], true]);
    // Names are not read from the bytes of the program; those before them are kept.
    const early = await read({
      ...good,
      files: [
        ['a.c', 0],
        ['b.c', 0],
      ],
      headerLengthLie: -5,
    });
    expect([early.file(1), early.file(2)]).toEqual(['/build/a.c', '']);
  });

  it('to counts takes neither time nor memory', async () => {
    const table = await read({
      version: 5,
      tables: (fields) =>
        fields
          .bytes(1, 1, 0x08)
          .uleb(2 ** 50)
          .text('/d')
          .bytes(0)
          .uleb(2 ** 50),
      program: good.program,
    });
    expect(table.file(0)).toBe('');
    expect(
      rowsOf(
        await read({
          ...good,
          version: 5,
          tables: (fields) =>
            fields
              .bytes(0)
              .uleb(2 ** 53)
              .bytes(0)
              .uleb(2 ** 53),
        }),
      ),
    ).toHaveLength(1);
  });

  it('to forms loses the names, but not the program', async () => {
    const table = await read({
      version: 5,
      tables: (fields) => fields.bytes(0).uleb(0).bytes(2).uleb(1, 0x08, 2, 0x7e).uleb(2).text('a.c').bytes(1, 1),
      program: good.program,
    });
    expect(table.file(0)).toBe('');
    expect(rowsOf(table)).toHaveLength(1);
  });

  it('to the program loses no sequence before it', async () => {
    const table = await read({
      ...good,
      program: (program) => {
        program.setAddress(0x2000).copy().advancePc(4).endSequence();
        good.program(program);
        program.setAddress(0x3000).copy().bytes(0, 0xff, 0xff, 0x7f, 2);
      },
    });
    expect(sequencesOf(table)).toEqual([
      [0x1000, 0x1001],
      [0x2000, 0x2004],
    ]);
    expect(table.rows.isCut).toBe(true);
  });

  it('to lengths that puts many tables inside one another is refused', async () => {
    // Each table begins one byte after the one before, and claims to reach to the end.
    const line = new Uint8Array(200_000);
    const reader = new LineTableReader(memorySections({ line: line.fill(0x04) }));
    let refused = 0;
    for (let offset = 0; offset < 100; offset++)
      await reader.read(offset, UNIT).catch((error: Error) => (refused += Number(error.message.includes('overlap too much'))));
    expect(refused).toBeGreaterThan(80);
    await expect(reader.read(0, UNIT)).rejects.toThrow('version 1028');
  });

  it('that makes units alternate between large tables is refused until the budget is renewed', async () => {
    const large = makeLineProgram({
      ...good,
      program: (program) => program.setAddress(0x1000).put(new Uint8Array(100_000).fill(1)).advancePc(1).endSequence(),
    });
    const reader = new LineTableReader(memorySections({ line: Buffer.concat([large, large]) }));
    const untilRefused = async (): Promise<number> => {
      for (let times = 0; times < 1000; times++) {
        try {
          const table = await reader.read((times % 2) * large.length, UNIT);
          expect(table.rows.addresses.length).toBeGreaterThan(0);
        } catch (error) {
          expect((error as PerfconvError).message).toContain('line tables are read over and over');
          return times;
        }
      }
      return 1000;
    };
    const times = await untilRefused();
    expect(times).toBeGreaterThan(20);
    expect(times).toBeLessThan(200);
    expect(await untilRefused()).toBe(0);
    reader.renewBudget();
    expect(await untilRefused()).toBe(times);
  });

  it('to offsets that makes names overlap is refused', async () => {
    const count = 20_000;
    const places = new Uint8Array(Uint32Array.from({ length: count }, (_, i) => i).buffer);
    const line = makeLineProgram({ ...good, version: 5, tables: (fields) => fields.bytes(0).uleb(0).bytes(1).uleb(1, 0x0e).uleb(count).put(places) });
    const str = new Uint8Array(count).fill(0x61);
    await expect(new LineTableReader(memorySections({ line, str })).read(0, UNIT)).rejects.toThrow('names overlap too much');
  });

  it('to line_range and opcode_base does no harm', async () => {
    expect(rowsOf(await read({ ...good, lineRange: 0, program: (p) => p.setAddress(0x1000).bytes(200).advancePc(1).endSequence() }))).toEqual([
      [0x1000, 1, 1, 0],
    ]);
    const line = makeLineProgram({ ...good, version: 2, opcodeLengths: [] });
    line[14] = 0;
    await new LineTableReader(memorySections({ line })).read(0, UNIT).then(
      (table) => table.rows,
      () => {},
    );
  });

  it('to any byte throws nothing but PerfconvError', async () => {
    const whole = [2, 4, 5].map((version) => makeLineProgram({ ...good, version: version as 2 | 4 | 5, directories: ['/d', 'e'], files: [['a.c', 1]] }));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...whole), fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 }), fc.nat(200), async (bytes, changes, cut) => {
        const line = bytes.slice(0, cut < 100 ? bytes.length : cut);
        for (const [at, value] of changes) if (at < line.length) line[at] = value;
        try {
          const table = await new LineTableReader(memorySections({ line })).read(0, UNIT);
          expect(table.rows.addresses.length).toBeLessThanOrEqual(line.length);
          for (let i = 0; i < 5; i++) table.file(i);
          table.find(0x1000);
        } catch (error) {
          if (!(error instanceof PerfconvError)) throw error;
        }
      }),
      { numRuns: runs(2000, 400) },
    );
  });
});

describe('programs of any opcodes', () => {
  const opcode = fc.oneof(
    fc.record({ kind: fc.constant('special' as const), operations: fc.nat(10), lines: fc.integer({ min: -5, max: 8 }) }),
    fc.record({ kind: fc.constant('advance' as const), operations: fc.nat(100_000), lines: fc.integer({ min: -1000, max: 100_000 }) }),
    fc.record({ kind: fc.constant('place' as const), file: fc.nat(300), column: fc.nat(70_000) }),
  );

  it('have the rows that the standard requires', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(opcode, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (opcodes, step) => {
        const expected: number[][] = [];
        const state = { address: 0x10000, file: 1, line: 1, column: 0 };
        const table = await read({
          ...BASE,
          minimumInstructionLength: step,
          program: (program) => {
            program.setAddress(state.address);
            for (const one of opcodes) {
              if (one.kind === 'place') {
                program.setFile(one.file).setColumn(one.column);
                state.file = one.file;
                state.column = one.column;
                continue;
              }
              if (one.kind === 'special') program.special(one.operations, one.lines);
              else program.advancePc(one.operations).advanceLine(one.lines).copy();
              state.address += one.operations * step;
              state.line = (state.line + one.lines) >>> 0;
              expected.push([state.address, state.file, state.line, state.column]);
            }
            program.advancePc(1).endSequence();
          },
        });
        expect(rowsOf(table)).toEqual(expected);
      }),
    );
  });
});
