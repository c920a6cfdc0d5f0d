import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { announceSkipped, lastLines, makeTempDir, recordWithPerf, removeTempDir, runTool, whyMissing, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { pathProgram, wrongIn } from '../../support/programs/path-programs.ts';
import { goPathProgram } from '../../support/programs/path-programs-go.ts';
import { rustPathProgram } from '../../support/programs/path-programs-rust.ts';
import { runMain } from '../../support/programs/run-main.ts';

/** How a program is built. */
interface Build {
  readonly compiler: string;
  readonly args: readonly string[];
  readonly hasExceptions?: boolean;
  /** Whether the library is linked into the program, not loaded. */
  readonly isStatic?: boolean;
  readonly isStripped?: boolean;
  readonly linker?: string;
}

const DEBUG_FRAME = ['-O2', '-g', '-fno-exceptions', '-fno-unwind-tables', '-fno-asynchronous-unwind-tables'];
/** Options without unwind rules, so that programs are unwound by their code. */
const NO_RULES = ['-O2', '-fno-exceptions', '-fno-unwind-tables', '-fno-asynchronous-unwind-tables'];
const BUILDS: Readonly<Record<string, Build>> = {
  'gcc -O2': { compiler: 'g++', args: ['-O2'] },
  'gcc -O3 -s': { compiler: 'g++', args: ['-O3'], isStripped: true },
  'gcc -O2 -static': { compiler: 'g++', args: ['-O2', '-static'], isStatic: true },
  'gcc -O2 -static -s': { compiler: 'g++', args: ['-O2', '-static'], isStatic: true, isStripped: true },
  'gcc -O2 -no-pie': { compiler: 'g++', args: ['-O2', '-no-pie'] },
  'gcc -fcf-protection -fstack-protector-all': { compiler: 'g++', args: ['-O2', '-fcf-protection', '-fstack-protector-all'] },
  'gcc -flto': { compiler: 'g++', args: ['-O2', '-flto'] },
  'gcc, .debug_frame only': { compiler: 'g++', args: DEBUG_FRAME, hasExceptions: false },
  'gcc, .debug_frame only, -gz': { compiler: 'g++', args: [...DEBUG_FRAME, '-gz'], hasExceptions: false },
  'gcc, no rules': { compiler: 'g++', args: NO_RULES, hasExceptions: false },
  'gcc -static -s, no rules': { compiler: 'g++', args: [...NO_RULES, '-static'], hasExceptions: false, isStatic: true, isStripped: true },
  'clang, no rules': { compiler: 'clang++', args: NO_RULES, hasExceptions: false },
  'gcc, 32 bits': { compiler: 'i686-linux-gnu-g++', args: ['-O2', '-static'], isStatic: true },
  'gcc, 32 bits, no rules': { compiler: 'i686-linux-gnu-g++', args: [...NO_RULES, '-static'], hasExceptions: false, isStatic: true },
  'gcc, 32 bits, no rules but frame pointers': {
    compiler: 'i686-linux-gnu-g++',
    args: [...NO_RULES, '-fno-omit-frame-pointer', '-static'],
    hasExceptions: false,
    isStatic: true,
  },
  'gcc, 32 bits, no rules, stripped': {
    compiler: 'i686-linux-gnu-g++',
    args: [...NO_RULES, '-static'],
    hasExceptions: false,
    isStatic: true,
    isStripped: true,
  },
  'clang -O2': { compiler: 'clang++', args: ['-O2'] },
  'clang -O3 -s': { compiler: 'clang++', args: ['-O3'], isStripped: true },
  'rustc -O': { compiler: 'rustc', args: ['-O'] },
  'rustc -O -C lto': { compiler: 'rustc', args: ['-O', '-C', 'lto=fat'] },
  go: { compiler: 'go', args: [] },
  'go, stripped': { compiler: 'go', args: ['-ldflags=-s -w'], isStripped: true },
  'clang, lld --icf=all --gc-sections': {
    compiler: 'clang++',
    args: ['-O2', '-ffunction-sections', '-fuse-ld=lld', '-Wl,--icf=all', '-Wl,--gc-sections'],
    linker: 'ld.lld',
  },
};

const directory = makeTempDir();
afterAll(() => removeTempDir(directory));
const missing = whyNoRecording() ?? whyMissing('nm') ?? whyMissing('strip');
if (missing !== undefined) announceSkipped('unwound stacks of programs that know theirs', missing);

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = runTool(program, args, { cwd: directory });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${lastLines(stderr, 10)}`);
  return stdout;
}

/** Builds the program and keeps its names under `debug`. */
function build(name: string, { compiler, args, hasExceptions = true, isStatic = false, isStripped = false }: Build): string {
  const seed = name.length * 7919 + 17;
  rmSync(join(directory, 'debug'), { recursive: true, force: true });
  mkdirSync(join(directory, 'debug'));
  if (compiler === 'rustc' || compiler === 'go') return buildOther(compiler, args, seed);
  const sources = pathProgram(seed, 1, hasExceptions);
  for (const [file, text] of Object.entries(sources)) writeFileSync(join(directory, file), text);
  const common = ['-std=c++17', '-pthread', '-Wl,--build-id', ...args];
  const program = join(directory, 'program');
  if (isStatic) {
    run(compiler, [...common, 'main.cc', 'library.cc', '-o', program]);
  } else {
    run(compiler, [...common, '-shared', '-fPIC', 'library.cc', '-o', join(directory, 'libpath.so')]);
    run(compiler, [...common, 'main.cc', `-L${directory}`, '-lpath', `-Wl,-rpath,${directory}`, '-o', program]);
  }
  if (isStripped) {
    const [, id = ''] = /Build ID: ([0-9a-f]+)/.exec(run('readelf', ['-n', program])) ?? [];
    const place = join(directory, 'debug/.build-id', id.slice(0, 2));
    mkdirSync(place, { recursive: true });
    copyFileSync(program, join(place, `${id.slice(2)}.debug`));
    run('strip', ['-s', program]);
  }
  return program;
}

function buildOther(compiler: 'rustc' | 'go', args: readonly string[], seed: number): string {
  const program = join(directory, 'program');
  const isRust = compiler === 'rustc';
  const source = join(directory, isRust ? 'main.rs' : 'main.go');
  writeFileSync(source, isRust ? rustPathProgram(seed, 2) : goPathProgram(seed, 2));
  run(compiler, [...(isRust ? [] : ['build']), ...args, '-o', program, source]);
  return program;
}

/** Names of the frames of each stack that has user code, leaf first. Those of the kernel have none. */
function stacksOf(text: string): string[][] {
  return (
    text
      .split('\n\n')
      .map((sample) => sample.split('\n').filter((line) => line.startsWith('\t')))
      .map((lines) => lines.filter((line) => !line.includes('[kernel.kallsyms]')).map((line) => /^\s*[0-9a-f]+ (.*) \(.*\)$/.exec(line)?.[1] ?? ''))
      // Go’s runtime, its signal handlers, and the vdso’s clock have stacks of their own: that of the goroutine is not in the dump.
      .filter((names) => names.length > 0 && !names.some((name) => GO_SWITCH.test(name)))
  );
}

const GO_SWITCH = /^(?:time\.now|runtime\.(?:nanotime1|walltime|systemstack|mcall|morestack|asmcgocall|sigtramp))(?:\.abi0)?$/;

interface Verdict {
  readonly stacks: number;
  readonly right: number;
  readonly wrong: readonly string[];
}

function judge(stacks: readonly string[][]): Verdict {
  const reasons = new Map<string, number>();
  const examples = new Map<string, string>();
  for (const names of stacks) {
    const reason = wrongIn(names);
    if (reason === undefined) continue;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (!examples.has(reason)) examples.set(reason, names.join(' < '));
  }
  const wrong = [...reasons].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${count} × ${reason}: ${examples.get(reason)}`);
  return { stacks: stacks.length, right: stacks.length - [...reasons.values()].reduce((sum, count) => sum + count, 0), wrong };
}

