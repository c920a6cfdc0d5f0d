/** What x86-64's instructions do to registers and the stack, as far as that is tracked. */

import { RAX, RETURN_ADDRESS, RSP } from '../x86-64-registers.ts';
import type { ScanState } from './scan-state.ts';
import type { X86Instruction } from './x86-instruction.ts';

/** In place of a register: something that is not tracked. */
export const ANYTHING = -1;
export const WORD_BYTES = 8;

/** Sums, by ModRM's middle field or the opcode's bits 3 to 5: ADD OR ADC SBB AND SUB XOR CMP. */
const ADD = 0;
const SUB = 5;
const XOR = 6;
const CMP = 7;

/**
 * ADD … CMP of two operands.
 * @param form the opcode's lower three bits. 0 and 1: the result is in the operand that may be in memory; 2 and 3: in the other; 4 and 5: rax and a number
 */
export function sum(instruction: X86Instruction, state: ScanState, operation: number, form: number): void {
  const { register, other, isMemory, isWide, isShort, immediate } = instruction;
  // Forms 6 and 7 are prefixes, and opcodes that 64-bit mode does not have.
  if (operation === CMP || form > 5) return;
  const isAdded = operation === ADD || operation === SUB;
  const sign = operation === ADD ? 1 : -1;
  if (form >= 4) {
    if (isAdded && isWide && form === 5) state.add(RAX, RAX, sign * immediate);
    else state.clobber(RAX);
    return;
  }
  const isToOther = form < 2;
  if (isMemory) {
    if (isToOther) change(instruction, state);
    else state.clobber(register);
    return;
  }
  const [to, from] = isToOther ? [other, register] : [register, other];
  if (operation === XOR && to === from && (form & 1) === 1 && !isShort) state.setConstant(to, 0);
  else if (isAdded && isWide && (form & 1) === 1) state.combine(to, to, from, sign);
  else state.clobber(to);
}

/** ADD … CMP of the operand that may be in memory, and a number. */
export function sumWithNumber(instruction: X86Instruction, state: ScanState): void {
  const { opcode, extension, other, isMemory, isWide, immediate } = instruction;
  if (extension === CMP) return;
  if (!isMemory && isWide && opcode !== 0x80 && (extension === ADD || extension === SUB)) state.add(other, other, extension === ADD ? immediate : -immediate);
  else change(instruction, state);
}

/** Gives the operand that may be in memory a value that is not tracked. */
export function change(instruction: X86Instruction, state: ScanState): void {
  const { isMemory, base, other, displacement } = instruction;
  if (!isMemory) state.clobber(other);
  else if (base >= 0) state.overwrite(base, displacement);
}

/**
 * @param register {@link ANYTHING} for something that is not tracked
 * @param bytes less than a word for a part of the register
 */
export function push(state: ScanState, register: number, bytes = WORD_BYTES): void {
  state.add(RSP, RSP, -bytes);
  if (register === ANYTHING || register === RSP || bytes < WORD_BYTES) state.overwrite(RSP, 0);
  else state.store(register, RSP, 0);
}

/** @param register, bytes see {@link push} */
export function pop(state: ScanState, register: number, bytes = WORD_BYTES): void {
  if (register !== ANYTHING && bytes < WORD_BYTES) state.clobber(register);
  else if (register !== ANYTHING) state.load(register, RSP, 0);
  if (register !== RSP) state.add(RSP, RSP, bytes);
}

/** Pops the return address into its column, {@link RETURN_ADDRESS}. */
export function takeReturnAddress(state: ScanState): void {
  pop(state, RETURN_ADDRESS);
}
