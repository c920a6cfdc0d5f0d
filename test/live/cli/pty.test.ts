import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeFile, record } from '../../support/builders/recordings/perf-encoder.ts';
import { announceSkipped, whyMissing } from '../../support/perf/perf-tool.ts';
import { ensureBuilt } from '../../support/programs/built-cli.ts';

// The program on a terminal of its own, which Python makes.

const bin = fileURLToPath(new URL('../../../bin/perfconv.js', import.meta.url));
/** Closes the terminal when a line has been printed, and prints the signal by which the program ends. */
const UNTIL_CLOSED = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
printed = b''
while b'\\n' not in printed: printed += os.read(terminal, 4096)
os.close(terminal)
print(os.WTERMSIG(os.waitpid(pid, 0)[1]))`;
const IN_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

const whyNot = process.platform === 'win32' ? 'Windows has no pseudo-terminals of this kind' : whyMissing('python3');
if (whyNot !== undefined) announceSkipped('the program on a terminal', whyNot);

describe.skipIf(whyNot !== undefined)('the program on a terminal', () => {
  let dir: string;
  let file: string;

  beforeAll(() => {
    ensureBuilt();
    dir = mkdtempSync(join(tmpdir(), 'perfconv-pty-'));
    file = join(dir, 'perf.data');
    const bytes = encodeFile({
      attrs: [{ name: 'clock\x1b[2J', ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] }],
      records: [
        record.comm({ pid: 100, comm: 'c\x1b[2J\u202e', exec: true }, { sampleId: { time: 1n } }),
        record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename: '/none/a\x1b[2J' }, { sampleId: { time: 2n } }),
        record.sample({ ip: 0x400123n, pid: 100, time: 3n, period: 5n }),
      ],
      features: { eventDesc: true },
    });
    writeFileSync(file, bytes);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const run = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync('python3', ['-c', IN_TERMINAL, process.execPath, bin, ...args, file], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect([status, stderr]).toEqual([0, '']);
    // The terminal turns line feeds into CR LF.
    return stdout.replaceAll('\r\n', '\n');
  };

  test.each([['report'], ['info'], ['dump'], ['-t', 'script', '-o', '-'], ['-t', 'folded', '-o', '-']])('prints no escapes of the recording: %s', (...args) => {
    const shown = run(...args);
    expect(shown).toMatch(/\\(?:x|u00)1b\[2J/);
    expect(shown).not.toMatch(/\x1b\[2J|\u202e/);
  });

  test('view ends by SIGHUP when the terminal is closed', () => {
    const { status, stdout, stderr } = spawnSync('python3', ['-c', UNTIL_CLOSED, process.execPath, bin, 'view', '-q', '--no-open', file], { encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([0, `${constants.signals.SIGHUP}\n`, '']);
  });

  test('prints its own colors', () => {
    expect(run('info')).toContain('\x1b[1mRecording\x1b[22m\n');
    expect(run('report')).toContain('\x1b[31m100.00\x1b[39m');
  });
});
