import { EAX, EBP, EBX, ECX, EDI, EDX, EIP, ESI, ESP } from '../../../machines/i386-registers.ts';
import type { X86Machine } from '../../../machines/unwind-machine.ts';
import { R8, R9, R10, R11, R12, R13, R14, R15, RAX, RBP, RBX, RCX, RDI, RDX, RETURN_ADDRESS, RSI, RSP } from '../../../machines/x86-64-registers.ts';

/** What the decoder of x86 code knows of the mode in which the code runs. Registers have their DWARF numbers. */
export interface X86Mode {
  readonly machine: X86Machine;
  /** Whether it is 64-bit mode, which has REX in place of short forms of INC and DEC, and lacks some other instructions. */
  readonly is64Bit: boolean;
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

export const X86_64_MODE: X86Mode = {
  machine: 'x86_64',
  is64Bit: true,
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

export const I386_MODE: X86Mode = {
  machine: 'i386',
  is64Bit: false,
  wordBytes: 4,
  ax: EAX,
  cx: ECX,
  dx: EDX,
  bx: EBX,
  sp: ESP,
  bp: EBP,
  si: ESI,
  di: EDI,
  returnAddress: EIP,
  registers: [EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI],
};
