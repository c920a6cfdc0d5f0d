import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fileRecording, pipeRecording } from '../support/builders/recordings/cli-recordings.ts';
import { encodeFile } from '../support/builders/recordings/perf-encoder.ts';
import { ensureBuilt, listening, type RunningCli } from '../support/programs/built-cli.ts';
import { runMain } from '../support/programs/run-main.ts';
import { OVER_SSH, startView, type ViewingCli, WITH_DISPLAY } from '../support/programs/viewing-cli.ts';

let dir: string;
let running: RunningCli[];
beforeAll(ensureBuilt);
beforeEach(() => {
  running = [];
  dir = mkdtempSync(join(tmpdir(), 'perfconv-view-'));
  writeFileSync(join(dir, 'perf.data'), fileRecording());
});
afterEach(() => {
  for (const { child } of running) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

function start(args: readonly string[], env?: Readonly<Record<string, string>>): ViewingCli {
  const cli = startView(args, dir, env);
  running.push(cli);
  return cli;
}

async function pageOf(...args: string[]): Promise<string> {
  const { stdout } = await runMain(['-q', '-t', 'html', '-o', '-', ...args]);
  return stdout.toString();
}

const textAt = async (url: string): Promise<string> => (await fetch(url)).text();

describe.skipIf(process.platform === 'win32')('view', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('serves what -t html writes until %s, which is no failure', async (signal) => {
    const cli = start(['perf.data']);
    const url = await cli.address();
    for (let times = 0; times < 3; times++) expect(await textAt(url)).toBe(await pageOf(join(dir, 'perf.data')));
    cli.child.kill(signal);
    expect(await cli.ended()).toMatchObject({ status: 0, signal: null });
    await expect(fetch(url)).rejects.toThrow();
    expect(readdirSync(dir)).toEqual(['perf.data']);
  });

  test('ends by SIGHUP, which says that the terminal is gone', async () => {
    const cli = start(['-q', 'perf.data']);
    const url = await cli.address();
    cli.child.kill('SIGHUP');
    expect(await cli.ended()).toEqual({ status: null, signal: 'SIGHUP', stdout: `${url}\n`, stderr: '' });
    await expect(fetch(url)).rejects.toThrow();
    expect(readdirSync(dir)).toEqual(['perf.data']);
  });

  test('ends although a browser is still connected, and reads nothing', async () => {
    const cli = start(['-q', 'perf.data']);
    const url = await cli.address();
    const { port, pathname } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await once(socket, 'readable');
    cli.child.kill('SIGINT');
    expect(await cli.ended()).toEqual({ status: 0, signal: null, stdout: `${url}\n`, stderr: '' });
    socket.destroy();
  });

  test('merges several inputs, with the filters and options of convert', async () => {
    writeFileSync(join(dir, 'b.data'), fileRecording(30));
    const args = ['--event', 'cpu-clock', '--by-input', '--weight', 'samples', 'perf.data', 'b.data'];
    const cli = start(args);
    const page = await textAt(await cli.address());
    expect(page).toBe(await pageOf(...args.map((word) => (word.endsWith('.data') ? join(dir, word) : word))));
    cli.child.kill('SIGINT');
    expect((await cli.ended()).status).toBe(0);
  });

  test('tells in the end if an input is missing from the page, or data was lost', async () => {
    writeFileSync(join(dir, 'cut.data'), pipeRecording().subarray(0, -20));
    for (const [args, status] of [
      [['perf.data', 'nosuch.data'], 1],
      [['--strict', 'cut.data'], 3],
      [['cut.data'], 0],
    ] as const) {
      const cli = start(args);
      expect(await textAt(await cli.address())).toContain('<!doctype html>');
      cli.child.kill('SIGINT');
      expect(await cli.ended()).toMatchObject({ status, stderr: expect.stringContaining(status === 1 ? 'no such file' : 'data lost') });
    }
  });

  test('says how to see the page where no browser can be opened', async () => {
    const saidTo = async (args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> => {
      const cli = start([...args, 'perf.data'], env);
      const { port } = new URL(await cli.address());
      if (!args.includes('-q')) await cli.says(' until Ctrl-C\n');
      cli.child.kill('SIGINT');
      const notes = (await cli.ended()).stderr.split('\n').filter((line) => !line.includes('no symbols found'));
      return notes
        .join('\n')
        .replaceAll(port, 'PORT')
        .replace(/(?<=PORT )\S+\n$/, 'HOST\n');
    };
    const hint = 'perfconv: the page is there until Ctrl-C\nperfconv: to see it on your own machine, run there: ssh -NL PORT:127.0.0.1:PORT HOST\n';
    expect(await saidTo([], OVER_SSH)).toBe(hint);
    expect(await saidTo(['--no-open'], OVER_SSH)).toBe(hint);
    if (process.platform === 'linux') expect(await saidTo([], { ...WITH_DISPLAY, DISPLAY: '' })).toBe(hint);
    expect(await saidTo(['-q'], OVER_SSH)).toBe('');
    expect(await saidTo(['--no-open'], WITH_DISPLAY)).toBe('perfconv: the page is there until Ctrl-C\n');
  });

  test('keeps the port that --port names, and reports at once one that is taken', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    // The recording does not exist: it is not looked for.
    const taken = start(['--port', String(port), 'nosuch.data']);
    expect(await taken.ended()).toMatchObject({ status: 1, stderr: `perfconv: --port ${port}: is in use by another program\n` });
    other.close();
    await once(other, 'close');
    const cli = start(['--port', String(port), 'perf.data']);
    expect(new URL(await cli.address()).port).toBe(String(port));
    cli.child.kill('SIGINT');
    await cli.ended();
  });

  test.skipIf(process.platform !== 'linux')('ends by a signal while it reads, as convert does', async () => {
    const cli = start(['-']);
    cli.child.stdin.write(pipeRecording(5000).subarray(0, 1000));
    await listening(cli.child.pid!);
    cli.child.kill('SIGTERM');
    expect(await cli.ended()).toEqual({ status: null, signal: 'SIGTERM', stdout: '', stderr: '' });
  });

  test('fails, and serves nothing, if there is nothing to show', async () => {
    writeFileSync(join(dir, 'none.data'), encodeFile({ attrs: [{ sampleType: ['ip', 'tid', 'time'] }], records: [] }));
    for (const [args, message] of [
      [['nosuch.data'], 'nosuch.data: no such file or directory'],
      [['none.data'], 'none.data: the recording holds no samples'],
      [['--comm', 'nobody', 'perf.data'], 'passes the filters'],
      [['nosuch.data', 'none.data'], 'none of the recordings holds samples'],
      [['nosuch.data', 'neither.data'], 'none of the inputs could be read'],
    ] as const) {
      const { status, stdout, stderr } = await start(args).ended();
      expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining(message) });
    }
  });

  test('ends quietly if nobody reads the address', async () => {
    const cli = start(['perf.data']);
    cli.child.stdout.destroy();
    expect(await cli.ended()).toMatchObject({ status: 0, signal: null });
  });
});

