import { expect, it } from 'vitest';
import { RecordOrder } from '../../../src/session/rows/record-order.ts';
import { RecordRow } from '../../../src/session/rows/record-row.ts';

it('a directory delivers what all of its files have been read beyond, so that the rest of them need not wait in memory', () => {
  const delivered: number[] = [];
  const order = new RecordOrder({ isInFileOrder: false, partCount: 2 }, ({ timeNs }) => delivered.push(timeNs) > 0);
  const row = new RecordRow();
  const read = (...times: number[]): void => {
    for (const time of times) {
      row.setRecord(0, time, -1, -1, -1);
      order.add(row);
    }
  };
  read(10, 20, 30);
  order.endPiece(0, false);
  expect(delivered).toEqual([]);
  read(15, 25);
  order.endPiece(1, true);
  read(40);
  order.endPiece(0, false);
  // What is read next may still be a little older than the newest of this piece.
  expect(delivered).toEqual([]);
  read(45);
  order.endPiece(0, false);
  expect([delivered, order.queue.size]).toEqual([[10, 15, 20, 25, 30, 40], 1]);
  read(50);
  order.endPiece(0, true);
  order.finish();
  expect(delivered).toEqual([10, 15, 20, 25, 30, 40, 45, 50]);
});

it('a directory whose records are not accepted is blocked, until they are', () => {
  let accepts = false;
  const order = new RecordOrder({ isInFileOrder: false, partCount: 1 }, () => accepts);
  const row = new RecordRow();
  row.setRecord(0, 10, -1, -1, -1);
  order.add(row);
  order.endPiece(0, true);
  expect(order.isBlocked).toBe(true);
  accepts = true;
  order.resume();
  expect([order.isBlocked, order.queue.size]).toEqual([false, 0]);
});
