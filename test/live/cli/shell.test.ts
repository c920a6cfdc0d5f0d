import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FORMATS } from '../../../src/pipeline/formats.ts';
import { fileRecording } from '../../support/builders/recordings/cli-recordings.ts';
import { announceSkipped, whyMissing } from '../../support/perf/perf-tool.ts';
import { ensureBuilt, startCli } from '../../support/programs/built-cli.ts';

// The program as a shell starts it, and as the system limits it.

const bin = fileURLToPath(new URL('../../../bin/perfconv.js', import.meta.url));
const folded = 'app;[app];[app] 2000000\n';

const whyNoShell = whyMissing('sh', ['-c', 'true']);
if (whyNoShell !== undefined) announceSkipped('the program as a shell starts it', whyNoShell);
const whyNoPipe = whyMissing('mkfifo');
if (whyNoPipe !== undefined) announceSkipped('Ctrl-C while a named pipe is written', whyNoPipe);

let dir: string;
beforeAll(ensureBuilt);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-shell-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

test.skipIf(whyNoPipe !== undefined)('the first Ctrl-C ends the conversion of a file', async () => {
  writeFileSync(join(dir, 'perf.data'), fileRecording());
  // The program waits for a reader of the pipe, which never comes.
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  const { child, ended } = startCli(['-o', 'new.folded', '-t', 'pprof', '-o', 'pipe', 'perf.data'], dir);
  while (readdirSync(dir).length < 3) await delay(10);
  child.kill('SIGINT');
  expect(await ended()).toMatchObject({ status: null, signal: 'SIGINT', stderr: '' });
  expect(readdirSync(dir).sort()).toEqual(['perf.data', 'pipe']);
});

describe.skipIf(whyNoShell !== undefined)('standard output', () => {
  const commands: string[][] = [
    ['-q', '-t', 'folded', '-o', '-', 'perf.data'],
    ['-q', '-t', 'script', '-o', '-', 'perf.data'],
    ['-q', '-t', 'pprof', '-o', '-', 'perf.data'],
    ['report', '-q', 'perf.data'],
    ['info', '--json', 'perf.data'],
    ['dump', 'perf.data'],
    ['--help'],
    ['completion', 'bash'],
    ['--version'],
  ];
  const shell = (script: string, args: readonly string[]) =>
    spawnSync('sh', ['-c', script, 'sh', bin, ...args], { cwd: dir, encoding: 'utf8', env: { ...process.env, NODE: process.execPath } });
  beforeEach(() => writeFileSync(join(dir, 'perf.data'), fileRecording(3000)));

  test('that takes only part of the result is a failure', () => {
    const args = ['-q', '-t', 'script', '-o', '-', 'perf.data'];
    // Blocks are 512 bytes, in some shells 1024: less than the result in either case, and not a multiple of what is written at once.
    const { status, stderr } = shell('ulimit -f 99; "$NODE" "$@" > out', args);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'perfconv: standard output: the file is too large for its file system, or for the limit on files (ulimit -f)\n',
    });
    expect([99 * 512, 99 * 1024]).toContain(statSync(join(dir, 'out')).size);
    expect(shell('"$NODE" "$@" > out', args).status).toBe(0);
    expect(statSync(join(dir, 'out')).size).toBeGreaterThan(200_000);
  });

  test.each(commands.map((args) => [args]))('that is closed is a failure, but not one that is discarded: %j', (args) => {
    expect(shell('"$NODE" "$@" 1>&-; exit $?', args)).toMatchObject({ status: 1, stderr: 'perfconv: standard output: is closed\n' });
    expect(shell('"$NODE" "$@" > /dev/null', args)).toMatchObject({ status: 0, stderr: '' });
    // Other launchers open /dev/null for reading as well: Node's `stdio: 'ignore'`, Python's `subprocess.DEVNULL`, daemon(3).
    const launch = (file: string, launched: readonly string[]) =>
      spawnSync(file, launched, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
    expect(launch(process.execPath, [bin, ...args]).status).toBe(0);
    expect(launch('sh', ['-c', '"$0" "$@"; exit $?', process.execPath, bin, ...args]).status).toBe(0);
  });

  test.skipIf(!existsSync('/dev/full')).each(commands.map((args) => [args]))('that is a full device is a failure: %j', (args) => {
    expect(shell('"$NODE" "$@" > /dev/full', args)).toMatchObject({ status: 1, stderr: 'perfconv: standard output: no space left on device\n' });
  });

  test('that is closed prevents other outputs', () => {
    expect(shell('"$NODE" "$@" 1>&-; exit $?', ['-q', '-o', 'a.folded', '-t', 'script', '-o', '-', 'perf.data']).status).toBe(1);
    expect(readdirSync(dir)).toEqual(['perf.data']);
  });

  test('and the status stay the same if standard error takes nothing', () => {
    const args = ['-t', 'folded', '-o', 'a.folded', 'perf.data'];
    const scripts = ['"$NODE" "$@" 2>&-', ...(existsSync('/dev/full') ? ['"$NODE" "$@" 2> /dev/full'] : [])];
    for (const script of scripts) {
      expect(shell(script, args).status).toBe(0);
      expect(shell(script, ['nosuch.data']).status).toBe(1);
      expect(readFileSync(join(dir, 'a.folded'), 'utf8')).toMatch(/^app;.* \d+\n$/);
    }
  });
});

