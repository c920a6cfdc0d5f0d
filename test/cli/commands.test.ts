import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/command-line/commands.ts';
import { splitEvents } from '../../src/cli/plans/reading.ts';
import { fileRecording } from '../support/builders/recordings/cli-recordings.ts';
import { encodeFile, record } from '../support/builders/recordings/perf-encoder.ts';
import { type MainOptions, runMain } from '../support/programs/run-main.ts';

let dir: string;
let input: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-cli-'));
  input = join(dir, 'perf.data');
  writeFileSync(input, fileRecording());
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe('help', () => {
  test.each(COMMANDS)('$name: every option is described and used in an example', async (command) => {
    const { status, stdout } = await runMain([command.name, '--help']);
    const text = stdout.toString();
    expect(status).toBe(0);
    expect(text).toContain('Examples:');
    const examples = command.examples.map(([line]) => ` ${line} `).join('\n');
    expect(text).toMatch(/^Usage: perfconv /);
    expect(text).not.toMatch(/\[(?:string|boolean|default)\]/);
    for (const [example, what] of command.examples) expect(text).toContain(`  # ${what}\n  ${example}\n`);
    for (const { name, alias, value, text: description } of command.options) {
      expect(text).toContain(` ${alias === undefined ? '   ' : `-${alias},`} --${name}${value === undefined ? '' : ` ${value}`} `);
      expect(text.replace(/\s+/g, ' ')).toContain(description.slice(0, 30));
      const isShown = examples.includes(` --${name} `) || (alias !== undefined && examples.includes(` -${alias} `));
      const isCommon = command.name !== 'convert' && COMMANDS[0].options.some((option) => option.name === name);
      expect([name, isShown || isCommon || name === 'verbose']).toEqual([name, true]);
    }
  });

  test('without a command, it shows the commands and the options of convert', async () => {
    const text = (await runMain(['--help'])).stdout.toString();
    for (const word of ['perfconv report', 'perfconv info', 'perfconv completion', '--symfs', 'Exit status: 0 success']) expect(text).toContain(word);
  });

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    for (const args of [['--version'], ['report', '--version']]) expect((await runMain(args)).stdout.toString()).toBe(`${version}\n`);
  });
});

test.each([[['-v', 'info', 'IN']], [['--strict', '--quiet', 'info', 'IN']], [['--json', 'info', 'IN']]])(
  'options may precede the command: %j',
  async (words) => {
    const { status, stdout } = await runMain(words.map((word) => (word === 'IN' ? input : word)));
    expect(status).toBe(0);
    expect(stdout.toString()).toContain('fixture-host');
  },
);

test("a command's name is no command as the value of an option or after --", async () => {
  expect(await runMain(['-t', 'folded', '-o', '-', '--comm', 'info', input])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('passes the filters'),
  });
  expect(await runMain(['--', join(dir, 'info')])).toMatchObject({ status: 1, stderr: expect.stringContaining('no such file') });
});

describe('report', () => {
  test('shows functions with their binaries, per event', async () => {
    const { status, stdout } = await runMain(['report', input]);
    expect(status).toBe(0);
    const lines = stdout.toString().split('\n');
    expect(lines[0]).toContain('cpu-clock: 2 samples');
    expect(lines[1].trim().split(/\s+/)).toEqual(['per', 'period', 'samples', 'function', 'dso']);
    expect(lines[2].trim().split(/\s+/).slice(0, 3)).toEqual(['100.00', '2000000', '2']);
  });

  test('can be sorted by other keys, inclusive and limited', async () => {
    const { stdout } = await runMain(['report', '--sort', 'comm', '--children', '--limit', '1', '--weight', 'samples', '--event', 'cpu-clock', input]);
    expect(stdout.toString()).toMatch(/comm\n.* app\n$/);
  });

  test('has one layout', async () => {
    expect(JSON.parse((await runMain(['report', '--json', input])).stdout.toString()).tables[0].events[0]).toMatchObject({ name: 'cpu-clock', samples: 2 });
    expect((await runMain(['report', '--markdown', input])).stdout.toString()).toMatch(
      /^`cpu-clock`: 2 samples.*\n\n\| per \| period \| samples \| function \| dso \|\n/,
    );
    expect(await runMain(['report', '--json', '--markdown', input])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--json cannot be combined with --markdown'),
    });
  });

  test('shows a tree, with a level of its own if asked for', async () => {
    const { stdout } = await runMain(['report', '--tree', '--sort', 'comm', '--event', 'cpu-clock', input]);
    expect(stdout.toString()).toMatch(/^# cpu-clock: 2 samples.*\n {3}per {3}self samples function\n100\.00 {14}2 app\n/);
    const json = await runMain(['report', '--tree', '--json', '--percent-limit', '0.25', input]);
    expect(JSON.parse(json.stdout.toString())).toMatchObject({ kind: 'trees', percentLimit: 0.25, sort: ['function', 'dso'] });
  });

  test.each([
    [['--tree', '--children'], '--tree cannot be combined with --children'],
    [['--tree', '--sort', 'comm,event'], '--sort event cannot be combined with --tree'],
    [['--percent-limit', '1'], '--percent-limit needs --tree'],
    [['--tree', '--percent-limit', '101'], '--percent-limit 101: expected a number from 0 to 100'],
    [['--tree', '--percent-limit', 'x'], '--percent-limit x: expected a number from 0 to 100'],
  ])('refuses %j', async (args, message) => {
    expect(await runMain(['report', ...args, input])).toMatchObject({ status: 2, stderr: expect.stringContaining(message) });
  });

  test('warns about missing events', async () => {
    const { status, stderr } = await runMain(['report', '--event', 'cpu-clock,cycles', input]);
    expect(status).toBe(0);
    expect(stderr).toContain('perfconv: warning: the recording has no event cycles; it has cpu-clock, page-faults\n');
  });

  test('is colored only on a terminal, unless NO_COLOR is set', async () => {
    const color = String.fromCharCode(27);
    expect((await runMain(['report', input])).stdout.toString()).not.toContain(color);
    expect((await runMain(['report', input], { isTTY: true })).stdout.toString()).toContain(color);
    expect((await runMain(['report', input], { isTTY: true, env: { NO_COLOR: '1' } })).stdout.toString()).not.toContain(color);
  });
});

