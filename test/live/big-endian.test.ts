import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { announceSkipped, lastLines, makeTempDir, removeTempDir, runTool, whyMissing } from '../support/perf/perf-tool.ts';
import { ensureBuilt } from '../support/programs/built-cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cli = join(root, 'bin/perfconv.js');
const SYSTEM = '/usr/s390x-linux-gnu';
const node = process.env.PERFCONV_NODE_S390X ?? join(root, '.tmp/node-s390x/package/bin/node');

const whyNot =
  whyMissing('qemu-s390x') ??
  (existsSync(node) ? undefined : `no Node for s390x at ${node}: npm pack node-linux-s390x, and unpack it there`) ??
  (existsSync(`${SYSTEM}/lib/libstdc++.so.6`) ? undefined : `no ${SYSTEM}/lib/libstdc++.so.6 (Debian: libstdc++6-s390x-cross)`);
if (whyNot !== undefined) announceSkipped('big-endian machines', whyNot);

const FORMATS = ['pb', 'speedscope.json', 'trace.json', 'firefox.json', 'cpuprofile', 'folded', 'txt', 'otlp'];
/** Prints what the library says about each position in the first 32 KB of files. */
const PRINT_FRAMES = `
const [dist, ...files] = process.argv.slice(2);
const { NodeSymbolFiles } = await import(dist + '/node.js');
const { Diagnostics, Symbolizer } = await import(dist + '/symbols.js');
const symbolizer = new Symbolizer(new NodeSymbolFiles(), { debugDirs: [], compatPerf: false }, new Diagnostics());
const places = Float64Array.from({ length: 1 << 12 }, (_, i) => 8 * i);
for (const name of files) {
  const code = await symbolizer.symbolsFor({ name, kind: 'file', buildId: '', osRelease: '' }, { lines: true });
  await code?.lines?.lookup(places, (index, frames) => {
    for (const { function: func, file, line, column } of frames) console.log(name, places[index], func?.linkageName, func?.name, file, line, column);
  });
  await code?.close?.();
}
`;
const fixture = (name: string): string => join(root, 'fixtures', name);

describe.skipIf(whyNot !== undefined)('on a big-endian machine', () => {
  let dir = '';
  beforeAll(() => {
    ensureBuilt();
    dir = makeTempDir();
  });
  afterAll(() => removeTempDir(dir));

  test.each([
    ['kernel.data', 'files, lines and inlined functions'],
    ['dwarf.data', 'unwound stacks'],
    ['events.data', 'tracepoints'],
  ])('%s has the same %s as here, in every format', (recording) => {
    const convert = (machine: string, program: string, args: readonly string[]): Map<string, Buffer> => {
      const outputs = FORMATS.flatMap((format) => ['-o', join(dir, `${recording}-${machine}.${format}`)]);
      const symbols = ['--symfs', fixture('symfs'), '--kallsyms', fixture('kallsyms')];
      const result = runTool(program, [...args, cli, '--no-progress', fixture(recording), ...symbols, ...outputs]);
      if (result.status !== 0) throw new Error(`status ${result.status}: ${lastLines(result.stderr)}`);
      return new Map([
        ['messages', Buffer.from(result.stderr)],
        ...FORMATS.map((format) => [format, readFileSync(join(dir, `${recording}-${machine}.${format}`))] as const),
      ]);
    };
    const here = convert('here', process.execPath, []);
    const there = convert('there', 'qemu-s390x', ['-L', SYSTEM, node]);
    for (const [format, bytes] of here) expect(there.get(format)?.equals(bytes), format).toBe(true);
    expect(here.get('folded')?.length).toBeGreaterThan(0);
  });

  test('debug information of several compilers gives the same functions, files and lines as here', () => {
    const script = join(dir, 'frames.mjs');
    writeFileSync(script, PRINT_FRAMES);
    const binaries = ['gcc2', 'gcc4', 'gcc4-dwz', 'gcc4-split', 'gcc5', 'gcc5-gz', 'gcc5-sections', 'clang5', 'clang5-split', 'rust', 'mips', 'ppc64'];
    const args = [script, join(root, 'dist'), ...binaries.map((name) => fixture(`debug/${name}`))];
    const here = runTool(process.execPath, args);
    const there = runTool('qemu-s390x', ['-L', SYSTEM, node, ...args]);
    expect(here.status, here.stderr).toBe(0);
    expect(there.status, there.stderr).toBe(0);
    expect(here.stdout.split('\n').length).toBeGreaterThan(1000);
    expect(there.stdout).toBe(here.stdout);
  });
});
