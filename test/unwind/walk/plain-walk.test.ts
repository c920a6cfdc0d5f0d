import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { NO_LABEL, NOT_LABELLABLE } from '../../../src/unwind/frames/unwound-stack.ts';
import type { UnwindModule } from '../../../src/unwind/modules/unwind-module.ts';
import { Unwinder } from '../../../src/unwind/unwinder.ts';
import type { CfaCode } from '../../support/builders/unwind/frame-assembler.ts';
import { type MadeSample, MadeSpace, madeInput } from '../../support/builders/unwind/made-process.ts';
import { moduleOf, moduleWithoutTable, unwound } from '../../support/builders/unwind/unwound.ts';
import { CIE, code, fde, R12, RAX, RBP, RBX, RIP, RSP } from '../../support/builders/unwind/x86-64-functions.ts';
import { runs } from '../../support/thoroughness.ts';

// In all tests with x86-64 stacks, `unwound` checks that stacks walked in WebAssembly are those of the unwinder. Here is how far such a walk goes, and
// what only it has.

const BIAS = 0x7f00_f000_0000;
const SP = 0x7ffc_f000_1000;
const TEXT = 0x1000;
class CountingSpace extends MadeSpace {
  lookups = 0;
  override generation: number | undefined = 1;
  override find(address: number) {
    this.lookups++;
    return super.find(address);
  }
}

/** How a sample ends, and how often the maps were asked on the way. */
function walked(unwinder: Unwinder, sample: MadeSample, space: CountingSpace): { end: string; frames: number[]; lookups: number } {
  const before = space.lookups;
  const end = unwinder.unwind(madeInput(sample), space);
  return { end, frames: [...unwinder.frames.subarray(0, unwinder.frameCount)], lookups: space.lookups - before };
}

// leaf ← rbx saver ← frame pointer ← start
const FUNCTIONS = [
  fde(TEXT),
  fde(0x1100, code().defCfaOffset(32).offset(RBX, 2)),
  fde(0x1200, code().defCfa(RBP, 16).offset(RBP, 2)),
  fde(0x1300, code().undefined(RIP)),
];
const FRAMES_OF_SAMPLE = [0x1010, 0x1110, 0x1210, 0x1310].map((at) => BIAS + at);
const SAMPLE: MadeSample = {
  machine: 'x86_64',
  registers: { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x40 },
  stack: { 0: BIAS + 0x1110, 24: 5, 32: BIAS + 0x1210, 64: 7, 72: BIAS + 0x1310 },
};

