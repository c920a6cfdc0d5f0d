import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { recordingBytes } from '../../src/base/streams/byte-source.ts';
import { openFile } from '../../src/host/input/open-input.ts';
import { readProfile } from '../../src/pipeline/read-profile.ts';
import { fileRecording } from '../support/builders/recordings/cli-recordings.ts';
import { type AttrSpec, encodeFile, encodeRecord, type RecordSpec, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';
import { runMain } from '../support/programs/run-main.ts';

const CLOCK: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu'], flags: ['sampleIdAll'] };

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'perfconv-directory-')), 'web.data');
  mkdirSync(dir);
});
afterEach(() => {
  rmSync(join(dir, '..'), { recursive: true, force: true });
});

const write = (name: string, bytes: Uint8Array | string): void => writeFileSync(join(dir, name), bytes);
const sample = (time: bigint, cpu: number): RecordSpec => record.sample({ ip: 0x400010n, pid: 9, tid: 9, time, cpu });
const encodeRecords = (records: readonly RecordSpec[]): Uint8Array => Buffer.concat(records.map((one) => encodeRecord(one, [CLOCK])));

/** A recording by three threads: each wrote the samples of its CPU, in its own rounds. */
function writeThreads(): void {
  const comm = record.comm({ pid: 9, tid: 9, comm: 'app' }, { sampleId: { time: 1n } });
  write('data', encodeFile({ attrs: [CLOCK], records: [comm], features: { eventDesc: true } }));
  for (const cpu of [0, 1, 2]) {
    const times = [10n, 40n, 70n].map((time) => time + BigInt(cpu));
    write(`data.${cpu}`, encodeRecords([...times.map((time) => sample(time, cpu)), toolRecords.finishedRound()]));
  }
}

test("a directory's files are read as one recording, in the order of time", async () => {
  writeThreads();
  const diagnostics = new Diagnostics();
  const { source, modifiedNs, kcoreDir } = await openFile(dir, diagnostics);
  expect(source.name).toBe(dir);
  expect(source.parts?.map(({ name }) => name)).toEqual([0, 1, 2].map((number) => join(dir, `data.${number}`)));
  expect(recordingBytes(source)).toBe((source.sizeBytes ?? 0) + (source.parts ?? []).reduce((sum, part) => sum + (part.sizeBytes ?? 0), 0));
  expect(modifiedNs).toBeGreaterThan(0n);
  expect(kcoreDir).toBeUndefined();
  const positions: number[] = [];
  const { profile } = await readProfile(source, { keepSamples: true, onProgress: (position) => positions.push(position) }, diagnostics);
  await source.close();
  await source.close();
  const { samples } = profile;
  expect(samples?.size).toBe(9);
  expect([...(samples?.cpu.subarray(0, 9) ?? [])]).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2]);
  expect(diagnostics.list()).toEqual([]);
  expect(Math.max(...positions)).toBeLessThanOrEqual(recordingBytes(source) ?? 0);
});

test('parts are in the order of their numbers, and other files are ignored', async () => {
  writeThreads();
  for (let number = 3; number <= 11; number++) write(`data.${number}`, '');
  for (const name of ['data.old', 'data.01', 'data.x', 'data.1.gz', '.data']) write(name, 'x');
  const { source } = await openFile(dir);
  expect(source.parts?.map(({ name }) => name.slice(dir.length + 1))).toEqual(Array.from({ length: 12 }, (_, number) => `data.${number}`));
  await source.close();
});

test('a missing number is reported', async () => {
  writeThreads();
  rmSync(join(dir, 'data.1'));
  const diagnostics = new Diagnostics();
  const { source } = await openFile(dir, diagnostics);
  expect(source.parts?.length).toBe(2);
  await source.close();
  expect(diagnostics.list()).toMatchObject([{ code: 'part-missing', severity: 'loss', count: 1, message: expect.stringContaining('data.1') }]);
  await expect(openFile(dir)).rejects.toMatchObject({ code: 'damaged', file: dir });
});

