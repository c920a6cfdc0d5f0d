import type { Profile } from '../profile/profile.ts';
import type { SessionResult } from '../session/session.ts';

/** Maps of 32-bit kernels that go on to the end of the 64-bit address space are two ranges, see KernelMaps, of which the DSO has the upper half. */
const HALF_OF_ADDRESS_SPACE = 2 ** 63;

/**
 * Takes kernel code beyond the recorded map of the kernel out of its mapping, unless the kernel's symbols were found: perf 6.1 then does not know that the
 * kernel goes on there (observed). Nothing is interned as a location after that.
 */
export function unmapUnrecordedKernelCode({ locations, mappings }: Profile, { dsos }: SessionResult): void {
  for (let location = 0; location < locations.size; location++) {
    const mapping = locations.mapping(location);
    if (mapping < 0) continue;
    const { kind, start, limit } = dsos[mapping];
    if (kind !== 'kernel' || mappings[mapping].hasSymbols || limit - start >= HALF_OF_ADDRESS_SPACE) continue;
    const address = locations.address(location);
    if (address < start || address >= limit) locations.unmap(location);
  }
}