describe('a walk from frame to frame in WebAssembly', () => {
  test('asks once for the maps, and once for each rule of files without a table', () => {
    const module = moduleWithoutTable('x86_64', [[CIE, FUNCTIONS]]);
    const ruleAt = vi.spyOn(module, 'ruleAt');
    const space = new CountingSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const unwinder = new Unwinder();
    expect(walked(unwinder, SAMPLE, space)).toEqual({ end: 'complete', frames: FRAMES_OF_SAMPLE, lookups: 1 });
    expect(ruleAt).toHaveBeenCalledTimes(4);
    expect(walked(unwinder, SAMPLE, space)).toEqual({ end: 'complete', frames: FRAMES_OF_SAMPLE, lookups: 0 });
    expect(ruleAt).toHaveBeenCalledTimes(4);
    expect(unwinder).toMatchObject({ endAddress: BIAS + 0x1310, endFile: 0 });
  });

  test('reads rules by itself if there is a table of them', () => {
    const module = moduleOf('x86_64', [[CIE, FUNCTIONS]]);
    const ruleAt = vi.spyOn(module, 'ruleAt');
    const space = new CountingSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    expect(walked(new Unwinder(), SAMPLE, space)).toEqual({ end: 'complete', frames: FRAMES_OF_SAMPLE, lookups: 1 });
    expect(ruleAt).not.toHaveBeenCalled();
  });

  test('follows long functions until that takes too long, and then asks for their rules', () => {
    const nops = code();
    for (let i = 0; i < 12_000; i++) nops.raw(0);
    const module = moduleOf('x86_64', [[CIE, [{ start: TEXT, sizeBytes: 0x2000, code: nops }, fde(TEXT + 0x2000, code().undefined(RIP))]]]);
    const ruleAt = vi.spyOn(module, 'ruleAt');
    const space = new CountingSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const unwinder = new Unwinder();
    const asked = Array.from({ length: 2500 }, (_, i) => {
      const sample: MadeSample = { machine: 'x86_64', registers: { ip: BIAS + TEXT + i, sp: SP }, stack: { 0: BIAS + TEXT + 0x2010 } };
      expect(walked(unwinder, sample, space)).toMatchObject({ end: 'complete', frames: { length: 2 } });
      return ruleAt.mock.calls.length;
    });
    expect([asked[1000], asked[2400] > 0, asked[2499] - asked[2400]]).toEqual([0, true, 99]);
  });

  test('asks again if something else is mapped', () => {
    const space = new CountingSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, FUNCTIONS]]), BIAS);
    const other = moduleOf('x86_64', [[CIE, [fde(TEXT, code().undefined(RIP))]]]);
    const moved = new CountingSpace().map(BIAS, BIAS + 0x10000, other, BIAS);
    moved.generation = 2;
    const unwinder = new Unwinder();
    walked(unwinder, SAMPLE, space);
    expect(walked(unwinder, SAMPLE, moved)).toMatchObject({ end: 'complete', frames: [BIAS + 0x1010] });
    expect(walked(unwinder, SAMPLE, space)).toEqual({ end: 'complete', frames: FRAMES_OF_SAMPLE, lookups: 0 });
    // It takes the place of one of the others.
    moved.generation = 65;
    expect(walked(unwinder, SAMPLE, moved)).toMatchObject({ end: 'complete', frames: [BIAS + 0x1010] });
    expect(walked(unwinder, SAMPLE, space)).toMatchObject({ end: 'complete', frames: FRAMES_OF_SAMPLE });
  });

  test('tells all states of maps apart, however many came between', () => {
    const space = new CountingSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, FUNCTIONS]]), BIAS);
    const moved = new CountingSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, [fde(TEXT, code().undefined(RIP))]]]), BIAS);
    const unwinder = new Unwinder();
    for (let bit = 1; bit < 40; bit++) {
      moved.generation = 1 + 2 ** bit;
      expect(walked(unwinder, SAMPLE, space)).toMatchObject({ end: 'complete', frames: FRAMES_OF_SAMPLE });
      expect(walked(unwinder, SAMPLE, moved)).toMatchObject({ end: 'complete', frames: [BIAS + 0x1010] });
    }
  });

  test('says which file a stack ends in, at first and again', () => {
    const library = moduleOf('x86_64', [[CIE, FUNCTIONS.slice(0, 3)]]);
    const program = moduleOf('x86_64', [[CIE, FUNCTIONS.slice(3)]]);
    const space = new CountingSpace()
      .map(0, 1)
      .map(BIAS, BIAS + 0x1300, library, BIAS)
      .map(BIAS + 0x1300, BIAS + 0x10000, program, BIAS);
    const unwinder = new Unwinder();
    for (const _ of ['at first', 'again']) {
      expect(walked(unwinder, SAMPLE, space)).toMatchObject({ end: 'complete', frames: FRAMES_OF_SAMPLE });
      expect(unwinder.endFile).toBe(2);
    }
  });

  test('goes on after a frame that is not plain', () => {
    // The leaf's rule needs a register that is not known to be saved; all callers are as before.
    const functions = [fde(TEXT, code().defCfa(R12, 8)), ...FUNCTIONS.slice(1)];
    const space = new CountingSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, functions]]), BIAS);
    const sample = { ...SAMPLE, registers: { ...SAMPLE.registers, r12: SP } };
    const unwinder = new Unwinder();
    expect(walked(unwinder, sample, space)).toMatchObject({ end: 'complete', frames: FRAMES_OF_SAMPLE });
    // The leaf is looked up once.
    expect(walked(unwinder, sample, space)).toEqual({ end: 'complete', frames: FRAMES_OF_SAMPLE, lookups: 1 });
  });

  test('may have more ranges than it remembers', async () => {
    const module = moduleOf('x86_64', [[CIE, FUNCTIONS]]);
    const space = new MadeSpace();
    for (let i = 0; i < 200; i++) space.map(BIAS + i * 0x10000, BIAS + i * 0x10000 + 0x8000, module, BIAS + i * 0x10000);
    const stack: Record<number, number> = {};
    for (let i = 0; i < 200; i++) stack[i * 8] = BIAS + ((i * 77) % 200) * 0x10000 + TEXT + 8;
    stack[200 * 8] = BIAS + 0x1310;
    const { end, frames } = await unwound({ machine: 'x86_64', registers: { ip: BIAS + TEXT, sp: SP }, stack }, space);
    expect([end, frames.length]).toEqual(['complete', 202]);
  });

  test('forgets rules when there are too many', () => {
    const count = 7500;
    const saving = (i: number): CfaCode => [RBX, RBP, R12, 13, 14, 15].reduce((to, register) => to.offset(register, 3 + i), code().defCfaOffset(16));
    const fdes = Array.from({ length: count }, (_, i) => ({ start: TEXT + 16 * i, sizeBytes: 16, code: saving(i) }));
    fdes.push({ start: TEXT + 16 * count, sizeBytes: 16, code: code().undefined(RIP) });
    const stack = { 8: BIAS + TEXT + 16 * count + 4 };
    for (const module of [moduleOf('x86_64', [[CIE, fdes]]), moduleWithoutTable('x86_64', [[CIE, fdes]])]) {
      const space = new CountingSpace().map(BIAS, BIAS + 0x20_0000, module, BIAS);
      const unwinder = new Unwinder();
      const wrong = [];
      for (let i = 0; i < count; i++) {
        const ip = BIAS + TEXT + 16 * i + 4;
        const { end, frames } = walked(unwinder, { machine: 'x86_64', registers: { ip, sp: SP }, stack }, space);
        if (end !== 'complete' || frames.length !== 2 || frames[0] !== ip || frames[1] !== stack[8]) wrong.push({ ip, end, frames });
      }
      expect(wrong).toEqual([]);
    }
  });

  test('looks addresses up again after their rules were forgotten', () => {
    // Rules of so many registers that they are forgotten before all addresses of the first stack have made room for others.
    const [few, many] = [500, 3900];
    const all = few + many;
    const REGISTERS = [1, 2, RBX, 4, 5, RBP, 8, 9, 10, 11, R12, 13, 14, 15];
    const saving = (i: number): CfaCode => REGISTERS.reduce((to, register) => to.offset(register, 3 + i), code().defCfaOffset(16));
    const fdes = Array.from({ length: all }, (_, i) => ({ start: TEXT + 16 * i, sizeBytes: 16, code: i < few ? code().defCfaOffset(24) : saving(i) }));
    fdes.push({ start: TEXT + 16 * all, sizeBytes: 16, code: code().undefined(RIP) });
    const addressOf = (i: number): number => BIAS + TEXT + 16 * i + 4;
    const sampleOf = (first: number, count: number, frameBytes: number): MadeSample => {
      const callers = Array.from({ length: count }, (_, i) => (i < count - 1 ? first + i + 1 : all));
      // By another's rule, the end would be found in the middle of a frame.
      const middles = callers.map((_, i) => [frameBytes * i + 8, addressOf(all)]);
      const stack = Object.fromEntries([...middles, ...callers.map((caller, i) => [frameBytes * (i + 1) - 8, addressOf(caller)])]);
      return { machine: 'x86_64', registers: { ip: addressOf(first), sp: SP }, stack };
    };
    const space = new CountingSpace().map(BIAS, BIAS + 0x20_0000, moduleOf('x86_64', [[CIE, fdes]]), BIAS);
    const unwinder = new Unwinder();
    const sample = sampleOf(0, few, 24);
    const { end, frames } = walked(unwinder, sample, space);
    expect([end, frames.length]).toEqual(['complete', few + 1]);
    // Their rules take the place of the others.
    expect(walked(unwinder, sampleOf(few, many, 16), space)).toMatchObject({ end: 'complete', frames: { length: many + 1 } });
    expect(walked(unwinder, sample, space)).toMatchObject({ end, frames });
  });

  test.each([
    ['without a table', moduleWithoutTable],
    ['some of which are not plain', moduleOf],
  ])('goes on if memory grows in the middle of a stack of many functions, %s', async (_, make) => {
    const count = 6000;
    // Each function by itself, one in seven with an expression.
    const instructions = (i: number): CfaCode => (i % 7 === 3 ? code().defCfaExpression(Uint8Array.of(0x77, 8)) : code());
    const fdes = Array.from({ length: count }, (_, i) => ({ start: TEXT + 16 * i, sizeBytes: 16, code: instructions(i) }));
    fdes.push({ start: TEXT + 16 * count, sizeBytes: 16, code: code().undefined(RIP) });
    const stack = Object.fromEntries(Array.from({ length: count }, (_, i) => [8 * i, BIAS + TEXT + 16 * (i + 1) + 4]));
    const space = new MadeSpace().map(BIAS, BIAS + 0x20_0000, make('x86_64', [[CIE, fdes]]), BIAS);
    const { end, frames } = await unwound({ machine: 'x86_64', registers: { ip: BIAS + TEXT + 4, sp: SP }, stack }, space);
    expect([end, frames.length]).toEqual(['complete', count + 1]);
  });

  test('gives no more frames than are asked for', async () => {
    const space = new MadeSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, FUNCTIONS]]), BIAS);
    for (let maxFrames = 0; maxFrames <= 5; maxFrames++) {
      const { end, frames } = await unwound(SAMPLE, space, { maxFrames });
      expect([end, frames.length]).toEqual(maxFrames > 4 ? ['complete', 4] : ['limit', Math.max(1, maxFrames)]);
    }
  });

  test('leaves dumps larger than a record to the unwinder', async () => {
    const space = new MadeSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, FUNCTIONS]]), BIAS);
    expect(await unwound({ ...SAMPLE, stackSizeBytes: 1 << 18 }, space)).toMatchObject({ end: 'complete' });
  });
});

