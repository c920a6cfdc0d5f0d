import type { ByteView } from '../../base/bytes/byte-view.ts';

/** Size of struct perf_branch_entry: from, to, flags. Counters are in a separate list after all entries. */
export const BRANCH_ENTRY_BYTES = 24;

/** What the hardware says about a branch; false or 0 where it says nothing. */
export interface BranchFlags {
  readonly mispred: boolean;
  readonly predicted: boolean;
  readonly inTx: boolean;
  readonly abort: boolean;
  /** Since the previous branch. */
  readonly cycles: number;
  /** PERF_BR_*, PERF_BR_SPEC_*, PERF_BR_NEW_*, PERF_BR_PRIV_*. */
  readonly type: number;
  readonly spec: number;
  readonly newType: number;
  readonly priv: number;
}

/**
 * The low half of a branch's flags as a little-endian machine has it. They are C bit fields, which big-endian compilers assign from the high end of the word
 * on. Source: perf_event.h, struct perf_branch_entry: mispred, predicted, in_tx, abort, cycles:16, type:4, spec:2, new_type:4, priv:3, of which one bit is in
 * the high half.
 * @param at offset of the flags
 */
export function branchFlagsLo(view: ByteView, at: number): number {
  // hot
  if (view.littleEndian) return view.lo(at);
  const first = view.hi(at);
  const bits = (fromTop: number, count: number): number => (first >>> (32 - fromTop - count)) & ((1 << count) - 1);
  const single = bits(0, 1) | (bits(1, 1) << 1) | (bits(2, 1) << 2) | (bits(3, 1) << 3);
  const privLo = (bits(31, 1) << 1) | (view.lo(at) >>> 31);
  return (single | (bits(4, 16) << 4) | (bits(20, 4) << 20) | (bits(24, 2) << 24) | (bits(26, 4) << 26) | (privLo << 30)) >>> 0;
}

/** Reads all of a branch's flags. @param at their offset */
export function readBranchFlags(view: ByteView, at: number): BranchFlags {
  const lo = branchFlagsLo(view, at);
  const bits = (start: number, count: number): number => (lo >>> start) & ((1 << count) - 1);
  const privTop = view.littleEndian ? view.hi(at) & 1 : (view.hi(at) >>> 1) & 1;
  return {
    mispred: bits(0, 1) === 1,
    predicted: bits(1, 1) === 1,
    inTx: bits(2, 1) === 1,
    abort: bits(3, 1) === 1,
    cycles: bits(4, 16),
    type: bits(20, 4),
    spec: bits(24, 2),
    newType: bits(26, 4),
    priv: bits(30, 2) | (privTop << 2),
  };
}
