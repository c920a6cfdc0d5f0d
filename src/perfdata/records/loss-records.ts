import type { ByteView } from '../../base/bytes/byte-view.ts';
import { RecordLayout } from '../../base/bytes/record-layout.ts';

/** PERF_RECORD_LOST. `id` is the event's. */
export const LOST = new RecordLayout({ id: 'u64', lost: 'u64' });

/** PERF_RECORD_LOST_SAMPLES. */
export const LOST_SAMPLES = new RecordLayout({ lost: 'u64' });

/** PERF_RECORD_LOST: the ring buffer was full. `lost` counts records of any kind. */
export interface LostRecord {
  readonly id: bigint;
  readonly lost: bigint;
  /** The two words of `lost`. */
  readonly lostLo: number;
  readonly lostHi: number;
}

export function readLost(view: ByteView, at: number): LostRecord {
  return { id: view.big(at + LOST.at.id), ...lostWords(view, at + LOST.at.lost) };
}

/** PERF_RECORD_LOST_SAMPLES: how many samples the hardware or the kernel dropped. */
export function readLostSamples(view: ByteView, at: number): Omit<LostRecord, 'id'> {
  return lostWords(view, at + LOST_SAMPLES.at.lost);
}

function lostWords(view: ByteView, at: number): Omit<LostRecord, 'id'> {
  return { lost: view.big(at), lostLo: view.lo(at), lostHi: view.hi(at) };
}