describe('labels of frames', () => {
  const space = () => new CountingSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, FUNCTIONS]]), BIAS);
  const labelsOf = ({ stack }: Unwinder) => [...stack.labels.subarray(0, stack.count)];

  test('stay with the calls in all stacks, but not with the places where samples were taken', () => {
    const unwinder = new Unwinder();
    const mapped = space();
    walked(unwinder, SAMPLE, mapped);
    expect(labelsOf(unwinder)).toEqual([NOT_LABELLABLE, NO_LABEL, NO_LABEL, NO_LABEL]);
    for (const frame of [0, 1, 3]) unwinder.label(frame, 100 + frame);
    walked(unwinder, SAMPLE, mapped);
    expect(labelsOf(unwinder)).toEqual([NOT_LABELLABLE, 101, NO_LABEL, 103]);
    // The last byte of a call that was labeled is sampled.
    walked(unwinder, { ...SAMPLE, registers: { ip: BIAS + 0x110f, sp: SP } }, mapped);
    expect(labelsOf(unwinder)[0]).toBe(NOT_LABELLABLE);
    // Another process.
    mapped.generation = 2;
    walked(unwinder, SAMPLE, mapped);
    expect(labelsOf(unwinder)).toEqual([NOT_LABELLABLE, 101, NO_LABEL, 103]);
  });

  test('belong to one file, even if another has the same rules', () => {
    const module = moduleOf('x86_64', [[CIE, FUNCTIONS]]);
    const unwinder = new Unwinder();
    walked(unwinder, SAMPLE, new CountingSpace().map(BIAS, BIAS + 0x10000, module, BIAS));
    unwinder.label(1, 7);
    // Files are numbered in the order of the maps.
    const other = new CountingSpace().map(0, 1).map(BIAS, BIAS + 0x10000, module, BIAS);
    other.generation = 2;
    walked(unwinder, SAMPLE, other);
    expect(labelsOf(unwinder)).toEqual([NOT_LABELLABLE, NO_LABEL, NO_LABEL, NO_LABEL]);
  });

  test('are not given to frames that were found in another way', () => {
    const functions = [...FUNCTIONS.slice(0, 2), fde(0x1200, code().defCfaExpression(Uint8Array.of(0x76, 16)).offset(RBP, 2)), FUNCTIONS[3]];
    const mapped = new CountingSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, functions]]), BIAS);
    const unwinder = new Unwinder();
    expect(walked(unwinder, SAMPLE, mapped)).toMatchObject({ end: 'complete', frames: FRAMES_OF_SAMPLE });
    expect(labelsOf(unwinder)).toEqual([NOT_LABELLABLE, NO_LABEL, NOT_LABELLABLE, NO_LABEL]);
  });

  test('never go to another call, however many there are', () => {
    const count = 6000;
    const module = moduleOf('x86_64', [[CIE, [{ start: TEXT, sizeBytes: 16 * count, code: code() }, fde(TEXT + 16 * count, code().undefined(RIP))]]]);
    const mapped = new CountingSpace().map(BIAS, BIAS + 0x20_0000, module, BIAS);
    const sampleOf = (first: number): MadeSample => {
      const stack = Object.fromEntries(Array.from({ length: count - first }, (_, at) => [8 * at, BIAS + TEXT + 16 * (first + at + 1) + 4]));
      return { machine: 'x86_64', registers: { ip: BIAS + TEXT + 4, sp: SP }, stack };
    };
    const unwinder = new Unwinder();
    // More calls than places for those that were walked last: the first ones have lost theirs to others. The first walk makes the table of rules grow, which
    // takes calls out of reach of labels.
    for (const _ of ['at first', 'again']) expect(walked(unwinder, sampleOf(0), mapped).frames.length).toBe(count + 1);
    for (let at = 1; at <= 1500; at++) unwinder.label(at, at);
    walked(unwinder, sampleOf(1500), mapped);
    expect(labelsOf(unwinder)).toEqual([NOT_LABELLABLE, ...Array.from({ length: count - 1500 }, () => NO_LABEL)]);
    walked(unwinder, sampleOf(0), mapped);
    expect(labelsOf(unwinder)).toEqual([NOT_LABELLABLE, ...Array.from({ length: count }, (_, i) => (i < 1500 ? i + 1 : NO_LABEL))]);
  });

  test('never go to another call when rules are forgotten', () => {
    const count = 7500;
    const saving = (i: number): CfaCode => [RBX, RBP, R12, 13, 14, 15].reduce((to, register) => to.offset(register, 3 + i), code().defCfaOffset(16));
    const fdes = Array.from({ length: count }, (_, i) => ({ start: TEXT + 16 * i, sizeBytes: 16, code: saving(i) }));
    fdes.push({ start: TEXT + 16 * count, sizeBytes: 16, code: code().undefined(RIP) });
    const sampleOf = (callers: readonly number[]): MadeSample => {
      const stack = Object.fromEntries([...callers, count].map((caller, at) => [8 + 16 * at, BIAS + TEXT + 16 * caller + 4]));
      return { machine: 'x86_64', registers: { ip: BIAS + TEXT + 4, sp: SP }, stack };
    };
    const callers = Array.from({ length: count }, (_, at) => (at * 7) % count);
    for (const make of [moduleOf, moduleWithoutTable]) {
      const mapped = new CountingSpace().map(BIAS, BIAS + 0x20_0000, make('x86_64', [[CIE, fdes]]), BIAS);
      const unwinder = new Unwinder();
      // One stack of all functions, of which the first ones are forgotten on the way. These alone are labeled then.
      expect(walked(unwinder, sampleOf(callers), mapped).frames.length).toBe(count + 2);
      for (let at = 0; at < count - 500; at++) if (unwinder.stack.labels[at + 1] === NO_LABEL) unwinder.label(at + 1, 1 + callers[at]);
      walked(unwinder, sampleOf(callers.slice(-200)), mapped);
      expect(labelsOf(unwinder)).toEqual([NOT_LABELLABLE, ...Array.from({ length: 201 }, () => NO_LABEL)]);
      // Those that are known get theirs.
      for (let at = 1; at <= 200; at++) unwinder.label(at, at);
      walked(unwinder, sampleOf(callers.slice(-200)), mapped);
      expect(labelsOf(unwinder)).toEqual([NOT_LABELLABLE, ...Array.from({ length: 200 }, (_, at) => 1 + at), NO_LABEL]);
    }
  });
});

