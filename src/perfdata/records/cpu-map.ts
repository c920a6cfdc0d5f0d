import type { ByteView } from '../../base/bytes/byte-view.ts';

const PERF_CPU_MAP_CPUS = 0;
const PERF_CPU_MAP_MASK = 1;
const PERF_CPU_MAP_RANGE = 2;

/** As a u16 in a list of CPUs: any of them. */
const ANY_CPU = 0xffff;

/** Offsets after the u16 with the encoding. A mask of 64-bit words is where C aligns it: 4 bytes further on than one of 32-bit words. */
const LIST = 4;
const MASK = { 4: 6, 8: 10 } as const;
const RANGE_BYTES = 8;

/** From one CPU to another, both included. */
export interface CpuRange {
  readonly first: number;
  /** If less than `first`, there are none. */
  readonly last: number;
  /** Whether any CPU is meant, too, as with −1 in a list. */
  readonly any: boolean;
}

/** CPUs as they are written: one by one, or as a range, which is not expanded: it may name 65,536 CPUs in 8 bytes. Exactly one of the two is there. */
export interface CpuMap {
  /** −1 means any CPU. */
  readonly cpus?: readonly number[];
  readonly cpuRange?: CpuRange;
}

/**
 * Reads the CPUs of CPU_MAP and EVENT_UPDATE, in whichever of the three ways they are written: a list, a bit mask (of 32-bit
 * or 64-bit words), a range.
 * Source: perf 6.1's own files, and the dumps in the discussion of the record's alignment on linux-perf-users.
 * @param at offset of the number of the encoding; `end` just after the record
 * @returns what is wrong, as the end of a sentence, if they do not fit
 */
export function readCpuMap(view: ByteView, at: number, end: number): CpuMap | string {
  if (at + LIST > end) return `CPU map of ${LIST} bytes overruns its ${end - at} bytes`;
  const encoding = view.u16(at);
  switch (encoding) {
    case PERF_CPU_MAP_CPUS:
      return listed(view, at, end);
    case PERF_CPU_MAP_MASK:
      return masked(view, at, end);
    case PERF_CPU_MAP_RANGE:
      return inRange(view, at, end);
    default:
      return `CPU map has an unknown encoding (${encoding})`;
  }
}

function listed(view: ByteView, at: number, end: number): CpuMap | string {
  const count = view.u16(at + 2);
  if (at + LIST + count * 2 > end) return `CPU map of ${count} CPUs overruns its ${end - at} bytes`;
  const cpus = Array.from({ length: count }, (_, i) => {
    const cpu = view.u16(at + LIST + i * 2);
    return cpu === ANY_CPU ? -1 : cpu;
  });
  return { cpus };
}

function masked(view: ByteView, at: number, end: number): CpuMap | string {
  if (at + 6 > end) return `CPU map of 6 bytes overruns its ${end - at} bytes`;
  const count = view.u16(at + 2);
  const wordBytes = view.u16(at + 4);
  if (wordBytes !== 4 && wordBytes !== 8) return `CPU map has words of ${wordBytes} bytes`;
  const start = at + MASK[wordBytes];
  if (start + count * wordBytes > end) return `CPU mask of ${count} words overruns its ${end - at} bytes`;
  const cpus: number[] = [];
  const wordBits = wordBytes * 8;
  for (let i = 0; i < count; i++) {
    const word = start + i * wordBytes;
    for (let bit = 0; bit < wordBits; bit++) {
      const half = wordBytes === 4 ? view.u32(word) : bit < 32 ? view.lo(word) : view.hi(word);
      if (((half >>> (bit & 31)) & 1) === 1) cpus.push(i * wordBits + bit);
    }
  }
  return { cpus };
}

/** `{ u8 any_cpu; u8 pad; u16 start_cpu; u16 end_cpu }` */
function inRange(view: ByteView, at: number, end: number): CpuMap | string {
  if (at + RANGE_BYTES > end) return `CPU range of ${RANGE_BYTES} bytes overruns its ${end - at} bytes`;
  return { cpuRange: { first: view.u16(at + 4), last: view.u16(at + 6), any: view.u8(at + 2) !== 0 } };
}
