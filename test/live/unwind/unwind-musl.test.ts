import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { announceSkipped, lastLines, makeTempDir, recordWithPerf, removeTempDir, runTool, whyMissing, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { runMain } from '../../support/programs/run-main.ts';

const SOURCE = fileURLToPath(new URL('../../support/programs/musl-stacks.c', import.meta.url));
const KINDS = ['sorting', 'printing', 'allocating'];
const OWN = [...KINDS, 'compare', 'working', 'main'];

const directory = makeTempDir();
afterAll(() => removeTempDir(directory));
const missing = whyNoRecording() ?? whyMissing('musl-gcc');
if (missing !== undefined) announceSkipped('stacks through musl, which has no rules', missing);

/** What is wrong with a stack's names, the root first; undefined if nothing is. */
function problem(names: readonly string[]): string | undefined {
  const own = names.filter((name) => OWN.includes(name));
  // Before main, and in code that ends the program.
  if (!own.includes('working') && !own.some((name) => KINDS.includes(name))) return undefined;
  const path = own.filter((name) => name !== 'compare').join(' ');
  return /^(?:main )?working(?: (?:sorting|printing|allocating))?$/.test(path) ? undefined : path;
}

describe.skipIf(missing !== undefined)('stacks through musl, which has no rules', () => {
  test.each([['loaded', []] as const, ['linked', ['-static']] as const])('reach the start of their threads: %s', async (_, options) => {
    const program = join(directory, 'program');
    const compiled = runTool('musl-gcc', ['-O2', ...options, SOURCE, '-o', program], {});
    expect(compiled.status, lastLines(compiled.stderr, 5)).toBe(0);
    const recording = join(directory, 'perf.data');
    const recorded = recordWithPerf(['-e', 'cpu-clock', '-F', '1500', '--call-graph', 'dwarf,16384', '-o', recording, program]);
    expect(recorded.status, recorded.stderr).toBe(0);
    const { status, stdout, stderr } = await runMain(['-q', '-t', 'folded', '--no-inline', '-o', '-', recording]);
    expect(status, stderr).toBe(0);
    const stacks = stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => ({ names: line.replace(/ \d+$/, '').split(';').slice(1), count: Number(line.slice(line.lastIndexOf(' ') + 1)) }));
    const sum = (some: typeof stacks): number => some.reduce((all, { count }) => all + count, 0);
    const wrong = stacks.filter(({ names }) => names.includes('[truncated]') || problem(names.filter((name) => !name.endsWith('_[k]'))) !== undefined);
    const told = wrong.map(({ names, count }) => `${count} ${names.join(';')}`).slice(0, 5);
    expect(stacks.length).toBeGreaterThan(20);
    expect(sum(wrong) / sum(stacks), told.join('\n')).toBeLessThan(0.01);
  });
});
