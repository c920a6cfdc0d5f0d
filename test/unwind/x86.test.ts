import { describe, expect, test } from 'vitest';
import { assembleFrames, type PlannedFde } from '../support/builders/unwind/frame-assembler.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeModule, moduleOf, type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';
import { CIE, code, fde, RBP, RBX, RIP, RSP } from '../support/builders/unwind/x86-64-functions.ts';

const BIAS = 0x7f00_f000_0000;
const SP = 0x7ffc_f000_1000;

// A leaf with nothing on the stack, a function that saves rbx, one with a frame pointer, one that has no caller.
const PUSHES_RBX = fde(0x1100, code().defCfaOffset(32).offset(RBX, 2));
const HAS_FRAME = fde(0x1200, code().defCfa(RBP, 16).offset(RBP, 2));
const OUTERMOST = fde(0x1300, code().undefined(RIP));
const FUNCTIONS = [fde(0x1000), PUSHES_RBX, HAS_FRAME, OUTERMOST];

function space(...functions: readonly PlannedFde[]): MadeSpace {
  return new MadeSpace().map(BIAS, BIAS + 0x10000, moduleOf('x86_64', [[CIE, [...FUNCTIONS, ...functions]]]), BIAS);
}

describe('x86-64 stacks', () => {
  const registers = { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x40, bx: 7 };
  // leaf ← rbx saver ← frame with rbp ← start
  const stack = { 0: BIAS + 0x1110, 16: 99, 24: 5, 32: BIAS + 0x1210, 64: 0, 72: BIAS + 0x1310 };
  const frames = [`!${(BIAS + 0x1010).toString(16)}`, ...[0x1110, 0x1210, 0x1310].map((at) => (BIAS + at).toString(16))];

  test('are unwound by their rules, up to the frame without a caller', async () => {
    const result = await unwound({ machine: 'x86_64', registers, stack }, space());
    expect(result).toEqual({ end: 'complete', frames, endAddress: BIAS + 0x1310, endFile: 0 });
  });

  test('are unwound from registers that a frame in between had saved', async () => {
    // The CFA of the last frame is by rbx, which the one before has on its stack.
    const byRbx = fde(0x1400, code().defCfa(RBX, 16));
    const moved = { ...stack, 24: SP + 0x60, 32: BIAS + 0x1410, 104: BIAS + 0x1310 };
    const result = await unwound({ machine: 'x86_64', registers, stack: moved }, space(byRbx));
    expect(result.frames.slice(2)).toEqual([(BIAS + 0x1410).toString(16), (BIAS + 0x1310).toString(16)]);
    expect(result.end).toBe('complete');
  });

  test('are complete at a return address of 0', async () => {
    const result = await unwound({ machine: 'x86_64', registers, stack: { ...stack, 32: 0 } }, space());
    expect(result).toMatchObject({ end: 'complete', frames: frames.slice(0, 2) });
  });

  test('look rules up at the call, which may be the last instruction of a function', async () => {
    const result = await unwound({ machine: 'x86_64', registers, stack: { 0: BIAS + 0x1400, 8: 0 } }, space());
    expect(result.frames[1]).toBe((BIAS + 0x1400).toString(16));
    expect(result.end).toBe('complete');
  });

  test('are complete in the system call that ends a thread, whatever code follows it', async () => {
    const [ax, ip] = [-38, BIAS + 0x1400];
    const inCall = { ...registers, ax, cx: ip, ip };
    const behind = space(fde(0x1400));
    const depthOf = async (of: typeof inCall, options = {}): Promise<number> =>
      (await unwound({ machine: 'x86_64', registers: of, stack }, behind, options)).frames.length;
    expect(await unwound({ machine: 'x86_64', registers: inCall, stack }, behind)).toEqual({
      end: 'complete',
      frames: [`!${ip.toString(16)}`],
      endAddress: ip,
      endFile: 0,
    });
    expect(await depthOf({ ...inCall, ax: 0 })).toBeGreaterThan(1);
    expect(await depthOf({ ...inCall, cx: 0 })).toBeGreaterThan(1);
    // In half of a register, it is not that value.
    expect(await depthOf({ ...inCall, ax: 0xffff_ffda })).toBeGreaterThan(1);
    expect(await depthOf({ ...inCall, cx: ip % 2 ** 32 })).toBeGreaterThan(1);
    expect(await depthOf({ ...inCall, ip: BIAS + 0x1401, cx: BIAS + 0x1401 })).toBeGreaterThan(1);
    expect(await depthOf(inCall, { followsLibunwind: true })).toBeGreaterThan(1);
    // Nothing is known about other code.
    const jit = space().map(0x10_0000, 0x20_0000);
    const inJit = { ...inCall, cx: 0x10_0100, ip: 0x10_0100 };
    expect(await unwound({ machine: 'x86_64', registers: inJit, stack }, jit)).toMatchObject({ frames: ['!100100', (BIAS + 0x1310).toString(16)] });
  });

  test('are not complete if run-time code calls with the frame pointer of 0 that the program began with', async () => {
    const withJit = space().map(0x10_0000, 0x20_0000);
    const called = { ...stack, 64: 0, 72: 0x10_0200 };
    const found = [...frames.slice(0, 3), '100200'];
    expect(await unwound({ machine: 'x86_64', registers, stack: called }, withJit)).toEqual({
      end: 'no-module',
      frames: found,
      endAddress: 0x10_0200,
      endFile: 1,
    });
    // A leaf that such code calls.
    const leaf = { machine: 'x86_64', registers: { ...registers, bp: 0 }, stack: { 0: 0x10_0200 } } as const;
    expect(await unwound(leaf, withJit)).toMatchObject({ end: 'no-module', frames: [frames[0], '100200'] });
    // A chain of frame pointers ends in 0: Erlang's processes have stacks of their own.
    const chained = { ...called, 64: SP + 0x60, 96: 0, 104: 0x10_0300 };
    expect(await unwound({ machine: 'x86_64', registers, stack: chained }, withJit)).toMatchObject({ end: 'complete', frames: [...found, '100300'] });
    // A program whose file is missing begins with 0, too: its arguments are above.
    const started = { ...called, 80: 1, 88: SP + 0x200, 96: 0, 104: SP + 0x210, 112: 0, 120: 6, 128: 4096, 136: 0 };
    expect(await unwound({ machine: 'x86_64', registers, stack: started }, withJit)).toMatchObject({ end: 'complete', frames: found });
  });

  test('end at a caller on another stack to which a rule leads', async () => {
    // The return address and the stack pointer are at rbp, where Wine keeps those of Windows code.
    const deref = (offset: number): Uint8Array => Uint8Array.of(0x76, offset, 0x06);
    const at = (offset: number): Uint8Array => Uint8Array.of(0x76, offset);
    const switching = fde(0x1400, code().defCfaExpression(deref(8)).expression(RSP, at(8)).expression(RIP, at(0)));
    const ends = async (caller: number, sp: number, options = {}): Promise<UnwoundSample> =>
      unwound({ machine: 'x86_64', registers, stack: { 0: BIAS + 0x1410, 64: caller, 72: sp } }, space(switching), options);
    const found = [frames[0], (BIAS + 0x1410).toString(16), (BIAS + 0x1210).toString(16)];
    expect(await ends(BIAS + 0x1210, SP - 0x10000)).toMatchObject({ end: 'truncated', endStackOffset: -0x10000, frames: found });
    // libunwind ignores the other stack: by the frame pointer, it finds the next word of this one.
    expect(await ends(BIAS + 0x1210, SP - 0x10000, { followsLibunwind: true })).toMatchObject({ end: 'unmapped', endAddress: SP - 0x10000, frames: found });
    expect(await ends(0x1234, SP - 0x10000)).toMatchObject({ end: 'bad-frame', frames: found.slice(0, 2) });
  });

  test('may go on below their dump by a register in which only code that leaves its stack has its frame', async () => {
    const below = SP - 0x10_0000;
    const endOf = async (register: number, of: object): Promise<string> =>
      (await unwound({ machine: 'x86_64', registers: { ...registers, ...of }, stack: { 0: BIAS + 0x1410 } }, space(fde(0x1400, code().defCfa(register, 24)))))
        .end;
    expect(await endOf(RBX, { bx: below })).toBe('truncated');
    expect(await endOf(RBP, { bp: below })).toBe('bad-frame');
  });

  test('go on from a stack pointer that a rule has in a register, but for libunwind from the CFA', async () => {
    // longjmp has loaded what it goes on with; the CFA is what it loaded that from.
    const [RDX, RDI, R8] = [1, 5, 8];
    const jumping = fde(0x1400, code().defCfa(RDI, 0).register(RSP, R8).register(RIP, RDX));
    const jump = { ip: BIAS + 0x1410, sp: SP, bp: 0, dx: BIAS + 0x1110, r8: SP + 0x20 };
    const ends = async (di: number, options = {}): Promise<UnwoundSample> =>
      unwound({ machine: 'x86_64', registers: { ...jump, di }, stack: { 24: BIAS + 0x1310, 56: BIAS + 0x1310 } }, space(jumping), options);
    const found = [`!${(BIAS + 0x1410).toString(16)}`, (BIAS + 0x1110).toString(16)];
    const whole = [...found, (BIAS + 0x1310).toString(16)];
    expect(await ends(BIAS + 0x1800)).toMatchObject({ end: 'complete', frames: whole });
    expect(await ends(BIAS + 0x1800, { followsLibunwind: true })).toMatchObject({ end: 'truncated', frames: found });
    expect(await ends(0x1234, { followsLibunwind: true })).toMatchObject({ end: 'bad-frame', frames: found });
    expect(await ends(SP, { followsLibunwind: true })).toMatchObject({ end: 'complete', frames: whole });
  });

  test('are followed by libunwind from one frame pointer to the next where there are no rules', async () => {
    const chain = { 16: SP + 0x30, 24: BIAS + 0x1600, 48: SP + 0x50, 56: BIAS + 0x1310 };
    const sample = { machine: 'x86_64', registers: { ip: BIAS + 0x1500, sp: SP, bp: SP + 0x10 }, stack: chain } as const;
    expect(await unwound(sample, space(), { followsLibunwind: true })).toMatchObject({
      end: 'complete',
      frames: [`!${(BIAS + 0x1500).toString(16)}`, (BIAS + 0x1600).toString(16), (BIAS + 0x1310).toString(16)],
    });
  });

  test('go on through functions that save vectors, as Wine’s do, but for libunwind only until one is saved', async () => {
    const XMM6 = 23;
    const saving = code().defCfaOffset(32).offset(RBX, 2).advance(0x20).offsetExtended(XMM6, 3).advance(0x20).restoreExtended(XMM6);
    const ends = async (at: number, options?: { followsLibunwind: boolean }): Promise<string> => {
      const through = { ...stack, 0: BIAS + 0x1400 + at };
      const { end, frames: found } = await unwound({ machine: 'x86_64', registers, stack: through }, space(fde(0x1400, saving)), options);
      return `${end} ${found.length}`;
    };
    for (const at of [0x10, 0x30, 0x50]) expect(await ends(at)).toBe('complete 4');
    expect(await ends(0x10, { followsLibunwind: true })).toBe('complete 4');
    for (const at of [0x30, 0x50]) expect(await ends(at, { followsLibunwind: true })).toBe('bad-frame 2');
  });

  test('are truncated where the dump ends, wherever that is', async () => {
    const counts = new Map<string, number>();
    for (let stackSizeBytes = 0; stackSizeBytes <= 0x50; stackSizeBytes++) {
      const { end, frames: found } = await unwound({ machine: 'x86_64', registers, stack, stackSizeBytes }, space());
      expect(frames.slice(0, found.length)).toEqual(found);
      counts.set(`${end} ${found.length}`, (counts.get(`${end} ${found.length}`) ?? 0) + 1);
    }
    expect([...counts]).toEqual([
      ['truncated 1', 8],
      ['truncated 2', 32],
      ['truncated 3', 40],
      ['complete 4', 1],
    ]);
  });

  test('end at a rule that needs a register that was not recorded', async () => {
    const result = await unwound({ machine: 'x86_64', registers, stack, without: ['bp'] }, space());
    expect(result).toMatchObject({ end: 'no-registers', frames: frames.slice(0, 3) });
  });

  test('are truncated at a rule that needs an unrecorded register if the dump has nothing of its frame', async () => {
    const result = await unwound({ machine: 'x86_64', registers, stack, stackSizeBytes: 40, without: ['bp'] }, space());
    expect(result).toMatchObject({ end: 'truncated', frames: frames.slice(0, 3) });
  });

  test('are truncated at a rule that needs a register saved beyond the dump', async () => {
    // The second frame says that rbp is 4 KB above its CFA.
    const beyond = fde(0x1500, code().defCfa(RSP, 16).offset(RBP, -0x200));
    const moved = { 0: BIAS + 0x1510, 8: 0, 16: BIAS + 0x1210 };
    const result = await unwound({ machine: 'x86_64', registers, stack: moved }, space(beyond));
    expect(result).toMatchObject({ end: 'truncated', frames: [frames[0], (BIAS + 0x1510).toString(16), frames[2]] });
  });

  test('have no frames without an instruction or stack pointer', async () => {
    for (const name of ['ip', 'sp'])
      expect(await unwound({ machine: 'x86_64', registers, stack, without: [name] }, space())).toMatchObject({
        end: 'no-registers',
        frames: [],
        endFile: -1,
      });
  });

  test('end at return addresses where nothing is mapped, and leave them out', async () => {
    const result = await unwound({ machine: 'x86_64', registers, stack: { ...stack, 32: 0x1234 } }, space());
    expect(result).toEqual({ end: 'unmapped', frames: frames.slice(0, 2), endAddress: 0x1234, endFile: 0 });
  });

  test('wait for files that are not loaded', async () => {
    const waiting = space().map(0x5000, 0x6000, undefined, 0, 'pending');
    const result = await unwound({ machine: 'x86_64', registers, stack: { ...stack, 32: 0x5001 } }, waiting);
    expect(result).toMatchObject({ end: 'pending', endFile: 1 });
  });

  test('end after as many frames as are asked for', async () => {
    expect(await unwound({ machine: 'x86_64', registers, stack }, space(), { maxFrames: 2 })).toMatchObject({ end: 'limit', frames: frames.slice(0, 2) });
  });

  test('wait for the file of a caller, but not for that of the leaf if nothing else is asked for', async () => {
    const waiting = space().map(0x5000, 0x6000, undefined, 0, 'pending');
    const leaf = { machine: 'x86_64', registers: { ...registers, ip: 0x5001 }, stack } as const;
    expect(await unwound(leaf, waiting, { maxFrames: 1 })).toMatchObject({ end: 'limit', frames: ['!5001'] });
    expect((await unwound({ machine: 'x86_64', registers, stack: { ...stack, 32: 0x5001 } }, waiting, { maxFrames: 3 })).end).toBe('pending');
  });

  test('end if they do not grow', async () => {
    // The caller's stack pointer is the frame's own, over and over, or below it.
    const loops = fde(0x1400, code().defCfa(RBP, 0).offset(RIP, 1));
    const below = await unwound({ machine: 'x86_64', registers: { ...registers, ip: BIAS + 0x1410, bp: SP }, stack: { 0: BIAS + 0x1410 } }, space(loops));
    expect(below.end).toBe('bad-frame');
    const inRegister = fde(0x1500, code().defCfa(RSP, 0).register(RIP, RBX));
    const result = await unwound({ machine: 'x86_64', registers: { ...registers, ip: BIAS + 0x1510, bx: BIAS + 0x1510 }, stack: {} }, space(inRegister));
    expect(result.end).toBe('bad-frame');
    expect(result.frames.length).toBeLessThan(10);
  });

  test('have return addresses in registers, as vfork does', async () => {
    const inRegister = fde(0x1500, code().defCfa(RSP, 0).register(RIP, RBX));
    const result = await unwound({ machine: 'x86_64', registers: { ...registers, ip: BIAS + 0x1510, bx: BIAS + 0x1010 }, stack: { 0: 0 } }, space(inRegister));
    expect(result).toMatchObject({ end: 'complete', frames: [`!${(BIAS + 0x1510).toString(16)}`, (BIAS + 0x1010).toString(16)] });
  });

  test('may be deeper than the first columns hold', async () => {
    const deep = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [8 * i, BIAS + (i === 999 ? 0x1310 : 0x1010)]));
    const result = await unwound({ machine: 'x86_64', registers, stack: deep }, space());
    expect(result.end).toBe('complete');
    expect(result.frames.length).toBe(1001);
  });

  test('have values, expressions and registers restored by rules of any kind', async () => {
    const rules = code()
      .defCfaExpression(Uint8Array.of(0x77, 0x10)) // breg7 16
      .expression(RBP, Uint8Array.of(0x38, 0x1c)) // at CFA − 8
      .valExpression(RBX, Uint8Array.of(0x38, 0x22)) // CFA + 8
      .valOffset(12, 1)
      .offset(RIP, 2);
    const any = fde(0x1400, rules);
    const byRbp = fde(0x1500, code().defCfa(RBP, 0).offset(RIP, 1));
    const byRbx = fde(0x1600, code().defCfa(RBX, 24).offset(RIP, 1));
    const byR12 = fde(0x1700, code().defCfa(12, 48).offset(RIP, 1));
    const memory = { 0: BIAS + 0x1510, 8: SP + 0x20, 24: BIAS + 0x1610, 40: BIAS + 0x1710, 48: BIAS + 0x1310 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1410, sp: SP }, stack: memory }, space(any, byRbp, byRbx, byR12));
    expect(result).toMatchObject({
      end: 'complete',
      frames: [0x1410, 0x1510, 0x1610, 0x1710, 0x1310].map((at, i) => `${i ? '' : '!'}${(BIAS + at).toString(16)}`),
    });
  });

  test('have expressions that read memory from files', async () => {
    const constant = new Uint8Array(16);
    new DataView(constant.buffer).setBigUint64(8, 8n, true);
    // CFA = rsp + what the word at 0x3008 of the file has
    const rules = fde(0x1400, code().defCfaExpression(Uint8Array.of(0x77, 0, 0x0e, ...addressBytes(BIAS + 0x3008), 0x06, 0x22)));
    const frames = moduleOf('x86_64', [[CIE, [...FUNCTIONS, rules]]]);
    const constants = await madeModule('x86_64', [], [{ name: '.rodata', flags: 2, addr: 0x3000, content: constant }]);
    const both = new MadeSpace().map(BIAS, BIAS + 0x3000, frames, BIAS).map(BIAS + 0x3000, BIAS + 0x4000, constants, BIAS);
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1410, sp: SP }, stack: { 0: BIAS + 0x1310 } }, both);
    expect(result).toMatchObject({ end: 'complete', endAddress: BIAS + 0x1310 });
  });

  test('have PLT stubs whose stack depends on the instruction', async () => {
    // As linkers write it: CFA = rsp + 8 + ((rip & 15) >= 11) * 8
    const stub = fde(0x1400, code().defCfaExpression(Uint8Array.of(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22)));
    for (const [at, returnAt] of [
      [0x1416, 0],
      [0x141b, 8],
    ] as const) {
      const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + at, sp: SP }, stack: { [returnAt]: BIAS + 0x1310 } }, space(stub));
      expect(result).toMatchObject({ end: 'complete', endAddress: BIAS + 0x1310 });
    }
  });

  test('have saved stack pointers that need not be the CFA', async () => {
    const switches = fde(0x1400, code().offset(RSP, 2).defCfaOffset(24));
    const stack = { 8: SP + 0x40, 16: BIAS + 0x1010, 64: BIAS + 0x1310 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1410, sp: SP }, stack }, space(switches));
    expect(result).toMatchObject({ end: 'complete', endAddress: BIAS + 0x1310 });
  });

  test('go on from leaves that push more than their rules say, to an address after a call', async () => {
    const text = new Uint8Array(0x1000).fill(0x90);
    text.set([0xff, 0xd0], 0x30e);
    const frames = assembleFrames([[CIE, FUNCTIONS]], { addr: 0x4000 });
    const module = await madeModule('x86_64', [{ svma: 0x1000, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: frames.bytes }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const pushed = { 0: 5, 8: BIAS + 0x1312, 16: BIAS + 0x1310 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: pushed }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [`!${(BIAS + 0x1010).toString(16)}`, (BIAS + 0x1310).toString(16)] });
    const without = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: { 0: 5, 8: BIAS + 0x1312 } }, mapped);
    expect(without).toMatchObject({ end: 'unmapped', frames: [`!${(BIAS + 0x1010).toString(16)}`], endAddress: 5 });
    // What was pushed may point to data: of the file, as ebx does in i386 code, or of the heap.
    for (const data of [BIAS + 0x4010, 0x5500_0010]) {
      const both = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS).mapData(0x5500_0000, 0x5500_1000);
      const pointing = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: { ...pushed, 0: data } }, both);
      expect(pointing).toMatchObject({ end: 'complete', frames: result.frames });
    }
  });

  test('go on from leaves that push more with the registers they have, not those of their rules', async () => {
    const text = new Uint8Array(0x1000).fill(0x90);
    text.set([0xff, 0xd0], 0x40e);
    const functions = [fde(0x1000, code().defCfaOffset(16).offset(RBX, 2)), OUTERMOST, fde(0x1400, code().defCfa(RBX, 16))];
    const frames = assembleFrames([[CIE, functions]], { addr: 0x4000 });
    const module = await madeModule('x86_64', [{ svma: 0x1000, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: frames.bytes }]);
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    const stack = { 0: 99, 8: 5, 16: BIAS + 0x1410, 72: BIAS + 0x1310 };
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP, bx: SP + 0x40 }, stack }, mapped);
    expect(result).toMatchObject({ end: 'complete', frames: [0x1010, 0x1410, 0x1310].map((at, i) => (i ? '' : '!') + (BIAS + at).toString(16)) });
  });

  test('end at damaged rules', async () => {
    const damaged = fde(0x1400, code().raw(0x3e));
    const divides = fde(0x1500, code().defCfaExpression(Uint8Array.of(0x33, 0x30, 0x1b)));
    for (const at of [0x1410, 0x1510]) {
      expect(await unwound({ machine: 'x86_64', registers: { ip: BIAS + at, sp: SP }, stack }, space(damaged, divides))).toMatchObject({
        end: 'bad-frame',
        endAddress: BIAS + at,
      });
    }
  });

  test('say how much larger the dump has to be', async () => {
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: {}, stackSizeBytes: 0 }, space(fde(0x1000)));
    expect(result).toMatchObject({ end: 'truncated', endStackOffset: 8 });
  });

  test.each([
    ['alone', Uint8Array.of(0x76, 0, 0x06, 0x23, 16)],
    ['with another operation', Uint8Array.of(0x76, 0, 0x06, 0x09, 0xf0, 0x1a)],
  ])('are cut off at the word from which an expression finds the frame, %s', async (_, expression) => {
    const rules = code().defCfaExpression(expression).offset(RIP, 1);
    const registers = { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x4000_0000 };
    const result = await unwound({ machine: 'x86_64', registers, stack: { 0: 0 } }, space(fde(0x1000, rules)));
    expect(result).toMatchObject({ end: 'truncated', endAddress: BIAS + 0x1010, endStackOffset: 0x4000_0008 });
  });
});

