import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownScriptOf, symbolsBeside } from '../../support/perf/own-script.ts';
import { parsePerfScript } from '../../support/perf/perf-script-text.ts';
import { announceSkipped, lastLines, makeTempDir, readWithPerf, recordWithPerf, removeTempDir, runTool, whyNoRecording } from '../../support/perf/perf-tool.ts';

// Code that Node makes at run time: by a perf map, its names are those that `perf script` shows; by a jitdump file, those that it shows for
// the recording that `perf inject --jit` makes.

const PROGRAM = `
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
class Shape { constructor(x) { this.x = x; } area() { let s = 0; for (let i = 0; i < 300; i++) s += Math.sqrt(i * this.x) | 0; return s; } }
function text(i) { return JSON.stringify({ i, s: \`\${i}-abc\`.replace(/(\\d+)-(\\w+)/, '$2') }).length; }
let k = 0;
while (process.cpuUsage().user < 700_000) { k += fib(18) + new Shape(k % 7).area(); for (let i = 0; i < 200; i++) k += text(i); }
`;

const whyNot = whyNoRecording();
if (whyNot !== undefined) announceSkipped('code of JITs, beside perf script', whyNot);

describe.skipIf(whyNot !== undefined)('code of Node', () => {
  let directory = '';
  const maps: string[] = [];
  const file = (name: string): string => join(directory, name);
  beforeAll(() => {
    directory = makeTempDir();
    writeFileSync(file('program.js'), PROGRAM);
  });
  afterAll(() => {
    removeTempDir(directory);
    for (const path of maps) rmSync(path, { force: true });
  });

  function record(nodeFlags: readonly string[], ...perfFlags: readonly string[]): string {
    const node = [process.execPath, ...nodeFlags, 'program.js'];
    recordWithPerf(['-e', 'cpu-clock:u', '-F', '1999', '-g', ...perfFlags, '-o', 'node.data', '--', ...node], { cwd: directory });
    return file('node.data');
  }

  function expectAlike(frames: readonly [perf: string, own: string][], allowed: number): void {
    const different = frames.filter(([perf, own]) => perf !== own);
    expect(different.length, JSON.stringify(different.slice(0, 5))).toBeLessThanOrEqual(allowed * frames.length);
    const named = frames.filter(([perf]) => perf !== '[unknown]');
    expect(named.length).toBeGreaterThan(100);
    expect(named.some(([perf]) => perf.includes('fib'))).toBe(true);
  }

  test.each([[[]], [['--interpreted-frames-native-stack']]])('is named by a perf map: --perf-basic-prof %s', async (flags) => {
    const data = record(['--perf-basic-prof', ...flags]);
    const perf = parsePerfScript(readWithPerf('script', data));
    for (const sample of perf) for (const { dso } of sample.frames) if (/^\/tmp\/perf-\d+\.map$/.test(dso) && !maps.includes(dso)) maps.push(dso);
    // Only the order of several entries at one place tells which one is meant, which perf ignores.
    expectAlike(symbolsBeside(perf, await ownScriptOf('--no-inline', '--compat', 'perf', data), /^\/tmp\/perf-\d+\.map$/), 0.01);
  });

  test.each([[[]], [['--interpreted-frames-native-stack']]])('is named by a jitdump: --perf-prof %s', async (flags) => {
    const data = record(['--perf-prof', ...flags], '-k', 'CLOCK_MONOTONIC');
    const inject = runTool('perf', ['inject', '--jit', '-i', data, '-o', file('injected.data')], { cwd: directory });
    if (inject.status !== 0) throw new Error(`perf inject: ${lastLines(inject.stderr)}`);
    const perf = parsePerfScript(readWithPerf('script', file('injected.data')));
    const own = await ownScriptOf('--no-inline', data);
    expectAlike(symbolsBeside(perf, own, /jitted-\d+-\d+\.so$/), 0.001);
    expect(own.flatMap(({ frames }) => frames).filter(({ dso }) => /\/jit-\d+\.dump$/.test(dso)).length).toBeGreaterThan(100);
  });

  test('is named by a jitdump, even if the recording has another clock', async () => {
    const frames = (await ownScriptOf('--no-inline', record(['--perf-prof'])))
      .flatMap((sample) => sample.frames)
      .filter(({ dso }) => /\/jit-\d+\.dump$/.test(dso));
    expect(frames.length).toBeGreaterThan(100);
    expect(frames.some(({ symbol }) => symbol.includes('fib'))).toBe(true);
  });
});
