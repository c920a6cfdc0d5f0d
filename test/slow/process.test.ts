import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fileRecording, pipeRecording } from '../support/builders/recordings/cli-recordings.ts';
import { type AttrSpec, encodeFile, type RecordSpec, record } from '../support/builders/recordings/perf-encoder.ts';
import { ensureBuilt, listening, startCli } from '../support/programs/built-cli.ts';

const bin = fileURLToPath(new URL('../../bin/perfconv.js', import.meta.url));

const folded = 'app;[app];[app] 2000000\n';

let dir: string;
beforeAll(ensureBuilt);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-process-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe.skipIf(process.platform === 'win32')('signals', () => {
  const interrupted = 'perfconv: interrupted: reading on to the end of standard input; interrupt again to give up\n';

  test.skipIf(process.platform !== 'linux').each([
    ['-o', 'new.folded', '-'],
    ['report', '-'],
    ['info', '-'],
  ])('the first Ctrl-C while a pipe is read lets it be read to its end: %s', async (...args) => {
    const { child, ended } = startCli(['--no-progress', ...args], dir, false);
    const recording = pipeRecording(5000);
    child.stdin.write(recording.subarray(0, recording.length / 2));
    // It listens soon after it was started; info and report write nothing that would tell when.
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
    await listening(child.pid!);
    child.kill('SIGINT');
    await once(child.stderr, 'data');
    child.stdin.end(recording.subarray(recording.length / 2));
    const { status, stderr } = await ended();
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining(interrupted) });
    if (args[0] === '-o') expect(readFileSync(join(dir, 'new.folded'), 'utf8')).toMatch(/^app;.* \d+\n$/);
    else expect(stdout).toMatch(/cpu-clock: 3,?334 samples/);
  });

  test.skipIf(process.platform !== 'linux')('a second Ctrl-C gives up', async () => {
    const { child, ended } = startCli(['-o', 'new.pb.gz', '-'], dir);
    child.stdin.write(pipeRecording(5000).subarray(0, 1000));
    await listening(child.pid!);
    child.kill('SIGINT');
    await once(child.stderr, 'data');
    child.kill('SIGINT');
    expect(await ended()).toMatchObject({ status: null, signal: 'SIGINT', stderr: interrupted });
    expect(readdirSync(dir)).toEqual([]);
  });

  test('a signal in the middle of long work ends the program, and nothing is left', async () => {
    // Each sample has a different stack, and all of them wait for their turn: sorting and writing take a second or more.
    const one = record.sample({ pid: 100, ip: 0x123n, time: 5n, callchain: Array.from({ length: 30 }, (_, i) => BigInt(0x1000 + i)) });
    writeFileSync(join(dir, 'perf.data'), longRecording(one, 200_000));
    const { child, ended } = startCli(['-q', '-o', 'new.folded', '-t', 'script', '-o', 'new.txt', 'perf.data'], dir);
    while (readdirSync(dir).length < 3) await delay(5);
    await delay(300);
    child.kill('SIGTERM');
    expect(await ended()).toMatchObject({ status: null, signal: 'SIGTERM', stderr: '' });
    expect(readdirSync(dir)).toEqual(['perf.data']);
  });

  test.each(['SIGTERM', 'SIGHUP', 'SIGUSR2'] as const)('%s in the middle of reading ends the program, and nothing is left', async (signal) => {
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
  test('is read while it is being written', async () => {
    const { child, ended } = startCli(['-q', '-t', 'folded', '-'], dir);
    for (const part of chunks(pipeRecording(), 50)) {
      child.stdin.write(part);
      await delay(1);
    }
    child.stdin.end();
    expect(await ended()).toMatchObject({ status: 0, stdout: folded });
  });

  test('is not read to its end if it is refused', async () => {
    const { child, ended } = startCli(['-t', 'folded', '-'], dir);
    child.stdin.write('this is no recording, and there is more to come');
    expect(await ended()).toMatchObject({ status: 1, stderr: expect.stringMatching(/^perfconv: standard input: not a perf.data file: it is text/) });
  });
});

