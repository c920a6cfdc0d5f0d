import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { withoutParameters, withSimpleNames } from '../../src/naming/shorter-names.ts';
import { formatNaming } from '../../src/pipeline/convert.ts';
import { type WriteOptions, writeProfile } from '../../src/pipeline/write-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { readPprof } from '../support/readers/read-pprof.ts';

const MANGLED = '_ZSt4sortIPiEvT_S1_';

/** A profile of `main`, into which a function with a linkage name and one with scopes are inlined. */
function profileWithNames(shown: string): Profile {
  const profile = buildProfile([{ timeNs: 0, stack: ['main<1>'] }]);
  const { functions, locations, strings } = profile;
  const index = (text: string): number => strings.intern(text);
  const mangled = functions.intern(index(shown), index(MANGLED), index('/src/a.h'), 7);
  const scoped = functions.intern(index('n::f(int)::{lambda(int)}::operator()<int>'), index('operator()<int>'), 0, 0, true);
  const lines = [scoped, mangled, locations.lineFunction(0, 0)].map((one) => ({ function: one, line: 0, column: 0, file: 0 }));
  locations.setLines(0, lines, 0);
  return profile;
}

function namesIn({ functions, locations, strings }: Profile): string[] {
  return [0, 1, 2].map((nth) => strings.get(functions.name(locations.lineFunction(0, nth))));
}

describe('names in the style `simple`', () => {
  it.each(['void std::sort<int*>(int*, int*)', 'std::sort<int*>', 'std::sort'])('are derived from %s', (shown) => {
    const profile = profileWithNames(shown);
    const simple = withSimpleNames(profile);
    expect(namesIn(simple)).toEqual(['n::f()::{lambda(int)}::operator()', 'std::sort', 'main<1>']);
    const func = simple.locations.lineFunction(0, 1);
    expect([simple.strings.get(simple.functions.file(func)), simple.functions.startLine(func), simple.functions.isScoped(func)]).toEqual([
      '/src/a.h',
      7,
      false,
    ]);
    expect(namesIn(profile)[1]).toBe(shown);
  });

  it.each([
    ['work.part.0', 'work'],
    ['work.constprop.0.isra.0', 'work'],
    ['part.part.0.cold', 'part'],
    ['main._omp_fn.0.lto_priv.0', 'main'],
    ['work.cold.1', 'work'],
    ['work.12', 'work'],
    ['work.llvm.12345678901234567890', 'work'],
    ['work.llvm.9D1C9369', 'work'],
    ['work.__uniq.189702194130118823156495581805298510048.llvm.7', 'work'],
    ['work.part.0@plt', 'work@plt'],
    ['_Z4workv.part.0', 'work'],
    ['runtime.memmove.abi0', 'runtime.memmove'],
    ['internal/bytealg.IndexByte.abi0', 'internal/bytealg.IndexByte'],
  ])('have no suffixes of clones, which linkage names keep: %s', (linkageName, expected) => {
    const simple = withSimpleNames(buildProfile([{ timeNs: 0, stack: [linkageName] }]));
    const func = simple.locations.lineFunction(0, 0);
    expect([simple.functions.name(func), simple.functions.systemName(func)].map((index) => simple.strings.get(index))).toEqual([expected, linkageName]);
  });

  it.each([
    'main.main.func1',
    'main.init.0',
    'main.part',
    'py::run:/src/a.part.0/b.py',
    '.text.0',
    '[libc.so.6]',
    'libm.so.6+0x10',
    '.abi0',
    'a.b.cold',
    'a..0',
  ])('keep what follows a dot in other names: %s', (name) => {
    const simple = withSimpleNames(buildProfile([{ timeNs: 0, stack: [name] }]));
    const func = simple.locations.lineFunction(0, 0);
    expect([simple.functions.name(func), simple.functions.systemName(func)].map((index) => simple.strings.get(index))).toEqual([name, '']);
  });

  it('also cover functions that are added later, which both profiles have', () => {
    const profile = profileWithNames('std::sort');
    const simple = withSimpleNames(profile);
    const added = profile.functions.intern(profile.strings.intern('[unknown]'));
    expect([simple.functions, profile.functions].map((one) => profile.strings.get(one.name(added)))).toEqual(['[unknown]', '[unknown]']);
  });

  it.each<[string, WriteOptions, string]>([
    ['no style is given', {}, 'std::sort'],
    ['a style is given', { demangle: 'full' }, 'void std::sort<int*>(int*, int*)'],
  ])('are the default for pprof: %s', async (_, options, expected) => {
    const sink = new BufferSink();
    await writeProfile('pprof', profileWithNames('void std::sort<int*>(int*, int*)'), sink, options, new Diagnostics());
    const { stringTable, function: functions } = readPprof(sink.bytes()).message;
    const text = (index: bigint): string => stringTable[Number(index)];
    expect(functions.map(({ name, systemName }) => `${text(name)}|${text(systemName)}`)).toContain(`${expected}|${MANGLED}`);
  });
});

