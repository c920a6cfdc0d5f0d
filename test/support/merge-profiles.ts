import type { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { ProfileMerger } from '../../src/profile/merge.ts';
import type { Profile } from '../../src/profile/profile.ts';

/** Merges profiles of several recordings that are all in memory. @throws PerfconvError `usage` when there is none */
export function mergeProfiles(inputs: Iterable<{ readonly profile: Profile; readonly label: string }>, diagnostics?: Diagnostics): Profile {
  const merger = new ProfileMerger(diagnostics);
  for (const { profile, label } of inputs) merger.add(profile, label);
  return merger.finish();
}
