import type { Diagnostics } from '../base/problems/diagnostics.ts';
import { CPUMODE_USER } from '../profile/location-table.ts';
import type { Profile } from '../profile/profile.ts';

/** Fewer samples are chance: some processes end before perf has listed their maps. */
const LEAST_SAMPLES = 10;
/** The least share of all samples that is worth a warning. */
const NOTABLE_SHARE = 0.05;

/** Reports samples of user code that no recorded map covers (`unmapped-code`): nothing can name it. Where processes have no number, that has been reported. */
export function reportUnmappedCode({ locations, stacks, totals }: Profile, diagnostics: Diagnostics): void {
  if (diagnostics.count('unseen-processes') > 0) return;
  let samples = 0;
  let unmapped = 0;
  for (let row = 0; row < totals.size; row++) {
    // hot
    const count = totals.samples(row);
    samples += count;
    const stack = totals.stack(row);
    if (stack < 0) continue;
    const location = stacks.location(stack);
    // What stands for a place that is not known, as `[off-CPU]` does, has a name but no map.
    const isUnnamed = locations.mapping(location) < 0 && locations.lineCount(location) === 0;
    if (isUnnamed && locations.cpumode(location) === CPUMODE_USER) unmapped += count;
  }
  if (unmapped < LEAST_SAMPLES || unmapped < NOTABLE_SHARE * samples) return;
  diagnostics.set(
    'unmapped-code',
    'warning',
    `${((100 * unmapped) / samples).toFixed(0)} % of the samples are of user code that is in no recorded map and has no names: records of what was mapped were lost or overwritten, or perf did not write them, as for processes that ended too early, or with some values of --synth`,
  );
}
