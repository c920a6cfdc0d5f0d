import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { SpeOperation } from '../../spe/operation.ts';
import type { RecordingClock } from '../events/clock.ts';
import type { AuxTraces } from './aux-traces.ts';
import { BufferReader } from './buffer-reader.ts';
import type { TraceClock } from './trace-clock.ts';

const CHUNK_BYTES = 64 << 10;

/** The time of an operation, relative to the clock's base; NaN if it has none. */
export function operationTime({ hasTime, timeLo, timeHi }: SpeOperation, traceClock: TraceClock, clock: RecordingClock): number {
  // hot
  if (!hasTime) return Number.NaN;
  traceClock.convert(timeLo, timeHi);
  return clock.relative(traceClock.lo, traceClock.hi);
}

/**
 * Finds the times of all operations in a recording's traces.
 * @param see called with each, see {@link operationTime}
 */
export async function visitTraceTimes(
  { buffers, traceClock }: AuxTraces,
  clock: RecordingClock,
  see: (timeNs: number) => void,
  diagnostics: Diagnostics,
): Promise<void> {
  if (traceClock === undefined) return;
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (const buffer of buffers) {
    const reader = new BufferReader(buffer, chunk, diagnostics);
    while (await reader.read()) {
      while (reader.next()) see(operationTime(reader.operation, traceClock, clock));
    }
  }
}
