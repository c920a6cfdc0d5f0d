import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RECORD_HEADER_BYTES } from '../../base/bytes/record-layout.ts';
import { SIMPLEPERF_TYPE_START } from '../../simpleperf/constants.ts';
import * as abi from '../abi/constants.ts';

/** The size of a record, from the words of its header. simpleperf's own records have no misc, but a size of 32 bits, high half first. */
export function recordSize(type: number, misc: number, size: number): number {
  return type >= SIMPLEPERF_TYPE_START ? misc * 0x1_0000 + size : size;
}

/** The size in the header at `at`. */
export function recordSizeAt(view: ByteView, at: number): number {
  return recordSize(view.u32(at), view.u16(at + 4), view.u16(at + 6));
}

/** Bits of misc that no kernel sets in a record; perf's own records have none at all, except for build ids. */
const UNUSED_MISC_BITS = 0x0ff8;
/** The largest cpumode that there is. */
const LAST_CPUMODE = abi.PERF_RECORD_MISC_GUEST_USER;

/** Minimum sizes of the kernel's records, by type, header included. Source: perf_event.h. */
const KERNEL_RECORD_BYTES = [0, 40, 24, 16, 24, 32, 32, 24, 16, 8, 64, 32, 16, 16, 8, 16, 24, 24, 16, 24, 24, 16, 24];

/**
 * Whether a record's header may be at `at`, judging by all that is known about headers: for a search in bytes that may be anything. Its eight bytes must be
 * there.
 */
export function looksLikeRecord(view: ByteView, at: number): boolean {
  const type = view.u32(at);
  const misc = view.u16(at + 4);
  const size = view.u16(at + 6);
  if (abi.recordTypeNameOf(type) === undefined) return false;
  if (type < abi.PERF_RECORD_USER_TYPE_START) {
    return size >= KERNEL_RECORD_BYTES[type] && size % 8 === 0 && (misc & UNUSED_MISC_BITS) === 0 && (misc & abi.PERF_RECORD_MISC_CPUMODE_MASK) <= LAST_CPUMODE;
  }
  if (type >= SIMPLEPERF_TYPE_START) return recordSize(type, misc, size) >= RECORD_HEADER_BYTES;
  if (misc !== 0 && type !== abi.PERF_RECORD_HEADER_BUILD_ID) return false;
  return type === abi.PERF_RECORD_FINISHED_ROUND ? size === RECORD_HEADER_BYTES : size >= RECORD_HEADER_BYTES;
}
