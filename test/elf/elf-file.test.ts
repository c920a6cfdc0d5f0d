import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { BufferSource, type ByteSource } from '../../src/base/streams/byte-source.ts';
import { ElfFile } from '../../src/elf/elf-file.ts';
import { readElfSymbols } from '../../src/elf/symbols/elf-symbols.ts';
import { readDebugLink } from '../../src/symbolizer/search/debug-link.ts';
import { buildElf, DATA, type ElfPlan, type PlannedSymbol, TEXT } from '../support/builders/elf/elf-builder.ts';
import { buildSectionElf } from '../support/builders/elf/section-elf.ts';
import { spread, stride } from '../support/thoroughness.ts';

const KINDS = [
  { classBits: 32, littleEndian: true },
  { classBits: 32, littleEndian: false },
  { classBits: 64, littleEndian: true },
  { classBits: 64, littleEndian: false },
] as const;
const BUILD_ID = '0123456789abcdef0123456789abcdef01234567';

function open(bytes: Uint8Array): Promise<ElfFile> {
  return ElfFile.open(new BufferSource(bytes, 'made.elf'));
}

async function names(plan: Partial<ElfPlan>, symbols: readonly PlannedSymbol[], compatPerf = true): Promise<string[]> {
  const elf = await open(buildElf({ classBits: 64, littleEndian: true, ...plan, symbols }));
  const table = await readElfSymbols(elf, elf, { compatPerf });
  return Array.from({ length: table?.size ?? 0 }, (_, i) => table!.name(i));
}

describe('a file without program headers', () => {
  const [ALLOC, WRITE, EXEC, TLS] = [2, 1, 4, 0x400];
  const [NOBITS, NOTE] = [8, 7];
  const content = new Uint8Array(16);
  const sections = [
    { name: '.text', flags: ALLOC | EXEC, addr: 0x80, content },
    { name: '.data', flags: ALLOC | WRITE, addr: 0x100, content },
    { name: '.tbss', type: NOBITS, flags: ALLOC | WRITE | TLS, addr: 0x110, content: new Uint8Array(), sizeBytes: 16 },
    { name: '.bss', type: NOBITS, flags: ALLOC | WRITE, addr: 0x110, content: new Uint8Array(), sizeBytes: 16 },
    { name: '.comment', content },
    { name: '.empty', flags: ALLOC, addr: 0x120, content: new Uint8Array() },
    { name: '.note.gnu.build-id', type: NOTE, flags: ALLOC, content },
  ];

  it('is mapped by its sections', async () => {
    const elf = await open(buildSectionElf({ type: 3, sections }));
    const [text, data] = ['.text', '.data'].map((name) => elf.section(name)?.offset ?? Number.NaN);
    expect(elf.segments).toMatchObject([
      { type: 1, flags: 5, offset: text, vaddr: 0x80, filesz: 16, memsz: 16 },
      { type: 1, flags: 6, offset: data, vaddr: 0x100, filesz: 16, memsz: 16 },
      { type: 1, flags: 6, vaddr: 0x110, filesz: 0, memsz: 16 },
    ]);
    expect([elf.svmaOf(text + 4), elf.fileOffsetOf(0x104)]).toEqual([0x84, data + 4]);
  });

  it('is not mapped if it is relocatable', async () => {
    expect((await open(buildSectionElf({ type: 1, sections }))).segments).toEqual([]);
  });
});