// Where xdg-open opens addresses: a stand-in notes what it is called with.
describe.skipIf(process.platform === 'win32' || process.platform === 'darwin')('the browser', () => {
  const opened = (): string => readFileSync(join(dir, 'opened'), 'utf8').trimEnd();

  function standIn(script: string): Record<string, string> {
    writeFileSync(join(dir, 'xdg-open'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(dir, 'xdg-open'), 0o755);
    return { ...WITH_DISPLAY, PATH: `${dir}${delimiter}${process.env.PATH}` };
  }

  test('gets an address that leads to the page once, and outlives the program', async () => {
    const env = standIn('echo "$# $1 $$" > opened.new; mv opened.new opened; exec sleep 600');
    const cli = start(['perf.data'], env);
    const url = await cli.address();
    while (!existsSync(join(dir, 'opened'))) await delay(20);
    const [count, ticket, pid] = opened().split(' ');
    expect([count, ticket === url]).toEqual(['1', false]);
    const response = await fetch(ticket);
    expect([response.url, await response.text()]).toEqual([url, await textAt(url)]);
    expect((await fetch(ticket)).status).toBe(410);
    cli.child.kill('SIGINT');
    const { status, stderr } = await cli.ended();
    expect([status, stderr.split('\n').at(-2)]).toEqual([0, 'perfconv: opening it in the browser; the page is there until Ctrl-C']);
    // It is in a session of its own, and fails to be killed if it is not there any more.
    process.kill(-Number(pid), 'SIGKILL');
  });

  test('is not started with --no-open, or over ssh', async () => {
    const env = standIn('echo "$1" > opened');
    for (const [args, more] of [
      [['--no-open'], {}],
      [[], { SSH_TTY: '/dev/pts/0' }],
    ] as const) {
      const cli = start([...args, 'perf.data'], { ...env, ...more });
      await textAt(await cli.address());
      await cli.says('until Ctrl-C');
      cli.child.kill('SIGINT');
      await cli.ended();
    }
    expect(existsSync(join(dir, 'opened'))).toBe(false);
  });

  test('that cannot be started is reported, and the page is there all the same', async () => {
    for (const [env, reason] of [
      [standIn('exit 4'), 'xdg-open ended with status 4'],
      [{ ...WITH_DISPLAY, DISPLAY: '', WAYLAND_DISPLAY: 'wayland-0', PATH: '/nonexistent' }, 'xdg-open: no such file or directory'],
    ] as const) {
      const cli = start(['perf.data'], env);
      const url = await cli.address();
      await cli.says(`perfconv: no browser was started (${reason}): open the address yourself\n`);
      expect(await textAt(url)).toContain('<!doctype html>');
      cli.child.kill('SIGINT');
      expect((await cli.ended()).status).toBe(0);
    }
  });
});
