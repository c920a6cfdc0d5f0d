import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import type { Decompressor } from '../../../src/base/streams/decompressor.ts';
import type { DebugSectionName } from '../../../src/dwarf/sections/debug-sections.ts';
import { hasDebugInfo, openDebugSections } from '../../../src/dwarf/sections/elf-debug-sections.ts';
import { ElfFile } from '../../../src/elf/elf-file.ts';
import { decompress } from '../../../src/host/compression/decompress.ts';
import { ByteFields } from '../../support/builders/byte-fields.ts';
import { buildSectionElf, type PlannedElfSection, type SectionElfPlan } from '../../support/builders/elf/section-elf.ts';

const TEXT = Buffer.from('abcdefgh'.repeat(500));
const COMPRESSED = 0x800;
const machine = { decompress };

async function open(plan: SectionElfPlan, kind?: 'main' | 'dwo') {
  return openDebugSections(await ElfFile.open(new BufferSource(buildSectionElf(plan), '/bin/x')), machine, kind);
}

async function bytesOf(plan: SectionElfPlan, name: DebugSectionName, kind?: 'main' | 'dwo'): Promise<Buffer> {
  const section = (await open(plan, kind)).section(name);
  return Buffer.from((await section.read(0, section.sizeBytes)).bytes);
}

function chdr(plan: { classBits: 32 | 64; littleEndian: boolean }, type: number, sizeBytes: number, content: Uint8Array): Uint8Array {
  const fields = new ByteFields(plan.littleEndian).u32(type);
  if (plan.classBits === 64) fields.u32(0).u64(sizeBytes, 1);
  else fields.u32(sizeBytes, 1);
  return fields.put(content).done();
}

