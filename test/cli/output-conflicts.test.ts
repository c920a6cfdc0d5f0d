import { closeSync, cpSync, linkSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { fileRecording } from '../support/builders/recordings/cli-recordings.ts';
import { runMain } from '../support/programs/run-main.ts';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));
const KALLSYMS = 'ffffffff81000000 T _text\n';

let dir: string;
const at = (name: string): string => join(dir, name);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-conflicts-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** All files below the directory, with their contents. */
const contents = (): [path: string, content: string][] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry): [string, string] => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name), 'latin1')])
    .sort();

describe('a directory recording', () => {
  let recording: string;
  beforeEach(() => {
    recording = at('web.data.d');
    mkdirSync(join(recording, 'kcore_dir'), { recursive: true });
    writeFileSync(join(recording, 'data'), fileRecording());
    writeFileSync(join(recording, 'kcore_dir/kallsyms'), KALLSYMS);
    linkSync(join(recording, 'data'), at('hard.folded'));
    symlinkSync(join(recording, 'kcore_dir/kallsyms'), at('soft.folded'));
  });

  test.each([
    [['-t', 'pprof', '-o', 'web.data.d/data'], 'overwrite data of the input'],
    [['-t', 'folded', '-o', 'web.data.d/kcore_dir/kallsyms'], 'overwrite kcore_dir/kallsyms of the input'],
    [['-o', 'hard.folded'], 'overwrite data of the input'],
    [['-o', 'soft.folded'], 'overwrite kcore_dir/kallsyms of the input'],
    [['-t', 'folded', '-o', 'web.data.d/data.7'], 'become part of the input'],
    [['-t', 'folded', '-o', 'web.data.d/kcore_dir/modules'], 'become part of the input'],
  ])('is not overwritten: %j', async (args, harm) => {
    const before = contents();
    const output = at(args.at(-1)!);
    const result = await runMain([...args.slice(0, -1), output, recording]);
    expect(result).toMatchObject({ status: 2, stderr: `perfconv: -o ${output} would ${harm} ${recording}\n` });
    expect(contents()).toEqual(before);
  });

  test('is not overwritten by tables', async () => {
    const before = contents();
    expect(await runMain(['-t', 'csv', '-o', recording, recording])).toMatchObject({
      status: 2,
      stderr: `perfconv: -o ${recording} would overwrite the input\n`,
    });
    expect(await runMain(['-t', 'csv', '-o', join(recording, 'kcore_dir'), recording])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('would become part of the input'),
    });
    mkdirSync(at('tables'));
    linkSync(join(recording, 'data'), at('tables/stat.csv'));
    expect(await runMain(['-o', at('tables'), recording])).toMatchObject({ status: 2, stderr: expect.stringContaining('would overwrite data of the input') });
    rmSync(at('tables'), { recursive: true });
    expect(contents()).toEqual(before);
  });

  test('accepts other files beside its own', async () => {
    expect((await runMain(['-q', '-o', join(recording, 'web.folded'), '-o', join(recording, 'tables.csv'), recording])).status).toBe(0);
    expect(readdirSync(recording).sort()).toEqual(['data', 'kcore_dir', 'tables.csv', 'web.folded']);
  });

  test('is not overwritten as one of several inputs', async () => {
    writeFileSync(at('other.data'), fileRecording());
    const output = join(recording, 'data');
    expect(await runMain(['-t', 'folded', '-o', output, at('other.data'), recording])).toMatchObject({
      status: 2,
      stderr: `perfconv: -o ${output} would overwrite data of the input ${recording}\n`,
    });
  });
});

describe('symbol files', () => {
  test.each(['kallsyms', 'vmlinux', 'guestkallsyms', 'guestmodules', 'guestvmlinux'])('given with --%s are not overwritten', async (option) => {
    writeFileSync(at('perf.data'), fileRecording());
    writeFileSync(at('symbols.folded'), KALLSYMS);
    symlinkSync('symbols.folded', at('link.folded'));
    for (const output of [at('symbols.folded'), at('link.folded')]) {
      expect(await runMain([`--${option}`, at('symbols.folded'), '-o', output, at('perf.data')])).toMatchObject({
        status: 2,
        stderr: `perfconv: -o ${output} would overwrite --${option} ${at('symbols.folded')}\n`,
      });
    }
    expect(readFileSync(at('symbols.folded'), 'utf8')).toBe(KALLSYMS);
  });

  test('that were found are not overwritten, and then no output is written', async () => {
    cpSync(join(fixtures, 'symfs'), at('symfs'), { recursive: true });
    const binary = at('symfs/opt/perfconv-fixtures/bin/tree');
    linkSync(binary, at('tree.folded'));
    const before = contents();
    const output = at('tree.folded');
    expect(await runMain(['-q', '--symfs', at('symfs'), '-o', at('first.pb'), '-o', output, join(fixtures, 'tree.data')])).toMatchObject({
      status: 2,
      stderr: `perfconv: ${output} would overwrite ${binary}, which symbols were read from\n`,
    });
    expect(contents()).toEqual(before);
  });
});

describe('standard output that was redirected to a file', () => {
  const run = async (args: readonly string[], file: string): Promise<{ status: number; stderr: string }> => {
    let stderr = '';
    const errors = new Writable({
      write(chunk: Buffer, _encoding, done) {
        stderr += chunk.toString();
        done();
      },
    });
    const fd = openSync(file, 'a');
    try {
      const stdout = Object.assign(new PassThrough(), { fd });
      return { status: await main(args, { stdin: new PassThrough().end(), stdout, stderr: errors, env: {} }), stderr };
    } finally {
      closeSync(fd);
    }
  };

  test.each([[['-t', 'folded', '-o', '-']], [['report']], [['info']], [['dump']]])('must not be the input, for %j', async (args) => {
    const input = at('perf.data');
    writeFileSync(input, fileRecording());
    expect(await run([...args, input], input)).toEqual({ status: 2, stderr: 'perfconv: standard output would overwrite the input\n' });
    expect(readFileSync(input)).toEqual(Buffer.from(fileRecording()));
    expect((await run([...args, input], at('out'))).status).toBe(0);
    expect(readFileSync(at('out')).length).toBeGreaterThan(0);
  });

  test('must not be another output either', async () => {
    writeFileSync(at('perf.data'), fileRecording());
    expect(await run(['-t', 'folded', '-o', at('out.folded'), '-o', '-', at('perf.data')], at('out.folded'))).toMatchObject({ status: 2 });
  });
});