test('return addresses that a frame pointer finds in a file count for libunwind only, wherever the file begins for its rules', async () => {
  const text = new Uint8Array(0x2000).fill(0x90);
  new DataView(text.buffer).setBigUint64(0x1008, BigInt(BIAS + 0x1310), true);
  const { bytes } = assembleFrames([[CIE, FUNCTIONS]], { addr: 0x4000 });
  const module = await madeModule('x86_64', [{ svma: 0x1000, bytes: text }], [{ name: '.eh_frame', flags: 2, addr: 0x4000, content: bytes }]);
  const spaces = [0x2000, 0x2400].map((bp) => {
    const mapped = new MadeSpace().map(BIAS, BIAS + 0x10000, module, BIAS);
    return { bp, mapped: Object.assign(mapped, { codeBias: BIAS + bp - 0x2000 }) };
  });
  for (const { bp, mapped } of spaces) {
    const sample = { machine: 'x86_64', registers: { ip: BIAS + 0x1210, sp: SP, bp: BIAS + bp }, stack: { 0: 7 } } as const;
    const leaf = `!${(BIAS + 0x1210).toString(16)}`;
    expect(await unwound(sample, mapped, { followsLibunwind: true })).toMatchObject({ end: 'complete', frames: [leaf, (BIAS + 0x1310).toString(16)] });
    expect(await unwound(sample, mapped)).toMatchObject({ end: 'bad-frame', frames: [leaf] });
  }
});

