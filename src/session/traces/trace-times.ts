import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import type { RecordingClock } from '../events/clock.ts';
import type { AuxTraces } from './aux-traces.ts';
import { BufferReader } from './buffer-reader.ts';

const CHUNK_BYTES = 64 << 10;

/**
 * Finds the times of all operations in a recording's traces.
 * @param see called with each, relative to the clock's base
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
      while (reader.next()) {
        const { hasTime, timeLo, timeHi } = reader.operation;
        if (!hasTime) continue;
        traceClock.convert(timeLo, timeHi);
        see(clock.relative(traceClock.lo, traceClock.hi));
      }
    }
  }
}
