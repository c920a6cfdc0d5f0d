import { describe, expect, test } from 'vitest';
import type { UnwindMachine } from '../../src/unwind/machines/unwind-machine.ts';
import { MadeSpace } from '../support/builders/unwind/made-process.ts';
import { madeModule, textOf, type UnwoundSample, unwound } from '../support/builders/unwind/unwound.ts';

const BIAS = 0x4000_0000;
const SP = 0x7fff_0000;
const CALLER = 0x1000;
const FUNCTION = 0x1100;
/** Follows a call through a register. */
const RETURN = 0x1208;

interface Machine {
  readonly machine: UnwindMachine;
  readonly names: { readonly link: string; readonly pc: string; readonly sp: string };
  /** Makes a frame of 32 bytes, jumps through a register, and has three instructions behind that, the last of which also jumps. */
  readonly listing: string;
  /** Saves the link register, calls the function, and returns. */
  readonly caller: string;
  readonly calledAt: number;
  /** Where the caller has saved its return address, from the function's stack pointer on. */
  readonly savedAt: number;
  readonly outer: string;
}

const MACHINES: readonly Machine[] = [
  {
    machine: 'aarch64',
    names: { link: 'lr', pc: 'pc', sp: 'sp' },
    listing: 'd10083ff d61f0020 d503201f d503201f d61f0020',
    caller: 'f81f0ffe 9400003f f84107fe d65f03c0',
    calledAt: 0x1008,
    savedAt: 32,
    outer: 'd503201f d63f0020',
  },
  {
    machine: 'arm',
    names: { link: 'lr', pc: 'pc', sp: 'sp' },
    listing: 'e24dd020 e12fff11 e320f000 e320f000 e12fff11',
    caller: 'e52de008 eb00003d e49de008 e12fff1e',
    calledAt: 0x1008,
    savedAt: 32,
    outer: 'e320f000 e12fff31',
  },
  {
    machine: 'riscv64',
    names: { link: 'ra', pc: 'pc', sp: 'sp' },
    listing: 'fe010113 00058067 00000013 00000013 00058067',
    caller: 'ff010113 00113423 0f8000ef 00813083 01010113 00008067',
    calledAt: 0x100c,
    savedAt: 40,
    outer: '00000013 000580e7',
  },
  {
    machine: 'loongarch64',
    names: { link: 'r1', pc: 'pc', sp: 'r3' },
    listing: '02ff8063 4c0000a0 03400000 03400000 4c0000a0',
    caller: '02ffc063 29c02061 5400f800 28c02061 02c04063 4c000020',
    calledAt: 0x100c,
    savedAt: 40,
    outer: '03400000 4c0000a1',
  },
  {
    machine: 'ppc64',
    names: { link: 'link', pc: 'nip', sp: 'r1' },
    listing: '3821ffe0 4e800420 60000000 60000000 4e800420',
    caller: '7c0802a6 f8010010 f821ffe1 480000f5 38210020 e8010010 7c0803a6 4e800020',
    calledAt: 0x1010,
    savedAt: 80,
    outer: '60000000 4e800421',
  },
  {
    machine: 'mips64',
    names: { link: 'r31', pc: 'pc', sp: 'r29' },
    listing: '67bdffe0 00a00008 00000000 00000000 00a00008 00000000',
    caller: '67bdfff0 ffbf0008 0411003d 00000000 dfbf0008 03e00008 67bd0010',
    calledAt: 0x1010,
    savedAt: 40,
    outer: '00a0f809 00000000',
  },
];

function hex(...svmas: number[]): string[] {
  return svmas.map((at, i) => `${i > 0 ? '' : '!'}${(BIAS + at).toString(16)}`);
}

describe.each(MACHINES)('leaves without rules that jump through a register ($machine)', ({ machine, names, listing, caller, calledAt, savedAt, outer }) => {
  const unwind = async (pc: number, linkAt: number, stack: Readonly<Record<number, number>>): Promise<UnwoundSample> => {
    const code = [
      { svma: CALLER, bytes: textOf(caller) },
      { svma: FUNCTION, bytes: textOf(listing) },
      { svma: RETURN - 8, bytes: textOf(outer) },
    ];
    const space = new MadeSpace().map(BIAS, BIAS + 0x8000, await madeModule(machine, code), BIAS);
    return unwound({ machine, registers: { [names.pc]: BIAS + pc, [names.link]: BIAS + linkAt, [names.sp]: SP }, stack }, space);
  };

  test.each([
    ['at their first instruction', 0, 32],
    ['before the jump', 4, 0],
    ['where the jump may lead', 12, 0],
  ])('are left by what they have done since they were called directly: %s', async (_where, at, unframed) => {
    const { frames } = await unwind(FUNCTION + at, calledAt, { 0: 0, [savedAt - unframed]: BIAS + RETURN, 120: 0 });
    expect(frames.slice(0, 3)).toEqual(hex(FUNCTION + at, calledAt, RETURN));
  });
});
