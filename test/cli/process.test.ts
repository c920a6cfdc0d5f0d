import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ensureBuilt, startCli } from '../support/built-cli.ts';
import { fileRecording, pipeRecording } from '../support/cli-recordings.ts';

const bin = fileURLToPath(new URL('../../bin/perfconv.js', import.meta.url));
const folded = 'app;0x200 (app);0x123 (app) 2000000\n';

let dir: string;
beforeAll(ensureBuilt);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-process-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe.skipIf(process.platform === 'win32')('signals', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s in the middle leaves nothing, and the program ends by it', async (signal) => {
    writeFileSync(join(dir, 'out.folded'), 'old');
    const { child, ended } = startCli(['-o', 'new.pb.gz', '-o', 'out.folded', '-o', 'tables.csv', '-'], dir);
    const recording = pipeRecording(5000);
    child.stdin.write(recording.subarray(0, recording.length / 2));
    // The outputs are opened before the first record is read, and the other half never comes.
    while (readdirSync(dir).length < 4) await delay(10);
    child.kill(signal);
    expect(await ended()).toMatchObject({ status: null, signal, stderr: '' });
    expect(readdirSync(dir)).toEqual(['out.folded']);
    expect(readFileSync(join(dir, 'out.folded'), 'utf8')).toBe('old');
  });
});

describe('a reader that goes away', () => {
  test.each([
    [['-q', '-t', 'script', '-o', '-', 'perf.data']],
    [['-q', '-t', 'pprof', '-o', '-', 'perf.data']],
    [['report', '-q', 'perf.data']],
    [['info', 'perf.data']],
    [['--help']],
  ])('ends %j quietly', async (args) => {
    writeFileSync(join(dir, 'perf.data'), fileRecording(args.includes('script') ? 20_000 : 3));
    const { child, ended } = startCli(args, dir, false);
    if (args.includes('script')) await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await ended()).toMatchObject({ status: 0, stderr: '' });
  });

  test('does not keep the other outputs from being written', async () => {
    writeFileSync(join(dir, 'perf.data'), fileRecording(20_000));
    const { child, ended } = startCli(['-t', 'script', '-o', '-', '-o', 'a.folded', 'perf.data'], dir, false);
    child.stdout.destroy();
    expect(await ended()).toMatchObject({ status: 0, stderr: expect.not.stringContaining('error') });
    expect(readdirSync(dir).sort()).toEqual(['a.folded', 'perf.data']);
    expect(readFileSync(join(dir, 'a.folded'), 'utf8')).toMatch(/^app;.* \d+\n$/);
  });
});

describe('standard input', () => {
  test('a pipe that is written as we read', async () => {
    const { child, ended } = startCli(['-q', '-t', 'folded', '-'], dir);
    for (const part of chunks(pipeRecording(), 50)) {
      child.stdin.write(part);
      await delay(1);
    }
    child.stdin.end();
    expect(await ended()).toMatchObject({ status: 0, stdout: folded });
  });

  test.skipIf(process.platform === 'win32')('a file in file form, redirected and piped', () => {
    writeFileSync(join(dir, 'perf.data'), fileRecording());
    for (const command of [
      '"$0" "$1" -q -t folded - < perf.data',
      'cat perf.data | "$0" "$1" -q -t folded -',
      '"$0" "$1" -q -t folded -o out - < perf.data && cat out',
    ]) {
      expect(execFileSync('sh', ['-c', command, process.execPath, bin], { cwd: dir, encoding: 'utf8' })).toBe(folded);
    }
  });

  test('a writer that stays is not waited for when the input is refused', async () => {
    const { child, ended } = startCli(['-t', 'folded', '-'], dir);
    child.stdin.write('this is no recording, and there is more to come');
    expect(await ended()).toMatchObject({ status: 1, stderr: expect.stringMatching(/^perfconv: standard input: not a perf.data file: it is text/) });
  });
});

test('statuses come through: 0, 1, 2, 3', async () => {
  writeFileSync(join(dir, 'perf.data'), fileRecording());
  writeFileSync(join(dir, 'cut.data'), pipeRecording().subarray(0, -20));
  const statusOf = async (...args: string[]): Promise<number | null> => (await startCli(args, dir).ended()).status;
  expect(await statusOf('info', 'perf.data')).toBe(0);
  expect(await statusOf('nosuch.data')).toBe(1);
  expect(await statusOf('--nosuch')).toBe(2);
  expect(await statusOf('--strict', '-q', '-t', 'folded', '-o', '-', 'cut.data')).toBe(3);
});

function* chunks(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
