/** From here to −1 as signed numbers, and below 2^53, addresses are exact as doubles: user space, and kernels of x86, Arm, RISC-V, s390x … */
const LEAST_PLAIN = -(2 ** 52);

/**
 * The upper 16 bits of the regions where other machines' kernels and their modules are, in order: PowerPC (0xc000, 0xc008, 0xc00a, 0xd000), IA-64 (0xa000,
 * 0xe000), MIPS (0x9000, 0x9800, 0xa800, 0xb000). Source: their kernels' documentation of memory layouts; kallsyms of such machines in public bug reports.
 */
const FAR_REGIONS = [0x9000, 0x9800, 0xa000, 0xa800, 0xb000, 0xc000, 0xc008, 0xc00a, 0xd000, 0xe000];
const FAR_REGION_BYTES = 2 ** 48;
/** Where those regions are moved, one after another: no kernel has code from here to {@link LEAST_PLAIN}. */
const FAR_START = -(2 ** 53);
const FAR_END = FAR_START + FAR_REGIONS.length * FAR_REGION_BYTES;

const WORD = 0x1_0000_0000;

/** The lowest 64-bit address as a signed number, where the upper half of the address space begins. */
export const LEAST_ADDRESS = -(2 ** 63);

/**
 * A 64-bit address as a signed double, so that addresses of the upper half are negative. Doubles from 2^53 on have gaps: the regions of kernels there are moved
 * to where there are none; their order, and distances within a region, stay the same. All code that makes an address from words or digits uses this function;
 * {@link highWord} undoes it.
 */
export function addressOf(hi: number, lo: number): number {
  // hot
  const address = (hi | 0) * WORD + (lo >>> 0);
  if (address >= LEAST_PLAIN) return address;
  const region = FAR_REGIONS.indexOf(hi >>> 16);
  return region < 0 ? address : FAR_START + region * FAR_REGION_BYTES + (hi & 0xffff) * WORD + (lo >>> 0);
}

/** {@link addressOf} of an unsigned 64-bit number. */
export function addressOfBig(word: bigint): number {
  return addressOf(Number((word >> 32n) & 0xffffffffn), Number(word & 0xffffffffn));
}

/** The upper 32 bits of an address from {@link addressOf}; `address >>> 0` are the lower ones. */
export function highWord(address: number): number {
  if (address < FAR_START || address >= FAR_END) return Math.floor(address / WORD) >>> 0;
  const offset = address - FAR_START;
  const region = Math.floor(offset / FAR_REGION_BYTES);
  return ((FAR_REGIONS[region] << 16) | (Math.floor(offset / WORD) & 0xffff)) >>> 0;
}