describe('openDebugSections', () => {
  const orders = ([32, 64] as const).flatMap((classBits) => [true, false].map((littleEndian) => ({ classBits, littleEndian })));

  it('reads parts of an uncompressed section', async () => {
    const sections = await open({ classBits: 32, littleEndian: false, sections: [{ name: '.debug_info', content: TEXT }] });
    expect(sections).toMatchObject({ name: '/bin/x', littleEndian: false, addressSize: 4, hasCodeAtZero: false });
    const info = sections.section('info');
    expect(info.sizeBytes).toBe(TEXT.length);
    expect(Buffer.from((await info.read(3, 5)).bytes).toString()).toBe('defgh');
    expect((await info.read(TEXT.length - 2, 100)).length).toBe(2);
    expect((await info.read(TEXT.length + 5, 100)).length).toBe(0);
    expect((await info.read(0, Number.POSITIVE_INFINITY)).length).toBe(TEXT.length);
    expect(sections.section('line')).toMatchObject({ sizeBytes: 0 });
    expect((await sections.section('line').read(0, 10)).length).toBe(0);
  });

  it('takes no section for larger than its file, and one without bytes for empty', async () => {
    const cut = (await open({ sections: [{ name: '.debug_info', content: TEXT, sizeBytes: 2 ** 40 }] })).section('info');
    expect((await cut.read(0, 2 ** 40)).length).toBeLessThan(TEXT.length + 1000);
    expect((await open({ sections: [{ name: '.debug_info', type: 8, content: TEXT }] })).section('info').sizeBytes).toBe(0);
  });

  it('tells whether a file has debug information', async () => {
    const has = async (name: string, content: Uint8Array) =>
      hasDebugInfo(await ElfFile.open(new BufferSource(buildSectionElf({ sections: [{ name, content }] }))));
    const ofText = await Promise.all(['.debug_info', '.zdebug_info', '.debug_info.dwo', '.debug_line', 'debug_info'].map((name) => has(name, TEXT)));
    expect(ofText).toEqual([true, true, false, false, false]);
    expect(await has('.debug_info', new Uint8Array())).toBe(false);
  });

  it('tells whether there is code at 0', async () => {
    const at = async (addr: number, flags: number) => (await open({ sections: [{ name: '.text', flags, addr, content: TEXT }] })).hasCodeAtZero;
    expect([await at(0, 6), await at(0x1000, 6), await at(0, 3)]).toEqual([true, false, false]);
  });

  it.each(orders)('unpacks zlib, class $classBits, little-endian $littleEndian', async (order) => {
    const content = chdr(order, 1, TEXT.length, deflateSync(TEXT));
    const plan = { ...order, sections: [{ name: '.debug_str', flags: COMPRESSED, content }] };
    expect((await open(plan)).section('str').sizeBytes).toBe(TEXT.length);
    expect(await bytesOf(plan, 'str')).toEqual(TEXT);
  });

  it('unpacks zstd', async () => {
    // A frame of one block of 17 same bytes (RFC 8878).
    const frame = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, 17, (17 << 3) | (1 << 1) | 1, 0, 0, 0x61);
    const content = chdr({ classBits: 64, littleEndian: true }, 2, 17, frame);
    expect((await bytesOf({ sections: [{ name: '.debug_line', flags: COMPRESSED, content }] }, 'line')).toString()).toBe('a'.repeat(17));
  });

  it.each(orders)('unpacks .zdebug sections, class $classBits, little-endian $littleEndian', async (order) => {
    const content = new ByteFields(false)
      .bytes(...Buffer.from('ZLIB'))
      .u64(TEXT.length)
      .put(deflateSync(TEXT))
      .done();
    expect(await bytesOf({ ...order, sections: [{ name: '.zdebug_abbrev', content }] }, 'abbrev')).toEqual(TEXT);
    expect(await bytesOf({ ...order, sections: [{ name: '.zdebug_abbrev', content: TEXT }] }, 'abbrev')).toEqual(TEXT);
  });

  it('unpacks a section once', async () => {
    let unpacked = 0;
    const content = chdr({ classBits: 64, littleEndian: true }, 1, TEXT.length, deflateSync(TEXT));
    const elf = await ElfFile.open(new BufferSource(buildSectionElf({ sections: [{ name: '.debug_str', flags: COMPRESSED, content }] })));
    const counting: Decompressor = {
      decompress: (...args) => {
        unpacked++;
        return decompress(...args);
      },
    };
    const section = (await openDebugSections(elf, counting)).section('str');
    expect(unpacked).toBe(0);
    await Promise.all([section.read(0, 1), section.read(5, 1), section.read(0, 10)]);
    expect(unpacked).toBe(1);
  });

  describe('ahead', () => {
    const LARGE = Buffer.from('abcdefgh'.repeat(1 << 17));
    const order = { classBits: 64, littleEndian: true } as const;

    /** Notes each call as it begins and ends. */
    async function openNoting(sections: readonly PlannedElfSection[], notes: string[]) {
      const noting: Decompressor = {
        decompress: async (compression, bytes, maxSizeBytes, isAhead) => {
          notes.push(isAhead === true ? 'begins ahead' : 'begins');
          const unpacked = await decompress(compression, bytes, maxSizeBytes, isAhead);
          notes.push('ends');
          return unpacked;
        },
      };
      return openDebugSections(await ElfFile.open(new BufferSource(buildSectionElf({ sections }), '/bin/x')), noting);
    }
    const packed = (content: Uint8Array, sizeBytes = content.length): PlannedElfSection => ({
      name: '.debug_info',
      flags: COMPRESSED,
      content: chdr(order, 1, sizeBytes, deflateSync(content)),
    });

    it('unpacks a large section beside other work, and only once', async () => {
      const notes: string[] = [];
      const section = (await openNoting([packed(LARGE)], notes)).section('info');
      await section.unpackAhead?.();
      expect(notes).toEqual(['begins ahead']);
      await section.unpackAhead?.();
      expect(Buffer.from((await section.read(1, 3)).bytes).toString()).toBe('bcd');
      expect(notes).toEqual(['begins ahead', 'ends']);
    });

    it('does not unpack small sections, or uncompressed ones', async () => {
      const notes: string[] = [];
      const sections = await openNoting([packed(TEXT), { name: '.debug_line', content: LARGE }], notes);
      for (const name of ['info', 'line', 'str'] as const) await sections.section(name).unpackAhead?.();
      expect(notes).toEqual([]);
      expect(Buffer.from((await sections.section('info').read(1, 3)).bytes).toString()).toBe('bcd');
      expect(notes).toEqual(['begins', 'ends']);
    });

    it('reports damage only when the section is read', async () => {
      for (const damaged of [packed(LARGE, LARGE.length + 1), packed(LARGE, 2 ** 40)]) {
        const section = (await openNoting([damaged], [])).section('info');
        await section.unpackAhead?.();
        await expect(section.read(0, 10)).rejects.toThrow('/bin/x: .debug_info');
      }
    });
  });

  it('refuses wrong sizes, bombs and unknown methods, and takes a section that ends in its header for empty', async () => {
    const order = { classBits: 64, littleEndian: true } as const;
    const packed = deflateSync(TEXT);
    const zeros = deflateSync(Buffer.alloc(24 << 20));
    for (const [type, sizeBytes, content] of [
      [1, TEXT.length - 1, packed],
      [1, TEXT.length + 1, packed],
      [1, 2 ** 40, packed],
      [1, 24 << 20, zeros],
      [1, TEXT.length, packed.subarray(0, 20)],
      [3, TEXT.length, packed],
    ] as const) {
      const plan = { sections: [{ name: '.debug_info', flags: COMPRESSED, content: chdr(order, type, sizeBytes, content) }] };
      const section = (await open(plan)).section('info');
      await expect(section.read(0, 10)).rejects.toThrow(PerfconvError);
      await expect(section.read(0, 10)).rejects.toThrow('/bin/x: .debug_info');
    }
    expect((await open({ sections: [{ name: '.debug_info', flags: COMPRESSED, content: Buffer.alloc(5) }] })).section('info').sizeBytes).toBe(0);
  });

  it('unpacks no more than a file can hold, even if many sections are the same bytes', async () => {
    const content = chdr({ classBits: 64, littleEndian: true }, 1, 3 << 20, deflateSync(Buffer.alloc(3 << 20)));
    const names = ['info', 'abbrev', 'line', 'str', 'aranges', 'ranges', 'addr'] as const;
    const planned = names.map((name, i): PlannedElfSection => ({ name: `.debug_${name}`, flags: COMPRESSED, content, sharesBytes: i > 0 }));
    const sections = await open({ sections: planned });
    const outcomes: string[] = [];
    for (const name of names) {
      const read = sections.section(name).read(0, 10);
      outcomes.push(await read.then(({ length }) => `${length} bytes`).catch((error: PerfconvError) => `${error.code} ${error.message.slice(0, 20)}`));
    }
    expect(outcomes[0]).toBe('10 bytes');
    expect(outcomes.at(-1)).toBe('damaged /bin/x: .debug_addr:');
  });

  it('tells split sections from the others in the same file', async () => {
    const plan = {
      sections: [
        { name: '.debug_info', content: Buffer.from('main') },
        { name: '.debug_info.dwo', content: Buffer.from('split') },
        { name: '.debug_cu_index', content: Buffer.from('index') },
      ],
    };
    expect((await bytesOf(plan, 'info')).toString()).toBe('main');
    expect((await bytesOf(plan, 'info', 'dwo')).toString()).toBe('split');
    expect((await bytesOf(plan, 'cu_index', 'dwo')).toString()).toBe('index');
  });

  it('joins sections of one name, but not bytes that they share', async () => {
    const types = ['one', 'two', 'three'].map((text) => ({ name: '.debug_types', content: Buffer.from(text) }));
    expect((await bytesOf({ sections: types }, 'types')).toString()).toBe('onetwothree');
    const shared = Array.from({ length: 100 }, (_, i): PlannedElfSection => ({ name: '.debug_types', content: TEXT, sharesBytes: i > 0 }));
    expect((await bytesOf({ sections: shared }, 'types')).length).toBeLessThan(10 * TEXT.length);
  });
});

