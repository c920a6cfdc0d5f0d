import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parsePerfScript, type ScriptSample } from '../../support/perf/perf-script-text.ts';
import {
  announceSkipped,
  makeTempDir,
  readWithPerf,
  recordArgs,
  recordWithPerf,
  removeTempDir,
  runTool,
  whyMissing,
  whyNoRecording,
} from '../../support/perf/perf-tool.ts';
import { runMain } from '../../support/programs/run-main.ts';

const directory = makeTempDir();
afterAll(() => removeTempDir(directory));
const missing = whyNoRecording() ?? whyMissing('g++');
if (missing !== undefined) announceSkipped("unwound chains compared with perf's", missing);

const SOURCE = join(directory, 'source.cc');
const DWARF = ['-e', 'cpu-clock', '-F', '2000', '--call-graph', 'dwarf'];

/** Real programs: compilers, and interpreters if they are installed. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'g++ compiling': ['g++', '-O1', '-c', SOURCE, '-o', '/dev/null'],
  perl: ['perl', '-e', 'my %h; $h{"k$_"} = sprintf("%d", $_) for 1..200000; my @s = sort { $h{$a} <=> $h{$b} } keys %h;'],
  python: ['python3', '-c', 'import json\nfor _ in range(3): json.loads(json.dumps([{"a": i, "b": [1, 2, str(i)]} for i in range(20000)]))'],
  // Frame pointers lead through JIT code; perf stops there.
  node: ['node', '-e', 'let o = {}; for (let i = 0; i < 1e5; i++) o["k" + i] = JSON.stringify({ i }); JSON.parse(JSON.stringify(o));'],
};

const WAYS: Readonly<Record<string, readonly string[]>> = { 'to a file': [], compressed: ['-z'], 'by several threads': ['--threads'] };

/** The share of samples that have the same chain in both, and the first one that does not. */
function equalChains(expected: readonly ScriptSample[], actual: readonly ScriptSample[]): { share: number; first: string } {
  const chain = ({ frames }: ScriptSample): string => frames.map(({ ip, symbol, dso }) => `${ip} ${symbol} ${dso}`).join('\n');
  const left = new Map<string, ScriptSample[]>();
  const keyOf = ({ tid, time, event }: ScriptSample): string => `${tid} ${time} ${event}`;
  for (const sample of actual) left.set(keyOf(sample), [...(left.get(keyOf(sample)) ?? []), sample]);
  let equal = 0;
  let first = '';
  for (const sample of expected) {
    const same = left.get(keyOf(sample)) ?? [];
    if (same.some((other) => chain(other) === chain(sample))) equal++;
    else if (first === '') first = `perf, ${keyOf(sample)}:\n${chain(sample)}\nhere:\n${same.map(chain).join('\n')}`;
  }
  return { share: equal / expected.length, first };
}

async function compare(recording: string): Promise<void> {
  const expected = parsePerfScript(readWithPerf('script', recording, ['--no-inline']));
  const here = await runMain(['-q', '-t', 'script', '--compat', 'perf', '--no-inline', '-o', '-', recording]);
  const actual = parsePerfScript(here.stdout.toString());
  expect(actual).toHaveLength(expected.length);
  const { share, first } = equalChains(expected, actual);
  expect(share, first).toBeGreaterThanOrEqual(0.99);
  expect(expected.length).toBeGreaterThan(50);
}

describe.skipIf(missing !== undefined)("unwound chains are perf's", () => {
  writeFileSync(
    SOURCE,
    '#include <map>\n#include <string>\n#include <vector>\nint main() { std::map<std::string, std::vector<int>> m; m["a"].push_back(1); return m.size(); }\n',
  );
  for (const [name, [program, ...args]] of Object.entries(PROGRAMS)) {
    const why = whyMissing(program);
    if (why !== undefined) announceSkipped(`unwound chains of ${name}`, why);
    test.skipIf(why !== undefined)(`of ${name}`, async () => {
      const recording = join(directory, 'perf.data');
      recordWithPerf([...DWARF, '-o', recording, program, ...args]);
      await compare(recording);
    });
  }

  test.each(Object.entries(WAYS))('of a recording written %s', async (_, options) => {
    const recording = join(directory, `way${options.join('')}.data`);
    const { status, stderr } = recordWithPerf([...DWARF, ...options, '-o', recording, ...PROGRAMS['g++ compiling']]);
    expect(status, stderr).toBe(0);
    await compare(recording);
  });

  test('of a pipe', async () => {
    const recording = join(directory, 'pipe.data');
    const words = ['perf', ...recordArgs, ...DWARF, '-o', '-', ...PROGRAMS['g++ compiling']];
    const { status, stderr } = runTool('sh', ['-c', `${words.join(' ')} > ${recording}`]);
    expect(status, stderr).toBe(0);
    await compare(recording);
  });
});
