import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVERY_FEATURE, EVERYTHING } from '../support/builders/recordings/every-feature.ts';
import { encodeFile, type FeatureSpec, record } from '../support/builders/recordings/perf-encoder.ts';
import { runMain } from '../support/programs/run-main.ts';

/** Text that takes over a terminal, reverses what follows, is invisible, or imitates a line of perfconv. */
const HOSTILE = '\x1b]0;title\x07\x1b[2J\x7f\x9b31m\r\t\nforged: \u202e\u2066\u200e\u061c\u2028\u2029\u200b\ufeff\u{e0041}';
/** The same in 15 bytes, the longest comm. */
const COMM = 'c\x1b[2J\u202e\nforge';
const TAG = new Uint8Array(8);

/** Characters that must not be in a line on a terminal. */
const FORBIDDEN = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** perfconv's own colors, and the sequence with which the progress bar clears its line. */
const OURS = /\x1b\[(?:1|22|31|32|39)m|\r\x1b\[2K/g;

let dir: string;
let file: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-terminal-'));
  file = join(dir, process.platform === 'win32' ? 'perf.data' : `h\x1b[2J\n\u202e.data`);
  writeFileSync(file, hostileRecording());
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A recording with the hostile text in every string. */
function hostileRecording(): Uint8Array {
  const [clock, memory] = EVERYTHING.attrs;
  const event = `clock${HOSTILE}`;
  const times = [1, 2, 3, 4, 5].map((nr) => ({ sampleId: { time: 5_000_000_000n + BigInt(nr) } }));
  return encodeFile({
    ...EVERYTHING,
    attrs: [
      { ...clock, name: event },
      { ...memory, name: `mem${HOSTILE}` },
    ],
    features: {
      ...(hostile({ ...EVERY_FEATURE, bpfProgInfo: [] }) as FeatureSpec),
      bpfProgInfo: [{ id: 5, type: 26, name: COMM, tag: TAG, jited: new Uint8Array(8), functions: [{ address: 0xffffffffc0248588n, size: 8, tag: TAG }] }],
    },
    records: [
      record.comm({ pid: 100, comm: COMM, exec: true }, times[0]),
      record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename: `/bin/app${HOSTILE}` }, times[1]),
      record.ksymbol({ addr: 0xffffffffc0000000n, len: 64, name: `bpf_prog${HOSTILE}` }, times[2]),
      record.cgroup({ id: 1n, path: `/group${HOSTILE}` }, times[3]),
      record.sample({ id: 1n, ip: 0x400123n, pid: 100, time: 5_000_003_000n, period: 5n }, { attr: 0 }),
      record.sample({ id: 1n, ip: 0xffffffffc0000010n, pid: 100, time: 5_000_004_000n, period: 5n }, { attr: 0, misc: 1 }),
      record.sample({ id: 3n, ip: 0x400123n, pid: 100, time: 5_000_005_000n, period: 5n }, { attr: 1 }),
    ],
  });
}

/** A value with the hostile text after each string in it, except for lists of CPUs and the words that the format defines. */
function hostile(value: unknown): unknown {
  if (typeof value === 'string') return /^[\d,-]*$|^\{/.test(value) ? value : value + HOSTILE;
  if (Array.isArray(value)) return value.map(hostile);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hostile(each)]));
}

async function onTerminal(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { status, stdout, stderr } = await runMain(args, { isTTY: true });
  return { status, stdout: stdout.toString().replace(OURS, ''), stderr: stderr.replace(OURS, '') };
}

