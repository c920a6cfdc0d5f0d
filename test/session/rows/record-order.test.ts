import { expect, it } from 'vitest';
import { RecordOrder } from '../../../src/session/rows/record-order.ts';
import { RecordRow } from '../../../src/session/rows/record-row.ts';

it('a directory delivers what all of its files have been read beyond, so that the rest of them need not wait in memory', () => {
  const delivered: number[] = [];
  const order = new RecordOrder({ isInFileOrder: false, keepsUntimedInPlace: true, partCount: 2 }, ({ timeNs }) => delivered.push(timeNs) > 0);
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
  const order = new RecordOrder({ isInFileOrder: false, keepsUntimedInPlace: true, partCount: 1 }, () => accepts);
  const row = new RecordRow();
  row.setRecord(0, 10, -1, -1, -1);
  order.add(row);
  order.endPiece(0, true);
  expect(order.isBlocked).toBe(true);
  accepts = true;
  order.resume();
  expect([order.isBlocked, order.queue.size]).toEqual([false, 0]);
});

it('a sample without a time waits with the record before it that has one, and still has none when its turn comes', () => {
  const row = new RecordRow();
  const deliveredWith = (keepsUntimedInPlace: boolean): [number, number][] => {
    const delivered: [number, number][] = [];
    const order = new RecordOrder({ isInFileOrder: false, keepsUntimedInPlace, partCount: 0 }, ({ nr, timeNs }) => delivered.push([nr, timeNs]) > 0);
    const read = (nr: number, timeNs: number, event = 0): void => {
      row.setRecord(nr, timeNs, -1, -1, -1);
      row.event = event;
      order.add(row);
    };
    read(0, Number.NaN);
    read(1, 20);
    read(2, Number.NaN);
    read(3, Number.POSITIVE_INFINITY);
    read(4, 10);
    read(5, Number.NaN);
    // Not a sample.
    read(6, Number.NaN, -1);
    order.finishRound();
    read(7, 30);
    order.finish();
    expect(order.lateCount).toBe(0);
    return delivered;
  };
  const none = Number.NaN;
  expect(deliveredWith(true)).toEqual([
    [0, none],
    [6, none],
    [4, 10],
    [5, none],
    [1, 20],
    [2, none],
    [7, 30],
    [3, none],
  ]);
  expect(deliveredWith(false)).toEqual([
    [0, none],
    [2, none],
    [5, none],
    [6, none],
    [4, 10],
    [1, 20],
    [7, 30],
    [3, none],
  ]);
});

it('in a directory, a sample without a time at the beginning of a piece waits for nothing: the record before it is of another buffer', () => {
  const delivered: number[] = [];
  const order = new RecordOrder({ isInFileOrder: false, keepsUntimedInPlace: true, partCount: 2 }, ({ nr }) => delivered.push(nr) > 0);
  const row = new RecordRow();
  const read = (nr: number, timeNs: number): void => {
    row.setRecord(nr, timeNs, -1, -1, -1);
    row.event = 0;
    order.add(row);
  };
  read(0, 10);
  order.endPiece(0, false);
  read(1, Number.NaN);
  expect(delivered).toEqual([1]);
  read(2, 5);
  read(3, Number.NaN);
  order.endPiece(1, true);
  order.finish();
  expect(delivered).toEqual([1, 2, 3, 0]);
});
