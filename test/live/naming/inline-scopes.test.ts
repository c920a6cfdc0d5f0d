import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeSections, loadedSegments, readSymbols } from '../../../bench/symbols/elf-code.mjs';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { demangle } from '../../../src/demangle/demangle.ts';
import { NodeSymbolFiles } from '../../../src/host/symbols/symbol-files.ts';
import { scopedName } from '../../../src/naming/scoped-name.ts';
import type { SourceFunction } from '../../../src/symbol-table/code-symbols.ts';
import { DEFAULT_DEBUG_DIRS, Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { runs } from '../../support/perf/perf-oracle.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';

// gcc gives no linkage names to functions that only one unit can see. Without optimization, the same functions are symbols, whose names
// the inlined ones must have.

const SOURCE = `
#include <algorithm>
#include <vector>
namespace app {
namespace {
struct Item {
  int key;
  bool operator<(const Item &other) const { return key < other.key; }
  template <class T> int plus(T t) const { return key + (int)t; }
  struct Part;
};
struct Item::Part { static int half(int x) { return x / 2; } };
int twice(int x) { return 2 * x + Item::Part::half(x); }
template <class T> T least(std::vector<T> &all) { std::sort(all.begin(), all.end()); return all[0]; }
}
struct Box {
  int held;
  template <class T> int first(const std::vector<T> &all) const { return held + all[0].key; }
  struct Lid { template <class T> static int last(const std::vector<T> &all) { int s = 0; for (const T &one : all) s ^= one.key; return s; } };
};
}
static int plain(int x) { return x + app::twice(x); }
extern "C" int entry(int n) {
  struct Local { int n; int get() const { return plain(n); } };
  std::vector<app::Item> items(n, app::Item{n});
  std::vector<int> numbers(n, n);
  std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a % 7 < b % 7; });
  return app::least(items).plus(3L) + Local{n}.get() + numbers[0] + app::Box{n}.first(items) + app::Box::Lid::last(items);
}
`;
const isHere = (tool: string): boolean => runs(tool, ['--version']);
const whyNot = isHere('g++') ? undefined : 'no g++';
if (whyNot !== undefined) announceSkipped('scopes of inlined functions', whyNot);
const missingTools = ['dwz', 'dwp', 'llvm-dwp'].filter((tool) => !isHere(tool));
if (missingTools.length > 0) announceSkipped('some scopes of inlined functions', `no ${missingTools.join(', ')}`);

/** All functions that debug information describes at any address of a binary. */
async function functionsIn(binary: string): Promise<Set<SourceFunction>> {
  const diagnostics = new Diagnostics();
  const symbolizer = new Symbolizer(new NodeSymbolFiles(), { debugDirs: DEFAULT_DEBUG_DIRS, compatPerf: false }, diagnostics);
  const symbols = await symbolizer.symbolsFor({ name: binary, kind: 'file', buildId: '', osRelease: '' }, { lines: true });
  const segments = loadedSegments(binary);
  const offsets = codeSections(binary).flatMap(({ start, sizeBytes }) => {
    const { address, offset } = segments.find((one) => start >= one.address && start - one.address < one.sizeBytes)!;
    return Array.from({ length: sizeBytes }, (_, i) => Number(start - address) + offset + i);
  });
  const functions = new Set<SourceFunction>();
  await symbols?.lines?.lookup(Float64Array.from(offsets).sort(), (_, frames) => {
    for (const { function: described } of frames) if (described !== undefined) functions.add(described);
  });
  await symbols?.close?.();
  expect(diagnostics.list()).toEqual([]);
  return functions;
}

describe.skipIf(whyNot !== undefined)('inlined functions without a linkage name', () => {
  let directory = '';
  let known: Set<string>;
  const run = (program: string, ...args: string[]): void => {
    execFileSync(program, args, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  /** Only linkage names have numbers of lambdas; gcc names types and functions of generic lambdas differently. */
  const comparable = (name: string): string => name.replaceAll(/\{lambda[^}]*\}(#\d+)?/g, '{lambda}').replaceAll(/\[abi:\w+\]/g, '');

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'perfconv-scopes-'));
    writeFileSync(join(directory, 'a.cc'), SOURCE);
    run('g++', '-shared', '-fPIC', '-O0', '-fkeep-inline-functions', 'a.cc', '-o', 'plain.so');
    const symbols = [...readSymbols(join(directory, 'plain.so'))] as unknown[];
    const names = symbols.flatMap((one) => JSON.stringify(one, (_, value) => (typeof value === 'bigint' ? String(value) : value)).match(/_Z\w+/g) ?? []);
    known = new Set(names.map((name) => comparable(demangle(name, 'simple') ?? name)));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it.for<[string, string[], string?]>([
    ['DWARF 5', ['-gdwarf-5']],
    ['DWARF 4', ['-gdwarf-4']],
    ['split DWARF', ['-gdwarf-5', '-gsplit-dwarf']],
    ['link-time optimization', ['-gdwarf-5', '-flto']],
    ['type units', ['-gdwarf-5', '-fdebug-types-section']],
    ['type units of DWARF 4', ['-gdwarf-4', '-fdebug-types-section']],
    ['type units of split DWARF', ['-gdwarf-5', '-fdebug-types-section', '-gsplit-dwarf']],
    ['type units of split DWARF 4', ['-gdwarf-4', '-fdebug-types-section', '-gsplit-dwarf']],
    ['type units in a package', ['-gdwarf-5', '-fdebug-types-section', '-gsplit-dwarf'], 'llvm-dwp'],
    ['type units in a package of DWARF 4', ['-gdwarf-4', '-fdebug-types-section', '-gsplit-dwarf'], 'dwp'],
    ['type units, compressed', ['-gdwarf-5', '-fdebug-types-section', '-gz']],
    ['type units and link-time optimization', ['-gdwarf-5', '-fdebug-types-section', '-flto']],
    ['dwz', ['-gdwarf-4'], 'dwz'],
    ['type units of DWARF 4 and dwz', ['-gdwarf-4', '-fdebug-types-section'], 'dwz'],
  ])('have the names of their symbols in another build: %s', async ([name, flags, tool], { skip }) => {
    if (tool !== undefined && missingTools.includes(tool)) skip(`no ${tool}`);
    const folder = name.replaceAll(/\W+/g, '-');
    mkdirSync(join(directory, folder));
    const binary = join(folder, 'program.so');
    run('g++', '-shared', '-fPIC', '-O2', ...flags, '-o', binary, 'a.cc');
    if (tool === 'dwz') run('dwz', binary);
    if (tool?.endsWith('dwp')) {
      run(tool, '-e', binary, '-o', `${binary}.dwp`);
      for (const file of readdirSync(join(directory, folder))) if (file.endsWith('.dwo')) rmSync(join(directory, folder, file));
    }
    const scoped = [...(await functionsIn(join(directory, binary)))].filter((one) => one.linkageName === '' && one.scope);
    const names = new Set(scoped.map((one) => comparable(scopedName(one, 'simple'))));
    const others = [...names].filter((one) => !known.has(one) && !/^(std|__gnu_cxx)::/.test(one));
    expect(others).toEqual([]);
    for (const one of [
      'app::(anonymous namespace)::twice',
      'app::(anonymous namespace)::Item::operator<',
      'app::(anonymous namespace)::Item::Part::half',
      'app::Box::first',
      'app::Box::Lid::last',
      'std::sort',
    ]) {
      expect(names).toContain(one);
    }
  });
});
