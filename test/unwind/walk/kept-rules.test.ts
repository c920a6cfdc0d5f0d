import { describe, expect, test } from 'vitest';
import { UnwoundStack } from '../../../src/unwind/frames/unwound-stack.ts';
import { Unwinder } from '../../../src/unwind/unwinder.ts';
import { KeptRules } from '../../../src/unwind/walk/kept-rules.ts';
import { MadeSpace, madeInput } from '../../support/builders/unwind/made-process.ts';
import { moduleOf } from '../../support/builders/unwind/unwound.ts';
import { CIE, code, fde, RIP } from '../../support/builders/unwind/x86-64-functions.ts';

const BIAS = 0x7f00_f000_0000;
const SP = 0x7ffc_f000_1000;
const LEAF = BIAS + 0x1010;
const CALLER = BIAS + 0x1110;
const START = BIAS + 0x1310;

const RULES = [fde(0x1000), fde(0x1100, code().defCfaOffset(32)), fde(0x1300, code().undefined(RIP))];
const MODULE = moduleOf('x86_64', [[CIE, RULES]]);
const WITHOUT_RULES = moduleOf('x86_64', [[CIE, []]]);

const INPUT = madeInput({ machine: 'x86_64', registers: { ip: LEAF, sp: SP, bp: 0 }, stack: { 0: CALLER, 32: START } });

function spaceOf(generation: number, module = MODULE, bias = BIAS): MadeSpace & { keptRules?: KeptRules } {
  const space = new MadeSpace().map(BIAS, BIAS + 0x10000, module, bias);
  space.generation = generation;
  return space;
}

/** Calls from addresses of the module. */
function stackOf(addresses: readonly number[]): UnwoundStack {
  const stack = new UnwoundStack();
  for (const address of addresses) stack.add(address, true);
  return stack;
}

describe('kept rules', () => {
  test('lead on if nothing describes the code any more', () => {
    const before = spaceOf(0);
    const after = spaceOf(1, WITHOUT_RULES);
    const kept = new KeptRules();
    const unwinder = new Unwinder({ followsLibunwind: true });
    expect([unwinder.unwind(INPUT, before), unwinder.frameCount]).toEqual(['complete', 3]);
    kept.add(unwinder.stack, before);
    expect([unwinder.unwind(INPUT, after), unwinder.frameCount]).toEqual(['no-rule', 1]);
    after.keptRules = kept;
    expect([unwinder.unwind(INPUT, after), unwinder.frameCount]).toEqual(['complete', 3]);
    expect([...unwinder.frames.subarray(0, 3)]).toEqual([LEAF, CALLER, START]);
  });

  test('take precedence over those of other code in the same place', () => {
    const other = moduleOf('x86_64', [[CIE, [fde(0x1000, code().defCfaOffset(64)), ...RULES.slice(1)]]]);
    const kept = new KeptRules();
    const unwinder = new Unwinder({ followsLibunwind: true });
    unwinder.unwind(INPUT, spaceOf(0));
    kept.add(unwinder.stack, spaceOf(0));
    const after = spaceOf(1, other);
    unwinder.unwind(INPUT, after);
    expect(unwinder.frameCount).toBe(1);
    after.keptRules = kept;
    unwinder.unwind(INPUT, after);
    expect(unwinder.frameCount).toBe(3);
  });

  test('are kept for the last 128 addresses, in the order in which these were first met', () => {
    const kept = new KeptRules();
    const space = spaceOf(0);
    const addresses = Array.from({ length: 128 }, (_, i) => BIAS + 0x1001 + i);
    kept.add(stackOf(addresses), space);
    kept.add(stackOf([addresses[0]]), space);
    const after = spaceOf(1, WITHOUT_RULES);
    const keptOf = (): number => addresses.filter((address) => kept.of(address, true, after) !== undefined).length;
    expect(keptOf()).toBe(128);
    kept.add(stackOf([CALLER]), space);
    expect(keptOf()).toBe(127);
    expect(kept.of(addresses[0], true, after)).toBeUndefined();
    // While a stack is unwound by them, they are kept as well.
    expect(kept.of(START, true, space)).toMatchObject({ svma: 0x130f });
    expect(keptOf()).toBe(126);
  });

  test('are kept for an address, whether it was sampled or returned to', () => {
    const kept = new KeptRules();
    const space = spaceOf(0);
    const leaf = new UnwoundStack();
    leaf.add(BIAS + 0x1100, false);
    expect([kept.add(leaf, space), kept.add(leaf, space)]).toEqual([false, false]);
    expect(kept.add(stackOf([BIAS + 0x1180, BIAS + 0x1100, CALLER]), space)).toBe(true);
    expect(kept.of(BIAS + 0x1100, true, space)).toMatchObject({ svma: 0x1100 });
    // In the middle of a function it makes no difference.
    leaf.clear();
    leaf.add(BIAS + 0x1180, false);
    expect(kept.add(leaf, space)).toBe(false);
    // Nor if no code precedes it.
    const beginning = new MadeSpace().map(BIAS + 0x1000, BIAS + 0x10000, MODULE, BIAS);
    leaf.clear();
    leaf.add(BIAS + 0x1000, false);
    expect([kept.add(leaf, beginning), kept.add(stackOf([BIAS + 0x1000]), beginning)]).toEqual([false, false]);
  });

  test('are not kept for code without rules, or where there is no code', () => {
    const kept = new KeptRules();
    const space = spaceOf(0).map(0x10_0000, 0x20_0000);
    const [withoutRule, unmapped, jitted] = [BIAS + 0x5000, 0x1234, 0x10_1000];
    kept.add(stackOf([withoutRule, unmapped, jitted]), space);
    for (const address of [withoutRule, unmapped, jitted]) expect(kept.of(address, true, space)).toBeUndefined();
  });

  test('differ if the module is another, is elsewhere, or is gone', () => {
    const kept = new KeptRules();
    kept.add(stackOf([CALLER]), spaceOf(0));
    expect(kept.differFrom(spaceOf(0))).toBe(false);
    expect(kept.differFrom(spaceOf(1, WITHOUT_RULES))).toBe(true);
    expect(kept.differFrom(spaceOf(2))).toBe(false);
    expect(kept.differFrom(spaceOf(3, MODULE, BIAS + 0x1000))).toBe(true);
    const unmapped = new MadeSpace();
    unmapped.generation = 4;
    expect(kept.differFrom(unmapped)).toBe(true);
  });
});