describe.each(KINDS)('an ELF$classBits file, little-endian $littleEndian', (kind) => {
  const symbols = [
    { name: 'first', value: TEXT.vaddr + 0x10, sizeBytes: 0x20 },
    { name: 'counter', value: DATA.vaddr + 8, sizeBytes: 4, type: 1, section: 2 },
  ];

  it('has headers, sections and segments', async () => {
    const elf = await open(buildElf({ ...kind, symbols }));
    expect(elf).toMatchObject({ ...kind, machine: 62 });
    expect(elf.sections.map(({ name }) => name)).toEqual(['', '.text', '.data', '.init', '.symtab', '.strtab', '.shstrtab']);
    expect(elf.section('.data')).toMatchObject({ addr: DATA.vaddr, offset: DATA.offset, sizeBytes: DATA.sizeBytes });
    expect(elf.segments).toMatchObject([
      { type: 1, flags: 5, vaddr: TEXT.vaddr, offset: TEXT.offset, filesz: TEXT.sizeBytes },
      { type: 1, flags: 6, vaddr: DATA.vaddr, offset: DATA.offset, memsz: DATA.sizeBytes },
    ]);
    expect(elf.hasCode).toBe(true);
  });

  it('has symbols at file offsets', async () => {
    const elf = await open(buildElf({ ...kind, symbols }));
    const table = (await readElfSymbols(elf, elf, { compatPerf: true }))!;
    expect(table.find(TEXT.offset + 0xf)).toBe(-1);
    const first = table.find(TEXT.offset + 0x2f);
    expect([table.name(first), table.start(first), table.end(first)]).toEqual(['first', TEXT.offset + 0x10, TEXT.offset + 0x30]);
    expect(table.name(table.find(DATA.offset + 11))).toBe('counter');
    expect(table.find(DATA.offset + 12)).toBe(-1);
  });

  it('has with compatPerf only the symbols before one whose section is missing, as they are', async () => {
    const at = (offset: number) => TEXT.vaddr + offset;
    const ours = (name: string, offset: number, sizeBytes = 8): PlannedSymbol => ({ name, value: at(offset), sizeBytes });
    const lost: PlannedSymbol = { name: 'lost', value: at(0x30), sizeBytes: 8, section: 200 };
    const unsized = ours('unsized', 0x10, 0);
    const table = [ours('a', 0), unsized, lost, ours('after', 0x40)];
    const dynamic = [ours('long_alias_of_a', 0), ours('dynamic', 0x50)];
    const namesOf = async (plan: Pick<ElfPlan, 'symbols' | 'dynamicSymbols'>, compatPerf = true): Promise<(string | undefined)[]> => {
      const elf = await open(buildElf({ ...kind, ...plan }));
      const found = await readElfSymbols(elf, elf, { compatPerf });
      return [0, 0x10, 0x11, 0x40, 0x50].map((offset) => {
        const index = found?.find(TEXT.offset + offset) ?? -1;
        return index < 0 ? undefined : found!.name(index);
      });
    };
    const none = undefined;
    expect(await namesOf({ symbols: table, dynamicSymbols: dynamic })).toEqual(['a', 'unsized', none, none, none]);
    expect(await namesOf({ symbols: table, dynamicSymbols: dynamic }, false)).toEqual(['a', 'unsized', 'unsized', 'after', 'dynamic']);
    // In a second table, it makes no difference to the first one.
    const second = { symbols: [ours('a', 0), unsized, ours('after', 0x40)], dynamicSymbols: [ours('long_alias_of_a', 0), lost, ours('dynamic', 0x50)] };
    expect(await namesOf(second)).toEqual(['a', 'unsized', 'unsized', 'after', none]);
    for (const section of [0, 0xfff1]) {
      const dynamicSymbols = second.dynamicSymbols.map((symbol) => (symbol === lost ? { ...lost, section } : symbol));
      expect(await namesOf({ ...second, dynamicSymbols })).toEqual(['long_alias_of_a', 'unsized', 'unsized', 'after', 'dynamic']);
    }
  });

  it('has a build id, in a section or a segment', async () => {
    expect(await (await open(buildElf({ ...kind, buildId: BUILD_ID }))).buildId()).toBe(BUILD_ID);
    const bySegment = await open(buildElf({ ...kind, buildId: 'abcdef0123', withoutNoteSection: true }));
    expect(bySegment.section('.note.gnu.build-id')).toBeUndefined();
    expect(await bySegment.buildId()).toBe('abcdef0123');
    expect(await (await open(buildElf(kind))).buildId()).toBeUndefined();
  });

  it('reads symbols of a debug file through the program headers of the binary', async () => {
    const runtime = await open(buildElf(kind));
    const debug = await open(buildElf({ ...kind, symbols, isDebugFile: true }));
    expect(debug.hasCode).toBe(false);
    const table = (await readElfSymbols(debug, runtime, { compatPerf: true }))!;
    expect(table.name(table.find(TEXT.offset + 0x10))).toBe('first');
  });

  it('throws only PerfconvError, wherever it is cut', async () => {
    const whole = buildElf({ ...kind, symbols, dynamicSymbols: symbols, buildId: BUILD_ID, debugLink: 'made.debug' });
    for (let length = 0; length < whole.length; length += length < 0x200 || length > DATA.offset + DATA.sizeBytes ? stride(7) : 61) {
      await expectSafe(whole.subarray(0, length));
    }
  });

  it('throws only PerfconvError and reads no more than the file has, whatever byte is broken', async () => {
    const whole = buildElf({ ...kind, symbols, dynamicSymbols: symbols, buildId: BUILD_ID, debugLink: 'made.debug' });
    const places = [...Array(0x100).keys(), ...Array.from({ length: whole.length - DATA.offset - DATA.sizeBytes }, (_, i) => DATA.offset + DATA.sizeBytes + i)];
    for (const place of spread(places, 7)) {
      for (const byte of [0x00, 0x7f, 0xff]) {
        const broken = Buffer.from(whole);
        broken[place] = byte;
        await expectSafe(broken);
      }
    }
  });
});

