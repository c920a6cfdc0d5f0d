import type { ByteView } from '../../bytes/byte-view.ts';

/** PERF_RECORD_LOST: the ring buffer was full. `lost` counts records of any kind. */
export interface LostRecord {
  readonly id: bigint;
  readonly lost: number;
}

export const LOST_FIXED_BYTES = 24;

export function readLost(view: ByteView, at: number): LostRecord {
  return { id: view.big(at + 8), lost: view.u64(at + 16) };
}

export const LOST_SAMPLES_FIXED_BYTES = 16;

/** PERF_RECORD_LOST_SAMPLES: how many samples the hardware or the kernel dropped. */
export function readLostSamples(view: ByteView, at: number): number {
  return view.u64(at + 8);
}
