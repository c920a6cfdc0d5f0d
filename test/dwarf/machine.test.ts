import { describe, expect, it } from 'vitest';
import { DebugInfo } from '../../src/dwarf/debug-info.ts';
import type { DebugSection, DebugSections } from '../../src/dwarf/sections/debug-sections.ts';
import { AT, type AttributePlan, type DiePlan, DwarfBuilder, FORM, TAG } from '../support/builders/dwarf/dwarf-builder.ts';
import { makeLineProgram } from '../support/builders/dwarf/line-program.ts';
import { memorySections } from '../support/builders/dwarf/memory-sections.ts';

const FUNCTION_SIZE = 0x10;
const named = (name: string): AttributePlan => [AT.name, FORM.string, name];

interface Plan {
  readonly name: string;
  readonly low: number;
  /** Children of the unit besides its function. */
  readonly others?: readonly DiePlan[];
  /** Offset of its line table. */
  readonly lines: number;
}

function addUnit(builder: DwarfBuilder, { name, low, others = [], lines }: Plan): void {
  const extent: AttributePlan[] = [
    [AT.low_pc, FORM.addr, low],
    [AT.high_pc, FORM.data4, FUNCTION_SIZE],
  ];
  const attributes: AttributePlan[] = [named(`${name}.c`), [AT.comp_dir, FORM.string, '/build'], [AT.stmt_list, FORM.sec_offset, lines], ...extent];
  const children = [...others, { tag: TAG.subprogram, attributes: [named(name), ...extent] }];
  const start = builder.unit({ root: { tag: TAG.compile_unit, attributes, children } });
  builder.aranges(start, [low, FUNCTION_SIZE]);
}

/** Adds a line table of one row, for two functions. @returns where it starts */
function addLines(builder: DwarfBuilder, name: string, low: number, line: number): number {
  const start = builder.section.line.length;
  const program = makeLineProgram({
    version: 4,
    files: [[name, 0]],
    program: (writer) =>
      writer
        .setAddress(low)
        .advanceLine(line - 1)
        .copy()
        .advancePc(2 * FUNCTION_SIZE)
        .endSequence(),
  });
  builder.section.line.put(program);
  return start;
}

/** Texts of the frames at each address, then the problems. */
async function lookUp(sections: DebugSections, addresses: readonly number[]): Promise<string[]> {
  const info = await DebugInfo.open(sections);
  const found: string[] = new Array(addresses.length).fill('');
  await info.lookup(Float64Array.from(addresses), (index, frames) => {
    found[index] = frames.map(({ function: one, file, line }) => `${one?.name} ${file}:${line}`).join(' < ');
  });
  return [...found, ...info.problems.map(({ what }) => what)];
}

function sectionsOf(builder: DwarfBuilder): DebugSections {
  return memorySections(builder.content(), { littleEndian: true, addressSize: 8, hasCodeAtZero: false });
}

describe('WebAssembly memory that units share', () => {
  it('keeps the lines of a unit when the unit makes it grow', async () => {
    const builder = new DwarfBuilder({ version: 4 });
    addUnit(builder, { name: 'small', low: 0x1000, lines: addLines(builder, 'small.c', 0x1000, 7) });
    // Memory grows by no more than what is asked for.
    const large: DiePlan = { tag: TAG.variable, attributes: Array.from({ length: 4 }, (): AttributePlan => [AT.const_value, FORM.block2, 60_000]) };
    addUnit(builder, { name: 'large', low: 0x2000, lines: addLines(builder, 'large.c', 0x2000, 9), others: [large] });
    addUnit(builder, { name: 'last', low: 0x3000, lines: addLines(builder, 'last.c', 0x3000, 11) });
    expect(await lookUp(sectionsOf(builder), [0x1000, 0x2000, 0x3000])).toEqual(['small /build/small.c:7', 'large /build/large.c:9', 'last /build/last.c:11']);
  });

  it('gets the lines again after a large abbreviation table took their place', async () => {
    const builder = new DwarfBuilder({ version: 4 });
    const lines = addLines(builder, 'shared.c', 0x1000, 7);
    addUnit(builder, { name: 'small', low: 0x1000, lines });
    const attributes = Array.from({ length: 40 }, (_, i): AttributePlan => [0x100 + i, FORM.data1, 0]);
    const others = Array.from({ length: 600 }, (): DiePlan => ({ tag: TAG.variable, attributes }));
    addUnit(builder, { name: 'large', low: 0x1000 + FUNCTION_SIZE, lines, others });
    addUnit(builder, { name: 'last', low: 0x3000, lines: addLines(builder, 'last.c', 0x3000, 11) });
    expect(await lookUp(sectionsOf(builder), [0x1000, 0x1000 + FUNCTION_SIZE, 0x3000])).toEqual([
      'small /build/shared.c:7',
      'large /build/shared.c:7',
      'last /build/last.c:11',
    ]);
  });

  it('belongs to one look-up at a time: others that run meanwhile have their own', async () => {
    const makeSections = (name: string, count: number): DebugSections => {
      const builder = new DwarfBuilder({ version: 4 });
      for (let i = 0; i < count; i++) {
        const low = 0x1000 + i * 0x100;
        const ranges = builder.section.ranges.length;
        builder.section.ranges
          .u64(low)
          .u64(low + 4)
          .u64(0)
          .u64(0);
        const other: DiePlan = { tag: TAG.subprogram, attributes: [named(`${name} by a range list ${i}`), [AT.ranges, FORM.sec_offset, ranges]] };
        addUnit(builder, { name: `${name}${i}`, low, lines: addLines(builder, `${name}.c`, low, i + 1), others: [other] });
      }
      const sections = sectionsOf(builder);
      // The list is read in the middle of a scan, and other look-ups go on while that waits.
      const ranges = sections.section('ranges');
      const slow: DebugSection = {
        sizeBytes: ranges.sizeBytes,
        read: async (...args) => {
          await new Promise((done) => setTimeout(done, 5));
          return ranges.read(...args);
        },
      };
      return { ...sections, section: (section) => (section === 'ranges' ? slow : sections.section(section)) };
    };
    const plans = [
      ['a', 3],
      ['other', 5],
      ['the-longest', 1],
    ] as const;
    const addressesOf = (count: number): number[] => Array.from({ length: count }, (_, i) => [0x1000 + i * 0x100, 0x1008 + i * 0x100]).flat();
    const together = await Promise.all(plans.map(([name, count]) => lookUp(makeSections(name, count), addressesOf(count))));
    for (const [i, [name, count]] of plans.entries()) {
      const expected = Array.from({ length: count }, (_, unit) => [
        `${name}${unit} /build/${name}.c:${unit + 1}`,
        `${name}${unit} /build/${name}.c:${unit + 1}`,
      ]);
      expect(together[i]).toEqual(expected.flat());
    }
  });
});