describe('unwinding copes with', () => {
  const END = fde(0x1900, code().undefined(RIP));
  const last = BIAS + 0x1910;
  const mapped = (module: UnwindModule): MadeSpace => new MadeSpace().map(BIAS, BIAS + 0x10_0000, module, BIAS);

  test.each<[number | bigint, string, string, string]>([
    [0, 'truncated', 'complete', 'bad-frame'],
    [7, 'truncated', 'unmapped', 'bad-frame'],
    [16, 'truncated', 'complete', 'bad-frame'],
    [2 ** 31, 'truncated', 'truncated', 'bad-frame'],
    [2 ** 53 - 8, 'bad-frame', 'truncated', 'truncated'],
    [2 ** 53, 'bad-frame', 'truncated', 'truncated'],
    [2n ** 64n - 16n, 'bad-frame', 'truncated', 'truncated'],
  ])('stack and frame pointers of any value: %s', async (odd, ofSp, ofBp, ofBpAlone) => {
    const module = moduleOf('x86_64', [
      [CIE, [fde(0x1000, code().defCfa(RBP, 0x20)), fde(0x1100, code().offset(RBP, 2)), fde(0x1200, code().defCfa(RBP, 16)), END]],
    ]);
    for (const ip of [0x1010, 0x1110, 0x1210]) {
      for (const [sp, bp, expected] of [
        [odd, SP, ofSp],
        [0, odd, ofBp],
        [SP, odd, ofBpAlone],
      ] as const) {
        const stack = { 0: BIAS + 0x1210, 8: last, 16: 3, 24: last, 40: last, 72: last };
        const { end, frames } = await unwound({ machine: 'x86_64', registers: { ip: BIAS + ip, sp, bp }, stack }, mapped(module));
        // The second function is left by the stack pointer, its caller by a frame pointer that was overwritten.
        if (ip === 0x1110) expect([end, frames.length]).toEqual(['truncated', 2]);
        else expect([ip, sp, bp, end, frames.length]).toEqual([ip, sp, bp, expected, expected === 'complete' ? 2 : 1]);
      }
    }
  });

  test('a return address right before the dump, at the end of all addresses', () => {
    const module = moduleOf('x86_64', [[{ returnAddress: RIP, code: code().defCfa(RSP, 8).offset(RIP, 2) }, [fde(0x1000), END]]]);
    const input = madeInput({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: 0 }, stack: { 0: 1, 8: 2 } });
    new DataView(input.view.bytes.buffer).setBigUint64(input.stackOffset - 8, BigInt(last), true);
    const unwinder = new Unwinder();
    expect([unwinder.unwind(input, mapped(module)), unwinder.frameCount]).toEqual(['truncated', 1]);
  });

  test('return addresses in another column', async () => {
    const other = { returnAddress: RBX, code: code().defCfa(RSP, 8).offset(RBX, 1) };
    for (const make of [moduleOf, moduleWithoutTable]) {
      const module = make('x86_64', [
        [other, [fde(0x1000)]],
        [CIE, [fde(0x1100, code().defCfa(R12, 8)), END]],
      ]);
      const sample: MadeSample = {
        machine: 'x86_64',
        registers: { ip: BIAS + 0x1010, sp: SP, r12: SP + 16 },
        stack: { 0: BIAS + 0x1110, 16: last },
      };
      expect(await unwound(sample, mapped(module))).toMatchObject({ end: 'complete', frames: { length: 3 } });
    }
  });

  test('functions of negative size', async () => {
    const module = moduleOf('x86_64', [[CIE, [{ start: 0x1000, sizeBytes: 0xffff_f000 - 0x1000, code: code() }, END]]]);
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: { 0: last } }, mapped(module));
    expect(result).toMatchObject({ end: 'no-rule', frames: { length: 1 } });
  });

  test('a CIE that restores registers, after one that saved them', async () => {
    const saving = { returnAddress: RIP, code: code().defCfa(RSP, 8).offset(RIP, 1).offset(RBP, 0) };
    const restoring = { returnAddress: RIP, code: code().defCfa(RSP, 8).offset(RIP, 1).restore(RBP) };
    const module = moduleOf('x86_64', [
      [saving, [fde(0x1000)]],
      [restoring, [fde(0x1100)]],
      [CIE, [fde(0x1200, code().defCfa(RBP, 16)), END]],
    ]);
    const stack = { 0: BIAS + 0x1110, 8: BIAS + 0x1210, 16: SP + 0x20, 24: 1, 40: last, 72: BIAS + 0x1950 };
    // With what the first CIE says of rbp, the stack would be complete.
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x40 }, stack }, mapped(module));
    expect(result).toMatchObject({ end: 'bad-frame', frames: { length: 3 } });
  });

  test('a factored offset beyond 64 bits', async () => {
    // (2^61 − 2) · −8 is 16 modulo 2^64. 0x13 is DW_CFA_def_cfa_offset_sf.
    const factored = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f];
    const module = moduleOf('x86_64', [[CIE, [fde(0x1000, code().raw(0x13, ...factored)), END]]]);
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: { 0: 1, 8: last } }, mapped(module));
    expect(result).toMatchObject({ end: 'bad-frame', frames: { length: 1 } });
  });

  test('samples without registers or with a stack of negative size', () => {
    const module = moduleOf('x86_64', [[CIE, [fde(0x1000, code().defCfaOffset(0x4000_0000)), END]]]);
    const before = madeInput({ machine: 'x86_64', registers: { ip: last, sp: SP }, stack: { 0: last } });
    const empty = { ...before, view: new ByteView(new Uint8Array(400), true), regsOffset: 0, stackOffset: 0, stackSizeBytes: 0 };
    const negative = { ...madeInput({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP } }), stackSizeBytes: -8 };
    const results = [undefined, 0].map((generation) => {
      const space = mapped(module);
      space.generation = generation;
      const unwinder = new Unwinder();
      return [before, empty, negative].map((input) => [unwinder.unwindAfter(undefined, input, space), ...unwinder.frames.subarray(0, unwinder.frameCount)]);
    });
    expect(results[1]).toEqual(results[0]);
  });

  test('a table that leaves out a function, once another entry shows that it is wrong', () => {
    const functions = [{ start: 0x1000, sizeBytes: 0x800, code: code() }, fde(0x1200, code().defCfaOffset(16)), fde(0x1880), END];
    const results = [undefined, 0].map((generation) => {
      const module = moduleOf('x86_64', [[CIE, functions]], true, (entries) =>
        entries.filter(([start]) => start !== 0x1200).map(([start, at]) => [start === 0x1880 ? start + 8 : start, at]),
      );
      const space = mapped(module);
      space.generation = generation;
      const unwinder = new Unwinder();
      return [0x1890, 0x1210].map((at) => {
        const end = unwinder.unwind(madeInput({ machine: 'x86_64', registers: { ip: BIAS + at, sp: SP }, stack: { 0: last, 8: last + 0x10 } }), space);
        return [end, ...unwinder.frames.subarray(0, unwinder.frameCount)];
      });
    });
    expect(results[1]).toEqual(results[0]);
    // By the function's own rule, not by that of the one around it.
    expect(results[0][1]).toEqual(['complete', BIAS + 0x1210, last + 0x10]);
  });

  test('different maps under one generation', () => {
    const unwinder = new Unwinder();
    const ends = [0, 1].map(() => {
      const space = mapped(moduleOf('x86_64', [[CIE, [fde(0x1000, code().defCfa(R12, 8)), END]]]));
      return unwinder.unwind(madeInput({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP, r12: SP }, stack: { 0: last } }), space);
    });
    expect(ends).toEqual(['complete', 'complete']);
  });
});

