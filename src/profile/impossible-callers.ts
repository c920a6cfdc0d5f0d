import { CPUMODE_UNKNOWN, CPUMODE_USER, type LocationTable } from './location-table.ts';

/** No program has code below this: the first page stays unmapped, so that null pointers are caught. */
const LEAST_CODE = 4096;
/**
 * The high word of an address from which on no 64-bit machine lets programs have code: 2^56, the largest user half there is (x86-64 with five levels, riscv
 * with sv57).
 */
const HIGH_LIMIT = 1 << 24;

/**
 * Whether a callchain has an address outside of all mappings as a return address of user code, where no call can have left it. Then what led to it was not a
 * frame pointer, and neither is what comes after it.
 */
export function isImpossibleCaller(locations: LocationTable, location: number): boolean {
  if (locations.mapping(location) >= 0 || !locations.isReturnAddress(location)) return false;
  const cpumode = locations.cpumode(location);
  if (cpumode !== CPUMODE_USER && cpumode !== CPUMODE_UNKNOWN) return false;
  const high = locations.addressHi(location);
  return high >= HIGH_LIMIT || (high === 0 && locations.addressLo(location) < LEAST_CODE);
}