/** Reads everything there is to read; checks that no read asks for more than the file has. */
async function expectSafe(bytes: Uint8Array): Promise<void> {
  const inner = new BufferSource(bytes, 'broken.elf');
  const source: ByteSource = {
    name: inner.name,
    sizeBytes: bytes.length,
    readAt: (position, target) => {
      expect(target.length).toBeLessThanOrEqual(bytes.length);
      return inner.readAt(position, target);
    },
    close: () => inner.close(),
  };
  try {
    const elf = await ElfFile.open(source);
    await elf.buildId();
    await readDebugLink(elf);
    for (const compatPerf of [true, false]) {
      const table = await readElfSymbols(elf, elf, { compatPerf });
      for (let i = 0; i < (table?.size ?? 0); i++) table!.name(i);
    }
  } catch (error) {
    expect(error).toBeInstanceOf(PerfconvError);
  }
}

describe('section headers', () => {
  const content = new Uint8Array(16);
  const sections = ['.text', '.data', '.bss'].map((name) => ({ name, content }));

  /** Where the fields are in the file. */
  function placesIn(bytes: Uint8Array, { classBits, littleEndian }: (typeof KINDS)[number]) {
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const is64 = classBits === 64;
    const shoff = is64 ? Number(data.getBigUint64(40, littleEndian)) : data.getUint32(32, littleEndian);
    return { data, shoff, shentsize: is64 ? 64 : 40, shnum: is64 ? 60 : 48, shstrndx: is64 ? 62 : 50, size: is64 ? 32 : 20, link: is64 ? 40 : 24 };
  }

  it.each(KINDS)('may be so many that the first one holds their count: $classBits bits, little-endian $littleEndian', async (kind) => {
    const bytes = buildSectionElf({ ...kind, sections });
    const { sections: plain } = await open(bytes);
    const { data, shoff, shnum, shstrndx, size, link } = placesIn(bytes, kind);
    data.setUint32(shoff + (kind.classBits === 64 && !kind.littleEndian ? size + 4 : size), data.getUint16(shnum, kind.littleEndian), kind.littleEndian);
    data.setUint32(shoff + link, data.getUint16(shstrndx, kind.littleEndian), kind.littleEndian);
    data.setUint16(shnum, 0, kind.littleEndian);
    data.setUint16(shstrndx, 0xffff, kind.littleEndian);
    const escaped = await open(bytes);
    expect(escaped.sections.map(({ name }) => name)).toEqual(['', '.text', '.data', '.bss', '.shstrtab']);
    expect(escaped.sections.slice(1)).toEqual(plain.slice(1));
    expect(escaped.isCut).toBe(false);
  });

  it.each(KINDS)('may be cut: $classBits bits, little-endian $littleEndian', async (kind) => {
    const bytes = buildSectionElf({ ...kind, sections });
    const { shoff, shentsize } = placesIn(bytes, kind);
    const cutTo = async (size: number) => {
      const { sections: left, isCut } = await open(bytes.subarray(0, size));
      return [left.length, isCut];
    };
    expect(await cutTo(bytes.length)).toEqual([5, false]);
    expect(await cutTo(shoff + 3 * shentsize - 1)).toEqual([2, true]);
    expect(await cutTo(shoff + shentsize - 1)).toEqual([0, true]);
  });

  it.each(KINDS)('have no names if these are not in the file: $classBits bits, little-endian $littleEndian', async (kind) => {
    const bytes = buildSectionElf({ ...kind, sections });
    const { data, shoff, shentsize, shstrndx } = placesIn(bytes, kind);
    const namesOf = async () => (await open(bytes)).sections.map(({ name }) => name).join('');
    data.setUint16(shstrndx, 5, kind.littleEndian);
    expect(await namesOf()).toBe('');
    data.setUint16(shstrndx, 4, kind.littleEndian);
    expect(await namesOf()).toBe('.text.data.bss.shstrtab');
    data.setUint32(shoff + 4 * shentsize + 4, 8, kind.littleEndian);
    expect(await namesOf()).toBe('');
  });
});

