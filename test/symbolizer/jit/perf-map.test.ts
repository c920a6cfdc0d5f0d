import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { type PerfMap, readPerfMap } from '../../../src/symbolizer/jit/perf-map.ts';

function parse(text: string): Promise<PerfMap> {
  return readPerfMap(new BufferSource(new TextEncoder().encode(text)));
}

/** The symbol at an address, as `name+offset`. */
function at({ table }: PerfMap, address: number): string | undefined {
  const index = table.find(address);
  return index < 0 ? undefined : `${table.name(index)}+${address - table.start(index)}`;
}

describe('readPerfMap', () => {
  it.each([
    ['as V8 writes it', '1000 40 JS:*f a.js:1:2', 'JS:*f a.js:1:2+16'],
    ['with 0x', '0x1000 0X40 f', 'f+16'],
    ['in capitals, with zeros in front', '000000000001000 4F f', 'f+16'],
    ['with tabs and several blanks', ' 1000\t  40 f', 'f+16'],
    ['with blanks around its name', '1000 40  f  g ', ' f  g +16'],
    ['of DOS', '1000 40 f\r', 'f+16'],
    ['that is not ASCII', '1000 40 grün::λ', 'grün::λ+16'],
    ['without an end', '1000 40 abc', 'abc+16'],
  ])('reads a line %s', async (_, line, found) => {
    expect(at(await parse(line), 0x1010)).toBe(found);
    expect(at(await parse(`800 8 before\n${line}\n2000 8 behind\n`), 0x1010)).toBe(found);
    expect((await parse(line)).damagedLines).toBe(0);
  });

  it.each(['garbage', '1000', '1000 40', '1000 40 ', '1000 zz f', '1000 -40 f', '1000 40f', '0x 40 f', 'fffffffffffffff0 40 f', '40,f'])(
    'counts %j as damaged',
    async (line) => {
      const { table, damagedLines } = await parse(`${line}\n2000 8 f\n\n`);
      expect(damagedLines).toBe(1);
      expect(table.size).toBe(1);
    },
  );

  it('excludes the end of an entry, and finds nothing between entries', async () => {
    const map = await parse('1000 10 a\n1020 10 b\n');
    expect([0xfff, 0x1000, 0x100f, 0x1010, 0x101f, 0x1020, 0x102f, 0x1030].map((address) => at(map, address))).toEqual([
      undefined,
      'a+0',
      'a+15',
      undefined,
      undefined,
      'b+0',
      'b+15',
      undefined,
    ]);
  });

  it('lets later entries cover parts of earlier ones', async () => {
    const map = await parse('1000 40 old\n1010 10 inner\n1030 40 over the end\n1000 8 again\n');
    expect([0x1000, 0x1008, 0x1010, 0x1020, 0x102f, 0x1030, 0x106f, 0x1070].map((address) => at(map, address))).toEqual([
      'again+0',
      'old+8',
      'inner+0',
      'old+32',
      'old+47',
      'over the end+0',
      'over the end+63',
      undefined,
    ]);
  });

  it('ignores entries of size 0', async () => {
    const { table, damagedLines } = await parse('1000 0 label\n');
    expect(table.size).toBe(0);
    expect(damagedLines).toBe(0);
  });

  it('always finds the entry that was written last', async () => {
    const entry = fc.record({ start: fc.integer({ min: 0, max: 60 }), size: fc.integer({ min: 0, max: 20 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 40 }), async (entries) => {
        const map = await parse(entries.map(({ start, size }, i) => `${start.toString(16)} ${size.toString(16)} f${i}`).join('\n'));
        for (let address = -1; address < 90; address++) {
          const index = entries.findLastIndex(({ start, size }) => address >= start && address < start + size);
          expect(at(map, address)).toBe(index < 0 ? undefined : `f${index}+${address - entries[index].start}`);
        }
      }),
    );
  });

  it('takes little time if all entries overlap', async () => {
    const count = 100_000;
    const lines = Array.from({ length: count }, (_, i) => `${i.toString(16)} ${(2 * (count - i)).toString(16)} f${i}`);
    expect(at(await parse(lines.join('\n')), count)).toBe(`f${count - 1}+1`);
    expect(at(await parse(lines.reverse().join('\n')), count - 1)).toBe(`f0+${count - 1}`);
  });

  it('reads lines that are split between pieces of the file, and shortens long ones', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `${(0x1000 + 16 * i).toString(16)} 10 function_${i}`);
    const long = `f000000 10 ${'x'.repeat(700_000)}`;
    const map = await parse([...lines.slice(0, 30_000), long, ...lines.slice(30_000)].join('\n'));
    for (const i of [0, 1, 29_999, 30_000, 59_999]) expect(at(map, 0x1001 + 16 * i)).toBe(`function_${i}+1`);
    expect(at(map, 0xf00_0000)?.length).toBe(0x1_0000 + 2);
    expect([map.table.size, map.damagedLines, map.leftOut]).toEqual([60_001, 0, '']);
  });

  it('skips holes, but not too many of them', async () => {
    const lines = new TextEncoder().encode('1000 10 before\n2000 10 cut off');
    const after = new TextEncoder().encode('3000 10 after\n');
    const hole = new Uint8Array(3 << 20);
    const map = await readPerfMap(new BufferSource(Buffer.concat([lines, hole, after])));
    expect([0x1000, 0x2000, 0x3000].map((address) => at(map, address))).toEqual(['before+0', 'cut off+0', 'after+0']);
    expect([map.damagedLines, map.leftOut]).toEqual([0, '']);
    const endless = { name: 'perf-1.map', sizeBytes: 2 ** 40, readAt: async (_: number, target: Uint8Array) => target.fill(0).length, close: async () => {} };
    expect(await readPerfMap(endless)).toMatchObject({ table: { size: 0 }, leftOut: expect.stringContaining('bytes of zeros') });
  });

  it('drops what was listed again when names fill the memory for them, and keeps the rest with its names', async () => {
    const name = 'x'.repeat(65_000);
    // 2100 of these are longer than all names that are kept.
    const line = (i: number): string => `${(0x1000 + 16 * (i % 8)).toString(16)} 10 ${i}${name}\n`;
    let next = 0;
    const source = {
      name: 'perf-1.map',
      sizeBytes: 2 ** 40,
      readAt: async (_: number, target: Uint8Array) => {
        const text = next === 0 ? '800 10 first\n' : next === 1000 ? '900 18 another\n' : next < 2101 ? line(next) : '';
        next++;
        return new TextEncoder().encodeInto(text, target).written;
      },
      close: async () => {},
    };
    const map = await readPerfMap(source);
    expect([map.damagedLines, map.leftOut]).toEqual([0, '']);
    expect(map.table.size).toBeLessThan(100);
    expect([0x801, 0x810, 0x917, 0x918].map((address) => at(map, address))).toEqual(['first+1', undefined, 'another+23', undefined]);
    for (let i = 2101 - 8; i < 2101; i++) expect(at(map, 0x1001 + 16 * (i % 8))).toBe(`${i}${name}+1`);
  });
});
