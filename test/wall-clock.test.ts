import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Diagnostics } from '../src/base/problems/diagnostics.ts';
import { BufferSource } from '../src/base/streams/byte-source.ts';
import { readProfile } from '../src/pipeline/read-profile.ts';
import type { Profile } from '../src/profile/profile.ts';
import { timesOfDay } from '../src/writers/time-of-day.ts';
import { type AttrSpec, encodeFile, type FeatureSpec, record } from './support/builders/recordings/perf-encoder.ts';
import { mergeProfiles } from './support/merge-profiles.ts';
import { runMain } from './support/programs/run-main.ts';

/** 2026-11-21 11:44:12.473786 UTC, when the recording's clock was at 1859.5 seconds. */
const clockData = { clockid: 1, wallClockNs: 1_795_261_452_473_786_000n, clockidTimeNs: 1_859_500_000_000n };

/** Samples at 1859.5 s and 526 ms later, which is in the next second of the wall clock. */
function recording(attr: Partial<AttrSpec>, features: FeatureSpec = {}): Uint8Array {
  const clock: AttrSpec = { name: 'cpu-clock', period: 1_000_000n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], ...attr };
  const sample = (time: bigint) => record.sample({ ip: 0x400123n, pid: 100, tid: 100, time, period: 1_000_000n });
  return encodeFile({
    attrs: [clock],
    records: [record.comm({ pid: 100, comm: 'app' }), sample(1_859_500_000_000n), sample(1_860_026_214_001n)],
    features: { eventDesc: true, ...features },
  });
}

async function profileOf(bytes: Uint8Array, name = 'x.data'): Promise<Profile> {
  return (await readProfile(new BufferSource(bytes, name), { keepSamples: true }, new Diagnostics())).profile;
}

describe('the wall-clock time of a recording', () => {
  test('comes from a moment in both clocks', async () => {
    const { meta } = await profileOf(recording({}, { clockData }));
    expect(meta).toMatchObject({ wallClockOffsetNs: 1_795_259_592_973_786_000n, captureTimeNs: 1_795_261_452_473_786_000n });
  });

  test('does not come from the time of its file, which may be a copy', async () => {
    const source = new BufferSource(recording({}), 'x.data');
    const { meta } = (await readProfile(source, { modifiedNs: 1_795_261_452_473_786_000n }, new Diagnostics())).profile;
    expect(meta.captureTimeNs).toBeUndefined();
  });

  test('is that of its samples if they are of CLOCK_REALTIME', async () => {
    const { meta } = await profileOf(recording({ flags: ['useClockid'], clockid: 0 }));
    expect(meta).toMatchObject({ wallClockOffsetNs: 0n, captureTimeNs: 1_859_500_000_000n });
  });

  test.each([
    ['the default clock', {}],
    ['only another clock', { flags: ['useClockid'], clockid: 1 }],
    ['clock 0 that is not used', { clockid: 0 }],
  ] as const)('is unknown with %s', async (_name, attr) => {
    expect((await profileOf(recording(attr))).meta).toMatchObject({ wallClockOffsetNs: undefined, captureTimeNs: undefined });
  });

  test('begins with the earliest of merged recordings if it is known for all', async () => {
    const early = await profileOf(recording({}, { clockData }));
    const late = await profileOf(recording({}, { clockData: { ...clockData, wallClockNs: clockData.wallClockNs + 5n } }));
    const silent = await profileOf(recording({}));
    const merged = (...profiles: Profile[]) => mergeProfiles(profiles.map((profile) => ({ profile, label: 'x' }))).meta;
    expect(merged(late, early)).toMatchObject({ startTime: clockData.wallClockNs, wallClockOffsetNs: 0n });
    expect(merged(early, silent)).toMatchObject({ startTime: 0n, wallClockOffsetNs: undefined });
  });
});

