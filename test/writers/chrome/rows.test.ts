import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { overlapRows } from '../../../src/writers/chrome/rows.ts';
import type { EventScale } from '../../../src/writers/chrome/stack-timeline.ts';
import { buildProfile } from '../../support/builders/profiles/build-profile.ts';

const CLOCK: EventScale = { kind: 'clock', intervalNs: 1000, nsPerPeriod: 1 };

/** The row of each sample, given as [time, thread] with a period of 1000 ns. */
function rowsOf(parts: readonly (readonly [timeNs: number, thread: number])[], isOneAtATime = false, scale = CLOCK) {
  const samples = buildProfile(parts.map(([timeNs, thread]) => ({ timeNs, period: 1000, pid: 1 + thread, stack: ['main'] }))).samples!;
  const rows = Uint32Array.from(parts.keys());
  return overlapRows(samples, rows, scale, { subjectOf: (row) => parts[row][1], isOneAtATime });
}

describe('chrome: rows of several threads', () => {
  it('a thread stays in its row, and another one that runs at the same time has its own', () => {
    const { rowOf, count } = rowsOf([
      [0, 0],
      [300, 1],
      [1000, 0],
      [1300, 1],
      [5000, 1],
      [5300, 0],
    ]);
    expect([...rowOf]).toEqual([0, 1, 0, 1, 1, 0]);
    expect(count).toBe(2);
  });

  it('the first row is the fullest: a thread moves there when it resumes after a pause, but not while it keeps running', () => {
    // The main thread starts a worker, and waits for the others until its own is done.
    const pausing = rowsOf([
      [0, 0],
      [300, 1],
      [1300, 1],
      [9000, 1],
      [10_000, 1],
      [20_000, 0],
    ]);
    expect([...pausing.rowOf]).toEqual([0, 1, 1, 0, 0, 0]);
    // A worker that never pauses keeps its row, which becomes the first one.
    const running = Array.from({ length: 9 }, (_, i): [number, number] => [300 + i * 1000, 1]);
    const { rowOf, count } = rowsOf([[0, 0], ...running, [9000, 0]]);
    expect([...rowOf]).toEqual([1, ...running.map(() => 0), 1]);
    expect(count).toBe(2);
  });

  it('early samples of one CPU, and occurrences, need no second row', () => {
    const early = [
      [0, 0],
      [100, 1],
      [2000, 0],
    ] as const;
    expect(rowsOf(early).count).toBe(2);
    expect(rowsOf(early, true).count).toBe(1);
    expect(rowsOf(early, false, { kind: 'occurrences', intervalNs: 0, nsPerPeriod: 0 }).count).toBe(1);
  });

  it('samples in one row never overlap by more than jitter', () => {
    const part = fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 5 }));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 80 }), (parts) => {
        let timeNs = 0;
        const timed = parts.map(([gap, thread]): readonly [number, number] => {
          timeNs += gap;
          return [timeNs, thread];
        });
        const { rowOf, count } = rowsOf(timed);
        const ends = new Float64Array(count);
        for (const [i, [time, thread]] of timed.entries()) {
          const isSame = i > 0 && timed.slice(0, i).findLast((_, j) => rowOf[j] === rowOf[i])?.[1] === thread;
          expect(ends[rowOf[i]]).toBeLessThanOrEqual(time + (isSame ? 4000 : 500));
          ends[rowOf[i]] = Math.max(ends[rowOf[i]], time) + 1000;
        }
      }),
    );
  });
});
