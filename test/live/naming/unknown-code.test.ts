import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { announceSkipped, recordWithPerf, whyMissing, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { findPprof, noPprof, runPprof } from '../../support/programs/pprof-tool.ts';
import { runMain } from '../../support/programs/run-main.ts';

// A program without symbols, with and without frame pointers.

const SOURCE = `
#include <pthread.h>
volatile double sink;
__attribute__((noinline)) double spin(double x) { for (int i = 0; i < 5000; i++) x = x * 1.0000001 + 0.1; return x; }
__attribute__((noinline)) double twice(int n) { double sum = 0; for (int i = 0; i < n; i++) sum += spin(i); sink = sum; return sum + 1; }
void *run(void *argument) { for (int i = 0; i < 60; i++) sink = twice(400) + i; return argument; }
int main(void) { pthread_t thread; pthread_create(&thread, 0, run, 0); run(0); pthread_join(thread, 0); return 0; }
`;

const whyNot = whyNoRecording() ?? whyMissing('gcc') ?? whyMissing('strip') ?? whyMissing('nm');
if (whyNot !== undefined) announceSkipped('recordings of programs without symbols', whyNot);
const pprof = findPprof();
if (pprof === undefined) announceSkipped('naming code without symbols later, with pprof', noPprof);

describe.skipIf(whyNot !== undefined)('a program without symbols', () => {
  let dir: string;
  const path = (name: string): string => join(dir, name);

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'unknown-code-'));
    writeFileSync(path('source.c'), SOURCE);
    for (const [name, flag] of [
      ['plain', '-fomit-frame-pointer'],
      ['framed', '-fno-omit-frame-pointer'],
    ]) {
      execFileSync('gcc', ['-O2', '-pthread', flag, '-o', path(`${name}.full`), path('source.c')]);
      execFileSync('strip', ['-o', path(name), path(`${name}.full`)]);
      recordWithPerf(['-e', 'cpu-clock', '-F', '999', '-g', '-o', path(`${name}.data`), path(name)]);
    }
    recordWithPerf(['-e', 'cpu-clock', '-F', '999', '-o', path('bare.data'), path('framed')]);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  /** Lines of folded stacks. */
  async function folded(name: string, ...args: readonly string[]): Promise<string[]> {
    const { stdout } = await runMain(['-q', '-t', 'folded', '-o', '-', ...args, path(`${name}.data`)]);
    return stdout.toString().trimEnd().split('\n');
  }
  const sum = (lines: readonly string[]): bigint => lines.reduce((total, line) => total + BigInt(line.slice(line.lastIndexOf(' ') + 1)), 0n);

  it.each(['plain', 'framed'])('has the same total however its code is shown: %s', async (name) => {
    const [address, byFunction, binary] = await Promise.all(['address', 'function', 'binary'].map((how) => folded(name, '--unknown', how)));
    expect([sum(byFunction), sum(binary)]).toEqual([sum(address), sum(address)]);
    expect(binary.length).toBeLessThanOrEqual(byFunction.length);
    expect(byFunction.length).toBeLessThanOrEqual(address.length);
    expect(await folded(name)).toEqual(binary);
  });

  it('has functions where nm finds them before stripping', async () => {
    const symbols = execFileSync('nm', [path('framed.full')], { encoding: 'utf8' });
    const startOf = (name: string): string =>
      `framed+0x${Number.parseInt(new RegExp(`^([0-9a-f]+) T ${name}$`, 'm').exec(symbols)?.[1] ?? '0', 16).toString(16)}`;
    const lines = await folded('framed', '--unknown', 'function');
    const heaviest = lines.reduce((best, line) => (sum([line]) > sum([best]) ? line : best));
    // A leaf without calls may have no frame, and then its caller is skipped.
    expect(heaviest).toMatch(
      new RegExp(`;${startOf('run').replace('+', '\\+')};(?:${startOf('twice').replace('+', '\\+')};)?${startOf('spin').replace('+', '\\+')} \\d+$`),
    );
    const { stdout } = await runMain(['report', '-q', '--limit', '1', path('framed.data')]);
    expect(stdout.toString()).toContain(` ${startOf('spin')} `);
  });

  it.skipIf(pprof === undefined)('has names in pprof if only pprof has the binary', async () => {
    const profile = path('framed.pb.gz');
    const stripped = readFileSync(path('framed'));
    rmSync(path('framed'));
    try {
      expect((await runMain(['-q', '-o', profile, path('framed.data')])).status).toBe(0);
      copyFileSync(path('framed.full'), path('framed'));
      expect(runPprof(pprof ?? '', ['-top', '-symbolize=local'], profile, dir).stdout).toMatch(/%\s+spin$/m);
    } finally {
      writeFileSync(path('framed'), stripped, { mode: 0o755 });
    }
  });

  it.skipIf(pprof === undefined)('keeps its name in pprof if the binary has no symbols', async () => {
    const profile = path('stripped.pb.gz');
    expect((await runMain(['-q', '-o', profile, path('framed.data')])).status).toBe(0);
    const shown = (how: string, what: string): string => runPprof(pprof ?? '', [what, `-symbolize=${how}`], profile, dir).stdout;
    expect(shown('local', '-top')).toMatch(/%\s+\[framed\]$/m);
    // Empty names are drawn as boxes without a text.
    expect(shown('local', '-traces')).toBe(shown('none', '-traces'));
  });

  it('is reported to have broken stacks without frame pointers, and only then', async () => {
    const said = async (name: string): Promise<string> => (await runMain(['-t', 'folded', '-o', '-', '-v', path(`${name}.data`)])).stderr;
    expect(await said('plain')).toMatch(
      /warning: \d+ % of the samples of plain have broken stacks: build plain with -fno-omit-frame-pointer .*, or record with --call-graph dwarf/,
    );
    expect(await said('framed')).not.toMatch(/broken|record with/);
    expect(await said('bare')).toContain('note: cpu-clock: the samples have no callers: record with -g');
  });
});
