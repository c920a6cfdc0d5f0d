import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownScriptOf } from '../../support/perf/own-script.ts';
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

// If it is asked to, Java writes a perf map when it ends (JDK 17 and later).

const PROGRAM = `
public class Work {
  /** Measures the CPU's time, which does not depend on what else the machine does. */
  static final java.lang.management.ThreadMXBean THREADS = java.lang.management.ManagementFactory.getThreadMXBean();
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  static int text(int i) { return ("x" + i).replace("1", "one").hashCode(); }
  public static void main(String[] args) {
    int sum = 0;
    while (THREADS.getCurrentThreadCpuTime() < 1_500_000_000L) { sum += fib(20); for (int i = 0; i < 500; i++) sum += text(i); }
    System.out.println(sum);
  }
}
`;

const whyNot = whyNoRecording() ?? whyMissing('java', ['-XX:+UnlockDiagnosticVMOptions', '-XX:+DumpPerfMapAtExit', '--version']) ?? whyMissing('javac');
if (whyNot !== undefined) announceSkipped('code of Java, beside perf script', whyNot);

describe.skipIf(whyNot !== undefined)('code of Java', () => {
  let directory = '';
  const maps = new Set<string>();
  beforeAll(() => {
    directory = makeTempDir();
    writeFileSync(join(directory, 'Work.java'), PROGRAM);
    const { status, stderr } = runTool('javac', ['Work.java'], { cwd: directory });
    if (status !== 0) throw new Error(`javac: ${lastLines(stderr)}`);
  });
  afterAll(() => {
    removeTempDir(directory);
    for (const path of maps) rmSync(path, { force: true });
  });

  test('has the names in the perf map that it leaves', async () => {
    const java = ['java', '-XX:+PreserveFramePointer', '-XX:+UnlockDiagnosticVMOptions', '-XX:+DumpPerfMapAtExit', '-XX:-UsePerfData', 'Work'];
    recordWithPerf(['-e', 'cpu-clock:u', '-F', '1999', '-g', '-o', 'java.data', '--', ...java], { cwd: directory });
    const file = join(directory, 'java.data');
    const perf = parsePerfScript(readWithPerf('script', file));
    const own = await ownScriptOf('--compat', 'perf', file);
    expect(own.length).toBe(perf.length);
    const pairs = perf.flatMap(({ frames }, i) => frames.flatMap((frame, j) => (/^\/tmp\/perf-\d+\.map$/.test(frame.dso) ? [[frame, own[i].frames[j]]] : [])));
    for (const [{ dso }] of pairs) maps.add(dso);
    const differing = pairs.filter(([a, b]) => a.symbol !== b?.symbol);
    // Code that was made again in the same place has two entries, among which perf does not choose by their order.
    expect(differing.length, JSON.stringify(differing.slice(0, 3))).toBeLessThanOrEqual(pairs.length / 100);
    expect(pairs.filter(([{ symbol }]) => symbol.includes('Work.fib') || symbol.includes('Work::fib')).length).toBeGreaterThan(20);
  });
});

// With a jitdump file, stacks go on through Java's code without frame pointers. Methods are called what their path of calls is.

const AGENT = fileURLToPath(new URL('../../support/programs/java-jitdump-agent.c', import.meta.url));
const DEPTH = 4;
const PARAMETERS = ['long a', 'long a, int b, double c', 'long a, Object b, long c, long d, int e, long f, long g, double h, long i, long j'];
const ARGUMENTS = ['s', 's, (int) s, s', 's, null, s, s, 1, s, s, 0.5, s, s'];

/** A method for each path of calls: `m`, `m_0`, `m_0_1` … with all kinds of calls, and of numbers of arguments. */
function pathMethods(path: string, depth: number, number: number): string {
  const kinds = ['static', 'final', 'static synchronized'];
  const calls = [0, 1].map((i) => ({ name: `${path}_${i}`, number: 2 * number + i + 1 }));
  const called = calls.map(({ name, number: n }) => `s += ${n % kinds.length === 1 ? 'self.' : ''}${name}(${ARGUMENTS[n % ARGUMENTS.length]});`);
  const work = 'for (int k = 0; k < 400; k++) s = s * 31 + (s >>> 7) + DATA[(int) (s & 255)]++;';
  const body = depth === DEPTH ? work : `if ((s & 7) == 0) { ${work} } ${called.join(' ')}`;
  const method = `${kinds[number % kinds.length]} long ${path}(${PARAMETERS[number % PARAMETERS.length]}) { long s = a; ${body} return s; }\n`;
  return method + (depth === DEPTH ? '' : calls.map(({ name, number: n }) => pathMethods(name, depth + 1, n)).join(''));
}

