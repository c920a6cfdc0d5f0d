import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePerfScript } from '../support/perf-script-text.ts';
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
} from '../support/perf-tool.ts';
import { runMain } from '../support/run-main.ts';

// If it is asked to, Java writes a perf map when it ends (JDK 17 and later).

const PROGRAM = `
public class Work {
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  static int text(int i) { return ("x" + i).replace("1", "one").hashCode(); }
  public static void main(String[] args) {
    int sum = 0;
    for (long end = System.nanoTime() + 1_500_000_000L; System.nanoTime() < end; ) { sum += fib(20); for (int i = 0; i < 500; i++) sum += text(i); }
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
    const { status, stdout, stderr } = await runMain(['convert', '-t', 'script', '--compat', 'perf', '-o', '-', file]);
    expect(status, stderr).toBe(0);
    const own = parsePerfScript(stdout.toString());
    expect(own.length).toBe(perf.length);
    const pairs = perf.flatMap(({ frames }, i) => frames.flatMap((frame, j) => (/^\/tmp\/perf-\d+\.map$/.test(frame.dso) ? [[frame, own[i].frames[j]]] : [])));
    for (const [{ dso }] of pairs) maps.add(dso);
    const differing = pairs.filter(([a, b]) => a.symbol !== b?.symbol);
    // Code that was made again in the same place has two entries, among which perf does not choose by their order.
    expect(differing.length, JSON.stringify(differing.slice(0, 3))).toBeLessThanOrEqual(pairs.length / 100);
    expect(pairs.filter(([{ symbol }]) => symbol.includes('Work.fib') || symbol.includes('Work::fib')).length).toBeGreaterThan(20);
  });
});