test.skipIf(whyNoShell !== undefined)('a file on standard input is read, whether redirected or piped', () => {
  writeFileSync(join(dir, 'perf.data'), fileRecording());
  for (const command of [
    '"$0" "$1" -q -t folded - < perf.data',
    'cat perf.data | "$0" "$1" -q -t folded -',
    '"$0" "$1" -q -t folded -o out - < perf.data && cat out',
  ]) {
    expect(execFileSync('sh', ['-c', command, process.execPath, bin], { cwd: dir, encoding: 'utf8' })).toBe(folded);
  }
});

describe.skipIf(whyNoShell !== undefined)('if the system refuses something', () => {
  const run = (script: string, options: { uid?: number; gid?: number } = {}) =>
    spawnSync('sh', ['-c', `perfconv() { "$NODE" "$BIN" "$@"; }; ${script}`], {
      cwd: dir,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, NODE: process.execPath, BIN: bin },
      ...options,
    });
  // Nothing is forbidden to root.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const isForNobody = spawnSync(process.execPath, [bin, '--version'], { cwd: '/', env: {}, ...nobody }).status === 0;
  if (!isForNobody) announceSkipped('runs of a user without rights', 'nobody may not read this checkout');

  test('too many open files are reported, wherever opening fails', () => {
    writeFileSync(join(dir, 'perf.data'), fileRecording());
    let refused = 0;
    // With fewer files, Node itself does not start; more are enough.
    for (let limit = 20; limit < 44; limit += 2) {
      const { status, stderr } = run(`ulimit -n ${limit}; perfconv -q -o a.folded -o b.pb.gz -o c.csv perf.data`);
      // Newer versions of Node need more to read the program at all.
      if (/\nNode\.js v\d+/.test(stderr)) continue;
      if (status !== 0) {
        expect({ limit, status, stderr }).toEqual({ limit, status: 1, stderr: expect.stringMatching(/^perfconv: .*too many open files.*\n$/) });
        expect(readdirSync(dir)).toEqual(['perf.data']);
        refused++;
      } else rmSync(join(dir, 'c.csv'), { recursive: true });
      for (const name of ['a.folded', 'b.pb.gz']) rmSync(join(dir, name), { force: true });
    }
    expect(refused).toBeGreaterThan(3);
  });

  test.skipIf(!isForNobody)('an output in a directory that may not be entered is refused with a reason', () => {
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, 'perf.data'), fileRecording());
    mkdirSync(join(dir, 'closed'), { mode: 0 });
    for (const args of ['', '-t folded', '-t csv']) {
      expect(run(`perfconv ${args} -o closed/out perf.data`, nobody)).toMatchObject({ status: 1, stderr: 'perfconv: closed/out: permission denied\n' });
    }
    chmodSync(join(dir, 'closed'), 0o755);
  });

  test.skipIf(!isForNobody)('a writable file in a directory that is not writable is written in place', () => {
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, 'perf.data'), fileRecording());
    mkdirSync(join(dir, 'fixed'));
    writeFileSync(join(dir, 'fixed/out.folded'), 'old');
    chmodSync(join(dir, 'fixed/out.folded'), 0o666);
    chmodSync(join(dir, 'fixed'), 0o555);
    expect(run('perfconv -o fixed/out.folded perf.data', nobody)).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('perfconv: wrote fixed/out.folded in place: no file can be created next to it (permission denied)\n'),
    });
    expect(readFileSync(join(dir, 'fixed/out.folded'), 'utf8')).toBe(folded);
    expect(run('perfconv -q -o fixed/new.folded perf.data', nobody)).toMatchObject({ status: 1, stderr: 'perfconv: fixed/new.folded: permission denied\n' });
    expect(readdirSync(join(dir, 'fixed'))).toEqual(['out.folded']);
    chmodSync(join(dir, 'fixed'), 0o755);
  });

  // In a separate namespace, so that nothing stays mounted.
  const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;
  if (!canMount) announceSkipped('outputs that are mounted', 'mounting needs root');

  test.skipIf(!canMount)('a mounted file, and a directory that is a mounted file system, are written to', () => {
    writeFileSync(join(dir, 'perf.data'), fileRecording());
    mkdirSync(join(dir, 'volume'));
    for (const name of ['source', 'mounted.folded']) writeFileSync(join(dir, name), 'old, and longer than what comes: '.repeat(10));
    const script = `mount --bind source mounted.folded && mount -t tmpfs tmpfs volume &&
      perfconv -o mounted.folded -t csv -o volume -o new.pb perf.data && ls -A volume`;
    const { status, stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', `perfconv() { "$NODE" "$BIN" "$@"; }; ${script}`], {
      cwd: dir,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, NODE: process.execPath, BIN: bin },
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: 'overview.csv\nprocesses.csv\nresults.csv\nstat.csv\n',
      stderr: expect.stringContaining('perfconv: wrote mounted.folded in place: it cannot be replaced (is in use)\n'),
    });
    expect(readFileSync(join(dir, 'source'), 'utf8')).toBe(folded);
    expect(readdirSync(dir).sort()).toEqual(['mounted.folded', 'new.pb', 'perf.data', 'source', 'volume']);
  });

  test.skipIf(process.getuid?.() !== 0 || !isForNobody)('a user whom the system does not know can run the program', () => {
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, 'perf.data'), fileRecording());
    expect(run('perfconv report -q perf.data', { uid: 54321, gid: 54321 })).toMatchObject({ status: 0, stderr: '' });
  });
});
describe('completion in bash', () => {
  const hasBash = spawnSync('bash', ['--version']).status === 0;
  if (!hasBash) announceSkipped('completion in bash', 'no bash on the PATH');

  test.skipIf(!hasBash)('completes words as bash splits them, adds files, and runs nothing that is typed', () => {
    for (const name of ['report.data', 'r$(touch run)']) writeFileSync(join(dir, name), '');
    const script = `perfconv() { "$NODE" "$BIN" "$@"; }
      source <(perfconv completion bash)
      complete_words() { COMP_WORDS=(perfconv "$@"); COMP_CWORD=$#; _perfconv; printf '%s,' "\${COMPREPLY[@]}"; echo; }
      complete_words --format = sp
      complete_words --format =
      complete_words -o x r
      complete_words report --sort '$(touch run),d'
      complete_words -o ''`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: dir, encoding: 'utf8', env: { ...process.env, NODE: process.execPath, BIN: bin } });
    expect(stderr).toBe('');
    const [joined, values, command, list, output] = stdout.split('\n');
    expect([joined, values, list, output]).toEqual(['speedscope,', `${FORMATS.join()},`, '$(touch run),dso,', ',']);
    expect(command.split(',').sort()).toEqual(['', 'r$(touch run)', 'report', 'report.data']);
    expect(readdirSync(dir).sort()).toEqual(['r$(touch run)', 'report.data']);
  });
});

