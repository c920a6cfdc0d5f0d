import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldScript } from '../../support/perf/fold-script.ts';
import { parsePerfScript } from '../../support/perf/perf-script-text.ts';
import {
  announceSkipped,
  lastLines,
  makeTempDir,
  readWithPerf,
  recordWithPerf,
  removeTempDir,
  runTool,
  whyMissing,
  whyNoRecording,
} from '../../support/perf/perf-tool.ts';
import { convert, whyNoPerfconv } from '../../support/programs/perfconv-tool.ts';
import { foldedWeight } from '../../support/truth/output-totals.ts';

// There are no more folded stacks than perf's own text folds to, with the same total. docs/formats.md says what they are compared with.

/** Overloads, which perf does not tell apart, and functions of templates, which it does; the functions that they call are inlined if inlining is on. */
const SOURCE = `
#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>
#define APART __attribute__((noinline))
volatile double sink;
template <class T> struct Part { T from; T next() { return from = std::sqrt(from * 3 + 7); } };
APART void work(int n) { Part<double> part{1.0 * n}; for (int i = 0; i < 50000; i++) sink = part.next(); }
APART void work(long n) { Part<double> part{2.0 * n}; for (int i = 0; i < 50000; i++) sink = part.next(); }
APART void work(double n) { Part<float> part{static_cast<float>(n)}; for (int i = 0; i < 50000; i++) sink = part.next(); }
template <class T> APART void sorted(T from) {
  std::vector<T> all;
  for (int i = 0; i < 5000; i++) all.push_back(from = from * 7 % 10007);
  std::sort(all.begin(), all.end());
  sink = all[0];
}
void run() { for (int i = 1; i < 150; i++) { work(i); work(1L * i); work(1.0 * i); sorted<int>(i); sorted<long>(i); } }
int main() { std::vector<std::thread> threads; for (int i = 0; i < 3; i++) threads.emplace_back(run); for (auto &thread : threads) thread.join(); }
`;

const PYTHON = `
import json, re
def text(n): return json.dumps({str(i): [i] * 3 for i in range(n)})
for i in range(300): re.sub('[0-9]+', lambda found: found.group(0)[::-1], text(100 + i))
`;
const PERL = 'my %all; for my $i (1 .. 300000) { $all{$i % 5000} .= chr(65 + $i % 26); @s = sort { $all{$a} cmp $all{$b} } keys %all if $i % 20000 == 0 }';
const NODE = 'const all = new Map(); for (let i = 0; i < 5e5; i++) all.set(i % 5000, JSON.stringify({ i, all: [i, i + 1] })); [...all].sort()';
const PIPELINE =
  'find /usr/lib /usr/share | head -50000 | sort | sed s/a/b/g | uniq -c | awk "{ n[\\$2] += \\$1 } END { for (k in n) print k }" | grep -v x | wc -l';

interface Program {
  readonly command: readonly [program: string, ...args: string[]];
  /** A program that must be installed for it. */
  readonly needs?: string;
  /** Further arguments of `perf record`. */
  readonly options?: readonly string[];
  /** The commands whose stacks are counted: others that run at the same time may have functions that perf cannot name, as stripped Go programs do. */
  readonly commands?: readonly string[];
}

const PIPELINE_COMMANDS = ['sh', 'find', 'head', 'sort', 'sed', 'uniq', 'awk', 'grep', 'wc', 'g++', 'cc1plus', 'as'];

const PROGRAMS: Readonly<Record<string, Program>> = {
  'g++ compiling': { command: ['g++', '-O1', '-c', '-o', '/dev/null', 'source.cc'] },
  'a shell pipeline': { command: ['sh', '-c', PIPELINE] },
  'the whole machine': {
    command: ['sh', '-c', `(g++ -O1 -c -o /dev/null source.cc & ${PIPELINE}; wait)`],
    options: ['-a'],
    commands: PIPELINE_COMMANDS,
  },
  Python: { command: ['python3', '-c', PYTHON], needs: 'python3' },
  Perl: { command: ['perl', '-e', PERL], needs: 'perl' },
  Node: { command: ['node', '-e', NODE], needs: 'node' },
  git: { command: ['sh', '-c', 'git diff --no-index --numstat . /usr/include >/dev/null; true'], needs: 'git' },
  'threads of C++': { command: ['./framed'] },
};

const whyNot = whyNoPerfconv() ?? whyNoRecording() ?? whyMissing('g++');
if (whyNot !== undefined) announceSkipped("folded stacks against perf's text", whyNot);

describe.skipIf(whyNot !== undefined)('folded stacks', () => {
  let cwd = '';
  beforeAll(() => {
    cwd = makeTempDir();
    writeFileSync(join(cwd, 'source.cc'), SOURCE);
    for (const [program, ...flags] of [
      ['framed', '-fno-omit-frame-pointer'],
      ['described', '-g'],
    ]) {
      const { status, stderr } = runTool('g++', ['-O2', '-pthread', ...flags, '-o', program, 'source.cc'], { cwd });
      if (status !== 0) throw new Error(`g++: ${lastLines(stderr)}`);
    }
  });
  afterAll(() => removeTempDir(cwd));

  function record({ command, options = [] }: Program, callchains: readonly string[] = ['-F', '3999', '-g']): string {
    const file = join(cwd, 'perf.data');
    recordWithPerf(['-e', 'cpu-clock', ...callchains, ...options, '-o', file, ...command], { cwd });
    return file;
  }

  function folded(file: string, args: readonly string[]): Uint8Array {
    const output = join(cwd, 'out.folded');
    convert(['-q', ...args, '-o', output, file]);
    return readFileSync(output);
  }

  const linesIn = (bytes: Uint8Array): string[] => new TextDecoder().decode(bytes).split('\n').slice(0, -1);

  /** @returns how many lines perf's text folds to */
  function expectNoMoreThanPerf(file: string, args: readonly string[], commands?: readonly string[]): number {
    const countOf = (stacks: readonly string[]): number => stacks.filter((stack) => commands?.includes(stack.slice(0, stack.indexOf(';'))) ?? true).length;
    const expected = foldScript(parsePerfScript(readWithPerf('script', file, args)));
    const perfs = countOf([...expected.keys()]);
    const ours = folded(file, args);
    const count = countOf(linesIn(ours));
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(perfs);
    expect(foldedWeight(ours)).toBe([...expected.values()].reduce((sum, one) => sum + one));
    return perfs;
  }

  for (const [name, program] of Object.entries(PROGRAMS)) {
    const missing = program.needs === undefined ? undefined : whyMissing(program.needs);
    if (whyNot === undefined && missing !== undefined) announceSkipped(`folded stacks of ${name}`, missing);
    it.skipIf(missing !== undefined)(`are no more than in perf's text: ${name}`, () => {
      expectNoMoreThanPerf(record(program), ['--no-inline'], program.commands);
    });
  }

  it('are no more if both have inlined functions, which perf 6.1 shows in stacks that it unwinds', () => {
    const file = record({ command: ['./described'] }, ['-F', '499', '--call-graph', 'dwarf,8192']);
    const withInlined = expectNoMoreThanPerf(file, []);
    expect(withInlined).toBeGreaterThan(expectNoMoreThanPerf(file, ['--no-inline']));
  });

  it('are more with full names, which tell overloads apart', () => {
    const file = record({ command: ['./framed'] });
    const inFull = linesIn(folded(file, ['--no-inline', '--demangle-style', 'full'])).length;
    expect(inFull).toBeGreaterThan(expectNoMoreThanPerf(file, ['--no-inline']));
  });
});
