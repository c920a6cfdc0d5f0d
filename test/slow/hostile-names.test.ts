import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AttrSpec, encodeFile, misc, type RecordSpec, record } from '../support/builders/recordings/perf-encoder.ts';
import { ensureBuilt } from '../support/programs/built-cli.ts';

/** Recordings of a few megabytes that took gigabytes of memory, or minutes, because of the names and maps in them. */

const CLI = fileURLToPath(new URL('../../bin/perfconv.js', import.meta.url));
const CLOCK: AttrSpec = { name: 'cpu-clock', type: 1, period: 1_000_000n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] };
/** Makes Node report its peak memory when it ends. */
const TELLS_MEMORY = `data:text/javascript,process.on('exit',()=>process.stderr.write('\\npeak '+process.resourceUsage().maxRSS*1024))`;
const FIRST_PID = 1000;
const ADDRESSES = 40_000;

let directory: string;

beforeAll(() => {
  ensureBuilt();
  directory = mkdtempSync(join(tmpdir(), 'perfconv-names-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const at = (time: number) => ({ sampleId: { time: BigInt(time) } });
const mmap = (pid: number, addr: number, filename: string, length = 0x1000): RecordSpec =>
  record.mmap({ pid, tid: pid, addr: BigInt(addr), len: BigInt(length), filename }, at(1));
const sample = (pid: number, ip: number): RecordSpec => record.sample({ pid, tid: pid, ip: BigInt(ip), time: 2n, period: 1_000_000n });

/** Runs the command line on a recording. */
async function run(attr: AttrSpec, records: readonly RecordSpec[], ...args: string[]): Promise<{ stdoutBytes: number; stderr: string; peakBytes: number }> {
  const path = join(directory, 'hostile.data');
  writeFileSync(path, encodeFile({ attrs: [attr], records, features: { eventDesc: true } }));
  const [command, ...rest] = args;
  const whole = ['--import', TELLS_MEMORY, CLI, command, path, ...rest];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, whole, { maxBuffer: 2 ** 28 });
  return { stdoutBytes: stdout.length, stderr, peakBytes: Number(/\npeak (\d+)$/.exec(stderr)?.[1]) };
}

describe('memory does not grow with', () => {
  const records = [
    mmap(100, 0x1000_0000, `/${'n'.repeat(65_000)}`, 0x1000_0000),
    ...Array.from({ length: ADDRESSES }, (_, i) => sample(100, 0x1000_0000 + i * 16)),
  ];

  it.each([
    ['convert', '-t', 'pprof', '-o', '/dev/null'],
    ['convert', '-t', 'speedscope', '-o', '/dev/null'],
    ['convert', '-t', 'chrome', '-o', '/dev/null'],
    ['convert', '-t', 'folded', '-o', '/dev/null'],
    ['convert', '-t', 'script', '-o', '/dev/null'],
    ['report', '--limit', '100'],
  ])('the length of a name times the addresses in it: %s %s %s', async (...args) => {
    const { stderr, peakBytes } = await run(CLOCK, records, ...args);
    expect(stderr).toContain('PERF_RECORD_MMAP: path of 65001 bytes was truncated: the limit is 4095');
    // A copy for each address would take from 0.5 GB for 4 KB of the name to 2.6 GB for all of it.
    expect(peakBytes).toBeLessThan(350e6);
  });

  it('the maps of a process times its children that map something', async () => {
    const maps = Array.from({ length: 8000 }, (_, i) => mmap(100, 0x1000_0000 + i * 0x2000, '/bin/app'));
    const children = Array.from({ length: 6000 }, (_, i) => [
      record.fork({ pid: FIRST_PID + i, tid: FIRST_PID + i, ppid: 100, ptid: 100 }, at(1)),
      mmap(FIRST_PID + i, 0x1000_1000 + i * 0x2000, '/lib/other.so'),
    ]).flat();
    const { peakBytes } = await run(CLOCK, [...maps, ...children, sample(FIRST_PID + 9, 0x1000_0010)], 'convert', '-t', 'folded', '-o', '/dev/null');
    // Copies of all maps would take 3 GB.
    expect(peakBytes).toBeLessThan(300e6);
  });
});

it('an event name that is too long is not repeated in each line of perf-script text', async () => {
  const samples = Array.from({ length: 2000 }, () => sample(100, 0x1000));
  const { stdoutBytes, stderr } = await run({ ...CLOCK, name: 'e'.repeat(100_000) }, samples, 'convert', '-t', 'script', '-o', '-');
  expect(stderr).toContain('EVENT_DESC: event name of 100000 bytes was truncated: the limit is 1023');
  expect(stdoutBytes).toBeLessThan(2000 * 1200);
});

it('names of kernel modules do not take minutes', async () => {
  const name = `/${'x.ko'.repeat(16_200)}.`;
  const kernelMap = { misc: misc.kernel, ...at(1) };
  const maps = Array.from({ length: 64 }, (_, i) =>
    record.mmap({ pid: -1, tid: 0, addr: 0xffff_ffff_c000_0000n + BigInt(i) * 0x1000n, len: 0x1000n, filename: name }, kernelMap),
  );
  const { stdoutBytes } = await run(CLOCK, [...maps, sample(100, 0x1000)], 'info');
  expect(stdoutBytes).toBeGreaterThan(0);
});
