import type { ByteView } from '../../base/bytes/byte-view.ts';
import * as abi from '../../perfdata/abi/constants.ts';
import type { SampleOffsets } from '../../perfdata/samples/sample-layout.ts';
import type { SessionEvent } from '../events/session-event.ts';

/** Whether an event is that of `perf record --off-cpu`: its samples' periods are nanoseconds that a thread was off the CPU. */
export function isPerfOffCpuEvent({ attr: { type, config }, name }: Pick<SessionEvent, 'attr' | 'name'>): boolean {
  return type === abi.PERF_TYPE_SOFTWARE && config === BigInt(abi.PERF_COUNT_SW_BPF_OUTPUT) && /^offcpu-time(?::|$)/.test(name);
}

/** Size of pid and tid, period, number of addresses. */
const FIXED_BYTES = 24;

/**
 * The sample that is in the payload of another one: who waited, how long, and the callchain. perf 6.15 and later write these, since BPF programs cannot set the
 * sample's own fields, which are those of whatever ran at that time. Source: the description of perf's commit "perf record --off-cpu: Dump off-cpu samples in
 * BPF" (tid, period, callchain, cgroup).
 */
export interface EmbeddedSample {
  readonly pid: number;
  readonly tid: number;
  readonly period: number;
  /** Offset of its addresses, and how many there are. */
  readonly ips: number;
  readonly count: number;
}

/**
 * Observed: perf 7.2. A sum that perf writes at the end has the fields of PERF_SAMPLE_TID, pid and tid. A single wait, which the BPF program writes, has one
 * word with the pid in its upper half, as bpf_get_current_pid_tgid() returns it. perf takes this for the same two fields, and so the thread for the process.
 * @param isSum whether the sample is one of the sums, whose time comes after all times
 * @returns undefined if the payload holds none
 */
export function readEmbeddedSample(view: ByteView, { raw }: SampleOffsets, isSum: boolean): EmbeddedSample | undefined {
  const size = view.u32(raw);
  const at = raw + 4;
  if (size < FIXED_BYTES) return undefined;
  const count = view.u64(at + 16);
  if (count > Math.floor((size - FIXED_BYTES) / 8)) return undefined;
  const pid = isSum ? view.i32(at) : view.hi(at) | 0;
  const tid = isSum ? view.i32(at + 4) : view.lo(at) | 0;
  return { pid, tid, period: view.u64(at + 8), ips: at + FIXED_BYTES, count };
}
