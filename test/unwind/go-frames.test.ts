import { describe, expect, test } from 'vitest';
import { MACHINE_REGISTERS } from '../../src/unwind/machines/unwind-machine.ts';
import type { UnwindModule } from '../../src/unwind/modules/unwind-module.ts';
import { NO_RULE, RuleFlag, RuleWord } from '../../src/unwind/rules/unwind-rules.ts';
import { GO_START, type GoProgram, goModule } from '../support/builders/go-program.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeModule, unwound } from '../support/builders/unwind/unwound.ts';

/** The CFA's offset from the stack pointer. */
function offsetAt(module: UnwindModule, svma: number): number | undefined {
  const rule = module.ruleAt(svma);
  if (rule === NO_RULE) return undefined;
  const { data } = module.rules;
  expect(data[rule + RuleWord.flags]).toBe(RuleFlag.plain);
  expect(data[rule + RuleWord.cfaRegister]).toBe(module.registers?.sp);
  return data[rule + RuleWord.cfaOffset];
}

const X86_64: GoProgram = { version: 20, classBits: 64, machine: 62 };
const I386: GoProgram = { version: 20, classBits: 32, machine: 3 };

describe('frames of stripped Go programs', () => {
  test.each([2, 16, 18, 20] as const)('are as large as the runtime’s table says: Go 1.%i', async (version) => {
    const module = await goModule({ ...X86_64, version });
    expect(module.hasRules).toBe(true);
    expect([GO_START - 1, GO_START, GO_START + 8, GO_START + 39, GO_START + 40, GO_START + 47, GO_START + 48].map((svma) => offsetAt(module, svma))).toEqual([
      undefined,
      8,
      32,
      32,
      8,
      8,
      undefined,
    ]);
  });

  test('have return addresses of 4 bytes in 32-bit programs', async () => {
    expect(offsetAt(await goModule(I386), GO_START + 8)).toBe(28);
  });

  test('are not looked for if perf does not know them', async () => {
    expect((await goModule({ ...X86_64, usesAllTables: false })).hasRules).toBe(false);
  });

  test.each([
    ['continue on another stack if they lead nowhere', {}, 'truncated', Number.POSITIVE_INFINITY],
    ['are broken where they lead nowhere if libunwind is followed', { followsLibunwind: true }, 'unmapped', undefined],
  ])('%s, since some functions of the runtime change stacks', async (_, options, end, endStackOffset) => {
    const space = new MadeSpace().map(GO_START, GO_START + 0x1000, await goModule(X86_64), 0);
    const sample = { machine: 'x86_64', registers: { ip: GO_START, sp: 0x7000 }, stack: { 0: GO_START + 8, 32: 0x1234 } } as const;
    expect(await unwound(sample, space, options)).toMatchObject({ end, endStackOffset, frames: [`!${GO_START.toString(16)}`, (GO_START + 8).toString(16)] });
  });

  test('continue on another stack if a leaf’s leads nowhere, whatever is on that one, as while a goroutine’s registers are loaded', async () => {
    const other = await madeModule('x86_64', [{ svma: 0x1000, bytes: Uint8Array.of(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0, 0xc3) }]);
    const space = new MadeSpace().map(GO_START, GO_START + 0x1000, await goModule({ ...X86_64, name: 'gogo' }), 0).map(0x50_0000, 0x50_1000, other, 0x4f_f000);
    const sample = { machine: 'x86_64', registers: { ip: GO_START, sp: 0x7000 }, stack: { 0: 5, 8: 0x50_0008, 16: 0 } } as const;
    expect(await unwound(sample, space)).toMatchObject({ end: 'truncated', endStackOffset: Number.POSITIVE_INFINITY, frames: [`!${GO_START.toString(16)}`] });
  });

  test.each([
    ['runtime.nanotime1', 'frame'],
    ['time.now', 'frame'],
    ['runtime.callCgoMmap', 'frame'],
    ['runtime.sigfwd', 'frame'],
    ['runtime.nanotime10', 'stack'],
    ['now', 'stack'],
  ])('of %s are found by the %s pointer, since some functions of the runtime call the vdso on another stack, or align it', async (name, pointer) => {
    const module = await goModule({ ...X86_64, name });
    const { sp, fp } = MACHINE_REGISTERS.x86_64;
    const registerAt = (svma: number): number => module.rules.data[module.ruleAt(svma) + RuleWord.cfaRegister];
    expect([GO_START, GO_START + 8, GO_START + 39, GO_START + 40].map(registerAt)).toEqual(pointer === 'frame' ? [sp, fp, fp, sp] : [sp, sp, sp, sp]);
    const space = new MadeSpace().map(GO_START, GO_START + 0x1000, module, 0);
    // On top of the other stack is 0, which ends a stack.
    const sample = { machine: 'x86_64', registers: { ip: GO_START + 8, sp: 0x7000, bp: 0x7100 }, stack: { 24: 0, 256: 0x7200, 264: GO_START + 40 } } as const;
    expect((await unwound(sample, space)).frames.slice(1)).toEqual(pointer === 'frame' ? [(GO_START + 40).toString(16)] : []);
  });

  describe('of functions that a signal handler has put on the stack', () => {
    const PUT = GO_START + 48;

    test.each(['runtime.sigpanic', 'runtime.sigpanic0', 'runtime.asyncPreempt', 'runtime.debugCallV2'])(
      'lead to the interrupted instruction, which may be the first one of its function or follow one that moves the stack pointer: %s',
      async (nextName) => {
        const space = new MadeSpace().map(GO_START, GO_START + 0x1000, await goModule({ ...X86_64, nextName }), 0);
        const framesOf = async (stack: Readonly<Record<number, number>>): Promise<object> =>
          (await unwound({ machine: 'x86_64', registers: { ip: PUT + 8, sp: 0x7000 }, stack }, space)).frames;
        const [leaf, first, moved, caller] = [PUT + 8, GO_START, GO_START + 8, GO_START + 20].map((address) => address.toString(16));
        expect(await framesOf({ 0: GO_START, 8: GO_START + 20, 40: 0 })).toEqual([`!${leaf}`, `!${first}`, caller]);
        expect(await framesOf({ 0: GO_START + 8, 32: GO_START + 20, 64: 0 })).toEqual([`!${leaf}`, `!${moved}`, caller]);
      },
    );

    test('lead there if they have called others, and in 32-bit programs', async () => {
      const space = new MadeSpace().map(GO_START, GO_START + 0x1000, await goModule({ ...I386, nextName: 'runtime.sigpanic' }), 0);
      const sample = { machine: 'i386', registers: { ip: GO_START, sp: 0x7000 }, stack: { 0: PUT + 8, 4: GO_START + 8, 32: GO_START + 20, 60: 0 } } as const;
      const [leaf, called, interrupted, caller] = [GO_START, PUT + 8, GO_START + 8, GO_START + 20].map((address) => address.toString(16));
      expect((await unwound(sample, space)).frames).toEqual([`!${leaf}`, called, `!${interrupted}`, caller]);
    });

    test('are like others if their names only begin alike', async () => {
      expect(offsetAt(await goModule({ ...X86_64, name: 'runtime.sigpanics' }), GO_START + 8)).toBe(32);
    });
  });

  describe('of functions of the runtime that call others on another stack', () => {
    const FRAME = [
      [1, 0],
      [40, 8],
      [48, 0],
    ] as const;

    test.each(['runtime.asmcgocall', 'runtime.systemstack', 'runtime.mcall', 'runtime.morestack'])(
      'are found by the frame pointer once it is set: %s',
      async (name) => {
        const module = await goModule({ ...X86_64, name, frameSizes: FRAME });
        const { sp, fp } = MACHINE_REGISTERS.x86_64;
        const registerAt = (svma: number): number => module.rules.data[module.ruleAt(svma) + RuleWord.cfaRegister];
        expect([0, 1, 4, 39, 40].map((at) => registerAt(GO_START + at))).toEqual([sp, sp, fp, fp, sp]);
      },
    );

    test.each(['runtime.asmcgocall', 'runtime.systemstack', 'runtime.mcall', 'runtime.morestack'])(
      'end there if the frame pointer was not saved: %s',
      async (name) => {
        const module = await goModule({ ...X86_64, name, frameSizes: [[48, 0]] });
        const space = new MadeSpace().map(GO_START, GO_START + 0x1000, module, 0);
        // As a leaf, it may not have left its stack yet.
        const sample = { machine: 'x86_64', registers: { ip: GO_START + 20, sp: 0x7000 }, stack: { 0: GO_START + 8, 8: GO_START + 16 } } as const;
        const frames = [`!${(GO_START + 20).toString(16)}`, (GO_START + 8).toString(16)];
        expect(await unwound(sample, space)).toMatchObject({ end: 'truncated', endStackOffset: Number.POSITIVE_INFINITY, frames });
      },
    );

    test.each([
      ['go on from what they call before they leave their stack', 'gosave_systemstack_switch', [(GO_START + 8).toString(16)]],
      ['end there from all else that they call', 'runtime.fatal', []],
    ])('%s', async (_, nextName, callers) => {
      const module = await goModule({ ...X86_64, name: 'runtime.systemstack', nextName, frameSizes: [[48, 0]] });
      const space = new MadeSpace().map(GO_START, GO_START + 0x1000, module, 0);
      const stack = { 0: GO_START + 20, 8: GO_START + 8, 16: 0 };
      const { frames } = await unwound({ machine: 'x86_64', registers: { ip: GO_START + 50, sp: 0x7000 }, stack }, space);
      expect(frames.slice(0, 3)).toEqual([`!${(GO_START + 50).toString(16)}`, (GO_START + 20).toString(16), ...callers]);
    });

    test('are found by what the code does if it keeps the stack pointer in a register, as that of the race detector: racecall', async () => {
      // mov rsp, r12; mov (r10), rsp; and -16, rsp; call *rax; mov r12, rsp; ret
      const text = Uint8Array.of(0x49, 0x89, 0xe4, 0x49, 0x8b, 0x22, 0x48, 0x83, 0xe4, 0xf0, 0xff, 0xd0, 0x4c, 0x89, 0xe4, 0xc3);
      const module = await goModule({ ...X86_64, name: 'racecall', text });
      const space = new MadeSpace().map(GO_START, GO_START + 0x1000, module, 0);
      const unwind = async (at: number, r12: number, stack: Readonly<Record<number, number>>): Promise<object> =>
        unwound({ machine: 'x86_64', registers: { ip: GO_START + at, sp: 0x7000, r12 }, stack }, space);
      const [inside, called] = [`!${(GO_START + 12).toString(16)}`, (GO_START + 12).toString(16)];
      expect(await unwind(12, 0x7040, { 64: GO_START + 12, 72: 7 })).toMatchObject({ frames: [inside, called] });
      // The other stack may begin with return addresses.
      const isElsewhere = { end: 'truncated', endStackOffset: Number.POSITIVE_INFINITY };
      expect(await unwind(12, 0x1000, { 0: GO_START + 12, 64: 0 })).toMatchObject({ ...isElsewhere, frames: [inside] });
    });

    test('are found by what the code does if they have stayed on their stack, as where Go 1.20 and earlier call C from the runtime', async () => {
      // call *rax; mov 40(rsp), rsi; mov rsi, rsp; mov eax, 24(rsp); ret
      const stays = [0xff, 0xd0, 0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4, 0x89, 0x44, 0x24, 0x18, 0xc3];
      // call *rax; mov 48(rsp), rdi; mov 8(rdi), rsi; sub 40(rsp), rsi; mov rsi, rsp; ret
      const leaves = [0xff, 0xd0, 0x48, 0x8b, 0x7c, 0x24, 0x30, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4, 0xc3];
      const other = await madeModule('x86_64', [{ svma: 0x1000, bytes: Uint8Array.of(0xff, 0xd0, 0xc3) }]);
      const framesOf = async (text: readonly number[]): Promise<object> => {
        const module = await goModule({ ...X86_64, name: 'runtime.asmcgocall', frameSizes: [[48, 0]], text: Uint8Array.from(text) });
        const space = new MadeSpace().map(GO_START, GO_START + 0x1000, module, 0).map(0x50_0000, 0x50_1000, other, 0x4f_f000);
        // C returns to the function. What an earlier call has left on top of its stack is not its caller.
        const stack = { 0: GO_START + 2, 8: 0x50_0002, 48: 0x7080, 128: GO_START + 2, 136: 0 };
        return unwound({ machine: 'x86_64', registers: { ip: 0x50_0002, sp: 0x7000 }, stack }, space);
      };
      const first = ['!500002', (GO_START + 2).toString(16)];
      expect(await framesOf(stays)).toMatchObject({ frames: [...first, (GO_START + 2).toString(16)] });
      expect(await framesOf(leaves)).toMatchObject({ end: 'truncated', endStackOffset: Number.POSITIVE_INFINITY, frames: first });
    });
  });

  test.each([X86_64, I386])('end after the first function of a goroutine, whatever follows', async (form) => {
    const module = await goModule({ ...form, name: 'runtime.goexit', frameSizes: [[48, 0]] });
    expect(module.rules.data[module.ruleAt(GO_START)] & RuleFlag.outermost).toBe(RuleFlag.outermost);
    const space = new MadeSpace().map(GO_START, GO_START + 0x1000, module, 0);
    const machine = form === I386 ? 'i386' : 'x86_64';
    const { frames, end } = await unwound({ machine, registers: { ip: GO_START + 1, sp: 0x7000 }, stack: { 0: GO_START + 16 } }, space);
    expect({ frames, end }).toEqual({ frames: [`!${(GO_START + 1).toString(16)}`], end: 'complete' });
  });

  test('of 32-bit programs are found by the stack pointer', async () => {
    expect(offsetAt(await goModule({ ...I386, name: 'runtime.nanotime1' }), GO_START + 8)).toBe(28);
  });

  test('are broken if C code leads nowhere', async () => {
    const space = new MadeSpace().map(GO_START, GO_START + 0x1000, await goModule(X86_64), 0);
    // After the only function of Go; it has a frame pointer.
    const sample = { machine: 'x86_64', registers: { ip: GO_START + 0x100, sp: 0x7000, bp: 0x7000 }, stack: { 0: 0x7010, 8: 0x1234 } } as const;
    expect(['unmapped', 'no-rule', 'bad-frame']).toContain((await unwound(sample, space)).end);
  });

  test('have no rules if the table is damaged', async () => {
    expect((await goModule({ ...X86_64, damage: (bytes) => bytes.fill(0xff, 0, 4) })).hasRules).toBe(false);
    // Offsets of records that lead out of the table.
    const module = await goModule({ ...X86_64, damage: (bytes) => bytes.fill(0xff, -44, -20) });
    expect(offsetAt(module, GO_START + 8)).toBeUndefined();
  });
});
