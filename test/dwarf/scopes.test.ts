import { describe, expect, it } from 'vitest';
import { DebugInfo, type DebugInfoOptions } from '../../src/dwarf/debug-info.ts';
import type { SourceScope } from '../../src/symbol-table/code-symbols.ts';
import { AT, type AttributePlan, type DiePlan, DwarfBuilder, FORM, Label, TAG } from '../support/dwarf-builder.ts';
import { memorySections } from '../support/memory-sections.ts';

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

/** The scope of the innermost function at each address: from the outermost scope on, `?` where nobody looked for it. */
async function scopesAt(builder: DwarfBuilder, addresses: readonly number[], options: DebugInfoOptions = {}): Promise<string[]> {
  const info = await DebugInfo.open(memorySections(builder.content(), { littleEndian: true, addressSize: 8, hasCodeAtZero: false }), options);
  const found = addresses.map(() => 'none');
  await info.lookup(Float64Array.from(addresses), (index, frames) => {
    found[index] = `${scopeText(frames[0].function?.scope)} ${frames[0].function?.name}`;
  });
  return found.concat(info.problems.map(({ what }) => what));
}

describe('scopes of inlined functions', () => {
  it.each([
    ['behind one another', false],
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

  it('are not looked for where there is a linkage name, where a function was not inlined, and in C', async () => {
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

  it('are those of the declaration, for a function and for a type that are defined outside of it', async () => {
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

  it('are functions, for what is local to one: also in a block, and in a function that has a scope of its own', async () => {
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

  it('are found in another unit, in a partial unit, which has no language, and in the supplementary file', async () => {
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

  it('may be in one another in a circle, or point to what is no DIE: nothing hangs', async () => {
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