describe('incomplete or not a directory recording:', () => {
  test('an empty directory', async () => {
    await expect(openFile(dir)).rejects.toMatchObject({ code: 'io', message: `${dir}: is a directory, not a recording` });
  });

  test('parts without the main file', async () => {
    writeThreads();
    rmSync(join(dir, 'data'));
    await expect(openFile(dir, new Diagnostics())).rejects.toMatchObject({ code: 'damaged', message: expect.stringContaining('lacks the file data') });
  });

  test('an empty main file', async () => {
    write('data', '');
    const { source } = await openFile(dir);
    await expect(readProfile(source, {}, new Diagnostics())).rejects.toMatchObject({ code: 'not-perf-data' });
    await source.close();
  });

  test('directories in place of its files', async () => {
    mkdirSync(join(dir, 'data'));
    await expect(openFile(dir)).rejects.toMatchObject({ code: 'io' });
    rmSync(join(dir, 'data'), { recursive: true });
    writeThreads();
    rmSync(join(dir, 'data.1'));
    mkdirSync(join(dir, 'data.1'));
    const diagnostics = new Diagnostics();
    const { source } = await openFile(dir, diagnostics);
    expect(source.parts?.length).toBe(2);
    await source.close();
    expect(diagnostics.hasLoss).toBe(true);
  });
});

test('links to files elsewhere are followed', async () => {
  writeThreads();
  const elsewhere = join(dir, '..', 'elsewhere');
  writeFileSync(elsewhere, encodeRecords([sample(5n, 3)]));
  symlinkSync(elsewhere, join(dir, 'data.3'));
  const { source } = await openFile(dir);
  expect((await readProfile(source, {}, new Diagnostics())).session.sampleCount).toBe(10);
  await source.close();
});

describe('the command line', () => {
  test('accepts a directory, with or without a slash', async () => {
    writeThreads();
    for (const input of [dir, `${dir}/`]) {
      const { status, stderr } = await runMain([input, '-t', 'folded']);
      expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining(`wrote ${join(dir, '..', 'web.folded')}`) });
    }
  });

  test("names the kernel's functions by --kallsyms or the recording's own list", async () => {
    const kernelMap = record.mmap(
      { pid: -1, tid: 0, addr: 0xffffffff81000000n, len: 0x1000000n, pgoff: 0xffffffff81000000n, filename: '[kernel.kallsyms]_text' },
      { misc: 1, sampleId: { time: 1n } },
    );
    const kernelSample = record.sample({ ip: 0xffffffff81000110n, pid: 9, tid: 9, time: 5n, cpu: 0 }, { misc: 1 });
    write('data', encodeFile({ attrs: [CLOCK], records: [kernelMap, kernelSample], features: { eventDesc: true } }));
    mkdirSync(join(dir, 'kcore_dir'));
    write('kcore_dir/kallsyms', 'ffffffff81000000 T _text\nffffffff81000100 T recorded_function\nffffffff81000200 T next\n');
    // This is never opened: it would be as large as the machine's memory.
    write('kcore_dir/kcore', 'no ELF file');
    const { status, stdout, stderr } = await runMain([dir, '-t', 'folded', '-o', '-']);
    expect({ status, stdout: stdout.toString(), stderr }).toMatchObject({ status: 0, stdout: expect.stringContaining('recorded_function') });
    const other = join(dir, '..', 'other.kallsyms');
    writeFileSync(other, 'ffffffff81000000 T _text\nffffffff81000100 T asked_for\nffffffff81000200 T next\n');
    expect((await runMain([dir, '-t', 'folded', '-o', '-', '--kallsyms', other])).stdout.toString()).toContain('asked_for');
  });

  test('refuses a directory that is no recording', async () => {
    expect(await runMain([dir])).toMatchObject({ status: 1, stderr: expect.stringContaining('is a directory, not a recording') });
  });
});

test('the main file by itself is read as a file', async () => {
  write('data', fileRecording());
  const { source } = await openFile(join(dir, 'data'));
  expect(source.parts).toBeUndefined();
  await source.close();
});
