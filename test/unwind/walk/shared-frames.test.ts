import { describe, expect, test } from 'vitest';
import { UnwoundStack } from '../../../src/unwind/frames/unwound-stack.ts';
import { type UnwindEnd, Unwinder, type UnwinderOptions } from '../../../src/unwind/unwinder.ts';
import { type MadeSample, MadeSpace, madeInput } from '../../support/builders/unwind/made-process.ts';
import { moduleOf } from '../../support/builders/unwind/unwound.ts';
import { CIE, code, fde, RBP, RBX, RIP } from '../../support/builders/unwind/x86-64-functions.ts';

const BIAS = 0x7f00_f000_0000;
const SP = 0x7ffc_f000_1000;

// A leaf, two functions that take 32 bytes, one with a frame pointer, one whose frame is found by rbx, and one that has no caller; then two that have
// their return addresses where the stack pointer is, and 64 bytes below.
const FUNCTIONS = [
  fde(0x1000),
  fde(0x1100, code().defCfaOffset(32).offset(RBX, 2)),
  fde(0x1200, code().defCfaOffset(32)),
  fde(0x1300, code().defCfa(RBP, 16).offset(RBP, 2)),
  fde(0x1400, code().defCfa(RBX, 16)),
  fde(0x1500, code().undefined(RIP)),
  fde(0x1600, code().defCfaOffset(64).offset(RIP, 8)),
  fde(0x1700, code().defCfaOffset(64).offset(RIP, 16)),
];

class CountingSpace extends MadeSpace {
  lookups = 0;
  override generation: number | undefined = undefined;
  override find(address: number) {
    this.lookups++;
    return super.find(address);
  }
}

function space(): CountingSpace {
  return new CountingSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, FUNCTIONS]]), BIAS);
}

const registers = { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x60, bx: SP + 0x80 };
// leaf ← rbx saver ← 32 bytes ← frame pointer ← start
const stack = { 0: BIAS + 0x1110, 16: 5, 24: SP + 0x80, 32: BIAS + 0x1210, 64: BIAS + 0x1310, 96: SP + 0x90, 104: BIAS + 0x1510, 128: 7, 136: 9 };
const BEFORE: MadeSample = { machine: 'x86_64', registers, stack };

interface Result {
  readonly end: UnwindEnd;
  readonly endAddress: number;
  readonly frames: readonly number[];
  readonly isCall: readonly number[];
}

function resultOf(unwinder: Unwinder, end: UnwindEnd): Result {
  const { frames, isCall, frameCount, endAddress } = unwinder;
  return { end, endAddress, frames: [...frames.subarray(0, frameCount)], isCall: [...isCall.subarray(0, frameCount)] };
}

/** Unwinds a sample by itself, and after another one; how often code was looked up tells whether frames were taken over. */
function bothWays(
  sample: MadeSample,
  before = BEFORE,
  options?: UnwinderOptions,
): { alone: Result; after: Result; lookups: readonly [alone: number, after: number] } {
  const [spaceAlone, spaceAfter] = [space(), space()];
  const unwinder = new Unwinder(options);
  const alone = resultOf(unwinder, unwinder.unwind(madeInput(sample), spaceAlone));
  const previousUnwinder = new Unwinder();
  previousUnwinder.unwind(madeInput(before), space());
  const previous = previousUnwinder.exchangeStack(new UnwoundStack());
  const after = resultOf(unwinder, unwinder.unwindAfter(previous, madeInput(sample), spaceAfter));
  return { alone, after, lookups: [spaceAlone.lookups, spaceAfter.lookups] };
}

