import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

// perf 6.1 shows inlined functions in stacks that it unwinds by debug information, also at the sampled address, which both programs
// have for such a recording.

const source = fileURLToPath(new URL('../../../fixtures/src/inlines.cc', import.meta.url));
const whyNot = whyNoRecording() ?? whyMissing('g++') ?? whyMissing('addr2line') ?? whyNoPerfconv();
if (whyNot !== undefined) announceSkipped('inlined functions', whyNot);

/** The frames at the sampled user address of each sample, as printed, innermost first. */
function leafFrames(text: string): string[][] {
  return text
    .split('\n\n')
    .map((sample) => sample.split('\n').filter((line) => line.startsWith('\t')))
    .map((frames) => frames.map((line) => line.trim()).filter((line) => !line.startsWith('ffffffff')))
    .map((frames) => frames.filter((line) => line.split(' ')[0] === frames[0].split(' ')[0]))
    .filter((frames) => frames.length > 0);
}

/**
 * Without the callers that return to the sampled address: those of a function that calls itself, sampled just after it returned. perf's
 * text has the calls' last bytes in place of return addresses.
 */
function withoutCallers(frames: string[]): string[] {
  return frames.slice(0, frames.findIndex((line) => !line.endsWith('(inlined)')) + 1);
}

/**
 * Whether a function is inlined into itself. addr2line 2.40, which perf asks, names the surrounding function in place of some inlined
 * ones (0x175a of this program, if it was not asked for other addresses before); llvm-symbolizer does not.
 */
function repeatsFunction(frames: string[]): boolean {
  const names = frames.map((line) => line.replace(/\+0x[0-9a-f]+ \(.*\)$/, ''));
  return names.some((name, i) => i > 0 && name === names[i - 1]);
}

describe.skipIf(whyNot !== undefined)('inlined functions', () => {
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
    copyFileSync(source, join(directory, 'inlines.cc'));
  });
  afterAll(() => removeTempDir(directory));

  test.each([
    ['DWARF 5', '-gdwarf-5'],
    ['DWARF 4', '-gdwarf-4'],
    ['compressed DWARF', '-gz'],
  ])('are in the text as in that of perf: %s', (_, flag) => {
    const run = (program: string, ...args: string[]): void => {
      const { status, stderr } = runTool(program, args, { cwd: directory });
      if (status !== 0) throw new Error(`${program}: ${lastLines(stderr)}`);
    };
    run('g++', '-O2', '-g', flag, 'inlines.cc', '-o', 'inlines');
    recordWithPerf(['-e', 'cpu-clock:u', '-F', '3989', '--call-graph', 'dwarf', '-o', 'inlines.data', './inlines'], { cwd: directory });
    const file = join(directory, 'inlines.data');
    const theirs = leafFrames(readWithPerf('script', file));
    const ours = leafFrames(convert(['-t', 'script', '-o', '-', file]).stdout).map(withoutCallers);
    expect(ours.length).toBe(theirs.length);
    // Frames in the loader and libc depend on whether their debug symbols are installed: only the program is judged.
    const own = theirs.flatMap((frames, i) => ([frames, ours[i]].some((one) => one.at(-1)?.endsWith(`(${join(directory, 'inlines')})`)) ? [i] : []));
    const [expected, actual] = [theirs, ours].map((frames) => own.map((i) => frames[i]));
    expect(expected.length).toBeGreaterThan(50);
    const differing = expected.flatMap((frames, i) => (frames.join('\n') === actual[i].join('\n') ? [] : [i]));
    const others = differing.filter((i) => !repeatsFunction(expected[i]));
    // Up to 1 % may differ by perf's own choice of names: it takes the outermost one from addr2line if that is an alias of its symbol.
    if (others.length > expected.length / 100) expect(actual[others[0]]).toEqual(expected[others[0]]);
    expect(differing.length - others.length).toBeLessThan(expected.length / 10);
    expect(expected.filter((frames) => frames.length > 2).length).toBeGreaterThan(expected.length / 10);
    expect(expected.flat().filter((line) => line.endsWith('(inlined)')).length).toBeGreaterThan(expected.length / 4);
  });
});
