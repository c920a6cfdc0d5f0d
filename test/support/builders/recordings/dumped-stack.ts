import type { AttrSpec, SampleFields } from './perf-encoder.ts';

/** BP, SP and IP of x86-64. Source: the kernel's asm/perf_regs.h. */
const REGS = (1n << 6n) | (1n << 7n) | (1n << 8n);

/** A clock whose samples have user registers and stacks, as `perf record --call-graph dwarf` asks for them. */
export const DUMPING: AttrSpec = {
  name: 'cpu-clock',
  period: 1n,
  ids: [7n],
  sampleType: ['ip', 'tid', 'time', 'callchain', 'regsUser', 'stackUser'],
  sampleRegsUser: REGS,
  sampleStackUser: 8192,
  flags: ['sampleIdAll', 'commExec'],
};

/**
 * Registers and stack of a thread whose functions keep frame pointers.
 * @param ips leaf first; `heldFrames` of them can be found in the dump (default: all), which goes on for `bytesAfter` bytes after the last
 */
export function dumpedStack(ips: readonly bigint[], heldFrames = ips.length, bytesAfter = 0): Pick<SampleFields, 'regsUser' | 'stackUser'> {
  const sp = 0x7ffd_0000_1000n;
  const data = new DataView(new ArrayBuffer(ips.length * 16 + bytesAfter));
  for (let i = 0; i < ips.length; i++) {
    const isLast = i === ips.length - 1;
    data.setBigUint64(i * 16, isLast ? 0n : sp + BigInt((i + 1) * 16), true);
    data.setBigUint64(i * 16 + 8, isLast ? 0n : ips[i + 1], true);
  }
  const sizeBytes = heldFrames === ips.length ? data.byteLength : (heldFrames - 1) * 16;
  return { regsUser: { abi: 2, regs: [sp, sp, ips[0]] }, stackUser: { data: new Uint8Array(data.buffer, 0, sizeBytes), dynSize: BigInt(sizeBytes) } };
}
