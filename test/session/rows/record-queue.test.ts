import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordQueue } from '../../../src/session/rows/record-queue.ts';
import type { RecordRow } from '../../../src/session/rows/record-row.ts';
import { recordRow } from '../../support/builders/recordings/record-row.ts';
import { runs } from '../../support/thoroughness.ts';

/** Pushes a row whose every column follows from its number, so that a column mixed up with another row is noticed. */
function push(queue: RecordQueue, timeNs: number, nr: number): void {
  queue.push(recordRow({ timeNs, nr, ...columnsOf(nr) }), timeNs);
}

/** One row in three has a period that a double cannot hold. */
function columnsOf(nr: number): Partial<RecordRow> {
  const columns = { event: nr + 1, pid: nr + 2, tid: nr + 3, cpu: nr + 4, chain: nr + 5, period: nr + 6, ipLo: nr + 7, ipHi: nr + 8 };
  const deferred = { kernelChain: nr % 5 === 4 ? nr + 13 : -1, cookieLo: nr >= 4 ? nr + 14 : 0, cookieHi: nr >= 4 ? nr + 15 : 0 };
  return { ...columns, ...deferred, detail: nr + 9, extra: nr + 10, stackDump: nr % 2 === 0 ? nr + 12 : -1, periodRemainder: nr % 3 === 0 ? nr + 11 : 0 };
}

function expectWhole(row: RecordRow): void {
  expect(row).toMatchObject(columnsOf(row.nr));
}

describe('RecordQueue', () => {
  it('delivers everything by time, and equal times in file order, whatever the rounds', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 12 }), { maxLength: 8 }), (buffers) => {
        // Each round is what the buffers of several CPUs held, each in order, all later than two rounds before.
        const queue = new RecordQueue();
        const delivered: { timeNs: number; nr: number }[] = [];
        const deliver = (row: RecordRow): boolean => {
          expectWhole(row);
          return delivered.push({ timeNs: row.timeNs, nr: row.nr }) > 0;
        };
        const pushed: { timeNs: number; nr: number }[] = [];
        buffers.forEach((times, round) => {
          for (const time of times) {
            // A round may reach back to the previous one, but no further.
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
      { numRuns: runs(300, 80) },
    );
  });

  it('delivers the same rows in the same order, however often they are refused', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 12 }), { maxLength: 8 }),
        fc.infiniteStream(fc.boolean()),
        (rounds, refuses) => {
          const deliveredBy = (mayRefuse: boolean): number[] => {
            const queue = new RecordQueue();
            const delivered: number[] = [];
            const deliver = (row: RecordRow): boolean => {
              expectWhole(row);
              return mayRefuse && refuses.next().value ? false : delivered.push(row.nr) > 0;
            };
            const settle = (isDone: boolean): void => {
              if (!isDone) while (!queue.resume(deliver));
            };
            let nr = 0;
            for (const times of rounds) {
              // Some come later than they should.
              for (const time of times) push(queue, time * 5, nr++);
              settle(queue.finishRound(deliver));
            }
            settle(queue.finish(deliver));
            expect([queue.size, queue.heldObjectBytes]).toEqual([0, 0]);
            return delivered;
          };
          expect(deliveredBy(true)).toEqual(deliveredBy(false));
        },
      ),
      { numRuns: runs(300, 80) },
    );
  });

  it('keeps what is newer than the last round but one', () => {
    const queue = new RecordQueue();
    const seen: number[] = [];
    const deliver = (row: RecordRow): boolean => seen.push(row.timeNs) > 0;
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

  it('notices a writer that breaks its rounds, and still delivers its records', () => {
    const queue = new RecordQueue();
    const seen: number[] = [];
    const deliver = (row: RecordRow): boolean => seen.push(row.timeNs) > 0;
    push(queue, 10, 0);
    queue.finishRound(deliver);
    push(queue, 20, 1);
    queue.finishRound(deliver);
    push(queue, 3, 2);
    queue.finish(deliver);
    expect(seen).toEqual([10, 3, 20]);
    expect(queue.lateCount).toBe(1);
  });

  it('keeps which of its records have no time, also while it grows, and of those that stay for the next round', () => {
    const queue = new RecordQueue();
    const seen: number[] = [];
    const lacksTime = (nr: number): boolean => nr % 3 === 1;
    const deliver = (row: RecordRow): boolean => {
      expect(row.timeNs).toBe(lacksTime(row.nr) ? Number.NaN : row.nr);
      return seen.push(row.nr) > 0;
    };
    for (let nr = 0; nr < 10_000; nr++) {
      queue.push(recordRow({ nr, timeNs: lacksTime(nr) ? Number.NaN : nr, ...columnsOf(nr) }), nr);
      if (nr % 3001 === 3000) queue.finishRound(deliver);
    }
    queue.finish(deliver);
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, nr) => nr));
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
      return ++count > 0;
    });
    expect(count).toBe(times.length);
  });

  it.each([{ stackDump: 1 }, { branches: 1 }, { timeNs: Number.NaN }, { kernelChain: 1, cookieLo: 1 }])(
    'counts more bytes for records that have %o',
    (fields) => {
      const [plain, other] = [new RecordQueue(), new RecordQueue()];
      for (let nr = 0; nr < 10; nr++) {
        plain.push(recordRow({ nr, timeNs: nr }), nr);
        other.push(recordRow({ nr, timeNs: nr, ...fields }), nr);
      }
      expect(other.heldBytes).toBeGreaterThan(plain.heldBytes);
    },
  );

  it('counts nothing for what it has delivered', () => {
    const queue = new RecordQueue();
    for (let nr = 0; nr < 6; nr++) push(queue, nr, nr);
    expect([queue.heldBytes > 0, queue.heldObjectBytes > 0]).toEqual([true, true]);
    queue.finish(() => true);
    expect([queue.heldBytes, queue.heldObjectBytes]).toEqual([0, 0]);
  });
});
