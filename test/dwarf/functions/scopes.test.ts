import { describe, expect, it } from 'vitest';
import { DebugInfo, type DebugInfoOptions } from '../../../src/dwarf/debug-info.ts';
import type { DebugSections } from '../../../src/dwarf/sections/debug-sections.ts';
import type { SourceScope } from '../../../src/symbol-table/code-symbols.ts';
import { AT, type AttributePlan, type DiePlan, DwarfBuilder, FORM, Label, TAG } from '../../support/builders/dwarf/dwarf-builder.ts';
import { memorySections } from '../../support/builders/dwarf/memory-sections.ts';

const CXX: AttributePlan = [AT.language, FORM.data1, 0x04];
const extent = (low: number, size: number): AttributePlan[] => [
  [AT.low_pc, FORM.addr, low],
  [AT.high_pc, FORM.data4, size],
];
const die = (tag: number, name: string, children: readonly DiePlan[] = [], more: Partial<DiePlan> = {}): DiePlan => ({
  tag,
  ...(children.length > 0 && { children }),
  ...more,
  attributes: [...(name === '' ? [] : [[AT.name, FORM.string, name] as const]), ...(more.attributes ?? [])],
});
const namespace = (name: string, children: readonly DiePlan[]): DiePlan => die(TAG.namespace, name, children);
const struct = (name: string, children: readonly DiePlan[], more: Partial<DiePlan> = {}): DiePlan => die(TAG.structure_type, name, children, more);
const abstract = (name: string, label: Label, attributes: readonly AttributePlan[] = [], children: readonly DiePlan[] = []): DiePlan =>
  die(TAG.subprogram, name, children, { label, attributes });
const linkage = (name: string): AttributePlan => [AT.linkage_name, FORM.string, name];
const inlined = (origin: Label, at: number): DiePlan => ({
  tag: TAG.inlined_subroutine,
  attributes: [[AT.abstract_origin, FORM.ref_addr, origin], ...extent(at, 0x10)],
});
const caller = (...children: DiePlan[]): DiePlan => die(TAG.subprogram, 'caller', children, { attributes: extent(0x1000, 0x100) });

function addUnit(builder: DwarfBuilder, children: readonly DiePlan[], language: AttributePlan = CXX): void {
  builder.unit({ root: { tag: TAG.compile_unit, attributes: [[AT.name, FORM.string, 'a.cc'], language, ...extent(0x1000, 0x100)], children } });
}

function scopeText(scope: SourceScope | null | undefined, depth = 0): string {
  if (scope === undefined) return '?';
  if (scope === null) return '';
  if (depth > 5) return '…';
  const { name, linkageName, isNamespace = false } = scope;
  return `${scopeText(scope.scope, depth + 1)}/${isNamespace ? 'namespace ' : ''}${linkageName || name}`;
}

/** The scope of the innermost function at each address: from the outermost scope on, `?` if it was not looked for. */
async function scopesAt(builder: DwarfBuilder, addresses: readonly number[], options: DebugInfoOptions = {}): Promise<string[]> {
  const { littleEndian } = builder;
  const info = await DebugInfo.open(memorySections(builder.content(), { littleEndian, addressSize: 8, hasCodeAtZero: false }), options);
  const found = addresses.map(() => 'none');
  await info.lookup(Float64Array.from(addresses), (index, frames) => {
    found[index] = `${scopeText(frames[0].function?.scope)} ${frames[0].function?.name}`;
  });
  return found.concat(info.problems.map(({ what }) => what));
}