describe('a terminal gets no control characters and no forged lines from', () => {
  test.each([
    ['report'],
    ['report', '--children', '--explain-symbols', '-v'],
    ['report', '--markdown'],
    ['report', '--tree'],
    ['diff', '--sort', 'comm,function,dso', '{file}'],
    ['diff', '--markdown', '{file}'],
    ['report', '--tree', '--markdown', '--sort', 'comm'],
    ['report', '--sort', 'event,comm,pid,tid,input,function,dso', '--compat', 'perf'],
    ['info'],
    ['info', '-v'],
    ['dump'],
  ])('%s', async (...args) => {
    const { status, stdout, stderr } = await onTerminal(...args.map((word) => word.replace('{file}', file)), file);
    expect(status).toBe(0);
    for (const text of [stdout, stderr]) {
      expect(FORBIDDEN.exec(text)).toBeNull();
      expect(text).not.toContain('\t');
      expect(text).not.toMatch(/^\s*forge/m);
    }
    expect(stdout).toContain('forge');
    expect(stdout).toMatch(/(?:\\|&#92;)u202e/);
  });

  test.each([['script'], ['folded'], ['speedscope'], ['chrome']])('-t %s -o -', async (format) => {
    const { status, stdout, stderr } = await onTerminal('-t', format, '-v', '-o', '-', file);
    expect(status).toBe(0);
    expect(FORBIDDEN.exec(stdout + stderr)).toBeNull();
    expect(stdout).toContain('\\u202e');
  });

  test('errors and paths of outputs', async () => {
    const texts: string[] = [];
    const name = `no\x1b[2J\u202e\nforged: `;
    for (const args of [
      [name],
      ['info', name],
      ['-o', name, file],
      ['--vmlinux', name, file],
      ['--event', name, file],
      [`--${name}`],
      [`-t${name}`, file],
      ['help', name],
    ]) {
      const { status, stdout, stderr } = await onTerminal(...args);
      expect(status).not.toBe(0);
      texts.push(stdout + stderr);
    }
    texts.push((await onTerminal('--symfs', name, 'report', file)).stderr);
    expect(texts.at(-1)).toContain('no such directory');
    texts.push((await onTerminal(file)).stderr);
    expect(texts.at(-1)).toContain('wrote');
    for (const text of texts) {
      expect(FORBIDDEN.exec(text)).toBeNull();
      expect(text).not.toMatch(/^forged/m);
    }
  });

  test('standard error in a file, which may be shown on a terminal later', async () => {
    const { stderr } = await runMain(['-t', 'folded', '-v', '--explain-symbols', '-o', '-', file]);
    expect(stderr).toContain('forged');
    expect(FORBIDDEN.exec(stderr)).toBeNull();
  });
});

describe('output that is not to a terminal', () => {
  test.each([
    ['script', `app${HOSTILE})`],
    ['folded', `[app${HOSTILE.replaceAll(';', ':').replace(/[\r\t\n\u2028\u2029]/g, ' ')}]`],
  ])('has names as recorded: %s', async (format, shown) => {
    const { stdout } = await runMain(['-t', format, '-o', '-', file]);
    expect(stdout.toString()).toContain(shown);
  });

  test('has one line per folded stack', async () => {
    const { stdout } = await runMain(['-t', 'folded', '-o', '-', file]);
    expect(stdout.toString()).not.toMatch(/[\r\t\u2028\u2029]/);
    expect(stdout.toString().trimEnd().split('\n')).toEqual(['', ''].map(() => expect.stringMatching(/^c\x1b\[2J\u202e_forge;.* \d+$/)));
  });

  test.each([
    ['dump', '--json'],
    ['info', '--json'],
    ['report', '--json'],
    ['report', '--tree', '--json'],
    ['-t', 'speedscope', '-o', '-'],
    ['-t', 'chrome', '-o', '-'],
  ])('has the same values as JSON on a terminal: %s', async (...args) => {
    const [there, here] = await Promise.all([runMain([...args, file], { isTTY: true }), runMain([...args, file])]);
    expect(there.stdout.toString()).not.toBe(here.stdout.toString());
    expect(FORBIDDEN.exec(there.stdout.toString())).toBeNull();
    const values = ({ stdout }: typeof here): unknown[] =>
      args[0] === 'dump'
        ? stdout
            .toString()
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [JSON.parse(stdout.toString())];
    expect(values(there)).toEqual(values(here));
  });
});

describe('tables', () => {
  const tablesOf = async (inputs: readonly string[], ...args: string[]): Promise<string[]> => {
    const out = join(dir, `tables-${inputs.length}-${args.length}`);
    expect((await runMain([...inputs, ...args, '-q', '-t', 'csv', '-o', out])).status).toBe(0);
    return ['overview', 'processes', 'results'].map((name) => readFileSync(join(out, `${name}.csv`), 'utf8'));
  };

  test.each([[1], [2]])('have names as recorded, but none that a spreadsheet would compute with --csv-safe (%i inputs)', async (count) => {
    const inputs = Array.from({ length: count }, (_, nr) => {
      const path = join(dir, `formula-${nr}.data`);
      const bytes = encodeFile({
        attrs: [{ name: '+event', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] }],
        records: [
          record.comm({ pid: 100, comm: '=1+cmd()', exec: true }, { sampleId: { time: 1n } }),
          record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename: '@app' }, { sampleId: { time: 2n } }),
          record.sample({ ip: 0x400123n, pid: 100, time: 3n, period: 5n }),
        ],
        features: { eventDesc: true },
      });
      writeFileSync(path, bytes);
      return path;
    });
    const asRecorded = await tablesOf(inputs);
    expect(asRecorded.join('')).toMatch(/,"=1\+cmd\(\)",/);
    const safe = await tablesOf(inputs, '--csv-safe');
    expect(safe.map((table) => table.replaceAll("'", ''))).toEqual(asRecorded);
    expect(asRecorded.map((table) => /(?:^|,)"?[=+@-]/m.test(table))).toEqual([true, true, true]);
    expect(safe.map((table) => /(?:^|,)"?[=+@-]/m.test(table))).toEqual([false, false, false]);
  });
});
