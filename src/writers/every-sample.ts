import { PerfconvError } from '../base/problems/errors.ts';
import type { Profile } from '../profile/profile.ts';
import type { SampleTable } from '../profile/sample-table.ts';

/**
 * The single samples of a profile, for formats that show them one by one.
 * @param format what the message calls the format
 * @throws PerfconvError `usage` when the profile was read without them
 */
export function everySample({ samples }: Profile, format: string): SampleTable {
  if (samples === undefined) throw new PerfconvError('usage', `${format} needs every sample, and the profile holds only totals`);
  return samples;
}