describe('scopes of inlined functions', () => {
  it.each([
    ['without references to siblings', false],
    ['with references to siblings', true],
  ])('are namespaces and types, %s', async (_, hasSiblings) => {
    const [ends, method, free, top] = [Array.from({ length: 3 }, () => new Label()), new Label(), new Label(), new Label()];
    const sibling = (nth: number): Partial<DiePlan> => (hasSiblings ? { attributes: [[AT.sibling, FORM.ref4, ends[nth]]], end: ends[nth] } : {});
    const builder = new DwarfBuilder();
    addUnit(builder, [
      struct('Other', [abstract('unused', new Label())], sibling(0)),
      die(TAG.namespace, 'std', [
        struct('Before', [abstract('unused', new Label())], sibling(1)),
        namespace('', [struct('Box<int>', [abstract('get', method)], sibling(2))]),
        abstract('sort<int>', free),
      ]),
      abstract('top', top),
      caller(inlined(method, 0x1010), inlined(free, 0x1020), inlined(top, 0x1030)),
    ]);
    const expected = ['/namespace std/namespace /Box<int> get', '/namespace std sort<int>', ' top'];
    expect(await scopesAt(builder, [0x1010, 0x1020, 0x1030])).toEqual(expected);
  });

  it('are not looked for in C, nor for functions that have a linkage name or were not inlined', async () => {
    const [mangled, plain] = [new Label(), new Label()];
    const children = [
      namespace('n', [abstract('f', mangled, [linkage('_ZN1n1fEv')]), abstract('g', plain)]),
      caller(inlined(mangled, 0x1010), inlined(plain, 0x1020)),
    ];
    const builder = new DwarfBuilder();
    addUnit(builder, children);
    expect(await scopesAt(builder, [0x1000, 0x1010, 0x1020])).toEqual(['? caller', '? f', '/namespace n g']);
    const c = new DwarfBuilder();
    addUnit(c, children, [AT.language, FORM.data1, 0x0c]);
    expect(await scopesAt(c, [0x1000, 0x1010, 0x1020])).toEqual(['? caller', '? f', '? g']);
  });

  it('are those of the declaration for functions and types that are defined elsewhere', async () => {
    const [declaration, definition, inner, method] = [new Label(), new Label(), new Label(), new Label()];
    const builder = new DwarfBuilder();
    addUnit(builder, [
      namespace('n', [struct('Outer', [abstract('f', declaration), struct('Inner', [], { label: inner })])]),
      abstract('', definition, [[AT.specification, FORM.ref4, declaration]]),
      struct('', [abstract('g', method)], { attributes: [[AT.specification, FORM.ref4, inner]] }),
      caller(inlined(definition, 0x1010), inlined(method, 0x1020)),
    ]);
    expect(await scopesAt(builder, [0x1010, 0x1020])).toEqual(['/namespace n/Outer f', '/namespace n/Outer/Inner g']);
  });

  it('are functions for what is local to one, also in a block, and in a function with a scope of its own', async () => {
    const [outer, declared, local, nested] = [new Label(), new Label(), new Label(), new Label()];
    const builder = new DwarfBuilder();
    addUnit(builder, [
      abstract('outer', outer, [linkage('_Z5outerv')], [struct('Less', [abstract('operator()', local)])]),
      namespace('', [abstract('hidden', declared)]),
      abstract(
        '',
        new Label(),
        [[AT.specification, FORM.ref4, declared]],
        [{ tag: TAG.lexical_block, children: [struct('', [abstract('operator()', nested)])] }],
      ),
      caller(inlined(local, 0x1010), inlined(nested, 0x1020)),
    ]);
    expect(await scopesAt(builder, [0x1010, 0x1020])).toEqual(['?/_Z5outerv/Less operator()', '/namespace /hidden/ operator()']);
  });

  it('are found in a partial unit, which has no language, and in the supplementary file', async () => {
    const [other, shared] = [new Label(), new Label()];
    const supplementary = new DwarfBuilder();
    supplementary.unit({ root: { tag: TAG.partial_unit, attributes: [], children: [namespace('dwz', [abstract('f', shared)])] }, unitType: 3 });
    const builder = new DwarfBuilder();
    builder.unit({ root: { tag: TAG.partial_unit, attributes: [], children: [namespace('part', [abstract('g', other)])] }, unitType: 3 });
    addUnit(builder, [
      caller(inlined(other, 0x1010), { tag: TAG.inlined_subroutine, attributes: [[AT.abstract_origin, FORM.GNU_ref_alt, shared], ...extent(0x1020, 0x10)] }),
    ]);
    const sections = memorySections(supplementary.content(), { littleEndian: true, addressSize: 8, hasCodeAtZero: false });
    expect(await scopesAt(builder, [0x1010, 0x1020], { supplementary: sections })).toEqual(['/namespace part g', '/namespace dwz f']);
  });

  it('are found for a function that was first met where it was not inlined', async () => {
    const label = new Label();
    const builder = new DwarfBuilder();
    const concrete = die(TAG.subprogram, '', [], { attributes: [[AT.abstract_origin, FORM.ref_addr, label], ...extent(0x1080, 0x10)] });
    // Of functions that overlap, the last one counts.
    addUnit(builder, [namespace('n', [abstract('f', label)]), caller(inlined(label, 0x1010)), concrete]);
    const info = await DebugInfo.open(memorySections(builder.content(), { littleEndian: true, addressSize: 8, hasCodeAtZero: false }));
    const found: string[] = [];
    for (const address of [0x1080, 0x1010]) {
      await info.lookup(Float64Array.of(address), (_, frames) => found.push(`${frames[0].function?.name} ${scopeText(frames[0].function?.scope)}`));
    }
    expect(found).toEqual(['f ?', 'f /namespace n']);
  });

  it('may contain one another in a circle without hanging the look-up', async () => {
    const [first, second, method, lost] = [new Label(), new Label(), new Label(), new Label()];
    const builder = new DwarfBuilder();
    addUnit(builder, [
      struct('A', [abstract('f', method), struct('InA', [], { label: first })], { attributes: [[AT.specification, FORM.ref4, second]] }),
      struct('B', [struct('InB', [], { label: second })], { attributes: [[AT.specification, FORM.ref4, first]] }),
      { tag: TAG.variable, attributes: [[AT.location, FORM.block1, 9]], label: lost },
      caller(inlined(method, 0x1010)),
    ]);
    expect(await scopesAt(builder, [0x1010])).toEqual(['…/B/A/B/A/B/A f']);
  });
});

