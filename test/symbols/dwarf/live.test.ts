import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decompress } from '../../../src/host/decompress.ts';
import { FileSource } from '../../../src/host/file-source.ts';
import { DebugInfo } from '../../../src/symbols/dwarf/debug-info.ts';
import { openDebugSections } from '../../../src/symbols/dwarf/elf-debug-sections.ts';
import { ElfFile } from '../../../src/symbols/elf/elf-file.ts';
import { announceSkipped, makeTempDir, removeTempDir, whyMissing } from '../../support/perf-tool.ts';

const SOURCES: Readonly<Record<string, string>> = {
  'main.cc': `
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int other(int);
namespace ns {
struct S { int a; explicit S(int x); virtual ~S(); int get() const { return a * 3 + helper(a); } static int helper(int q) { return q > 3 ? q - puts("x") : q; } };
S::S(int x) : a(x) { printf("%d", x); }
S::~S() { puts("gone"); }
inline __attribute__((always_inline)) int one(int a) { return a + puts("one"); }
inline __attribute__((always_inline)) int two(int a) { for (int i = 0; i < a; i++) a += one(i); return a; }
}
static __attribute__((noinline)) int local(std::map<int, std::string>& m, int k) {
  auto f = [&](int z) { return (int)m[z].size() + ns::two(z); };
  return f(k) + f(k + 1);
}
int unused(int a) { return ns::two(a) * a; }
int main(int argc, char** argv) {
  std::map<int, std::string> m;
  std::vector<ns::S> v;
  for (int i = 0; i < argc; i++) { m[i] = argv[i]; v.emplace_back(i); }
  std::sort(v.begin(), v.end(), [](const ns::S& a, const ns::S& b) { return a.get() < b.get(); });
  try { return local(m, argc) + other(argc) + ns::two(argc); } catch (int e) { return e; }
}`,
  'other.cc': `
#include <cstdio>
#include <string>
template <class T> struct Q {
  T t;
  __attribute__((noinline)) T twice(T x) { struct L { T v; __attribute__((noinline)) T go(T k) { return v + k; } } l{x}; return l.go(t) + t; }
};
int unused2(int a) { return a * puts("never"); }
static inline int square(int a) { return a * a + (a > 100 ? puts("big") : 1); }
int other(int a) { Q<int> q{a}; Q<std::string> s{"a"}; return q.twice(a) + s.twice("b").size() + square(a) + square(square(a)); }`,
};

const VARIANTS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['-gdwarf-2', ['-O2', '-gdwarf-2']],
  ['-gdwarf-3, not optimised', ['-O0', '-gdwarf-3']],
  ['-gdwarf-4', ['-O2', '-gdwarf-4']],
  ['-gdwarf-5', ['-O2', '-gdwarf-5']],
  ['-gdwarf-5 -gdwarf64', ['-O2', '-gdwarf-5', '-gdwarf64']],
  ['-gdwarf-4 -gdwarf64 -Os', ['-Os', '-gdwarf-4', '-gdwarf64']],
  ['functions thrown away', ['-O2', '-g', '-ffunction-sections', '-Wl,--gc-sections']],
  ['functions thrown away, DWARF 4', ['-O2', '-gdwarf-4', '-ffunction-sections', '-Wl,--gc-sections']],
  ['type units', ['-O2', '-g', '-fdebug-types-section']],
  ['-flto', ['-O2', '-g', '-flto']],
  ['a fixed address, compressed', ['-O2', '-g', '-no-pie', '-gz']],
];

const why = whyMissing('llvm-symbolizer');
if (why !== undefined) announceSkipped('debug information beside llvm-symbolizer', why);

describe.each(['g++', 'clang++'])('what %s makes, beside llvm-symbolizer', (compiler) => {
  const whyNoCompiler = why ?? whyMissing(compiler);
  if (why === undefined && whyNoCompiler !== undefined) announceSkipped(`debug information of ${compiler}`, whyNoCompiler);
  let dir = '';
  beforeAll(() => {
    dir = makeTempDir();
    for (const [name, text] of Object.entries(SOURCES)) writeFileSync(join(dir, name), text);
  });
  afterAll(() => removeTempDir(dir));

  it.skipIf(whyNoCompiler !== undefined).each(VARIANTS)('%s', { timeout: 120_000 }, async (_, args) => {
    const path = join(dir, 'program');
    try {
      execFileSync(compiler, [...args, ...Object.keys(SOURCES), '-o', path], { cwd: dir, stdio: 'pipe' });
    } catch (error) {
      // Not each compiler has each option, nor the linker plugin that -flto needs.
      return announceSkipped(`${compiler} ${args.join(' ')}`, String((error as { stderr?: Buffer }).stderr ?? error));
    }
    const { addresses, chains, problems } = await lookUpAll(path);
    const expected = askLlvm(path, addresses);
    expect(problems).toEqual([]);
    expect(chains.filter((chain) => chain.length > 2).length).toBeGreaterThan(args.includes('-O0') ? 0 : 1000);
    const differing = chains.flatMap((chain, i) => (sameChain(chain, expected[i]) ? [] : [{ address: addresses[i], chain, expected: expected[i] }]));
    expect(differing.slice(0, 3)).toEqual([]);
  });
});

interface Frame {
  readonly name: string;
  readonly place: string;
}

async function lookUpAll(path: string): Promise<{ addresses: Float64Array; chains: Frame[][]; problems: readonly unknown[] }> {
  const source = await FileSource.open(path);
  try {
    const elf = await ElfFile.open(source);
    const text = elf.section('.text')!;
    const addresses = Float64Array.from({ length: text.sizeBytes }, (_, i) => text.addr + i);
    const info = await DebugInfo.open(await openDebugSections(elf, { decompress }));
    const chains = Array.from(addresses, (): Frame[] => []);
    await info.lookup(addresses, (index, frames) => {
      chains[index] = frames.map((frame) => ({
        name: frame.function?.linkageName || frame.function?.name || '',
        place: `${frame.file || '??'}:${frame.line}:${frame.column}`,
      }));
    });
    return { addresses, chains, problems: info.problems };
  } finally {
    await source.close();
  }
}

function askLlvm(path: string, addresses: Float64Array): Frame[][] {
  const input = Array.from(addresses, (address) => `0x${address.toString(16)}\n`).join('');
  const text = execFileSync('llvm-symbolizer', ['--no-demangle', '--inlines', '-e', path], { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  return text
    .trimEnd()
    .split('\n\n')
    .map((group) => {
      const lines = group.trim().split('\n');
      return Array.from({ length: lines.length / 2 }, (_, i) => ({ name: lines[2 * i], place: normalised(lines[2 * i + 1]) }));
    });
}

function normalised(place: string): string {
  const [, file, rest] = /^(.*)(:\d+:\d+)$/.exec(place)!;
  return (file.startsWith('/') ? posix.normalize(file) : file) + rest;
}

/** The outermost name is the ELF symbol's for llvm-symbolizer; and so is its file where no line is known. */
function sameChain(ours: readonly Frame[], theirs: readonly Frame[]): boolean {
  if (ours.length === 0) return theirs.length === 1 && theirs[0].place.endsWith(':0:0');
  return (
    ours.length === theirs.length &&
    ours.every(({ name, place }, i) => {
      const isLast = i === ours.length - 1;
      return (isLast || name === theirs[i].name) && (place === theirs[i].place || (isLast && place === '??:0:0' && theirs[i].place.endsWith(':0:0')));
    })
  );
}
