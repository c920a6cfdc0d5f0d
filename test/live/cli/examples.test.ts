import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/command-line/commands.ts';
import { helpText } from '../../../src/cli/command-line/help.ts';
import { exampleRecording } from '../../support/builders/recordings/example-recording.ts';
import { encodeFile, encodePipe } from '../../support/builders/recordings/perf-encoder.ts';
import { announceSkipped, recordWithPerf, whyMissing, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { ensureBuilt } from '../../support/programs/built-cli.ts';

// Every example in the help, run literally: in a shell, in a directory with the files that it names.

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = join(root, 'bin/perfconv.js');

interface Example {
  readonly what: string;
  readonly command: string;
}

/** The examples in a help text: a line that says what each does, then the command. */
function examplesOf(help: string): Example[] {
  const [, part = ''] = /^Examples:\n((?: {2}.*\n)+)/m.exec(help) ?? [];
  return [...part.matchAll(/^ {2}# (.*)\n {2}(\S.*)$/gm)].map(([, what, command]) => ({ what, command }));
}

const all = (await Promise.all(COMMANDS.map(async (command) => examplesOf(await helpText(command))))).flat();
const isComparison = ({ command }: Example): boolean => command.startsWith('diff <(perf script');

test('every command has examples in its help', async () => {
  for (const command of COMMANDS) expect(examplesOf(await helpText(command))).toHaveLength(command.examples.length);
  expect(all.filter(isComparison)).toHaveLength(1);
});

/** Shell scripts in place of programs that may not be installed. */
const STAND_INS: Readonly<Record<string, string>> = {
  perf: 'cat "$RECORDED"',
  'flamegraph.pl': 'cat',
  less: 'cat',
  ...(whyMissing('jq') !== undefined && { jq: 'cat' }),
};

/** Runs perfconv with its arguments, prints the page at the address that this prints, interrupts it, and ends with its status. No browser is opened. */
const LOOK_AT_VIEW = `
  import { spawn } from 'node:child_process';
  const env = { ...process.env, SSH_CONNECTION: 'x' };
  const child = spawn(process.execPath, [${JSON.stringify(bin)}, ...process.argv.slice(2)], { env, stdio: ['inherit', 'pipe', 'inherit'] });
  child.stdout.once('data', async (url) => {
    console.log(await (await fetch(String(url).trim())).text());
    child.kill('SIGINT');
  });
  child.on('close', (status) => { process.exitCode = status ?? 1; });
`;

const whyNoShell = process.platform === 'win32' ? 'the examples are for a POSIX shell' : whyMissing('bash');
if (whyNoShell !== undefined) announceSkipped('the examples of the help', whyNoShell);

describe.skipIf(whyNoShell !== undefined)('an example of the help does what it says', () => {
  let tools: string;
  let lookAtView: string;
  let dir: string;
  let server: Server;

  beforeAll(async () => {
    ensureBuilt();
    tools = mkdtempSync(join(tmpdir(), 'perfconv-examples-'));
    writeFileSync(join(tools, 'recorded.pipe'), encodePipe(exampleRecording()));
    program('perfconv', `exec ${quoted(process.execPath)} ${quoted(bin)} "$@"`);
    lookAtView = join(tools, 'look-at-view.mjs');
    writeFileSync(lookAtView, LOOK_AT_VIEW);
    server = createServer((_, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.close();
    rmSync(tools, { recursive: true, force: true });
  });

  beforeEach(() => {
    dir = mkdtempSync(join(tools, 'run-'));
    const bytes = encodeFile(exampleRecording());
    for (const name of ['perf.data', 'web.data', 'monday.data', 'tuesday.data', 'node.data', 'perf.data.guest']) writeFileSync(join(dir, name), bytes);
    for (const name of ['maps', 'home/.debug', 'mnt/target', 'opt/debug']) mkdirSync(join(dir, name), { recursive: true });
    for (const name of ['target.kallsyms', 'guest.kallsyms']) writeFileSync(join(dir, name), 'ffffffff81000000 T _text\nffffffff81000010 T start_kernel\n');
    writeFileSync(join(dir, 'guest.modules'), 'kvm 1048576 0 - Live 0xffffffffc0000000\n');
    for (const name of ['vmlinux', 'vmlinux-6.1.0']) copyFileSync(join(root, 'fixtures/debug/gcc5'), join(dir, name));
  });

  function program(name: string, script: string): void {
    writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(tools, name), 0o755);
  }

  /** Runs a command line as somebody at a shell would, with places outside the directory replaced by ones in it, and no port that may be in use. */
  function run(command: string, shell = 'bash'): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
    const { port } = server.address() as AddressInfo;
    const here = command
      .replace('https://debuginfod.debian.net', `http://127.0.0.1:${port}`)
      .replaceAll(/(?<= )\/(mnt|opt)\//g, `${dir}/$1/`)
      .replace('--port 8080 ', '');
    const env = { ...process.env, PATH: `${tools}:${process.env.PATH}`, HOME: join(dir, 'home'), RECORDED: join(tools, 'recorded.pipe') };
    const failing = shell === 'bash' ? ['-o', 'pipefail'] : [];
    return new Promise((resolve) => {
      execFile(shell, [...failing, '-c', here], { cwd: dir, env, maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
      );
    });
  }

  test.each(all.filter((example) => !isComparison(example)))('$command', async ({ command, what }) => {
    for (const [name, script] of Object.entries(STAND_INS)) program(name, script);
    const before = readdirSync(dir, { recursive: true }).length;
    const shell = what.includes('zsh') ? 'zsh' : what.includes('fish') ? 'fish' : 'bash';
    const isThere = whyMissing(shell) === undefined;
    // `view` goes on until it is interrupted.
    program(
      'perfconv',
      command.includes('perfconv view')
        ? `exec ${quoted(process.execPath)} ${quoted(lookAtView)} "$@"`
        : `exec ${quoted(process.execPath)} ${quoted(bin)} "$@"`,
    );
    // If the shell that should read the script is missing, it is only printed.
    const { status, stdout, stderr } = isThere ? await run(command, shell) : await run(/perfconv [^|)]*/.exec(command)?.[0] ?? command);
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringMatching(/data lost|changes nothing|error/) });
    // An example of a command in a script prints the status if it is not 0.
    if (command.includes('echo $?')) expect(stdout).toBe('');
    if (command.startsWith('source') && isThere) return;
    expect(stdout.length + readdirSync(dir, { recursive: true }).length).toBeGreaterThan(before);
  });

  const whyNoPerf = whyNoRecording();
  if (whyNoPerf !== undefined) announceSkipped('the example that compares with perf script', whyNoPerf);

  test.skipIf(whyNoPerf !== undefined).each(all.filter(isComparison))('$command', async ({ command }) => {
    rmSync(join(tools, 'perf'), { force: true });
    const program = [process.execPath, '-e', 'JSON.stringify(Array(1e6).fill({}))'];
    recordWithPerf(['-e', 'cpu-clock', '-F', '2000', '-g', '-o', 'web.data', '--', ...program], { cwd: dir });
    const { stdout, stderr } = await run(command);
    expect(stderr).not.toContain('error');
    expect(stdout.split('\n').filter((line) => /^[<>]/.test(line))).toEqual([]);
  });
});

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
