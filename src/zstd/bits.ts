import { zstdError } from './frames.ts';

/**
 * Where a stream that is read backward begins: the highest set bit of its last byte only marks the end.
 * @throws PerfconvError `damaged` when the stream is empty or the mark is missing
 */
export function lastBitOf(bytes: Uint8Array, start: number, end: number): number {
  const last = end > start ? bytes[end - 1] : 0;
  if (last === 0) throw zstdError('a bit stream has no end mark');
  return end * 8 - 8 + (31 - Math.clz32(last));
}

/** `count` bits, at most 25, from bit `at` on. */
export function bitsAt(view: DataView, at: number, count: number): number {
  return (view.getUint32(at >>> 3, true) >>> (at & 7)) & ((1 << count) - 1);
}
