import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureBuilt } from '../support/programs/built-cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const RECORDING = ['fixtures/threads.data', '--symfs', 'fixtures/symfs', '--kallsyms', 'fixtures/kallsyms'];
const REFUSAL = 'this JavaScript engine cannot run WebAssembly, which is needed to read debug information: no files, lines or inlined functions';

let dir: string;
beforeAll(() => {
  ensureBuilt();
  // Inside the package, so that it finds itself by its name.
  dir = mkdtempSync(join(root, 'test', '.jitless-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function runNode(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
}

describe('an engine without WebAssembly (node --jitless)', () => {
  test.each(['folded', 'script'])('still gives names of symbols: %s', (format) => {
    const convert = ['bin/perfconv.js', ...RECORDING, '-t', format, '-o', '-'];
    const { status, stdout, stderr } = runNode('--jitless', ...convert);
    expect(stderr).toContain(REFUSAL);
    expect(stderr).not.toContain('internal error');
    expect(status).toBe(0);
    expect(stdout).toBe(runNode(...convert, '--no-inline').stdout);
    expect(stdout).toContain('work::reduce<double>');
  });

  test('gives no advice that would not help, and does not mention lines that were not looked for', () => {
    const { stderr } = runNode('--jitless', 'bin/perfconv.js', ...RECORDING, '--explain-symbols', '-o', join(dir, 'a.pb.gz'));
    expect(stderr.split(REFUSAL)).toHaveLength(2);
    expect(stderr).toContain('all named');
    expect(stderr).not.toMatch(/with a line|files and lines:|compile with -g/);
  });

  test('still names code for programs that use the library', () => {
    const program = join(dir, 'look-up.mjs');
    writeFileSync(
      program,
      `import { Diagnostics, Symbolizer } from 'perfconv/symbols';
import { NodeSymbolFiles } from 'perfconv/node';
const diagnostics = new Diagnostics();
const symbolizer = new Symbolizer(new NodeSymbolFiles(), { debugDirs: [], compatPerf: false }, diagnostics);
const code = await symbolizer.symbolsFor({ name: ${JSON.stringify(join(root, 'fixtures/symfs/opt/perfconv-fixtures/bin/threads'))}, kind: 'file', buildId: '', osRelease: '' }, { lines: true });
console.log(code.table.size > 10, code.lines, diagnostics.list().map(({ code }) => code).join());
`,
    );
    const { stdout, stderr } = runNode('--jitless', program);
    expect([stdout, stderr.replace(/^Warning: disabling flag.*\n/, '')]).toEqual(['true undefined debug-info-unread\n', '']);
  });
});
