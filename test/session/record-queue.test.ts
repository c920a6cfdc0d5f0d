import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type QueuedRow, RecordQueue } from '../../src/session/record-queue.ts';

/** Pushes a row whose every column follows from its number, so that a column mixed up with another row shows. */
function push(queue: RecordQueue, timeNs: number, nr: number): void {
  queue.push(timeNs, nr, nr + 1, nr + 2, nr + 3, nr + 4, nr + 5, nr + 6, nr + 7, nr + 8, nr + 9);
}

function expectWhole(row: QueuedRow): void {
  const { nr } = row;
  expect([row.event, row.pid, row.tid, row.cpu, row.chain, row.period, row.ipLo, row.ipHi, row.detail]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => nr + i));
}

describe('RecordQueue', () => {
  it('delivers everything by time, equal times in file order, whatever the rounds', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 12 }), { maxLength: 8 }), (buffers) => {
        // Each round: what several CPUs' buffers held, each in order, all later than two rounds before.
        const queue = new RecordQueue();
        const delivered: { timeNs: number; nr: number }[] = [];
        const deliver = (row: QueuedRow): void => {
          expectWhole(row);
          delivered.push({ timeNs: row.timeNs, nr: row.nr });
        };
        const pushed: { timeNs: number; nr: number }[] = [];
        buffers.forEach((times, round) => {
          for (const time of times) {
            // A round may reach back to the one before it, not further.
            const timeNs = round * 20 + time;
            push(queue, timeNs, pushed.length);
            pushed.push({ timeNs, nr: pushed.length });
          }
          queue.finishRound(deliver);
        });
        queue.finish(deliver);
        const expected = [...pushed].sort((a, b) => a.timeNs - b.timeNs || a.nr - b.nr);
        expect(delivered).toEqual(expected);
        expect(queue.lateCount).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('waits one round: what is newer than the last round but one stays', () => {
    const queue = new RecordQueue();
    const seen: number[] = [];
    const deliver = (row: QueuedRow): void => void seen.push(row.timeNs);
    push(queue, 10, 0);
    push(queue, 5, 1);
    queue.finishRound(deliver);
    expect(seen).toEqual([]);
    push(queue, 7, 2);
    push(queue, 20, 3);
    queue.finishRound(deliver);
    expect(seen).toEqual([5, 7, 10]);
    queue.finish(deliver);
    expect(seen).toEqual([5, 7, 10, 20]);
    expect(queue.lateCount).toBe(0);
  });

  it('notices a writer that breaks its rounds, and still delivers', () => {
    const queue = new RecordQueue();
    const seen: number[] = [];
    const deliver = (row: QueuedRow): void => void seen.push(row.timeNs);
    push(queue, 10, 0);
    queue.finishRound(deliver);
    push(queue, 20, 1);
    queue.finishRound(deliver);
    push(queue, 3, 2);
    queue.finish(deliver);
    expect(seen).toEqual([10, 3, 20]);
    expect(queue.lateCount).toBe(1);
  });

  it('sorts many interleaved runs', () => {
    const queue = new RecordQueue();
    const times = Array.from({ length: 20_000 }, (_, i) => (i % 7) * 1000 + Math.floor(i / 7));
    for (const [nr, time] of times.entries()) push(queue, time, nr);
    let last = -1;
    let count = 0;
    queue.finish((row) => {
      expect(row.timeNs).toBeGreaterThanOrEqual(last);
      expect(row.timeNs).toBe(times[row.nr]);
      last = row.timeNs;
      count++;
    });
    expect(count).toBe(times.length);
  });
});