const PATHS = `
public class Paths {
  /** Measures the CPU's time, which does not depend on what else the machine does. */
  static final java.lang.management.ThreadMXBean THREADS = java.lang.management.ManagementFactory.getThreadMXBean();
  static final Paths self = new Paths();
  static final long[] DATA = new long[256];
  ${pathMethods('m', 0, 0)}
  static long loop(long s) { return m(s); }
  public static void main(String[] args) {
    long sum = 0;
    while (THREADS.getCurrentThreadCpuTime() < 3_000_000_000L) for (int i = 0; i < 1000; i++) sum += loop(sum);
    System.out.println(sum);
  }
}
`;

/** Where the headers of the JDK are. */
function javaHeaders(): string {
  return join(dirname(dirname(realpathSync(runTool('sh', ['-c', 'command -v javac']).stdout.trim()))), 'include');
}

const whyNoAgent = whyNot ?? whyMissing('gcc') ?? (process.arch === 'x64' ? undefined : 'this is not x86-64');
if (whyNoAgent !== undefined) announceSkipped('stacks of Java, beside what its methods are called', whyNoAgent);

describe.skipIf(whyNoAgent !== undefined)('stacks of Java without rules', () => {
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
    writeFileSync(join(directory, 'Paths.java'), PATHS);
    const headers = javaHeaders();
    const agent = ['-shared', '-fPIC', `-I${headers}`, `-I${join(headers, 'linux')}`, '-o', 'libagent.so', AGENT];
    for (const [tool, args] of [['javac', ['Paths.java']] as const, ['gcc', agent] as const]) {
      const { status, stderr } = runTool(tool, args, { cwd: directory });
      if (status !== 0) throw new Error(`${tool}: ${lastLines(stderr)}`);
    }
  });
  afterAll(() => {
    removeTempDir(directory);
  });

  test.each([
    ['without frame pointers', '-XX:-PreserveFramePointer'],
    ['with frame pointers', '-XX:+PreserveFramePointer'],
    ['compiled at once', '-Xcomp'],
  ])('%s have all callers', async (_, option) => {
    const java = ['java', `-agentpath:${join(directory, 'libagent.so')}=${directory}`, '-XX:-Inline', option, '-XX:-UsePerfData', 'Paths'];
    const record = ['-k', 'mono', '-e', 'cpu-clock:u', '-F', '499', '--call-graph', 'dwarf,16384', '-o', 'paths.data', '--', ...java];
    recordWithPerf(record, { cwd: directory });
    const stacks = (await ownScriptOf(join(directory, 'paths.data'))).map(({ frames }) => frames.map(({ symbol }) => symbol.replace(/\+0x.*/, '')));
    const judged = stacks.filter((stack) => stack.some((name) => /^m(_\d)*$/.test(name)));
    const wrong = judged.filter((stack) => !isWhole(stack));
    expect(judged.length).toBeGreaterThan(500);
    expect(wrong.length / judged.length, JSON.stringify(wrong.slice(0, 3))).toBeLessThan(0.02);
  });
});

/** Whether a stack has all callers of its innermost path, each once, by name or in the interpreter, and reaches the start of its thread. */
function isWhole(stack: readonly string[]): boolean {
  const leaf = stack.findIndex((name) => /^m(_\d)*$/.test(name));
  const steps = stack[leaf].split('_');
  const callers = [...steps.map((_, i) => steps.slice(0, steps.length - i).join('_')), 'loop', 'main'];
  const isCalled = callers.every((name, i) => stack[leaf + i] === name || stack[leaf + i] === '<Interpreter>');
  return isCalled && stack[leaf + callers.length] === '<call_stub>' && stack.some((name) => name === 'start_thread');
}