test('return addresses in the data of a file end a stack, and are left out, but not for libunwind', async () => {
  const data = await madeModule(
    'x86_64',
    [{ svma: 0x2000, bytes: new Uint8Array(0x1000) }],
    [{ name: '.data', flags: 2, addr: 0x3000, content: new Uint8Array(16) }],
  );
  const mapped = new MadeSpace().map(BIAS, BIAS + 0x2000, moduleOf('x86_64', [[CIE, FUNCTIONS]]), BIAS).map(BIAS + 0x2000, BIAS + 0x4000, data, BIAS);
  const sample = { machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: { 0: BIAS + 0x1110, 32: BIAS + 0x3008 } } as const;
  const frames = [`!${(BIAS + 0x1010).toString(16)}`, (BIAS + 0x1110).toString(16)];
  expect(await unwound(sample, mapped)).toMatchObject({ end: 'unmapped', frames, endAddress: BIAS + 0x3008 });
  expect((await unwound(sample, mapped, { followsLibunwind: true })).frames).toEqual([...frames, (BIAS + 0x3008).toString(16)]);
});

describe('return addresses in memory that was mapped as data', () => {
  const DATA = 0x6f00_0000_0000;
  const mapped = (): MadeSpace => space(fde(0x1000), OUTERMOST).mapData(DATA, DATA + 0x1000);
  const stack = { 0: DATA + 0x10, 64: 0, 72: BIAS + 0x1310 };

  test('count if frame pointers lead on, as out of JIT code', async () => {
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP, bp: SP + 0x40 }, stack }, mapped());
    expect(result).toMatchObject({ end: 'complete', frames: [`!${(BIAS + 0x1010).toString(16)}`, (DATA + 0x10).toString(16), (BIAS + 0x1310).toString(16)] });
  });

  test.each([7, 0])('do not count if a frame pointer of %s leads nowhere', async (bp) => {
    const result = await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP, bp }, stack }, mapped());
    expect(result).toMatchObject({ end: 'unmapped', endAddress: DATA + 0x10, frames: [`!${(BIAS + 0x1010).toString(16)}`] });
  });
});

