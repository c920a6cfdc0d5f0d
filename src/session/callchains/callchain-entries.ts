import type { ByteView } from '../../base/bytes/byte-view.ts';
import * as abi from '../../perfdata/abi/constants.ts';

// Entries of callchains: 64-bit words that are addresses, or context markers, which say to what the addresses after them belong.

/** High word of all markers. */
export const MARKER_HIGH = 0xffff_ffff;
/** Low word of the marker of user code. */
export const USER_MARKER = abi.PERF_CONTEXT_USER >>> 0;

/** Whether an entry is a context marker: as u64, −4095 or more. */
export function isMarker(lo: number, hi: number): boolean {
  return hi === MARKER_HIGH && lo >= abi.PERF_CONTEXT_MAX >>> 0;
}

/** Number of entries that stand for a user part in a separate record: PERF_CONTEXT_USER_DEFERRED, and the cookie by which that is found. */
export const COOKIE_ENTRIES = 2;

/** Whether the `count` entries at `offset` end with a cookie. */
export function endsWithCookie(view: ByteView, offset: number, count: number): boolean {
  const marker = offset + (count - COOKIE_ENTRIES) * 8;
  return count >= COOKIE_ENTRIES && view.hi(marker) === MARKER_HIGH && (view.lo(marker) | 0) === abi.PERF_CONTEXT_USER_DEFERRED;
}

/** Whether the `count` entries at `offset` begin with an address, with nothing but markers of known contexts before it. */
export function beginsWithAddress(view: ByteView, offset: number, count: number): boolean {
  // hot
  for (let at = offset, end = offset + count * 8; at < end; at += 8) {
    const lo = view.lo(at);
    if (!isMarker(lo, view.hi(at))) return true;
    // What follows PERF_CONTEXT_USER_DEFERRED is a cookie.
    if (cpumodeOfMarker(lo) < 0 || (lo | 0) === abi.PERF_CONTEXT_USER_DEFERRED) return false;
  }
  return false;
}

/** Whether the `count` entries at `offset` begin with this address in this mode. */
export function beginsWith(lo: number, hi: number, cpumode: number, view: ByteView, offset: number, count: number): boolean {
  // hot
  if (count === 0) return false;
  const marker = view.lo(offset);
  if (!isMarker(marker, view.hi(offset))) return marker === lo && view.hi(offset) === hi;
  return count > 1 && cpumodeOfMarker(marker) === cpumode && view.lo(offset + 8) === lo && view.hi(offset + 8) === hi;
}

/** Low word of the marker of a cpumode (perf_event.h, PERF_RECORD_MISC_* and PERF_CONTEXT_*). */
export function markerOf(cpumode: number): number {
  switch (cpumode) {
    case abi.PERF_RECORD_MISC_KERNEL:
      return abi.PERF_CONTEXT_KERNEL >>> 0;
    case abi.PERF_RECORD_MISC_USER:
      return abi.PERF_CONTEXT_USER >>> 0;
    case abi.PERF_RECORD_MISC_HYPERVISOR:
      return abi.PERF_CONTEXT_HV >>> 0;
    case abi.PERF_RECORD_MISC_GUEST_KERNEL:
      return abi.PERF_CONTEXT_GUEST_KERNEL >>> 0;
    case abi.PERF_RECORD_MISC_GUEST_USER:
      return abi.PERF_CONTEXT_GUEST_USER >>> 0;
    default:
      return UNKNOWN_MARKER;
  }
}

/** A value that is in the range of markers, but that the kernel does not use: "mode not known". */
const UNKNOWN_MARKER = abi.PERF_CONTEXT_MAX >>> 0;

/** The cpumode that a marker sets, 0 for "not known", −1 for a value that the kernel never writes. */
export function cpumodeOfMarker(lo: number): number {
  switch (lo | 0) {
    case abi.PERF_CONTEXT_KERNEL:
      return abi.PERF_RECORD_MISC_KERNEL;
    case abi.PERF_CONTEXT_USER:
    case abi.PERF_CONTEXT_USER_DEFERRED:
      return abi.PERF_RECORD_MISC_USER;
    case abi.PERF_CONTEXT_HV:
      return abi.PERF_RECORD_MISC_HYPERVISOR;
    case abi.PERF_CONTEXT_GUEST:
    case abi.PERF_CONTEXT_GUEST_KERNEL:
      return abi.PERF_RECORD_MISC_GUEST_KERNEL;
    case abi.PERF_CONTEXT_GUEST_USER:
      return abi.PERF_RECORD_MISC_GUEST_USER;
    case abi.PERF_CONTEXT_MAX:
      return abi.PERF_RECORD_MISC_CPUMODE_UNKNOWN;
    default:
      return -1;
  }
}
