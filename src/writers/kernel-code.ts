import { CPUMODE_GUEST_KERNEL, CPUMODE_KERNEL } from '../profile/location-table.ts';
import type { Profile } from '../profile/profile.ts';

/** Whether a location is in a kernel or a kernel module, of the host or of a guest. The cpumode decides; if it does not say kernel, the mapping decides. */
export function isKernelCode({ locations, mappings }: Profile, location: number): boolean {
  const cpumode = locations.cpumode(location);
  if (cpumode === CPUMODE_KERNEL || cpumode === CPUMODE_GUEST_KERNEL) return true;
  const mapping = locations.mapping(location);
  const kind = mapping < 0 ? undefined : mappings[mapping].kind;
  return kind === 'kernel' || kind === 'module';
}
