import * as x86_64 from '../x86-64-registers.ts';

/** What the decoder of x86 code knows of the mode in which the code runs. Registers have their DWARF numbers. */
export interface X86Mode {
  readonly machine: 'x86_64';
  /** How much a push moves the stack pointer. */
  readonly wordBytes: number;
  readonly ax: number;
  readonly cx: number;
  readonly dx: number;
  readonly bx: number;
  readonly sp: number;
  readonly bp: number;
  readonly si: number;
  readonly di: number;
  /** The column of the return address. */
  readonly returnAddress: number;
  /** All registers, by their numbers in instructions. */
  readonly registers: readonly number[];
}

const { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, RETURN_ADDRESS } = x86_64;

export const X86_64_MODE: X86Mode = {
  machine: 'x86_64',
  wordBytes: 8,
  ax: RAX,
  cx: RCX,
  dx: RDX,
  bx: RBX,
  sp: RSP,
  bp: RBP,
  si: RSI,
  di: RDI,
  returnAddress: RETURN_ADDRESS,
  registers: [RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15],
};
