import { describe, expect, test } from 'vitest';
import type { UnwindMachine } from '../../src/unwind/machines/unwind-machine.ts';
import { GO_START, type GoProgram, goModule } from '../support/builders/go-program.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';

interface Target {
  /** `e_machine` */
  readonly machine: number;
  readonly sp: string;
  readonly lr: string;
  readonly pc: string;
  /** Bytes that signal handlers put on the stack to save the link register. */
  readonly savedBytes: number;
  readonly isBigEndian?: boolean;
  readonly classBits?: 32;
}

const TARGETS: Partial<Record<UnwindMachine, Target>> = {
  aarch64: { machine: 183, sp: 'sp', lr: 'lr', pc: 'pc', savedBytes: 16 },
  arm: { machine: 40, sp: 'sp', lr: 'lr', pc: 'pc', savedBytes: 4, classBits: 32 },
  riscv64: { machine: 243, sp: 'sp', lr: 'ra', pc: 'pc', savedBytes: 8 },
  s390x: { machine: 22, sp: 'r15', lr: 'r14', pc: 'pc', savedBytes: 8, isBigEndian: true },
  ppc64: { machine: 21, sp: 'r1', lr: 'link', pc: 'nip', savedBytes: 32 },
  loongarch64: { machine: 258, sp: 'r3', lr: 'r1', pc: 'pc', savedBytes: 8 },
  mips64: { machine: 8, sp: 'r29', lr: 'r31', pc: 'pc', savedBytes: 8 },
  mips: { machine: 8, sp: 'r29', lr: 'r31', pc: 'pc', savedBytes: 4, classBits: 32 },
};
const NAMES = Object.keys(TARGETS) as UnwindMachine[];

const SP = 0x7000;

interface Thread {
  /** Distances from the first function's start. */
  readonly pc: number;
  readonly lr?: number;
  readonly registers?: Readonly<Record<string, number>>;
  /** By distance from the stack pointer: distances from the first function's start, 0 for none. */
  readonly returns?: Readonly<Record<number, number>>;
  /** The same, but other words. */
  readonly words?: Readonly<Record<number, number>>;
}

/** What a thread's stack in a Go program is. Frames are distances from the first function's start, the leaf without a sign. */
async function unwind(
  name: UnwindMachine,
  program: Partial<GoProgram>,
  thread: Thread,
): Promise<Pick<UnwoundSample, 'end' | 'endStackOffset'> & { at: string[] }> {
  const { machine, sp, lr, pc, isBigEndian = false, classBits = 64 } = TARGETS[name]!;
  const module = await goModule({ version: 20, classBits, machine, littleEndian: !isBigEndian, ...program });
  const space = new MadeSpace().map(GO_START, GO_START + 0x1000, module, 0);
  const addressOf = (at: number | undefined): number => (at === undefined || at === 0 ? 0 : GO_START + at);
  const returns = Object.fromEntries(Object.entries(thread.returns ?? {}).map(([at, where]) => [at, addressOf(where)]));
  const registers = { [sp]: SP, [lr]: addressOf(thread.lr), [pc]: GO_START + thread.pc, ...thread.registers };
  const stack = { ...returns, ...thread.words };
  const { frames, end, endStackOffset } = await unwound({ machine: name, registers, stack, littleEndian: !isBigEndian }, space);
  return { end, endStackOffset, at: frames.map((text) => text.replace(/[0-9a-f]+/, (hex) => String(Number.parseInt(hex, 16) - GO_START))) };
}

