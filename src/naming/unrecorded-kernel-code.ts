import type { Profile } from '../profile/profile.ts';
import type { SessionResult } from '../session/session.ts';

/**
 * Takes kernel code beyond the recorded map of the kernel out of its mapping, unless the kernel's symbols were found: perf 6.1 then does not know that the
 * kernel goes on there (observed). Nothing is interned as a location after that.
 */
export function unmapUnrecordedKernelCode({ locations, mappings }: Profile, { dsos }: SessionResult): void {
  for (let location = 0; location < locations.size; location++) {
    const mapping = locations.mapping(location);
    if (mapping < 0) continue;
    const { kind, start, limit } = dsos[mapping];
    const address = locations.address(location);
    if (kind === 'kernel' && !mappings[mapping].hasSymbols && (address < start || address >= limit)) locations.unmap(location);
  }
}
