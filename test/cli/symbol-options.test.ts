import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pprofBinaryDirs } from '../../src/host/symbols/pprof-dirs.ts';
import { buildElf, TEXT } from '../support/builders/elf/elf-builder.ts';
import { encodeFile, record } from '../support/builders/recordings/perf-encoder.ts';
import { runMain } from '../support/programs/run-main.ts';

const ID = 'aa11111111111111111111111111111111111111';
const PATH = '/opt/perfconv-nowhere/server';

let dir: string;
let input: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-symbols-'));
  input = join(dir, 'web.data');
  const records = [
    record.mmap2(
      { pid: 0x3fff_fff0, addr: 0x400000n, len: 0x1000n, pgoff: BigInt(TEXT.offset), filename: PATH, buildId: Buffer.from(ID, 'hex') },
      { sampleId: { time: 1n } },
    ),
    record.sample({ ip: 0x400010n, pid: 0x3fff_fff0, time: 2n }),
  ];
  const attrs = [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] }] as const;
  for (const name of ['web.data', 'other.data']) writeFileSync(join(dir, name), encodeFile({ attrs, records }));
  mkdirSync(join(dir, `symfs${PATH}`, '..'), { recursive: true });
  const symbols = [{ name: 'serve', value: TEXT.vaddr, sizeBytes: 64 }];
  writeFileSync(join(dir, `symfs${PATH}`), buildElf({ classBits: 64, littleEndian: true, buildId: ID, symbols }));
});
afterAll(() => rmSync(dir, { recursive: true }));

const folded = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runMain([input, '-t', 'folded', '-o', '-', ...args], { env: { HOME: dir, ...env } });

describe('--explain-symbols', () => {
  it('prints to standard error which places were searched and what was found', async () => {
    const { status, stdout, stderr } = await folded(['--explain-symbols', '--symfs', join(dir, 'symfs')]);
    expect([status, stdout.toString()]).toEqual([0, ':1073741808;serve 1\n']);
    expect(stderr).toContain(`symbols of 1 binary, the most sampled first

${PATH}
  100.0 % of the samples (1); 1 address: all named, none with a line
  build id ${ID}
  used           ${join(dir, `symfs${PATH}`)}
                 for addresses and functions; it has no debug information
  not there      ${dir}/symfs/usr/lib/debug/.build-id/aa/`);
    expect(stderr).toContain('  what helps     for files and lines: compile with -g, ');
    expect(stderr).not.toContain('warning');
  });

  it('works for report, and for several inputs', async () => {
    for (const args of [
      ['report', input],
      [input, join(dir, 'other.data'), '-o', join(dir, 'all.folded')],
    ]) {
      const { stderr } = await runMain([...args, '--explain-symbols'], { env: { HOME: dir } });
      expect(stderr).toContain(`${PATH}\n  100.0 % of the samples (1); 1 address: none named`);
      expect(stderr).toContain(`not there      ${PATH}\n`);
    }
  });
});

describe('without --explain-symbols', () => {
  it('one warning tells what is missing and what would help', async () => {
    const { stderr } = await folded([]);
    expect(stderr).toBe(
      `perfconv: warning: no symbols found for ${PATH} (100.0 % of the samples); for server: its file was not found: give the recorded files with --symfs DIR, or --debuginfod URL\n`,
    );
  });
});

describe('--debuginfod', () => {
  it.each([
    [['--debuginfod', 'debuginfod.example'], {}, '--debuginfod debuginfod.example: expected https://…, http://… or env'],
    [['--debuginfod', 'file:///usr/lib/debug'], {}, '--debuginfod file:///usr/lib/debug: expected https://…'],
    [['--debuginfod', 'http://'], {}, '--debuginfod http://: expected https://…'],
    [['--debuginfod', 'env'], {}, '--debuginfod env: DEBUGINFOD_URLS names no server'],
    [['--debuginfod', 'env'], { DEBUGINFOD_URLS: ' /srv/debug ' }, '--debuginfod env: DEBUGINFOD_URLS names no server'],
    [['--debuginfod'], {}, '--debuginfod needs a value'],
  ])('%j with %j is refused before anything is read', async (args, env, message) => {
    const { status, stderr } = await folded(args, env);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

it("pprof's directories come from the environment, or are the usual one", () => {
  expect(pprofBinaryDirs({ PPROF_BINARY_PATH: ['/a', '', '/b'].join(delimiter), HOME: '/home/u' })).toEqual(['/a', '/b']);
  expect(pprofBinaryDirs({ HOME: '/home/u' })).toEqual([join('/home/u', 'pprof', 'binaries')]);
});
