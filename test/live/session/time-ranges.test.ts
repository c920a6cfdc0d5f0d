import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { openFile } from '../../../src/host/input/open-input.ts';
import { readProfile } from '../../../src/pipeline/read-profile.ts';
import { parseTimeRanges } from '../../../src/session/filter/time-ranges.ts';
import { denseRecording } from '../../support/builders/recordings/dense-recording.ts';
import { announceSkipped, makeTempDir, readWithPerf, recordWithPerf, removeTempDir, whyNoPerf, whyNoRecording } from '../../support/perf/perf-tool.ts';

const noPerf = whyNoPerf();
if (noPerf !== undefined) announceSkipped('comparing --time with perf script', noPerf);
const noRecording = noPerf ?? whyNoRecording();
if (noPerf === undefined && noRecording !== undefined) announceSkipped('comparing --time with perf script on a fresh recording', noRecording);

/** Times of the samples that perf script shows, in nanoseconds. */
function perfTimes(file: string, args: readonly string[]): bigint[] {
  const text = readWithPerf('script', file, ['-F', 'time', '--ns', ...args]);
  return [...text.matchAll(/(\d+)\.(\d{9}):/g)].map(([, seconds, ns]) => BigInt(seconds) * 1_000_000_000n + BigInt(ns));
}

async function ourTimes(file: string, time: string): Promise<bigint[]> {
  const { source } = await openFile(file);
  try {
    const { profile } = await readProfile(source, { keepSamples: true, filter: { times: parseTimeRanges(time, '--time') } }, new Diagnostics());
    const { samples, meta } = profile;
    return samples === undefined ? [] : [...samples.timeNs.subarray(0, samples.size)].map((timeNs) => meta.startTime + BigInt(timeNs));
  } finally {
    await source.close();
  }
}

let dir: string;
beforeAll(() => {
  dir = makeTempDir();
});
afterAll(() => removeTempDir(dir));

const PERCENT = [
  ...['10%', '10%/1', '10%/2', '10%/3', '10%/10', '33%/1', '33%/2', '33%/3', '12.5%/8', '2.5%/7', '50%/2', '100%/1'],
  ...['0%-0%', '50%-50%', '100%-100%', '0%-99%', '0.1%-0.3%', '29%-57%', '58%-71%', '90%-91%', '10% - 20%'],
  ...['10%/1,10%/3', '10%/3,10%/1', '10%-20%,20%-30%', '0%-20%,10%-40%', '30%-40%,0%-5%', '10%/2, 10%/4'],
];

/** Whether in perf the slices on both sides of a moment include it: if rounding leaves nothing of a slice, or nothing of what follows it. */
function isTooShort(from: number, to: number, totalNs: number): boolean {
  const [first, end] = [from, to].map((percent) => Math.round((percent / 100) * totalNs));
  return from < to && (first === end || (to < 100 && end === totalNs));
}

describe.skipIf(noPerf !== undefined)('ranges of time are those of perf script', () => {
  test.each([1, 2, 6, 8, 51, 101, 1001, 1004])('per cent of %i samples, one at each nanosecond', async (count) => {
    const file = join(dir, `dense-${count}.data`);
    writeFileSync(file, denseRecording(count));
    for (const time of PERCENT) {
      if (parseTimeRanges(time, '--time').some((range) => range.kind === 'percent' && isTooShort(range.from, range.to, count - 1))) continue;
      expect([time, await ourTimes(file, time)]).toEqual([time, perfTimes(file, ['--time', time])]);
    }
  });

  test('absolute ranges', async () => {
    const file = join(dir, 'absolute.data');
    writeFileSync(file, denseRecording(50));
    for (const time of [
      ...['1.000000010,1.000000020', '1.000000010,1.000000010', '1.000000045,', ',1.000000003', ',', '2,3', '0,99999999'],
      ...[
        '1.000000010,1.000000012 1.000000020,1.000000022',
        '1.000000010,1.000000012  1.000000040,',
        ',1.000000002 1.000000004,1.000000006',
        '1.00000001, 1.00000002',
      ],
    ]) {
      expect([time, await ourTimes(file, time)]).toEqual([time, perfTimes(file, ['--time', time])]);
    }
  });
});

describe.skipIf(noRecording !== undefined)('ranges of time are those of perf script on a fresh recording', () => {
  const loop = ['sh', '-c', 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'];
  const record = (name: string, ...args: string[]): string => {
    const file = join(dir, name);
    recordWithPerf(['-e', 'cpu-clock,page-faults', '-F', '2000', ...args, '-o', file, ...loop]);
    return file;
  };

  // perf adds up in doubles, which hold a clock to the nanosecond for days, but not for years.
  test.each([['the default clock'], ['CLOCK_MONOTONIC', '-k', 'CLOCK_MONOTONIC'], ['several threads, system-wide', '-a']])('%s', async (name, ...args) => {
    const file = record(`${name.replaceAll(/\W/g, '')}.data`, ...args);
    const all = perfTimes(file, []);
    expect(all.length).toBeGreaterThan(20);
    const at = (part: number) => {
      const ns = all[Math.floor((all.length - 1) * part)];
      return `${ns / 1_000_000_000n}.${String(ns % 1_000_000_000n).padStart(9, '0')}`;
    };
    for (const time of [...PERCENT, `${at(0.2)},${at(0.6)}`, `${at(0.9)},`, `,${at(0.1)}`, `${at(0.1)},${at(0.2)} ${at(0.5)},${at(0.7)}`]) {
      expect([time, await ourTimes(file, time)]).toEqual([time, perfTimes(file, ['--time', time])]);
    }
  });
});
