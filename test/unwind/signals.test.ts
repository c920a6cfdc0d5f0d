import { describe, expect, test } from 'vitest';
import { assembleFrames, assembleFrameTable, type PlannedCie } from '../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeModule, moduleOf, type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';
import { CIE, code, fde, RBP, RIP, RSP } from '../support/builders/unwind/x86-64-functions.ts';

const BIAS = 0x7f00_f000_0000;
const SP = 0x7ffc_f000_1000;

const SIGNAL_CIE: PlannedCie = { ...CIE, augmentation: 'zRS' };
const OUTERMOST = fde(0x1300, code().undefined(RIP));

describe('signals', () => {
  /** What the kernel leaves at `uc`, here 0x100 above the handler's stack pointer: registers by the distance from there (asm/sigcontext.h). */
  const context = { [0x100 + 120]: SP + 0x800, [0x100 + 160]: SP + 0x700, [0x100 + 168]: BIAS + 0x1010 };
  const stack = { 0: BIAS + 0x1410, 1792: BIAS + 0x1310, ...context };
  const expected = (trampoline: number, isCall = false): object => ({
    end: 'complete',
    frames: [
      `!${(BIAS + 0x1200).toString(16)}`,
      `${isCall ? '' : '!'}${(BIAS + trampoline).toString(16)}`,
      `!${(BIAS + 0x1010).toString(16)}`,
      (BIAS + 0x1310).toString(16),
    ],
  });

  test('are unwound to the trampoline, which made no call, and to the instruction that they interrupted', async () => {
    // As libc writes it: registers at addresses that expressions give.
    const at = (offset: number): Uint8Array => Uint8Array.of(0x77, (offset & 0x7f) | 0x80, offset >> 7);
    const rules = code()
      .defCfaExpression(Uint8Array.of(...at(160), 0x06))
      .expression(RIP, at(168))
      .expression(RBP, at(120));
    const module = moduleOf('x86_64', [
      [CIE, [fde(0x1000), fde(0x1200, code().defCfaOffset(0x100).offset(RIP, 1)), OUTERMOST]],
      [SIGNAL_CIE, [{ start: 0x13ff + 0x10, sizeBytes: 0x10, code: rules }]],
    ]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const sample = { machine: 'x86_64', registers: { ip: BIAS + 0x1200, sp: SP }, stack: { ...stack, 248: BIAS + 0x1410 } } as const;
    expect(await unwound(sample, mapped)).toMatchObject(expected(0x1410));
    expect(await unwound(sample, mapped, { followsLibunwind: true })).toMatchObject(expected(0x1410, true));
  });

  test('are returned to by a handler without a rule, if a rule says that the trampoline is one', async () => {
    const at = (offset: number): Uint8Array => Uint8Array.of(0x77, (offset & 0x7f) | 0x80, offset >> 7);
    const rules = code()
      .defCfaExpression(Uint8Array.of(...at(160), 0x06))
      .expression(RIP, at(168))
      .expression(RBP, at(120));
    const { bytes: frames } = assembleFrames(
      [
        [CIE, [fde(0x1000), OUTERMOST]],
        [SIGNAL_CIE, [{ start: 0x140f, sizeBytes: 0x11, code: rules }]],
      ],
      { addr: 0x4000 },
    );
    const text = new Uint8Array(0x500).fill(0x90);
    // add $0xf8, %rsp; ret
    text.set([0x48, 0x81, 0xc4, 0xf8, 0, 0, 0, 0xc3], 0x200);
    const module = await madeModule('x86_64', [{ svma: 0x1000, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: frames }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const sample = { machine: 'x86_64', registers: { ip: BIAS + 0x1200, sp: SP }, stack: { ...stack, 248: BIAS + 0x1410 } } as const;
    expect(await unwound(sample, mapped)).toMatchObject(expected(0x1410));
  });

  test.each([
    ['mov $15, %rax; syscall', [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]],
    ['mov $15, %eax; syscall', [0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05]],
  ])('are recognized by the code that returns from them if that has no rule: %s', async (_name, bytes) => {
    const text = new Uint8Array(0x500).fill(0x90);
    text.set(bytes, 0x410);
    // The function before the trampoline ends where that begins.
    const functions = [fde(0x1000), fde(0x1200, code().defCfaOffset(0x100).offset(RIP, 1)), OUTERMOST, { start: 0x1400, sizeBytes: 0x10, code: code() }];
    const { bytes: frames, fdeOffsets } = assembleFrames([[CIE, functions]], { addr: 0x4000 });
    const table = assembleFrameTable(
      0x3000,
      0x4000,
      functions.map(({ start }, i) => [start, 0x4000 + fdeOffsets[i]] as const),
    );
    const sections = [
      { name: '.eh_frame_hdr', flags: 2, addr: 0x3000, content: table },
      { name: '.eh_frame', flags: 2, addr: 0x4000, content: frames },
    ];
    for (const hasRuleBefore of [true, false]) {
      const start = hasRuleBefore ? 0 : 0x11;
      text.fill(0x90, 0x410, 0x440).set(bytes, 0x410 + start);
      const module = await madeModule('x86_64', [{ svma: 0x1000, bytes: text.slice() }], sections);
      const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
      const result = await unwound(
        { machine: 'x86_64', registers: { ip: BIAS + 0x1200, sp: SP }, stack: { ...stack, 248: BIAS + 0x1410 + start, 256: BIAS + 0x1310 } },
        mapped,
      );
      expect(result).toMatchObject(expected(0x1410 + start));
    }
  });

  test('are recognized while the kernel returns from them, whatever the rule of that code says, as in Go', async () => {
    const text = new Uint8Array(0x500).fill(0x90);
    text.set([0xff, 0xd1], 0x30e);
    text.set([0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05], 0x410);
    const functions = [fde(0x1000), OUTERMOST, fde(0x1400)];
    const { bytes: frames } = assembleFrames([[CIE, functions]], { addr: 0x4000 });
    const module = await madeModule('x86_64', [{ svma: 0x1000, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: frames }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    // uc_flags is where the rule has the return address, and an interrupted register (r12) holds another one.
    const sampled = (sp: number) => ({ 0: 7, 72: BIAS + 0x1310, 120: SP + 0x800, 160: sp, 168: BIAS + 0x1010, 1792: BIAS + 0x1310 });
    const registers = { ip: BIAS + 0x1419, sp: SP };
    const result = await unwound({ machine: 'x86_64', registers, stack: sampled(SP + 0x700) }, mapped);
    const [trampoline, interrupted, caller] = [`!${(BIAS + 0x1419).toString(16)}`, `!${(BIAS + 0x1010).toString(16)}`, (BIAS + 0x1310).toString(16)];
    expect(result).toMatchObject({ end: 'complete', frames: [trampoline, interrupted, caller] });
    const onOther = await unwound({ machine: 'x86_64', registers, stack: sampled(SP - 0x10_0000) }, mapped);
    expect(onOther).toMatchObject({ end: 'truncated', frames: [trampoline, interrupted] });
  });

  test('are followed to the caller of a null pointer', async () => {
    const text = new Uint8Array(0x500).fill(0x90);
    text.set([0xff, 0xd1], 0x30e);
    text.set([0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05], 0x410);
    const { bytes: frames } = assembleFrames([[CIE, [OUTERMOST]]], { addr: 0x4000 });
    const module = await madeModule('x86_64', [{ svma: 0x1000, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: frames }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const sampled = { 160: SP + 0x700, 168: 0, 1792: BIAS + 0x1310 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1410, sp: SP }, stack: sampled }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [`!${(BIAS + 0x1410).toString(16)}`, '!0', (BIAS + 0x1310).toString(16)] });
  });

  test('are not followed if they interrupt each other without end', async () => {
    const rules = code().defCfa(RSP, 0).offset(RIP, 0);
    const module = moduleOf('x86_64', [[SIGNAL_CIE, [fde(0x1000, rules)]]]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const result: UnwoundSample = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: { 0: BIAS + 0x1010 } }, mapped);
    expect(result.end).toBe('bad-frame');
    expect(result.frames.length).toBeLessThan(100);
  });

  test('may lead to another stack, as the rules of OCaml 5 do for C functions, where other rules are wrong', async () => {
    // The CFA is 8 bytes above what the second word points to.
    const rule = code().defCfaExpression(Uint8Array.of(0x77, 8, 0x06, 0x23, 8));
    const ends = [SIGNAL_CIE, CIE].map(async (cie) => {
      const module = moduleOf('x86_64', [
        [CIE, [fde(0x1200, code().defCfaOffset(16))]],
        [cie, [fde(0x1000, rule)]],
      ]);
      const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
      const sample = { machine: 'x86_64', registers: { ip: BIAS + 0x1210, sp: SP }, stack: { 8: BIAS + 0x1010, 24: SP - 0x100_0000 } } as const;
      return (await unwound(sample, mapped)).end;
    });
    expect(await Promise.all(ends)).toEqual(['truncated', 'bad-frame']);
  });

  test('are truncated after a handler on its own stack, which is all that the dump has', async () => {
    const onOther = { ...stack, [0x100 + 160]: SP - 0x10_0000, 248: BIAS + 0x1510 };
    const rules = code()
      .defCfaExpression(Uint8Array.of(0x77, 160 | 0x80, 1, 0x06))
      .expression(RIP, Uint8Array.of(0x77, 168 | 0x80, 1));
    const module = moduleOf('x86_64', [
      [CIE, [fde(0x1000), fde(0x1200, code().defCfaOffset(0x100).offset(RIP, 1))]],
      [SIGNAL_CIE, [fde(0x1500, rules)]],
    ]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1200, sp: SP }, stack: onOther }, mapped);
    expect(result).toMatchObject({ end: 'truncated', endAddress: BIAS + 0x1010, endStackOffset: -0x10_0000 + 8 });
  });
});
