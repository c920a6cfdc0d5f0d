import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownScriptOf } from '../../support/perf/own-script.ts';
import { parsePerfScript, type ScriptSample } from '../../support/perf/perf-script-text.ts';
import {
  announceSkipped,
  lastLines,
  makeTempDir,
  readWithPerf,
  recordWithPerf,
  removeJitFiles,
  removeTempDir,
  runTool,
  whyMissing,
  whyNoRecording,
} from '../../support/perf/perf-tool.ts';

// Python calls each function through a small piece of code, which is named by a perf map (`-X perf`, from 3.12 on) or a jitdump file (`-X perf_jit`,
// from 3.13 on). No sample is in it, but callchains pass through it if the interpreter keeps frame pointers.

const PROGRAM = `
import os, sys, threading, time

def leaf(n):
    total = 0
    for i in range(n): total += i * i
    return total
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class Shape:
    def __init__(self, size): self.size = size
    def area(self): return sum(part for part in self.parts())
    def parts(self):
        for i in range(self.size): yield leaf(i)
    @property
    def edge(self): return max((leaf(i) for i in range(self.size)), key=lambda part: -part)
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: fib(10); Shape(12).area(); Shape(9).edge
def later(seconds):
    def made_later(n): return leaf(n) + 1
    end = time.thread_time() + seconds
    while time.thread_time() < end: made_later(150)

print(os.getpid(), flush=True)
work(0.4)
if 'fork' in sys.argv:
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
        later(0.2)
        work(0.2)
        sys.exit()
    os.waitpid(child, 0)
thread = threading.Thread(target=later, args=(0.3,))
thread.start()
thread.join()
`;

const python = process.env.PERFCONV_PYTHON || 'python3';
/** Fails if an interpreter does not write for perf in both ways, or has no frame pointers. */
const IS_FIT = "import sys, sysconfig; sys.exit(sys.version_info < (3, 13) or '-fno-omit-frame-pointer' not in sysconfig.get_config_var('CFLAGS'))";
const isFit = whyMissing(python, ['-X', 'perf', '-c', IS_FIT]) === undefined;
const whyNot = whyNoRecording() ?? (isFit ? undefined : `${python} is no Python of at least 3.13 with frame pointers: give one with PERFCONV_PYTHON`);
if (whyNot !== undefined) announceSkipped('code of Python, beside perf script', whyNot);

describe.skipIf(whyNot !== undefined)('code of Python', () => {
  let directory = '';
  const pids = new Set<string>();
  const file = (name: string): string => join(directory, name);
  beforeAll(() => {
    directory = makeTempDir();
    writeFileSync(file('program.py'), PROGRAM);
  });
  afterAll(() => {
    removeTempDir(directory);
    removeJitFiles(pids);
  });

  /** Records the program with the interpreter's frames in its callchains. */
  function record(option: string, ...args: readonly string[]): string {
    const data = file(`${option}.data`);
    const program = ['--', python, '-X', option, 'program.py', ...args];
    const { stdout } = recordWithPerf(['-e', 'cpu-clock:u', '-F', '1999', '-g', '-k', 'CLOCK_MONOTONIC', '-o', data, ...program], { cwd: directory });
    for (const pid of stdout.trim().split('\n')) pids.add(pid);
    return data;
  }

  /** Symbols of frames that perf or perfconv has in DSOs of certain names must all be the same; the others are only counted. */
  function expectAlike(perf: readonly ScriptSample[], perfDsos: RegExp, own: readonly ScriptSample[], ownDsos: RegExp): void {
    const symbols = (samples: readonly ScriptSample[], dsos: RegExp): string[] =>
      samples.map(({ frames }) => frames.map(({ symbol, dso }) => (dsos.test(dso) ? symbol : '-')).join('\n'));
    const [expected, actual] = [symbols(perf, perfDsos), symbols(own, ownDsos)];
    expect(actual.length).toBe(expected.length);
    expect(actual.flatMap((text, i) => (text === expected[i] ? [] : [[text, expected[i]]])).slice(0, 3)).toEqual([]);
  }

  /** How often callchains have each function of the program. */
  function callsOf(samples: readonly ScriptSample[]): Map<string, number> {
    const calls = new Map<string, number>();
    for (const { symbol } of samples.flatMap(({ frames }) => frames)) {
      const [, name] = new RegExp(`^py::(.+):${file('program.py')}\\+0x`).exec(symbol) ?? [];
      if (name !== undefined) calls.set(name, (calls.get(name) ?? 0) + 1);
    }
    return calls;
  }

  function expectCalls(samples: readonly ScriptSample[]): void {
    const calls = callsOf(samples);
    for (const name of ['<module>', 'work', 'fib']) expect(calls.get(name), name).toBeGreaterThan(300);
    for (const name of ['leaf', 'Shape.area', 'Shape.edge', 'Shape.parts', 'later.<locals>.made_later']) expect(calls.get(name), name).toBeGreaterThan(30);
  }

  test('is named by the perf maps of a process and of its child', async () => {
    const data = record('perf', 'fork');
    const perf = parsePerfScript(readWithPerf('script', data));
    const own = await ownScriptOf('--no-inline', '--compat', 'perf', data);
    const map = /^\/tmp\/perf-\d+\.map$/;
    expectAlike(perf, map, own, map);
    expectCalls(own);
    const dsos = own.flatMap(({ frames }) => frames.filter(({ symbol }) => symbol.startsWith('py::')).map(({ dso }) => dso));
    expect(new Set(dsos).size).toBe(2);
  });

  test('is named by a jitdump', async () => {
    const data = record('perf_jit');
    const inject = runTool('perf', ['inject', '--jit', '-i', data, '-o', file('injected.data')], { cwd: directory });
    if (inject.status !== 0) throw new Error(`perf inject: ${lastLines(inject.stderr)}`);
    const perf = parsePerfScript(readWithPerf('script', file('injected.data')));
    const own = await ownScriptOf('--no-inline', data);
    expectAlike(perf, /\/jitted-\d+-\d+\.so$/, own, /^\/tmp\/jit-\d+\.dump$/);
    expectCalls(own);
  });

  // A child writes part of its parent's dump a second time; perf has no names for what follows.
  test('is named by the jitdumps of a process and of its child', async () => {
    const own = await ownScriptOf('--no-inline', record('perf_jit', 'fork'));
    expectCalls(own);
    const frames = own.flatMap((sample) => sample.frames);
    const laters = frames.filter(({ symbol }) => symbol.startsWith('py::later.<locals>.made_later:'));
    expect(new Set(laters.map(({ dso }) => dso)).size).toBe(2);
    expect(frames.filter(({ dso }) => /^\/tmp\/perf-\d+\.map$/.test(dso))).toEqual([]);
  });
});
