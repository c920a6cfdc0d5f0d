import type { Profile } from '../../src/profile/profile.ts';
import { buildProfile } from './builders/profiles/build-profile.ts';

/** A profile of addresses without functions in one file, and how often the file's path was read so far. */
export function countingPaths(addresses: number, path: string): { readonly profile: Profile; readonly pathReads: () => number } {
  const samples = Array.from({ length: addresses }, (_, i) => ({
    timeNs: i * 1000,
    stack: [{ name: '', dso: path, unresolved: true, address: 0x1000 + i }],
  }));
  const profile = buildProfile(samples);
  let reads = 0;
  const mappings = profile.mappings.map((mapping) => ({
    ...mapping,
    get name() {
      reads++;
      return mapping.name;
    },
  }));
  return { profile: { ...profile, mappings }, pathReads: () => reads };
}
