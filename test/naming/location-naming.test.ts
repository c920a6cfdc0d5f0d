import { describe, expect, it } from 'vitest';
import { LocationNaming, type LocationNamingOptions } from '../../src/naming/location-naming.ts';
import type { CodeSymbols, SourceFrame } from '../../src/symbol-table/code-symbols.ts';
import { RANK_GLOBAL } from '../../src/symbol-table/symbol-rank.ts';
import type { SymbolTable } from '../../src/symbol-table/symbol-table.ts';
import { SymbolTableBuilder } from '../../src/symbol-table/symbol-table-builder.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

const INNER = { name: 'inner', linkageName: '_Z5innerv', file: '/src/inner.h', startLine: 2 };
const OUTER = { name: 'outer', linkageName: '_Z5outerv', file: '/src/outer.cc', startLine: 10 };
const FRAMES: readonly SourceFrame[] = [
  { function: INNER, file: '/src/inner.h', line: 3, column: 7 },
  { function: OUTER, file: '/src/outer.cc', line: 12, column: 1 },
];
const PLAIN: LocationNamingOptions = { debugInfo: 'inlines', demangle: 'full', compatPerf: false };

/** Symbols of 0x100 bytes each, beginning at 0x1000. */
function tableOf(...names: string[]): CodeSymbols['table'] {
  const builder = new SymbolTableBuilder();
  const text = new TextEncoder();
  let at = 0;
  names.forEach((name, i) => {
    builder.add(0x1000 + i * 0x100, 0x100, at, name.length, RANK_GLOBAL);
    at += name.length;
  });
  return builder.build(text.encode(names.join('')));
}

/** Frames at some addresses, and the addresses that were asked for. */
function linesOf(frames: Readonly<Record<number, readonly SourceFrame[]>>): { lines: CodeSymbols['lines']; asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    lines: {
      lookup: async (addresses, visit) => {
        asked.push(...addresses);
        addresses.forEach((address, index) => {
          if (frames[address] !== undefined) visit(index, frames[address]);
        });
      },
    },
  };
}

/** What is known about a leaf at 0x1010 that is called from the instruction before 0x1120; root last. */
async function named(code: CodeSymbols, options: Partial<LocationNamingOptions> = {}): Promise<string[][]> {
  const profile = buildProfile([
    {
      timeNs: 0,
      stack: [
        { name: 'a', address: 0x1120, unresolved: true },
        { name: 'b', address: 0x1010, unresolved: true },
      ],
    },
  ]);
  const { functions, locations, strings } = profile;
  await new LocationNaming(profile, { ...PLAIN, ...options }).nameBy([0, 1], code);
  return [1, 0].map((location) =>
    Array.from({ length: locations.lineCount(location) }, (_, nth) => {
      const func = locations.lineFunction(location, nth);
      const text = (index: number) => strings.get(index);
      const lineFile = locations.lineFile(location, nth);
      const place = `${text(functions.file(func))}${lineFile === 0 ? '' : `>${text(lineFile)}`}:${locations.lineNumber(location, nth)}:${locations.lineColumn(location, nth)}`;
      return `${text(functions.name(func))}|${text(functions.systemName(func))}|${functions.startLine(func)}|${place}|+${locations.symbolOffset(location)}`;
    }),
  );
}

