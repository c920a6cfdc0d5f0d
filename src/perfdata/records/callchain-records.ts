import type { ByteView } from '../../base/bytes/byte-view.ts';
import { list, RecordLayout } from '../../base/bytes/record-layout.ts';

/**
 * PERF_RECORD_CALLCHAIN_DEFERRED: the user part of a thread's callchain, recorded when the thread was about to return to user code. It belongs to all samples
 * of the thread whose callchains end with PERF_CONTEXT_USER_DEFERRED and the same cookie. Source: perf_event.h, enum perf_event_type.
 */
export const CALLCHAIN_DEFERRED = new RecordLayout({ cookie: 'u64', ips: list('u64', 'u64') });

const COUNT_BYTES = 8;
const IP_BYTES = 8;
const FIRST_IP = CALLCHAIN_DEFERRED.at.ips + COUNT_BYTES;

/** How many bytes the record needs, including its header. @param at offset of its header @param end just after its own fields */
export function deferredCallchainBytes(view: ByteView, at: number, end: number): number {
  return end - at < FIRST_IP ? FIRST_IP : FIRST_IP + view.u64(at + CALLCHAIN_DEFERRED.at.ips) * IP_BYTES;
}

/** Where the parts of a whole record are in its view. @param at offset of its header */
export function deferredCallchain(view: ByteView, at: number): { readonly cookie: number; readonly ips: number; readonly count: number } {
  return { cookie: at + CALLCHAIN_DEFERRED.at.cookie, ips: at + FIRST_IP, count: view.u64(at + CALLCHAIN_DEFERRED.at.ips) };
}