// Other systems do not allow such names.
describe.skipIf(process.platform !== 'linux')('paths that are not UTF-8', () => {
  const run = (script: string) =>
    spawnSync('sh', ['-c', `perfconv() { "$NODE" "$BIN" "$@"; }; raw=$(printf 'd\\377'); ${script}`], {
      cwd: dir,
      encoding: 'latin1',
      env: { ...process.env, NODE: process.execPath, BIN: bin },
    });
  const filesIn = (place: Buffer): string[] => readdirSync(place, 'latin1').sort();
  let place: Buffer;
  beforeEach(() => {
    place = Buffer.concat([Buffer.from(`${dir}/d`), Uint8Array.of(0xff)]);
    mkdirSync(place);
    writeFileSync(Buffer.concat([place, Buffer.from('/perf.data')]), fileRecording());
  });

  test('may be the working directory', () => {
    expect(run('cd "$raw" && perfconv -q -t folded && perfconv -q -t csv -o tables')).toMatchObject({ status: 0, stderr: '' });
    expect(filesIn(place)).toEqual(['perf.data', 'perf.folded', 'tables']);
    expect(readFileSync(Buffer.concat([place, Buffer.from('/perf.folded')]), 'utf8')).toBe(folded);
  });

  test('may be inputs, outputs, and links to them', () => {
    expect(run('perfconv -q -o "$raw/$raw.folded" "$raw/perf.data" && ln -s "$raw/to.pb" link.pb && perfconv -q -o link.pb "$raw/perf.data"')).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(filesIn(place)).toEqual(['d\xff.folded', 'perf.data', 'to.pb']);
    expect(run('perfconv "$raw/none.data"').stderr).toBe('perfconv: d\\xff/none.data: no such file or directory\n');
    expect(run('perfconv -t folded -o "$raw/perf.data" "$raw/perf.data"').stderr).toBe('perfconv: -o d\\xff/perf.data would overwrite the input\n');
    expect(run('perfconv -o "$raw/none/x.pb" "$raw/perf.data"').stderr).toBe('perfconv: d\\xff/none/x.pb: there is no directory d\\xff/none\n');
  });

  test('have nothing left behind if an output fails', () => {
    writeFileSync(join(dir, 'bad.data'), fileRecording().subarray(0, 100));
    expect(run('perfconv -q -o "$raw/x.pb" -o "$raw/x.folded" bad.data').status).toBe(1);
    expect(filesIn(place)).toEqual(['perf.data']);
  });

  test('are not the only such names: filters take them, too', () => {
    const named = Buffer.from(Buffer.from(fileRecording()).toString('latin1').replaceAll('app\0', 'a\xffp\0'), 'latin1');
    writeFileSync(join(dir, 'named.data'), named);
    expect(run(`perfconv -q -t folded -o - --comm "$(printf 'a\\377p')" named.data`)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^a\xffp;/) });
    expect(run(`perfconv -q -t folded -o - --comm "$(printf 'a\\376p')" named.data`).status).toBe(1);
  });
});