describe('readElfSymbols (observed: perf 6.1)', () => {
  const at = (value: number, name: string, more: Partial<PlannedSymbol> = {}): PlannedSymbol => ({ name, value: TEXT.vaddr + value, sizeBytes: 8, ...more });

  it('takes functions, indirect functions and data, but no files, sections or thread-local data', async () => {
    const list = [0, 1, 2, 3, 4, 5, 6, 10].map((type, i) => at(i * 16, `type${type}`, { type, section: type === 0 ? 3 : 1 }));
    expect(await names({}, list)).toEqual(['type1', 'type2', 'type10']);
  });

  it('takes only visible labels, and only in text and data sections', async () => {
    const label = { type: 0, sizeBytes: 0 };
    const list = [
      at(0, 'text', { ...label, section: 1 }),
      at(16, 'init', { ...label, section: 3 }),
      at(32, 'internal', { ...label, visibility: 1 }),
      at(48, 'hidden', { ...label, visibility: 2 }),
      at(64, 'protected', { ...label, visibility: 3 }),
      at(80, 'hiddenFunction', { visibility: 2 }),
    ];
    expect(await names({}, list)).toEqual(['text', 'protected', 'hiddenFunction']);
  });

  it('takes no undefined, absolute or common symbols, and none without a name', async () => {
    const list = [
      at(0, 'undefined', { section: 0 }),
      at(16, 'absolute', { section: 0xfff1 }),
      at(48, ''),
      at(64, 'kept'),
      at(32, 'common', { section: 0xfff2 }),
    ];
    for (const compatPerf of [true, false]) expect(await names({}, list, compatPerf)).toEqual(['kept']);
  });

  it('skips mapping symbols on Arm, and on RISC-V without --compat perf', async () => {
    const list = [at(0, '$x', { type: 0 }), at(16, '$d.12', { type: 0 }), at(32, '$data', { type: 0 }), at(48, '$', { type: 0 })];
    expect(await names({ machine: 183 }, list)).toEqual(['$data', '$']);
    for (const machine of [62, 243]) expect(await names({ machine }, list)).toEqual(['$x', '$d.12', '$data', '$']);
    expect(await names({ machine: 243 }, list, false)).toEqual(['$data', '$']);
  });

  it("skips RISC-V's mapping symbols with the instructions' names, and local labels of the assembler", async () => {
    const labels = ['$xrv64i2p1_c2p0', '$x1', '.L0 ', '.LVL676', '.text', '.L1'];
    const list = labels.map((name, i) => at(16 * i, name, { type: name === '.L1' ? 2 : 0 }));
    expect(await names({ machine: 243 }, list)).toEqual(labels);
    expect(await names({ machine: 243 }, list, false)).toEqual(['$x1', '.text', '.L1']);
  });

  it('clears the Thumb bit of 32-bit Arm functions', async () => {
    const elf = await open(buildElf({ classBits: 32, littleEndian: true, machine: 40, symbols: [at(0x21, 'thumb')] }));
    const table = (await readElfSymbols(elf, elf, { compatPerf: true }))!;
    expect(table.start(0)).toBe(TEXT.offset + 0x20);
  });

  it.each([true, false])('adds symbols of .dynsym to those of .symtab, with --compat perf: %s', async (compatPerf) => {
    expect(await names({ dynamicSymbols: [at(0, 'dynamic')] }, [at(16, 'static')], compatPerf)).toEqual(['dynamic', 'static']);
    const stripped = await open(buildElf({ classBits: 64, littleEndian: true, dynamicSymbols: [at(0, 'dynamic')] }));
    expect((await readElfSymbols(stripped, stripped, { compatPerf }))?.name(0)).toBe('dynamic');
  });

  it('prefers names of .symtab, but treats those of .dynsym as equal with --compat perf', async () => {
    const dynamicSymbols = [at(0, 'longer'), at(16, '_second'), at(32, 'a_label', { type: 0, sizeBytes: 0 })];
    const list = [at(0, 'first'), at(16, 'second'), at(32, 'a_label', { type: 0, sizeBytes: 0 }), at(32, 'third')];
    expect(await names({ dynamicSymbols }, list)).toEqual(['longer', 'second', 'a_label']);
    expect(await names({ dynamicSymbols }, list, false)).toEqual(['first', 'second', 'third']);
  });

  it('prefers a function to a label at its address, but not with --compat perf', async () => {
    const list = [at(0, 'function'), at(0, 'longer_label', { type: 0, sizeBytes: 0 })];
    expect(await names({}, list, false)).toEqual(['function']);
    expect(await names({}, list)).toEqual(['longer_label']);
  });

  it('takes .dynsym from the mapped file, but from the debug file with --compat perf', async () => {
    const runtime = await open(buildElf({ classBits: 64, littleEndian: true, dynamicSymbols: [at(0, 'mapped')] }));
    const debug = await open(buildElf({ classBits: 64, littleEndian: true, symbols: [at(16, 'debug')], dynamicSymbols: [at(32, 'other')] }));
    const namesOf = async (compatPerf: boolean): Promise<string[]> => {
      const table = (await readElfSymbols(debug, runtime, { compatPerf }))!;
      return Array.from({ length: table.size }, (_, i) => table.name(i));
    };
    expect(await namesOf(false)).toEqual(['mapped', 'debug']);
    expect(await namesOf(true)).toEqual(['debug', 'other']);
  });

  it('places a symbol outside all segments by its section', async () => {
    const elf = await open(buildElf({ classBits: 64, littleEndian: true, symbols: [at(TEXT.sizeBytes + 16, 'beyond')] }));
    expect((await readElfSymbols(elf, elf, { compatPerf: true }))!.start(0)).toBe(TEXT.offset + TEXT.sizeBytes + 16);
  });

  it('places a label right after a segment there, also one from a debug file', async () => {
    const runtime = await open(buildElf({ classBits: 64, littleEndian: true }));
    const symbols = [at(TEXT.sizeBytes, '_etext', { type: 0, sizeBytes: 0 })];
    const debug = await open(buildElf({ classBits: 64, littleEndian: true, symbols, isDebugFile: true }));
    expect((await readElfSymbols(debug, runtime, { compatPerf: true }))!.start(0)).toBe(TEXT.offset + TEXT.sizeBytes);
  });

  /** A file with two symbol tables. In the given one, each name is the end of another, which is long. */
  async function overlapping(table: '.symtab' | '.dynsym'): Promise<ElfFile> {
    const many = [at(0, 'x'.repeat(2_000_000)), ...Array.from({ length: 60 }, (_, i) => at(16 * i, `s${i}`))];
    const few = [at(0, 'static')];
    const [symbols, dynamicSymbols] = table === '.symtab' ? [many, few] : [few, many];
    const bytes = buildElf({ classBits: 64, littleEndian: true, symbols, dynamicSymbols });
    const { offset } = (await open(bytes)).section(table)!;
    for (let i = 1; i <= 60; i++) bytes.writeUInt32LE(1 + i, offset + 24 * i);
    return open(bytes);
  }

  it('keeps the symbols of .symtab if .dynsym cannot be read', async () => {
    const elf = await overlapping('.dynsym');
    for (const compatPerf of [false, true]) {
      const damages: PerfconvError[] = [];
      const table = await readElfSymbols(elf, elf, { compatPerf, onDamage: (error) => damages.push(error) });
      expect(table?.name(0)).toBe('static');
      expect(damages).toHaveLength(1);
    }
  });

  it('gives up on a string table whose names overlap beyond reason', async () => {
    const elf = await overlapping('.symtab');
    await expect(readElfSymbols(elf, elf, { compatPerf: true })).rejects.toThrow(PerfconvError);
  });
});
