import { describe, expect, test } from 'vitest';
import { BIAS, frames, SP, space } from '../support/builders/unwind/code-without-rules.ts';
import { type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';

/** int3, which is between functions. */
const PADDING = 0xcc;
/** 0x1400, 0x1500 and 0x1600 come after calls through registers; functions begin at 0x1640 and 0x1680. */
const CODE: Readonly<Record<number, readonly number[]>> = { 5118: [0xff, 0xd0], 5374: [0xff, 0xd0], 5630: [0xff, 0xd0], 5695: [PADDING], 5759: [PADDING] };

/** Where a function begins that was put on the stack to run next. */
const start = (svma: number): string => `!${(BIAS + svma).toString(16)}`;

/** Unwinds frames that are found by frame pointers, each 32 bytes above the one before: the first at 0x1010, the next at 0x1400, then those given. */
async function unwind(addresses: readonly number[], overrides: Readonly<Record<number, number>> = {}, code = CODE): Promise<UnwoundSample> {
  const stack: Record<number, number> = {};
  for (const [i, svma] of [0x1400, ...addresses].entries()) {
    const at = 32 * (i + 1);
    stack[at] = i === addresses.length ? 0 : SP + at + 32;
    stack[at + 8] = BIAS + svma;
  }
  const sample = { machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP, bp: SP + 32 }, stack: { ...stack, ...overrides } } as const;
  return unwound(sample, await space('x86_64', code));
}

describe('a function that was put on the stack to run next, in a frame that is already there', () => {
  test.each([
    ['frame pointers lead', CODE],
    // leave; ret
    ['its code leads', { ...CODE, 5696: [0xc9, 0xc3] }],
  ])('is a frame, and no return address, unlike what %s to from there', async (_, code) => {
    expect(await unwind([0x1640, 0x1500, 0x1600], {}, code)).toMatchObject({
      end: 'complete',
      frames: [...frames(0x1010, 0x1400), start(0x1640), ...frames(0, 0x1500, 0x1600).slice(1)],
    });
  });

  test('may be put above another one', async () => {
    expect(await unwind([0x1640, 0x1680, 0x1500])).toMatchObject({
      end: 'complete',
      frames: [...frames(0x1010, 0x1400), start(0x1640), start(0x1680), ...frames(0, 0x1500).slice(1)],
    });
  });

  test.each<[string, () => Promise<UnwoundSample>]>([
    ['code does not follow padding', () => unwind([0x1640, 0x1500], {}, { ...CODE, 5695: [0x90] })],
    ['code is not aligned', () => unwind([0x1648, 0x1500], {}, { ...CODE, 5703: [PADDING] })],
    ['frame pointers do not lead on', () => unwind([0x1640, 0x1500], { 64: SP + 64 })],
    ['the next frame has no return address', () => unwind([0x1640, 0x1510])],
  ])('is not assumed if %s', async (_, unwindIt) => {
    expect(await unwindIt()).toMatchObject({ end: 'no-rule', frames: frames(0x1010, 0x1400) });
  });
});
