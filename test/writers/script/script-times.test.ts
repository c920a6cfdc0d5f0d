import { expect, it } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { type ScriptOptions, writeScript } from '../../../src/writers/script/script.ts';
import { buildProfile } from '../../support/builders/profiles/build-profile.ts';

/** The time column of samples at these times. */
async function timesOf(timesNs: readonly number[], options: ScriptOptions): Promise<string[]> {
  const profile = buildProfile(timesNs.map((timeNs) => ({ timeNs, stack: ['main'] })));
  const sink = new BufferSink();
  await writeScript(profile, sink, { fields: [{ fields: ['time'] }], ...options });
  return sink.text().split('\n').slice(0, -1);
}

const TIMES = [1_000, 1_500_000_000, 1_500_000_001, 12_345_000_000_000];

it('script: relative times count from the first sample, however late in the recording that is', async () => {
  expect(await timesOf(TIMES, { times: 'relative' })).toEqual(['    0.000000: ', '    1.499999: ', '    1.499999: ', '12344.999999: ']);
  expect(await timesOf(TIMES, { times: 'relative', ns: true })).toContain('    1.499999001: ');
});

it('script: deltas count from the sample before', async () => {
  expect(await timesOf(TIMES, { times: 'delta', ns: true })).toEqual(['    0.000000000: ', '    1.499999000: ', '    0.000000001: ', '12343.499999999: ']);
});

it('script: a sample that comes after newer ones has a negative difference', async () => {
  const back = [3_000_000_000, 2_500_000_000, 2_499_999_500];
  expect(await timesOf(back, { times: 'delta', ns: true })).toEqual(['    0.000000000: ', '   -0.500000000: ', '   -0.000000500: ']);
  expect(await timesOf(back, { times: 'relative' })).toEqual(['    0.000000: ', '   -0.500000: ', '   -0.500000: ']);
});

it('script: samples without a time have none, and the next delta counts from the one before them', async () => {
  expect(await timesOf([0, Number.NaN, 2_000_000_000], { times: 'delta' })).toEqual(['    0.000000: ', '', '    2.000000: ']);
});

it('script: differences of times are the same on a wall clock, which is not asked for the time of day then', async () => {
  expect(await timesOf([0, 2_000_000_000], { times: 'relative', wallClock: true })).toEqual(['    0.000000: ', '    2.000000: ']);
});