describe('frames of the last stack', () => {
  test('are taken over if nothing differs', () => {
    const { alone, after, lookups } = bothWays(BEFORE);
    expect(alone).toMatchObject({ end: 'complete', frames: [0x1010, 0x1110, 0x1210, 0x1310, 0x1510].map((at) => BIAS + at) });
    expect(after).toEqual(alone);
    expect(lookups).toEqual([5, 2]);
  });

  test('are also taken over from a stack that has taken them over itself', () => {
    const unwinder = new Unwinder();
    let previous: UnwoundStack | undefined;
    let lookups = 0;
    for (let i = 0; i < 3; i++) {
      const counted = space();
      expect(unwinder.unwindAfter(previous, madeInput(BEFORE), counted)).toBe('complete');
      expect(unwinder.frameCount).toBe(5);
      previous = unwinder.exchangeStack(new UnwoundStack());
      ({ lookups } = counted);
    }
    expect(lookups).toBe(2);
  });

  test('keep the words of a return address that leads to no code', () => {
    const unwinder = new Unwinder();
    const sample = { ...BEFORE, stack: { ...stack, 104: 0x1234_5678_9abc_def1n } };
    let previous: UnwoundStack | undefined;
    for (const expected of ['first', 'taken over']) {
      const end = unwinder.unwindAfter(previous, madeInput(sample), space());
      unwinder.addEnd();
      const { hasEnd, endLo, endHi } = unwinder.stack;
      expect([expected, end, hasEnd, endLo, endHi]).toEqual([expected, 'unmapped', true, 0x9abc_def1, 0x1234_5678]);
      previous = unwinder.exchangeStack(new UnwoundStack());
    }
  });

  test('are taken over from the first identical caller on', () => {
    const moved = { ...BEFORE, registers: { ...registers, ip: BIAS + 0x1210 } };
    const { alone, after, lookups } = bothWays({ ...moved, stack: { ...stack, 24: BIAS + 0x1210, 56: BIAS + 0x1210 } });
    expect(after).toEqual(alone);
    expect(lookups[1]).toBeLessThanOrEqual(lookups[0]);
  });

  // Each word of the stack in turn has another value: a return address, a saved register, or what nobody reads.
  test.each(Object.keys(stack).map(Number))('count only as long as the stack is the same: at %i', (at) => {
    for (const value of [0, 1, 0x1234, SP + 0x70, SP + 0x80, BIAS + 0x1210, BIAS + 0x1310, BIAS + 0x1410, BIAS + 0x1510, 2 ** 62]) {
      const { alone, after } = bothWays({ ...BEFORE, stack: { ...stack, [at]: value } });
      expect(after).toEqual(alone);
    }
  });

  test('count only as far as the dump reaches', () => {
    for (let stackSizeBytes = 0; stackSizeBytes <= 144; stackSizeBytes += 4) {
      const { alone, after } = bothWays({ ...BEFORE, stackSizeBytes });
      expect(after).toEqual(alone);
    }
  });

  test('are not taken over beyond the dump, wherever their return addresses are', () => {
    const sample = { ...BEFORE, stack: { 0: BIAS + 0x1610, 8: BIAS + 0x1710, 72: BIAS + 0x1510 }, stackSizeBytes: 144 };
    expect(bothWays(sample).alone).toMatchObject({ end: 'complete', frames: [0x1010, 0x1610, 0x1710, 0x1710, 0x1510].map((at) => BIAS + at) });
    for (let stackSizeBytes = 0; stackSizeBytes <= 144; stackSizeBytes += 8) {
      const { alone, after } = bothWays({ ...sample, stackSizeBytes }, sample);
      expect(after).toEqual(alone);
    }
  });

  test('are no more than were asked for', () => {
    for (let maxFrames = 1; maxFrames <= 6; maxFrames++) {
      const { alone, after } = bothWays(BEFORE, BEFORE, { maxFrames });
      expect(alone.frames.length).toBe(Math.min(maxFrames, 5));
      expect(after).toEqual(alone);
    }
  });

  test('are not taken over if left by other registers than stack and frame pointer, wherever others were before', () => {
    // The third frame is by rbx, which the second one has on its stack.
    const byRbx = (rbx: number): MadeSample => ({
      ...BEFORE,
      stack: { 0: BIAS + 0x1110, 24: rbx, 32: BIAS + 0x1410, 64: BIAS + 0x1510, 88: BIAS + 0x1210, 120: BIAS + 0x1510 },
    });
    const unwinder = new Unwinder();
    // Its return address was read at 64, where this one's is, too.
    unwinder.unwind(madeInput({ ...BEFORE, stack: { ...BEFORE.stack, 64: BIAS + 0x1510 } }), space());
    unwinder.unwind(madeInput(byRbx(SP + 56)), space());
    const previous = unwinder.exchangeStack(new UnwoundStack());
    const frames = [0x1010, 0x1110, 0x1410, 0x1210, 0x1510].map((at) => BIAS + at);
    const end = unwinder.unwindAfter(previous, madeInput(byRbx(SP + 80)), space());
    expect(resultOf(unwinder, end)).toMatchObject({ end: 'complete', frames });
  });

  test('do not hide a register that a later frame needs', () => {
    // The frame by rbx comes after frames that can be taken over; the one before has rbx on its stack.
    const byRbx = { ...stack, 104: BIAS + 0x1410, 136: BIAS + 0x1510 };
    const { alone, after } = bothWays({ ...BEFORE, stack: byRbx });
    expect(alone.frames.at(-1)).toBe(BIAS + 0x1510);
    expect(alone.end).toBe('complete');
    expect(after).toEqual(alone);
  });
});
