import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { COMMAND_LINE_OPTIONS } from '../../src/base/problems/option-words.ts';
import { mergeProfiles, openRecording } from '../../src/node.ts';
import { runMain } from '../support/programs/run-main.ts';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));
const paths = ['threads.data', 'tree.data'].map((name) => join(fixtures, name));

test('binaries have what --explain-symbols reports', async () => {
  const recordings = await Promise.all(paths.map((path) => openRecording(path)));
  const profiles = await Promise.all(recordings.map((recording) => recording.profile({ symfs: join(fixtures, 'symfs') })));
  for (const [nth, { binaries }] of profiles.entries()) {
    const { stderr } = await runMain(['--symfs', join(fixtures, 'symfs'), '--explain-symbols', '-t', 'folded', '-o', '-', paths[nth]]);
    const text = stderr.slice(stderr.indexOf('symbols of '));
    expect(text).toContain(`symbols of ${binaries.length} binaries`);
    for (const { name, samples, allSamples, locations, places } of binaries) {
      const share = samples === 0 ? 'no samples of its own' : `${((100 * samples) / allSamples).toFixed(1)} % of the samples (${samples})`;
      expect(text).toContain(`\n${name}\n  ${share}`);
      expect(text).toContain(`; ${locations} address`);
      for (const { place } of places) expect(text).toContain(place);
    }
    // The same advice, with the library's names of options.
    const advice = binaries.map(({ help }) => help.replace(/\{ (\w+): '(\w+)' \}/g, (_, name, value) => COMMAND_LINE_OPTIONS(name, value)));
    expect(advice.filter((one) => !text.replace(/\s+/g, ' ').includes(one))).toEqual([]);
    expect(advice.filter((one) => one.includes('--kallsyms FILE')).length).toBe(1);
  }
  expect((await mergeProfiles(profiles)).binaries).toEqual(profiles.flatMap(({ binaries }) => binaries));
  for (const recording of recordings) await recording.close();
});