describe('names without parameters', () => {
  it.each(['void std::sort<int*>(int*, int*)', 'std::sort<int*>', 'shown'])('are derived from %s, and keep their scopes', (shown) => {
    expect(namesIn(withoutParameters(profileWithNames(shown)))).toEqual(['n::f(int)::{lambda(int)}::operator()<int>', 'std::sort<int*>', 'main<1>']);
  });

  it.each([
    ['_ZN3app4workEi', 'app::work'],
    ['_ZN3app4workEd', 'app::work'],
    ['_Z4workv.part.0', 'work'],
    ['work.part.0', 'work.part.0'],
    ['_Znwm@plt', 'operator new@plt'],
    ['LFoo;f([LBar;I)V', 'Foo.f'],
    ['LFoo;<init>(I)V', 'Foo.<init>'],
    ['Lost.f(I)V', 'Lost.f(I)V'],
    ['main.main.func1', 'main.main.func1'],
  ])('%s is shown as %s', (linkageName, expected) => {
    const shown = withoutParameters(buildProfile([{ timeNs: 0, stack: [linkageName] }]));
    expect(shown.strings.get(shown.functions.name(shown.locations.lineFunction(0, 0)))).toBe(expected);
  });

  it.each<[string, WriteOptions, string]>([
    ['no style is given', {}, 'app;main<1>;std::sort<int*>;n::f(int)::{lambda(int)}::operator()<int> 1000000\n'],
    ['a style is given', { demangle: 'full' }, 'app;main<1>;void std::sort<int*>(int*, int*);n::f(int)::{lambda(int)}::operator()<int> 1000000\n'],
  ])('are the default for folded stacks: %s', async (_, options, expected) => {
    const sink = new BufferSink();
    await writeProfile('folded', profileWithNames('void std::sort<int*>(int*, int*)'), sink, options, new Diagnostics());
    expect(sink.text()).toBe(expected);
  });

  it('merge stacks that differ only in overloads', async () => {
    const sink = new BufferSink();
    const stacks = ['_ZN3app4workEi', '_ZN3app4workEd', '_ZN3app4workIiEEvT_'].map((leaf, i) => ({ timeNs: i, period: 10 ** i, stack: ['main', leaf] }));
    await writeProfile('folded', buildProfile(stacks), sink, {}, new Diagnostics());
    expect(sink.text()).toBe('app;main;app::work 11\napp;main;app::work<int> 100\n');
  });
});

describe('names in perf-script text', () => {
  it.each<[string, Parameters<typeof formatNaming>[0], string[]]>([
    ['have no scopes that perf does not print', {}, ['operator()<int>', 'std::sort<int*>', 'main<1>']],
    ['have all scopes if a style is given', { demangle: 'full' }, ['n::f(int)::{lambda(int)}::operator()<int>', 'shown', 'main<1>']],
  ])('%s', async (_, options, expected) => {
    const sink = new BufferSink();
    await writeProfile('script', profileWithNames('shown'), sink, { ...formatNaming(options), fields: [{ fields: ['ip', 'sym'] }] }, new Diagnostics());
    expect([...sink.text().matchAll(/^\s*[0-9a-f]+ (.+?)(?: \(inlined\))?$/gm)].map(([, name]) => name)).toEqual(expected);
  });
});
