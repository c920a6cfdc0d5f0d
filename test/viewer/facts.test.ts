import { expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { ProfileMerger } from '../../src/profile/merge.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { recordingFacts } from '../../viewer/model/facts.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { pageRecording } from '../support/builders/profiles/page-recording.ts';

const SPECS = [
  { timeNs: 0, period: 5, stack: ['main'] },
  { timeNs: 2_000_000, period: 5, stack: ['main'] },
];

function filtered(filter: string): Profile {
  const profile = buildProfile(SPECS);
  return { ...profile, meta: { ...profile.meta, filter } };
}

const factsOf = async (profile: Profile): Promise<string> => recordingFacts(await pageRecording(profile), 0);

test('a whole recording is not called a part', async () => {
  expect(await factsOf(buildProfile(SPECS))).toBe('2.00 ms recorded · 2 samples of cpu-clock · perf record -g ./app');
});

test('a part of a recording says so first, and which part it is', async () => {
  expect(await factsOf(filtered('comm a\u202eb, time 10%-20%'))).toBe(
    'part of the recording (comm a\\u202eb, time 10%-20%) · 2.00 ms long · 2 samples of cpu-clock · perf record -g ./app',
  );
});

test.each([
  [['pid 1', 'pid 1'], 'pid 1'],
  [['pid 1', 'pid 2'], 'a.data: pid 1; b.data: pid 2'],
])('merged recordings say which parts they are: %j', async (filters, text) => {
  const merger = new ProfileMerger(new Diagnostics());
  for (const [index, filter] of filters.entries()) merger.add(filtered(filter), ['a.data', 'b.data'][index]);
  expect(await factsOf(merger.finish())).toContain(`part of the recordings (${text}) · 2 recordings · 4.00 ms long`);
});