test('a Node that is too old is reported', () => {
  const older = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } })`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', older, bin, '--version'], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: 'perfconv: Node 20.19 or newer is needed; this is Node 18.20.4\n' });
});

test('the program ends with status 0, 1, 2 or 3', async () => {
  writeFileSync(join(dir, 'perf.data'), fileRecording());
  writeFileSync(join(dir, 'cut.data'), pipeRecording().subarray(0, -20));
  const statusOf = async (...args: string[]): Promise<number | null> => (await startCli(args, dir).ended()).status;
  expect(await statusOf('info', 'perf.data')).toBe(0);
  expect(await statusOf('nosuch.data')).toBe(1);
  expect(await statusOf('--nosuch')).toBe(2);
  expect(await statusOf('--strict', '-q', '-t', 'folded', '-o', '-', 'cut.data')).toBe(3);
});

describe('code that earlier runs compiled', () => {
  let caches: string;
  let kept: string;
  const run = (variables: Record<string, string>, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
      cwd: dir,
      encoding: 'utf8',
      env: { ...process.env, ...variables },
      timeout: 60_000,
    });
    return { status, stdout, stderr };
  };
  const convert = () => run({ XDG_CACHE_HOME: caches }, '-t', 'folded', '-o', '-', 'perf.data');
  const help = () => run({ XDG_CACHE_HOME: caches }, '--help');

  beforeEach(() => {
    caches = join(dir, 'caches');
    kept = join(caches, 'perfconv', 'code');
    writeFileSync(join(dir, 'perf.data'), fileRecording());
  });

  test('changes nothing in what the program does', () => {
    const first = { convert: convert(), help: help() };
    expect(first).toMatchObject({ convert: { status: 0, stdout: expect.stringContaining(folded) }, help: { status: 0 } });
    expect(readdirSync(kept)).toHaveLength(1);
    expect({ convert: convert(), help: help() }).toEqual(first);
  });

  test('is kept for V8 with other options, too', () => {
    convert();
    expect(run({ XDG_CACHE_HOME: caches, NODE_OPTIONS: '--interpreted-frames-native-stack' }, '--version').status).toBe(0);
    expect(readdirSync(kept)).toHaveLength(2);
  });

  test('is made again if it is damaged', () => {
    const first = convert();
    const [name] = readdirSync(kept);
    const whole = readFileSync(join(kept, name));
    writeFileSync(join(kept, name), Buffer.from(whole).fill(0x55, whole.length / 2));
    expect(convert()).toEqual(first);
    expect(
      readFileSync(join(kept, name))
        .subarray(-100)
        .every((byte) => byte === 0x55),
    ).toBe(false);
  });

  test.skipIf(process.platform === 'win32')('is not waited for if it is a FIFO', () => {
    const first = convert();
    const [name] = readdirSync(kept);
    rmSync(join(kept, name));
    execFileSync('mkfifo', ['-m', '600', join(kept, name)]);
    expect(convert()).toEqual(first);
  });

  test('is not kept if Node is told not to, or if there is no place for it', () => {
    expect(run({ XDG_CACHE_HOME: caches, NODE_DISABLE_COMPILE_CACHE: '1' }, '--version')).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(caches)).toBe(false);
    writeFileSync(caches, '');
    expect(convert()).toMatchObject({ status: 0, stdout: expect.stringContaining(folded) });
  });
});

/** A file of `count` samples, each with a different leaf. */
function longRecording(sample: RecordSpec, count: number): Uint8Array {
  const attr: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'callchain'], flags: ['sampleIdAll'] };
  const one = encodeFile({ attrs: [attr], records: [sample] });
  const header = new DataView(one.buffer, one.byteOffset);
  const start = Number(header.getBigUint64(40, true));
  const size = Number(header.getBigUint64(48, true));
  const bytes = new Uint8Array(start + size * count);
  bytes.set(one.subarray(0, start));
  const view = new DataView(bytes.buffer);
  view.setBigUint64(48, BigInt(size * count), true);
  for (let i = 0; i < count; i++) {
    bytes.set(one.subarray(start, start + size), start + i * size);
    // The address of the sample, and the chain's first entry: after header, ip, tid, time and the number of entries.
    view.setBigUint64(start + i * size + 8, BigInt(i), true);
    view.setBigUint64(start + i * size + 40, BigInt(i), true);
  }
  return bytes;
}

function* chunks(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([[[]], [['report']], [['info']], [['dump']]])('without an input and a perf.data, the message says what can be given: %j', async (args) => {
  const { ended } = startCli(args, dir);
  expect(await ended()).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'perfconv: perf.data: no such file or directory; name a recording, or - for standard input (see perfconv --help)\n',
  });
});