describe.skipIf(missing !== undefined)('unwound stacks of programs whose names tell their paths', () => {
  for (const [name, how] of Object.entries(BUILDS)) {
    const why = whyMissing(how.compiler, how.compiler === 'go' ? ['version'] : undefined) ?? (how.linker && whyMissing(how.linker));
    if (why !== undefined) announceSkipped(`unwound stacks of ${name}`, why);
    test.skipIf(why !== undefined)(name, async () => {
      const program = build(name, how);
      const recording = join(directory, 'perf.data');
      const recorded = recordWithPerf(['-e', 'cpu-clock', '-F', '1000', '--call-graph', 'dwarf,16384', '-o', recording, program]);
      expect(recorded.status, recorded.stderr).toBe(0);
      const here = await runMain([
        '-q',
        '-t',
        'script',
        '-F',
        'ip,sym,dso',
        '--no-inline',
        '--no-demangle',
        '--debug-dir',
        join(directory, 'debug'),
        '-o',
        '-',
        recording,
      ]);
      expect(here.status, here.stderr).toBe(0);
      const ours = judge(stacksOf(here.stdout.toString()));
      expect(ours.stacks).toBeGreaterThan(200);
      const perfs = how.isStripped ? undefined : judge(stacksOf(perfScript(recording)));
      const share = ours.right / ours.stacks;
      const told = `${name}: ${ours.right} of ${ours.stacks}${perfs && `, perf ${perfs.right} of ${perfs.stacks}`}\n${ours.wrong.slice(0, 5).join('\n')}`;
      if (process.env.PERFCONV_SHOW_TRUTH !== undefined) process.stderr.write(`${told}\n${perfs?.wrong.slice(0, 2).join('\n') ?? ''}\n`);
      // Some samples were taken when the dump has nothing: a handler's stack that was not touched yet.
      expect(share, told).toBeGreaterThanOrEqual(0.995);
      if (perfs !== undefined && perfs.stacks > 0) expect(share, told).toBeGreaterThanOrEqual(perfs.right / perfs.stacks - 0.005);
    });
  }
});

function perfScript(recording: string): string {
  const { stdout, status, stderr } = spawnSync('perf', ['script', '-i', recording, '--no-inline', '--no-demangle', '-F', 'ip,sym,dso'], {
    encoding: 'utf8',
    maxBuffer: 1 << 29,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