describe('--wall-clock', () => {
  let dir: string;
  let timeZone: string | undefined;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'perfconv-wall-'));
    timeZone = process.env.TZ;
    process.env.TZ = 'Asia/Kolkata';
    writeFileSync(join(dir, 'a.data'), recording({}, { clockData }));
    writeFileSync(join(dir, 'silent.data'), recording({}));
  });
  afterEach(() => {
    if (timeZone === undefined) delete process.env.TZ;
    else process.env.TZ = timeZone;
    rmSync(dir, { recursive: true, force: true });
  });
  const run = (input: string, ...args: string[]) => runMain(['-q', join(dir, input), ...args]);

  test.each([
    [['-F', 'comm,tod,time'], '             app 2026-11-21 17:14:12.473786  1859.500000: \n             app 2026-11-21 17:14:13.000000  1860.026214: \n'],
    [['-F', 'tod', '--ns'], '2026-11-21 17:14:12.473786000 \n2026-11-21 17:14:13.000000001 \n'],
    [['-F', 'comm,time', '--wall-clock'], '             app 2026-11-21 17:14:12.473786 \n             app 2026-11-21 17:14:13.000000 \n'],
    [
      ['--wall-clock', '-F', 'tid,time,period,event'],
      '  100 2026-11-21 17:14:12.473786    1000000 cpu-clock: \n  100 2026-11-21 17:14:13.000000    1000000 cpu-clock: \n',
    ],
  ])('script %j shows the time of day in the local time zone', async (args, expected) => {
    expect((await run('a.data', '-t', 'script', '-o', '-', ...args)).stdout.toString()).toBe(expected);
  });

  test("is in the name for speedscope, and beside the recording's clock for chrome", async () => {
    await run('a.data', '--wall-clock', '-o', join(dir, 'a.speedscope.json'), '-o', join(dir, 'a.trace.json'));
    const read = (name: string) => JSON.parse(readFileSync(join(dir, name), 'utf8'));
    expect(read('a.speedscope.json').name).toBe('a.data 2026-11-21 17:14:12.473786');
    expect(read('a.trace.json').otherData).toMatchObject({ recordingClockAtTs1Ns: '1859500000000', wallClockAtTs1Ns: '1795261452473786000' });
    await run('a.data', '-o', join(dir, 'a.trace.json'));
    expect(read('a.trace.json').otherData).not.toHaveProperty('wallClockAtTs1Ns');
  });

  test.each(['script', 'speedscope', 'chrome'])('%s is refused if the time is unknown', async (format) => {
    expect(await run('silent.data', '-t', format, '--wall-clock', '-o', '-')).toMatchObject({
      status: 1,
      stderr: `perfconv: ${join(dir, 'silent.data')}: the recording does not hold wall-clock time: perf records it with -k, as in -k CLOCK_MONOTONIC\n`,
    });
  });

  test('-F tod causes a warning if the time is unknown', async () => {
    const { status, stdout, stderr } = await runMain([join(dir, 'silent.data'), '-t', 'script', '-F', 'tid,tod', '-o', '-']);
    expect([status, stdout.toString()]).toEqual([0, '  100 \n  100 \n']);
    expect(stderr).toContain('the samples carry no tod: left out of the text');
  });

  test('is reported to have no effect on other formats', async () => {
    expect((await runMain([join(dir, 'a.data'), '--wall-clock', '-o', join(dir, 'a.pb')])).stderr).toContain('--wall-clock has no effect on pprof');
  });
});

test('the time of day can be before 1970, or beyond all dates', () => {
  const local = (ms: number): string => {
    const date = new Date(ms);
    const two = (value: number) => String(value).padStart(2, '0');
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  };
  expect(timesOfDay(-1n).text(0, 9)).toBe(`${local(-1000)}.999999999`);
  expect(timesOfDay(-1n).text(1, 9)).toBe(`${local(0)}.000000000`);
  expect(timesOfDay(2n ** 64n - 1n).text(0, 6)).toMatch(/\.709551$/);
  expect(timesOfDay(2n ** 80n).text(0, 6)).toMatch(/^no date\./);
});
