import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { announceSkipped, makeTempDir, recordArgs, removeTempDir, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { countWholeRecords } from '../../support/readers/count-records.ts';
import { decode } from '../../support/readers/decode.ts';

const whyNot = whyNoRecording();
if (whyNot !== undefined) announceSkipped('recordings whose perf was killed', whyNot);

let directory = '';
beforeAll(() => {
  directory = makeTempDir();
});
afterAll(() => removeTempDir(directory));

const FILE_HEADER_BYTES = 104;
/** So many samples must be written before perf is killed. */
const MIN_SAMPLES = 100;
/** Ways to record in which perf has written many of its samples when it is killed. */
const VARIANTS = [
  ['plain', ['-F', '4999', '-g']],
  ['compressed', ['-F', '4999', '-g', '-z']],
  ['of page faults', ['-e', 'page-faults', '-c', '1']],
] as const;

describe.skipIf(whyNot !== undefined)('perf record, killed with -9', () => {
  test.each(VARIANTS)('%s: every sample that it had written is read', async (name, args) => {
    const file = join(directory, `${name.replaceAll(' ', '-')}.data`);
    const events = args.some((arg) => arg === '-e') ? args : ['-e', 'cpu-clock', ...args];
    // Small buffers are written out often. The workload ends by itself.
    const workload = 'for i in $(seq 1 200); do cat /proc/self/status > /dev/null; done; sleep 1; for i in $(seq 1 200); do ls / > /dev/null; done';
    const perf = spawn(
      'perf',
      [...recordArgs, '-m', '8', '-a', ...events, '-o', file, '--', 'sh', '-c', `while :; do ${workload}; done & sleep 240; kill $!`],
      {
        stdio: 'ignore',
        detached: true,
      },
    );
    const exited = new Promise((resolve) => perf.once('exit', resolve));
    // On a busy machine, much is written about existing processes before the first sample.
    while (countSamples(file) < MIN_SAMPLES && perf.exitCode === null) await sleep(100);
    perf.kill('SIGKILL');
    await exited;
    if (perf.pid !== undefined) process.kill(-perf.pid, 'SIGKILL');

    const bytes = readIfThere(file);
    const expected = countWholeRecords(bytes);
    expect(expected.samples).toBeGreaterThanOrEqual(MIN_SAMPLES);
    const { session, samples, diagnostics } = await decode(bytes);
    expect(session.counts.get(9)).toBe(expected.samples);
    expect(session.counts.total).toBe(expected.records);
    expect(samples).toHaveLength(expected.samples);
    expect(diagnostics.list().map(({ code }) => code)).toContain('unfinished');
  });
});

function countSamples(file: string): number {
  const bytes = readIfThere(file);
  return bytes.length < FILE_HEADER_BYTES ? 0 : countWholeRecords(bytes).samples;
}

function readIfThere(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch {
    return new Uint8Array(0);
  }
}