describe('relocatable files', () => {
  interface Machine {
    readonly name: string;
    readonly machine: number;
    readonly classBits: 32 | 64;
    readonly littleEndian: boolean;
    /** Type and width of an absolute relocation. */
    readonly absolute: readonly (readonly [type: number, sizeBytes: number])[];
    readonly rel?: boolean;
  }
  const machines: readonly Machine[] = [
    {
      name: 'x86-64',
      machine: 62,
      classBits: 64,
      littleEndian: true,
      absolute: [
        [1, 8],
        [10, 4],
        [11, 4],
        [12, 2],
        [14, 1],
      ],
    },
    { name: 'i386', machine: 3, classBits: 32, littleEndian: true, absolute: [[1, 4]], rel: true },
    { name: 'arm', machine: 40, classBits: 32, littleEndian: true, absolute: [[2, 4]], rel: true },
    {
      name: 'aarch64',
      machine: 183,
      classBits: 64,
      littleEndian: true,
      absolute: [
        [257, 8],
        [258, 4],
      ],
    },
    {
      name: 'riscv64',
      machine: 243,
      classBits: 64,
      littleEndian: true,
      absolute: [
        [1, 4],
        [2, 8],
      ],
    },
    {
      name: 'ppc64',
      machine: 21,
      classBits: 64,
      littleEndian: false,
      absolute: [
        [1, 4],
        [38, 8],
      ],
    },
    {
      name: 's390x',
      machine: 22,
      classBits: 64,
      littleEndian: false,
      absolute: [
        [4, 4],
        [22, 8],
      ],
    },
    {
      name: 'loongarch64',
      machine: 258,
      classBits: 64,
      littleEndian: true,
      absolute: [
        [1, 4],
        [2, 8],
      ],
    },
    { name: 'mips', machine: 8, classBits: 32, littleEndian: false, absolute: [[2, 4]], rel: true },
  ];

  /** A file with `.init.text`, `.text`, `.debug_info` and relocations of the last; symbols 1 to 4 are 0x10 after the start of these and of section 6. */
  function relocatable(
    of: Omit<Machine, 'name' | 'absolute'>,
    info: Uint8Array,
    relocations: readonly (readonly [at: number, type: number, symbol: number, addend: number])[],
  ): SectionElfPlan {
    const is64 = of.classBits === 64;
    const word = is64 ? 8 : 4;
    const symbols = new ByteFields(of.littleEndian).put(new Uint8Array(is64 ? 24 : 16));
    for (const section of [1, 2, 3, 6]) {
      if (is64) symbols.u32(0).bytes(3, 0).u16(section).u64(0x10, 0);
      else symbols.u32(0, 0x10, 0).bytes(3, 0).u16(section);
    }
    const entries = new ByteFields(of.littleEndian);
    for (const [at, type, symbol, addend] of relocations) {
      entries.uint(at, word);
      entries.uint(is64 ? BigInt(symbol) * 2n ** 32n + BigInt(type) : symbol * 256 + type, word);
      if (!of.rel) entries.uint(addend, word);
    }
    return {
      ...of,
      type: 1,
      sections: [
        { name: '.init.text', flags: 6, addralign: 16, content: new Uint8Array(0x20) },
        { name: '.text', flags: 6, addralign: 16, content: new Uint8Array(0x95) },
        { name: '.debug_info', content: info },
        { name: '.symtab', type: 2, content: symbols.done(), entsize: is64 ? 24 : 16 },
        { name: '.rel.debug_info', type: of.rel ? 9 : 4, link: 4, info: 3, content: entries.done() },
      ],
    };
  }

  it.each(machines)('have addresses in a single layout: $name', async ({ absolute, ...of }) => {
    for (const [type, size] of absolute) {
      const info = new ByteFields(of.littleEndian);
      // The value that is there counts only if relocations have no addends.
      for (const addend of [5, 6, 7]) info.uint(of.rel ? addend : 0x55, size);
      const plan = relocatable(of, info.done(), [
        [0, type, 1, 5],
        [size, type, 2, 6],
        [2 * size, type, 3, 7],
      ]);
      // .text at 0, .init.text after it at 0xa0, offsets in debug sections from 0 on.
      const expected = new ByteFields(of.littleEndian);
      for (const value of [0xa0 + 0x10 + 5, 0x10 + 6, 0x10 + 7]) expected.uint(value, size);
      expect((await bytesOf(plan, 'info')).toString('hex')).toBe(Buffer.from(expected.done()).toString('hex'));
    }
  });

  it('may have distances that the linker can change, as on RISC-V', async () => {
    const riscv = { machine: 243, classBits: 64 as const, littleEndian: true };
    const info = new ByteFields().uint(0, 8).uint(3, 4).uint(1, 2).uint(0, 1).bytes(0x80, 0x80, 0x00, 0xee).done();
    const pairs = [
      [0, 36, 2, 0x30],
      [0, 40, 2, 0x10], // ADD64, SUB64
      [8, 35, 2, 0x30],
      [8, 39, 2, 0x10], // ADD32, SUB32
      [12, 34, 2, 0],
      [12, 38, 2, 0], // ADD16, SUB16
      [14, 33, 2, 9],
      [14, 37, 2, 1], // ADD8, SUB8
      [15, 60, 2, 0x5000],
      [15, 61, 2, 0x10], // SET_ULEB128, SUB_ULEB128
    ] as const;
    const bytes = await bytesOf(relocatable(riscv, info, pairs), 'info');
    expect(bytes.toString('hex')).toBe(
      Buffer.from(new ByteFields().uint(0x20, 8).uint(0x23, 4).uint(1, 2).uint(8, 1).bytes(0xf0, 0x9f, 0x01, 0xee).done()).toString('hex'),
    );
  });

  it('have LEB128 numbers of at most 64 bits, even if they seem to go on to the end', async () => {
    const riscv = { machine: 243, classBits: 64 as const, littleEndian: true };
    const bytes = await bytesOf(relocatable(riscv, new Uint8Array(40).fill(0xff), [[0, 60, 2, 0x70]]), 'info');
    expect(bytes.subarray(0, 12).toString('hex')).toBe('808180808080808080' + '80ffff');
    expect(bytes.subarray(12).every((byte) => byte === 0xff)).toBe(true);
  });

  it('may have offsets into the second of two sections of one name', async () => {
    const of = { machine: 62, classBits: 64 as const, littleEndian: true };
    const { sections, ...plan } = relocatable(of, new Uint8Array(12), [[4, 10, 4, 3]]);
    const bytes = await bytesOf({ ...plan, sections: [...sections, { name: '.debug_info', content: new Uint8Array(40) }] }, 'info');
    expect([bytes.length, bytes.readUInt32LE(4)]).toEqual([52, 12 + 0x10 + 3]);
  });

  it('may have negative distances', async () => {
    const riscv = { machine: 243, classBits: 64 as const, littleEndian: true };
    const bytes = await bytesOf(
      relocatable(riscv, new Uint8Array(8), [
        [0, 36, 2, 0x10],
        [0, 40, 2, 0x30],
      ]),
      'info',
    );
    expect(bytes.readBigInt64LE()).toBe(-0x20n);
  });

  it('may have damaged relocations', async () => {
    const of = { machine: 62, classBits: 64 as const, littleEndian: true };
    const info = new Uint8Array(16).fill(0x77);
    const wild = [
      [9, 1, 2, 0],
      [2 ** 50, 1, 2, 0],
      [0, 77, 2, 0],
      [16, 14, 2, 0],
    ] as const;
    expect(Array.from(await bytesOf(relocatable(of, info, wild), 'info'))).toEqual(Array.from(info));
    expect((await bytesOf(relocatable(of, info, [[0, 10, 1000, 5]]), 'info')).readUInt32LE()).toBe(5);
    const plan = relocatable(of, info, [[0, 1, 1, 0]]);
    for (const link of [0, 3, 99]) await bytesOf({ ...plan, sections: plan.sections.map((section) => ({ ...section, link })) }, 'info');
  });

  it('of unknown machines are refused: their addresses would all be 0', async () => {
    const plan = relocatable({ machine: 1000, classBits: 64, littleEndian: true }, new Uint8Array(8), [[0, 1, 1, 0]]);
    await expect(bytesOf(plan, 'info')).rejects.toThrow('relocations of machine 1000');
  });
});