describe('rules that are read in WebAssembly', () => {
  const registers = fc.constantFrom(RAX, RBX, RBP, RSP, R12, RIP, 5, 20);
  const small = fc.integer({ min: 0, max: 6 });
  /** One instruction, whether or not compilers write it. */
  const instruction: fc.Arbitrary<(to: CfaCode) => CfaCode> = fc.oneof(
    small.map((delta) => (to: CfaCode) => to.advance(delta * 8)),
    small.map((delta) => (to: CfaCode) => to.advance1(delta)),
    small.map((delta) => (to: CfaCode) => to.advance2(delta)),
    small.map((delta) => (to: CfaCode) => to.advance4(delta)),
    small.map((words) => (to: CfaCode) => to.defCfaOffset(8 * words)),
    fc.tuple(registers, small).map(
      ([register, words]) =>
        (to: CfaCode) =>
          to.defCfa(register, 8 * words),
    ),
    registers.map((register) => (to: CfaCode) => to.defCfaRegister(register)),
    fc.tuple(registers, small).map(
      ([register, words]) =>
        (to: CfaCode) =>
          to.defCfaSf(register, -words),
    ),
    small.map((words) => (to: CfaCode) => to.defCfaOffsetSf(-words)),
    fc.tuple(registers, small).map(
      ([register, words]) =>
        (to: CfaCode) =>
          to.offset(register, words),
    ),
    fc.tuple(registers, small).map(
      ([register, words]) =>
        (to: CfaCode) =>
          to.offsetExtended(register, words),
    ),
    fc.tuple(registers, fc.integer({ min: -3, max: 6 })).map(
      ([register, words]) =>
        (to: CfaCode) =>
          to.offsetExtendedSf(register, words),
    ),
    fc.tuple(registers, small).map(
      ([register, words]) =>
        (to: CfaCode) =>
          to.valOffset(register, words),
    ),
    fc.tuple(registers, registers).map(
      ([register, other]) =>
        (to: CfaCode) =>
          to.register(register, other),
    ),
    registers.map((register) => (to: CfaCode) => to.restore(register)),
    registers.map((register) => (to: CfaCode) => to.restoreExtended(register)),
    registers.map((register) => (to: CfaCode) => to.undefined(register)),
    registers.map((register) => (to: CfaCode) => to.sameValue(register)),
    fc.constant((to: CfaCode) => to.remember()),
    fc.constant((to: CfaCode) => to.restoreState()),
    small.map((words) => (to: CfaCode) => to.argsSize(8 * words)),
    small.map((byte) => (to: CfaCode) => to.raw(byte)),
    // Mostly in the first function, however the location is stored: the section is at 0.
    fc.integer({ min: -0xc0, max: 0x30 }).map((delta) => (to: CfaCode) => to.setLoc(TEXT + delta, 4)),
  );
  const program = fc.array(instruction, { maxLength: 12 });
  const written = (instructions: readonly ((to: CfaCode) => CfaCode)[], to = code()): CfaCode => instructions.reduce((all, one) => one(all), to);

  test('agree with those of the unwinder, whatever the instructions', async () => {
    const cies = fc.record({
      version: fc.constantFrom(1, 3),
      augmentation: fc.constantFrom('zR', 'zPLR', 'zRS', 'zRX', ''),
      encoding: fc.constantFrom(0x1b, 0x1b, 0x03, 0x1c),
      codeAlignment: fc.constantFrom(1, 4),
      dataAlignment: fc.constantFrom(-8, 8, -4),
      ofCie: fc.array(instruction, { maxLength: 2 }),
    });
    const words = fc.array(
      fc.oneof(
        fc.integer({ min: 0, max: 0x1ff }),
        fc.constant(0x100),
        fc.integer({ min: -8, max: 64 }).map((at) => at * 1e6),
      ),
      {
        minLength: 24,
        maxLength: 24,
      },
    );
    const property = fc.asyncProperty(cies, fc.array(program, { minLength: 2, maxLength: 3 }), words, async ({ ofCie, ...cie }, programs, slots) => {
      const fdes = programs.map((one, i) => fde(TEXT + 0x100 * i, written(one)));
      const planned = { ...cie, returnAddress: RIP, code: written(ofCie, code().defCfa(RSP, 8).offset(RIP, 1)) };
      const module = moduleOf('x86_64', [[planned, fdes]]);
      const space = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
      // Places in the code and in the stack.
      const word = (slot: number): number => (Math.abs(slot) < 1e6 ? BIAS + TEXT + slot : SP + (slot / 1e6) * 8);
      const stack = Object.fromEntries(slots.map((slot, i) => [8 * i, word(slot)]));
      for (const ip of [0, 1, 8, 17, 40, 0xfe, 0xff, 0x108]) {
        await unwound({ machine: 'x86_64', registers: { ip: BIAS + TEXT + ip, sp: SP, bp: SP + 32, bx: SP + 64, r12: SP + 16 }, stack }, space);
      }
    });
    await fc.assert(property, { numRuns: runs(2000, 40) });
  });
});