describe('report on a terminal', () => {
  test('cuts names to its width, and nowhere else', async () => {
    const path = join(dir, 'long.data');
    const filename = `/opt/${'long/'.repeat(30)}app`;
    const records = [record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename }), record.sample({ ip: 0x400123n, pid: 100, time: 3n, period: 5n })];
    writeFileSync(path, encodeFile({ attrs: [{ name: 'cpu-clock', ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'] }], records }));
    const rowOf = async (options: MainOptions): Promise<string> =>
      (await runMain(['report', path], { env: { NO_COLOR: '1' }, ...options })).stdout.toString().split('\n')[2];
    expect(await rowOf({ isTTY: true, columns: 80 })).toMatch(/^.{79,80}$/);
    for (const options of [{ columns: 80 }, { isTTY: true }, { isTTY: true, columns: 0 }]) expect(await rowOf(options)).toContain(filename);
  });
});

describe('completion', () => {
  const complete = async (...words: string[]): Promise<string[]> => (await runMain(['--get-completions', ...words])).stdout.toString().split('\n').slice(0, -1);

  test('offers commands, options and values', async () => {
    expect(await complete('')).toEqual(['convert', 'report', 'diff', 'view', 'info', 'dump', 'completion', 'help']);
    expect(await complete('re')).toEqual(['report']);
    expect(await complete('help', 'd')).toEqual(['diff', 'dump']);
    expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await complete('-t', 'f')).toEqual(['folded', 'firefox']);
    expect(await complete('report', '--sort', 'dso,c')).toEqual(['dso,comm']);
    expect(await complete('diff', '--sort', 'comm,')).toEqual(['comm,function', 'comm,dso']);
    expect(await complete('report', '--ch')).toEqual(['--children']);
    expect(await complete('view', '--no-')).toEqual(['--no-open', '--no-inline', '--no-demangle', '--no-progress']);
    expect(await complete('--kall')).toEqual(['--kallsyms']);
    expect(await complete('web.data', '--gro')).toEqual(['--group']);
  });

  test('finds the command after options and their values', async () => {
    expect(await complete('-o', 'x', '')).toEqual(await complete(''));
    expect(await complete('-q', '-t', 'folded', 're')).toEqual(['report']);
    expect(await complete('-v', 'info', '--j')).toEqual(['--json']);
    expect(await complete('--sort', 'dso', 'report', '--sor')).toEqual(['--sort']);
  });

  test('offers values after = in one word, as from zsh and fish, or in separate words, as from bash', async () => {
    expect(await complete('--format=s')).toEqual(['--format=speedscope', '--format=script']);
    expect(await complete('web.data', '-t=fo')).toEqual(['-t=folded']);
    expect(await complete('report', '--sort=dso,c')).toEqual(['--sort=dso,comm']);
    expect(await complete('--format', '=')).toEqual(await complete('--format', ''));
    expect(await complete('--format', '=', 's')).toEqual(['speedscope', 'script']);
    expect(await complete('--quiet=')).toEqual([]);
  });

  test('offers nothing in place of a file name', async () => {
    for (const words of [['-o', ''], ['--symfs', ''], ['report', ''], ['-t', 'folded', 'web.data', ''], ['--output='], ['--', '']])
      expect(await complete(...words)).toEqual([]);
  });

  test.each(['bash', 'zsh', 'fish'])('has a script for %s', async (shell) => {
    expect((await runMain(['completion', shell])).stdout.toString()).toContain('perfconv --get-completions');
    expect((await runMain(['completion'], { env: { SHELL: `/bin/${shell}` } })).stdout).toEqual((await runMain(['completion', shell])).stdout);
  });
});

test('event lists are split at commas that are not between slashes', () => {
  expect(splitEvents('cycles,cpu/event=0x3c,umask=0/u,faults')).toEqual(['cycles', 'cpu/event=0x3c,umask=0/u', 'faults']);
  expect(splitEvents('sched:sched_switch')).toEqual(['sched:sched_switch']);
  expect(splitEvents('a,,b')).toEqual(['a', '', 'b']);
});