describe('frames of Go programs on machines whose calls leave the return address in a register', () => {
  test.each(NAMES)('have it at the bottom: %s', async (name) => {
    const end = { nextName: 'runtime.goexit' };
    // Three frames of 24 bytes; the goroutine ends where the last one returns to.
    const returns = { 0: 20, 24: 28, 48: 52, 72: 20 };
    expect(await unwind(name, end, { pc: 12, lr: 32, returns })).toMatchObject({ end: 'complete', at: ['!12', '20', '28', '52'] });
    // Before the frame is made, and after it was given back.
    expect(await unwind(name, end, { pc: 4, lr: 20, returns: { 0: 28, 24: 52, 48: 20 } })).toMatchObject({ end: 'complete', at: ['!4', '20', '28', '52'] });
    expect(await unwind(name, end, { pc: 44, lr: 20, returns: { 0: 28, 24: 52, 48: 20 } })).toMatchObject({ end: 'complete', at: ['!44', '20', '28', '52'] });
  });

  test.each(NAMES)('lead to the interrupted instruction if a signal handler has put them on the stack: %s', async (name) => {
    const { savedBytes } = TARGETS[name]!;
    const program = { nextName: 'runtime.sigpanic', nextFrameSizes: [[4, 0] as const, [16, 40] as const] };
    // The link register's value was saved above the frame, and counts if the interrupted function has not saved it.
    const saved = 40;
    const above = saved + savedBytes;
    expect((await unwind(name, program, { pc: 56, lr: 60, returns: { 0: 16, [saved]: 36, [above]: 20, [above + 24]: 0 } })).at).toEqual(['!56', '!16', '20']);
    expect((await unwind(name, program, { pc: 56, lr: 60, returns: { 0: 4, [saved]: 20, [above]: 28, [above + 24]: 0 } })).at).toEqual([
      '!56',
      '!4',
      '20',
      '28',
    ]);
    // At its first instruction.
    expect((await unwind(name, program, { pc: 48, lr: 4, returns: { 0: 20, [savedBytes]: 28, [savedBytes + 24]: 0 } })).at).toEqual(['!48', '!4', '20', '28']);
  });

  test.each(NAMES)('end in what has switched to another stack, and has made a frame there: %s', async (name) => {
    const frameSizes = [[20, 0] as const, [48, 16] as const];
    const program = { name: 'runtime.mcall', nextName: 'main.run', frameSizes };
    const elsewhere = { end: 'truncated', endStackOffset: Number.POSITIVE_INFINITY };
    expect(await unwind(name, program, { pc: 50, lr: 28, returns: { 0: 20, 16: 20, 32: 20 } })).toMatchObject({ ...elsewhere, at: ['!50', '28'] });
  });

  test.each(NAMES)('of C’s calls of Go are left by what the code does: %s', async (name) => {
    const module = await goModule({ version: 20, classBits: 64, ...TARGETS[name]!, littleEndian: true, name: 'crosscall2' });
    expect(module.ruleAt(GO_START + 12)).toBe(-1);
  });

  test.each<[UnwindMachine, readonly number[]]>([
    ['aarch64', [0xe0, 0x0d, 0x80, 0x52, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4]],
    ['riscv64', [0x13, 0x05, 0xf0, 0x06, 0x93, 0x08, 0xd0, 0x05, 0x73, 0x00, 0x00, 0x00]],
    ['s390x', [0xa7, 0x29, 0x00, 0x6f, 0xa7, 0x19, 0x00, 0x01, 0x0a, 0x00]],
    ['loongarch64', [0x04, 0xbc, 0x81, 0x03, 0x0b, 0x74, 0x81, 0x03, 0x00, 0x00, 0x2b, 0x00]],
    ['mips64', [0x6f, 0x00, 0x04, 0x64, 0xc2, 0x13, 0x02, 0x64, 0x0c, 0x00, 0x00, 0x00]],
    ['ppc64', [0x6f, 0x00, 0x60, 0x38, 0x01, 0x00, 0x00, 0x38, 0x02, 0x00, 0x00, 0x44]],
  ])('are complete where the runtime ends a thread: %s', async (name, code) => {
    const text = Uint8Array.of(...new Uint8Array(20), ...code);
    // `clone` calls the thread's function, and has no frame.
    const program = { name: 'runtime.clone', frameSizes: [[48, 0] as const], nextName: 'runtime.mstart', nextFrameSizes: [[16, 24] as const], text };
    expect(await unwind(name, program, { pc: 56, returns: { 0: 20 }, words: { 24: 7 } })).toMatchObject({ end: 'complete', at: ['!56', '20'] });
    text[20 + code.length - 4] ^= 0x40;
    expect(await unwind(name, program, { pc: 56, returns: { 0: 20 }, words: { 24: 7 } })).toMatchObject({ end: 'truncated', at: ['!56', '20'] });
  });

  test.each(NAMES)('of functions that may switch stacks without a frame pointer are left by what the code does: %s', async (name) => {
    const module = await goModule({ version: 20, classBits: 64, ...TARGETS[name]!, littleEndian: true, name: 'runtime.nanotime1' });
    expect(module.ruleAt(GO_START + 12) === -1).toBe(name !== 'aarch64');
  });

  describe('on arm64', () => {
    /** Three instructions make the frame and set the frame pointer; two restore it and give the frame back. */
    const FRAME = [[4, 0] as const, [40, 32] as const, [48, 0] as const];
    const program = { name: 'runtime.systemstack', nextName: 'main.run', frameSizes: FRAME };
    /** The frame pointer points 8 bytes below the stack pointer of the frame that it is of. */
    const FP = SP + 0x100 - 8;
    const onOther = { 248: 0, 256: 28, 288: 0 };

    test.each(['runtime.systemstack', 'runtime.asmcgocall', 'time.now', 'runtime.nanotime1'])(
      'are found by the frame pointer while another stack is in use: %s',
      async (name) => {
        const thread = { pc: 50, lr: 24, registers: { x29: FP } };
        expect((await unwind('aarch64', { ...program, name }, { ...thread, returns: onOther })).at).toEqual(['!50', '24', '28']);
        // Its stack is not in the dump.
        expect(await unwind('aarch64', { ...program, name }, { ...thread, returns: { 0: 20 } })).toMatchObject({ end: 'truncated', at: ['!50', '24'] });
      },
    );

    test.each([
      ['before it is set', 8],
      ['after it was restored', 36],
    ])('are found by the stack pointer %s', async (_, pc) => {
      const thread = { pc, lr: 20, registers: { x29: FP }, returns: { 0: 24, 32: 0, ...onOther } };
      expect((await unwind('aarch64', program, thread)).at[1]).toBe('24');
    });

    test('have their callers’ frame pointer just below', async () => {
      // main.run has a frame, and was called by what has switched stacks.
      const nextFrameSizes = [[16, 48] as const];
      const thread = { pc: 60, lr: 4, registers: { x29: 0x1234 }, returns: { 0: 62, 48: 24, ...onOther }, words: { 40: FP } };
      expect((await unwind('aarch64', { ...program, nextFrameSizes }, thread)).at).toEqual(['!60', '62', '24', '28']);
    });
  });
});