describe('scopes of types in type units', () => {
  const signature = (value: bigint): AttributePlan => [AT.signature, FORM.ref_sig8, value];
  const elsewhere = (value: bigint, name: string, children: readonly DiePlan[]): DiePlan => struct(name, children, { attributes: [signature(value)] });

  function addTypeUnit(builder: DwarfBuilder, dwoId: bigint, children: readonly DiePlan[], typeDie: Label, unitType?: number): void {
    builder.unit({ dwoId, typeDie, ...(unitType !== undefined && { unitType }), root: { tag: TAG.type_unit, attributes: [CXX], children } });
  }

  /** Types 1 to 3 in type units; the third type is inside the second. */
  function addTypes(builder: DwarfBuilder, unitType?: number): void {
    const [first, second, declared, third] = [new Label(), new Label(), new Label(), new Label()];
    addTypeUnit(builder, 0xfedc_ba98_0000_0001n, [namespace('n', [struct('First', [], { label: first })])], first, unitType);
    // As gcc describes an instance of a template.
    const definition = struct('Second<int>', [], { label: second, attributes: [[AT.specification, FORM.ref4, declared]] });
    addTypeUnit(builder, 2n, [namespace('std', [struct('Second<int>', [], { label: declared })]), definition], second, unitType);
    addTypeUnit(builder, 3n, [elsewhere(2n, 'Second<int>', [struct('Third', [], { label: third })])], third, unitType);
  }

  function addUsers(builder: DwarfBuilder): void {
    const labels = Array.from({ length: 5 }, () => new Label());
    addUnit(builder, [
      elsewhere(0xfedc_ba98_0000_0001n, 'First', [abstract('f', labels[0])]),
      elsewhere(2n, 'Second<int>', [abstract('g', labels[1])]),
      elsewhere(3n, 'Third', [abstract('h', labels[2])]),
      elsewhere(3n, '', [abstract('i', labels[3])]),
      elsewhere(4n, 'Missing', [abstract('j', labels[4])]),
      caller(...labels.map((label, i) => inlined(label, 0x1010 + 0x10 * i))),
    ]);
  }
  const addresses = [0x1010, 0x1020, 0x1030, 0x1040, 0x1050];
  const expected = [
    '/namespace n/First f',
    '/namespace std/Second<int> g',
    '/namespace std/Second<int>/Third h',
    '/namespace std/Second<int>/Third i',
    '/Missing j',
  ];

  it.each([
    [5, false, true],
    [5, true, false],
    [4, false, true],
    [4, true, false],
  ])('are those in the type unit: DWARF %i, 64-bit format %s, little-endian %s', async (version, is64, littleEndian) => {
    const builder = new DwarfBuilder({ version, is64, littleEndian });
    addUsers(builder);
    addTypes(builder);
    expect(await scopesAt(builder, addresses)).toEqual(expected);
  });

  it('are found from DWARF 4 in type units of DWARF 5, and the other way round', async () => {
    for (const [version, typesVersion] of [
      [4, 5],
      [5, 4],
    ]) {
      const builder = new DwarfBuilder({ version });
      const [type, label] = [new Label(), new Label()];
      addUnit(builder, [elsewhere(1n, 'A', [abstract('f', label)]), caller(inlined(label, 0x1010))]);
      const root = { tag: TAG.type_unit, attributes: [CXX], children: [namespace('n', [struct('A', [], { label: type })])] };
      builder.unit({ version: typesVersion, dwoId: 1n, typeDie: type, root });
      expect(await scopesAt(builder, [0x1010])).toEqual(['/namespace n/A f']);
    }
  });

  it('are found in the file of a split unit, and through the index of a package', async () => {
    const skeletons = new DwarfBuilder();
    skeletons.unit({ unitType: 4, dwoId: 7n, root: { tag: TAG.skeleton_unit, attributes: [...extent(0x1000, 0x100), [AT.dwo_name, FORM.string, 'a.dwo']] } });
    const split = (addMore: (builder: DwarfBuilder) => void): DebugSections => {
      const dwo = new DwarfBuilder();
      addMore(dwo);
      const [label, other] = [new Label(), new Label()];
      const children = [
        elsewhere(3n, 'Third', [abstract('h', label)]),
        elsewhere(2n, 'Second<int>', [abstract('g', other)]),
        caller(inlined(label, 0x1010), inlined(other, 0x1020)),
      ];
      dwo.unit({ unitType: 5, dwoId: 7n, root: { tag: TAG.compile_unit, attributes: [CXX], children } });
      return memorySections(dwo.content());
    };
    const inFile = split((dwo) => addTypes(dwo, 6));
    expect(await scopesAt(skeletons, [0x1010, 0x1020], { openSplit: async () => inFile })).toEqual([expected[2], expected[1]]);

    const asked: string[] = [];
    const typeUnit = async (id: string): Promise<DebugSections | undefined> => {
      asked.push(id);
      const types = new DwarfBuilder();
      addTypes(types, 6);
      return memorySections(types.content());
    };
    const packed = { ...split(() => {}), typeUnit };
    expect(await scopesAt(skeletons, [0x1010, 0x1020], { openSplit: async () => packed })).toEqual([expected[2], expected[1]]);
    expect(asked).toEqual(['0000000000000003', '0000000000000002']);
  });

  it('are looked for only once, and not at all if the unit itself has them', async () => {
    const builder = new DwarfBuilder();
    const [known, first, second] = [new Label(), new Label(), new Label()];
    addUnit(builder, [
      namespace('here', [elsewhere(1n, 'A', [abstract('f', known)])]),
      elsewhere(2n, 'B', [abstract('g', first)]),
      elsewhere(2n, 'B', [abstract('h', second)]),
      caller(inlined(known, 0x1010), inlined(first, 0x1020), inlined(second, 0x1030)),
    ]);
    // It cannot be read, which is reported at each attempt.
    builder.unit({ dwoId: 2n, typeDie: new Label(), firstCode: 100, abbrevOffset: 0, root: { tag: TAG.type_unit, attributes: [] } });
    const scopes = await scopesAt(builder, [0x1010, 0x1020, 0x1030]);
    expect(scopes.slice(0, 3)).toEqual(['/namespace here/A f', '/B g', '/B h']);
    expect(scopes.slice(3)).toEqual([expect.stringContaining('no abbreviation')]);
  });

  it.each([
    [1, '/namespace n/A f'],
    [1000, '/A f'],
  ])('after %i damaged units give the name %s', async (count, scope) => {
    const builder = new DwarfBuilder({ version: 4 });
    const [type, label] = [new Label(), new Label()];
    for (let i = 0; i < count; i++) builder.unit({ version: 1, dwoId: 1n, typeDie: new Label(), root: { tag: TAG.type_unit } });
    addTypeUnit(builder, 1n, [namespace('n', [struct('A', [], { label: type })])], type);
    addUnit(builder, [elsewhere(1n, 'A', [abstract('f', label)]), caller(inlined(label, 0x1010))]);
    const [found, ...problems] = await scopesAt(builder, [0x1010]);
    expect(found).toBe(scope);
    expect(problems[0]).toContain('DWARF version 1');
    if (count > 1) expect(problems.at(-1)).toContain('type units after it are not found');
  });

  it('may lead in a circle, or to no DIE, without hanging the look-up', async () => {
    const builder = new DwarfBuilder({ version: 4 });
    const [first, second, lost, labelA, labelB] = Array.from({ length: 5 }, () => new Label());
    addTypeUnit(builder, 1n, [elsewhere(2n, 'B', [struct('A', [], { label: first })])], first);
    addTypeUnit(builder, 2n, [elsewhere(1n, 'A', [struct('B', [], { label: second })])], second);
    addTypeUnit(builder, 3n, [{ tag: TAG.variable, attributes: [[AT.location, FORM.block1, 9]], label: lost }], Object.assign(new Label(), { offset: 0x1000 }));
    addUnit(builder, [
      elsewhere(1n, 'A', [abstract('f', labelA)]),
      elsewhere(3n, 'C', [abstract('g', labelB)]),
      caller(inlined(labelA, 0x1010), inlined(labelB, 0x1020)),
    ]);
    const [a, c, ...problems] = await scopesAt(builder, [0x1010, 0x1020]);
    expect([a, c]).toEqual(['…/B/A/B/A/B/A f', '/C g']);
    expect(problems).toHaveLength(1);
  });
});
