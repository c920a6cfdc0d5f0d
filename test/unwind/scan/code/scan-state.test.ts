import { expect, test } from 'vitest';
import { SAVED, ScanState, UNKNOWN } from '../../../../src/unwind/scan/code/scan-state.ts';

const [RBX, RBP, RSP] = [3, 6, 7];

test('words beyond those that can be followed are unknown, as are those that may be among them', () => {
  const state = new ScanState();
  state.begin(RSP);
  const loaded = (distance: number): [number, number] => {
    state.load(RBX, RBP, distance);
    return [state.bases[RBX], state.offsets[RBX]];
  };
  for (let i = 0; i < 64; i++) state.store(RSP, RBP, 8 * i);
  expect([loaded(0), loaded(8 * 63)]).toEqual([
    [RSP, 0],
    [RSP, 0],
  ]);
  // It still has its first value.
  expect(loaded(8 * 64)).toEqual([SAVED + RBP, 8 * 64]);
  state.store(RSP, RBP, 8 * 65);
  expect([loaded(8 * 64)[0], loaded(8 * 65)[0], loaded(8 * 63)[0]]).toEqual([UNKNOWN, UNKNOWN, RSP]);
  const copy = new ScanState();
  copy.copyFrom(state);
  copy.load(RBX, RBP, 8 * 64);
  expect(copy.bases[RBX]).toBe(UNKNOWN);
  state.begin(RSP);
  expect(loaded(8 * 65)).toEqual([SAVED + RBP, 8 * 65]);
});

test('a register is saved where its first value was stored relative to the stack pointer, until another scan begins', () => {
  const state = new ScanState();
  state.begin(RSP);
  expect(state.savedAt(RBX)).toBeUndefined();
  state.store(RBX, RSP, -8);
  state.store(RBP, RBP, -8);
  expect([state.savedAt(RBX), state.savedAt(RBP)]).toEqual([-8, undefined]);
  state.begin(RSP);
  expect(state.savedAt(RBX)).toBeUndefined();
  // Neither what was added to it nor another value.
  state.add(RBX, RBX, 8);
  state.store(RBX, RSP, -8);
  expect(state.savedAt(RBX)).toBeUndefined();
  state.setConstant(RBX, 5);
  state.store(RBX, RSP, -8);
  expect(state.savedAt(RBX)).toBeUndefined();
});