describe('naming locations', () => {
  it('takes the outermost name from the symbol table, and everything else from debug information', async () => {
    const { lines, asked } = linesOf({ 4112: FRAMES, 4383: [FRAMES[1]] });
    expect(await named({ table: tableOf('_Z5aliasv', 'plain')!, lines: lines! })).toEqual([
      ['inner()|_Z5innerv|2|/src/inner.h:3:7|+16', 'alias()|_Z5aliasv|10|/src/outer.cc:12:1|+16'],
      ['plain||10|/src/outer.cc:12:1|+32'],
    ]);
    expect(asked).toEqual([0x1010, 0x111f]);
  });

  describe('a return address at which a function begins', () => {
    const tableFrom = (start: number): CodeSymbols['table'] => {
      const builder = new SymbolTableBuilder();
      builder.add(start, 9, 0, 12, RANK_GLOBAL);
      return builder.build(new TextEncoder().encode('__restore_rt'));
    };
    /** By address: where its function begins. */
    const knowing =
      (starts: Readonly<Record<number, number>>): NonNullable<CodeSymbols['functionStarts']> =>
      async (addresses) =>
        addresses.map((address) => starts[address] ?? -1);

    it.each<[string, Readonly<Record<number, number>>, string[]]>([
      ['gets its name if no function is before it', {}, ['__restore_rt||0|:0:0|+0']],
      ['gets its name if rules begin a byte before it, like those of __restore_rt', { 4382: 0x1100, 4383: 0x111f }, ['__restore_rt||0|:0:0|+0']],
      ['has no name if another function may end in a call', { 4382: 0x1100, 4383: 0x1100 }, []],
    ])('%s', async (_, starts, expected) => {
      expect(await named({ table: tableFrom(0x1120)!, functionStarts: knowing(starts) })).toEqual([[], expected]);
    });

    it('has no name if nothing tells what is before it, or if no function begins exactly there', async () => {
      expect(await named({ table: tableFrom(0x1120)! })).toEqual([[], []]);
      expect(await named({ table: tableFrom(0x1121)!, functionStarts: knowing({}) })).toEqual([[], []]);
      expect(await named({ table: tableFrom(0x1119)!, functionStarts: knowing({}) })).toEqual([[], ['__restore_rt||0|:0:0|+7']]);
    });
  });

  it('names the function that was interrupted at its first instruction, not the padding before it', async () => {
    const interrupted = async (before: string): Promise<string[]> => {
      const text = `${before}update_time`;
      const builder = new SymbolTableBuilder();
      builder.add(0x1110, 0x10, 0, before.length, RANK_GLOBAL);
      builder.add(0x1120, 0x40, before.length, text.length - before.length, RANK_GLOBAL);
      const { lines } = linesOf({ 4384: [{ ...FRAMES[0], function: undefined }] });
      return (await named({ table: builder.build(new TextEncoder().encode(text)), lines: lines! }))[1];
    };
    expect(await interrupted('__pfx_update_time')).toEqual(['update_time||0|/src/inner.h:3:7|+0']);
    expect(await interrupted('__pfx_another')).toEqual(['__pfx_another||0|:0:0|+16']);
    expect(await interrupted('panic')).toEqual(['panic||0|:0:0|+16']);
  });

  it('names the function that begins at a return address if none ends with a call, as in Go, with the line where it begins', async () => {
    const text = 'main.burnmain.deref';
    const builder = new SymbolTableBuilder();
    builder.add(0x1100, 0x20, 0, 9, RANK_GLOBAL);
    builder.add(0x1120, 0x40, 9, 10, RANK_GLOBAL);
    const table = builder.build(new TextEncoder().encode(text))!;
    const { lines } = linesOf({ 4384: [{ ...FRAMES[0], function: undefined }] });
    expect(await named({ table, endsNoFunctionWithCall: true, lines: lines! })).toEqual([[], ['main.deref||0|/src/inner.h:3:7|+0']]);
    expect((await named({ table }))[1]).toEqual(['main.burn||0|:0:0|+32']);
  });

  it('takes the name from debug information if there is no symbol, and the symbol if there is nothing else', async () => {
    const { lines } = linesOf({ 4383: [{ ...FRAMES[0], function: { ...INNER, linkageName: '' } }] });
    expect(await named({ lines: lines! })).toEqual([[], ['inner||2|/src/inner.h:3:7|+0']]);
    expect(await named({ table: tableOf('_Z5aliasv')!, lines: lines! })).toEqual([['alias()|_Z5aliasv|0|:0:0|+16'], ['inner||2|/src/inner.h:3:7|+0']]);
  });

  it('adds scopes to the name of a function without a linkage name, but not with compatPerf or undemangled names', async () => {
    const inner = { ...INNER, linkageName: '', name: 'inner<int>', scope: { name: 'n', linkageName: '', isNamespace: true, scope: null } };
    const { lines } = linesOf({ 4112: [{ ...FRAMES[0], function: inner }, FRAMES[1]] });
    const leaf = async (options: Partial<LocationNamingOptions>): Promise<string> => (await named({ lines: lines! }, options))[0][0];
    expect(await leaf({})).toBe('n::inner<int>|inner<int>|2|/src/inner.h:3:7|+0');
    expect(await leaf({ demangle: 'later' })).toBe(await leaf({ demangle: 'full' }));
    expect(await leaf({ demangle: 'simple' })).toBe('n::inner|inner<int>|2|/src/inner.h:3:7|+0');
    expect(await leaf({ compatPerf: true })).toBe('inner<int>||2|/src/inner.h:3:7|+0');
    expect(await leaf({ demangle: 'none' })).toBe('inner<int>||2|/src/inner.h:3:7|+0');
  });

  it('gives a function the file of its declaration, and a line its own file if that is different', async () => {
    const { lines } = linesOf({ 4112: [{ ...FRAMES[1], file: '/src/part.def' }], 4383: [{ function: OUTER, file: '', line: 0, column: 0 }] });
    expect(await named({ lines: lines! })).toEqual([
      ['outer()|_Z5outerv|10|/src/outer.cc>/src/part.def:12:1|+0'],
      ['outer()|_Z5outerv|10|/src/outer.cc:0:0|+0'],
    ]);
  });

  it('keeps the first line of a function whose declaration has no file', async () => {
    const { lines } = linesOf({ 4112: [{ ...FRAMES[1], function: { ...OUTER, file: '' } }] });
    expect((await named({ lines: lines! }))[0]).toEqual(['outer()|_Z5outerv|10|/src/outer.cc:12:1|+0']);
  });

  it('leaves a line of an unknown function unresolved if there is no symbol', async () => {
    const { lines } = linesOf({ 4112: [{ function: undefined, file: '/src/x.S', line: 5, column: 0 }] });
    expect(await named({ lines: lines! })).toEqual([[], []]);
    expect(await named({ table: tableOf('memcpy')!, lines: lines! })).toEqual([['memcpy||0|/src/x.S:5:0|+16'], []]);
  });

  it('gives a function without a description the file of its first line', async () => {
    const at = (file: string): SourceFrame[] => [{ function: undefined, file, line: 5, column: 0 }];
    const { lines } = linesOf({ 4112: at('/src/copy.S'), 4383: at('/src/macros.h') });
    const builder = new SymbolTableBuilder();
    builder.add(0x1000, 0x200, 0, 6, RANK_GLOBAL);
    const table = builder.build(new TextEncoder().encode('memcpy'));
    expect(await named({ table, lines: lines! })).toEqual([['memcpy||0|/src/copy.S:5:0|+16'], ['memcpy||0|/src/copy.S>/src/macros.h:5:0|+288']]);
  });

  it('does not split a function if some of its code has no line', async () => {
    const { lines } = linesOf({ 4112: [FRAMES[1]] });
    const builder = new SymbolTableBuilder();
    builder.add(0x1000, 0x200, 0, 9, RANK_GLOBAL);
    const table = builder.build(new TextEncoder().encode('_Z5outerv'));
    expect(await named({ table, lines: lines! })).toEqual([['outer()|_Z5outerv|10|/src/outer.cc:12:1|+16'], ['outer()|_Z5outerv|10|/src/outer.cc:0:0|+288']]);
  });

  it('demangles names in maps of JITs, but not with compatPerf', async () => {
    const code: CodeSymbols = { table: tableOf('_Z5innerv', 'outer')!, isPerfMap: true };
    const names = async (options: Partial<LocationNamingOptions>) => (await named(code, options)).map(([line]) => line.split('|')[0]);
    expect(await names({})).toEqual(['inner()', 'outer']);
    expect(await names({ demangle: 'no-params', compatPerf: true })).toEqual(['_Z5innerv', 'outer']);
    expect((await named({ ...code, isPerfMap: false }, { compatPerf: true }))[0][0].split('|')[0]).toBe('inner()');
  });

  it('leaves names in C++ of more than 1,024 characters mangled with compatPerf, but not those in Rust', async () => {
    const mangled = (length: number) => `_Z${length - 7}${'f'.repeat(length - 7)}v`;
    const rust = `_ZN1000${'f'.repeat(1000)}17h0123456789abcdefE`;
    const names = async (table: SymbolTable, compatPerf: boolean) => (await named({ table }, { compatPerf })).map(([line]) => line.split('|')[0]);
    const long = tableOf(mangled(1025), mangled(1024))!;
    expect(await names(long, true)).toEqual([mangled(1025), `${'f'.repeat(1017)}()`]);
    expect(await names(long, false)).toEqual([`${'f'.repeat(1018)}()`, `${'f'.repeat(1017)}()`]);
    expect(await names(tableOf(rust, `${mangled(1024)}@plt`)!, true)).toEqual(['f'.repeat(1000), `${'f'.repeat(1017)}()@plt`]);
  });

  it('names a caller at the start of a function after it if a JIT lists it, and otherwise after the one before it', async () => {
    const builder = new SymbolTableBuilder();
    builder.add(0x1000, 0x120, 0, 5, RANK_GLOBAL);
    builder.add(0x1120, 0x10, 5, 5, RANK_GLOBAL);
    const table = builder.build(new TextEncoder().encode('firstafter'));
    const names = async (isPerfMap: boolean) => (await named({ table, isPerfMap })).map(([line]) => line);
    expect(await names(true)).toEqual(['first||0|:0:0|+16', 'after||0|:0:0|+0']);
    expect(await names(false)).toEqual(['first||0|:0:0|+16', 'first||0|:0:0|+288']);
  });

  it('demangles the part of a name before @plt or a version, which is left out as perf does', async () => {
    const { lines } = linesOf({});
    const table = tableOf('_Znwm@plt', '_ZdlPv@@GLIBCXX_3.4')!;
    const shown = async (demangle: 'no-params' | 'full') => (await named({ table, lines: lines! }, { demangle })).map(([line]) => line.split('|').slice(0, 2));
    expect(await shown('no-params')).toEqual([
      ['operator new@plt', '_Znwm@plt'],
      ['operator delete', '_ZdlPv@@GLIBCXX_3.4'],
    ]);
    expect(await shown('full')).toEqual([
      ['operator new(unsigned long)@plt', '_Znwm@plt'],
      ['operator delete(void*)@@GLIBCXX_3.4', '_ZdlPv@@GLIBCXX_3.4'],
    ]);
    const unmangled = tableOf('memcpy@@GLIBC_2.14')!;
    expect((await named({ table: unmangled, lines: lines! }, { demangle: 'no-params' }))[0]).toEqual(['memcpy@@GLIBC_2.14||0|:0:0|+16']);
    expect((await named({ table: tableOf('_Znwm@plt')!, lines: lines! }))[0]).toEqual(['operator new(unsigned long)@plt|_Znwm@plt|0|:0:0|+16']);
    expect((await named({ table: tableOf('_Znwm@plt')!, lines: lines! }, { demangle: 'none' }))[0]).toEqual(['_Znwm@plt||0|:0:0|+16']);
  });

  it('without inlined functions, keeps the outermost with the line of the call', async () => {
    const { lines } = linesOf({ 4112: FRAMES });
    expect((await named({ lines: lines! }, { debugInfo: 'lines' }))[0]).toEqual(['outer()|_Z5outerv|10|/src/outer.cc:12:1|+0']);
    expect((await named({ lines: lines! }, { debugInfo: 'lines-like-perf' }))[0]).toEqual(['outer()|_Z5outerv|10|/src/outer.cc>/src/inner.h:3:7|+0']);
  });
});

describe('functions without names', () => {
  it('get the known start of their function, looked up for the instruction before a return address', async () => {
    const unnamed = (name: string, address: number) => ({ name, address, unresolved: true });
    const profile = buildProfile([{ timeNs: 0, stack: [unnamed('a', 0x1200), unnamed('b', 0x1300), { name: 'c', address: 0x1050 }, unnamed('d', 0x1100)] }]);
    const asked: number[] = [];
    const functionStarts = async (addresses: Float64Array) => {
      asked.push(...addresses);
      return addresses.map((address) => (address < 0x1200 ? 0x1100 : -1));
    };
    await new LocationNaming(profile, PLAIN).noteStartsBy([0, 1, 2, 3], { functionStarts });
    expect(asked).toEqual([0x1100, 0x11ff, 0x12ff]);
    expect([0, 1, 2, 3].map((location) => profile.locations.functionStart(location))).toEqual([0x1100, -1, -1, 0x1100]);
    expect([0, 1, 2, 3].map((location) => profile.locations.lineCount(location))).toEqual([0, 0, 1, 0]);
  });
});
