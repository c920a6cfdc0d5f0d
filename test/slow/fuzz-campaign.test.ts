import { afterAll, beforeAll, expect, it } from 'vitest';
import { Campaign } from '../../fuzz/campaign/campaign.ts';
import { encodedSeeds } from '../../fuzz/seeds/encoded-seeds.ts';
import { SEED_KINDS, type SeedKind } from '../../fuzz/seeds/seed.ts';
import { anyPollution, watchAllocations } from '../../fuzz/target/guards.ts';
import { Target } from '../../fuzz/target/target.ts';
import { ensureBuilt } from '../support/programs/built-cli.ts';

// A few seconds of `npm run fuzz`, always with the same inputs, none of which is limited by time.

const RUN = 20_240_607;
const INPUTS_PER_KIND = 60;
/** Few, since bombs are unpacked to megabytes, and disturbed commands run in processes of their own. */
const INPUTS_OF_SLOW_KINDS = 12;
const SLOW_KINDS: readonly SeedKind[] = ['bombs', 'full-disk', 'signals'];
/** The size of inputs that can be made as large as a campaign wants: it checks time and memory, a test does not. */
const MAX_GROWN_BYTES = 16 << 10;

let target: Target;
beforeAll(() => {
  ensureBuilt();
  watchAllocations();
  target = new Target();
});
afterAll(() => {
  target.close();
});

it.each(SEED_KINDS)('mutated recordings of the kind %s give samples or a typed error, and valid outputs', async (kind) => {
  const campaign = new Campaign(RUN, encodedSeeds(), [kind], MAX_GROWN_BYTES);
  const failures: string[] = [];
  let decoded = 0;
  const count = SLOW_KINDS.includes(kind) ? INPUTS_OF_SLOW_KINDS : INPUTS_PER_KIND;
  for (let index = 0; index < count; index++) {
    const { files, plan } = campaign.trial(index);
    const { failure, samples } = await target.run(files, plan);
    if (failure !== undefined) failures.push(`input ${index}: ${failure.stack}`);
    if (samples >= 0) decoded++;
  }
  expect(failures).toEqual([]);
  expect(decoded, 'inputs that were not refused').toBeGreaterThan(0);
  expect(anyPollution()).toBeUndefined();
});