describe('stacks of programs whose start is not marked as such', () => {
  // The start aligns the stack and calls; above its frame are the number of arguments, the arguments, a null pointer.
  const stack = { 0: BIAS + 0x1410, 8: 2, 16: SP + 0x100, 24: SP + 0x108, 32: 0 };
  const end = async (changes: Readonly<Record<number, number>>, options = {}): Promise<string> => {
    const mapped = space(fde(0x1000), fde(0x1400));
    return (await unwound({ machine: 'x86_64', registers: { ip: BIAS + 0x1010, sp: SP }, stack: { ...stack, ...changes } }, mapped, options)).end;
  };

  test('are complete where the arguments of a program begin', async () => {
    expect(await end({})).toBe('complete');
  });

  test.each([
    ['a missing null pointer after the arguments', { 32: 1 }],
    ['another number of arguments', { 8: 1 }],
    ['arguments below the stack pointer', { 16: SP - 8 }],
    ['arguments far away', { 16: SP + 0x100_0000 }],
  ])('are broken by %s', async (_name, changes) => {
    expect(await end(changes)).toBe('unmapped');
  });

  test('are broken if libunwind is followed', async () => {
    expect(await end({}, { followsLibunwind: true })).toBe('unmapped');
  });

  test.each([
    ['a register', code().defCfa(RBX, 16).valOffset(RBP, 0), 'no-registers'],
    // 4 KB above the stack pointer.
    ['memory', code().defCfaExpression(Uint8Array.of(0x77, 0x80, 0x20, 0x06)), 'truncated'],
  ])('are cut off at a rule that needs %s that is not known, and broken if libunwind is followed', async (_name, rule, end) => {
    const sample = { machine: 'x86_64', registers: { ip: BIAS + 0x1510, sp: SP }, stack: { 0: 0, 8: 0 }, without: ['bx'] } as const;
    const ends = [{}, { followsLibunwind: true }].map(async (options) => (await unwound(sample, space(fde(0x1500, rule)), options)).end);
    expect(await Promise.all(ends)).toEqual([end, 'bad-frame']);
  });
});

function addressBytes(address: number): number[] {
  return Array.from({ length: 8 }, (_, i) => Number((BigInt(address) >> BigInt(8 * i)) & 0xffn));
}
