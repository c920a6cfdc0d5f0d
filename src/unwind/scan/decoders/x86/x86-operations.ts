/** What x86's instructions do to registers and the stack, as far as that is tracked. */

import type { ScanState } from '../../code/scan-state.ts';
import type { X86Instruction } from './x86-instruction.ts';
import type { X86Mode } from './x86-mode.ts';

/** In place of a register: something that is not tracked. */
export const ANYTHING = -1;

/** Sums, by ModRM's middle field or the opcode's bits 3 to 5: ADD OR ADC SBB AND SUB XOR CMP. */
const ADD = 0;
const OR = 1;
const SUB = 5;
const XOR = 6;
const CMP = 7;

/**
 * ADD … CMP of two operands.
 * @param form the opcode's lower three bits. 0 and 1: the result is in the operand that may be in memory; 2 and 3: in the other; 4 and 5: ax and a number
 */
export function sum(instruction: X86Instruction, state: ScanState, operation: number, form: number): void {
  const { mode, register, other, isMemory, isWide, isShort, immediate } = instruction;
  if (operation === CMP) return;
  const isAdded = operation === ADD || operation === SUB;
  const sign = operation === ADD ? 1 : -1;
  if (form >= 4) {
    if (isAdded && isWide && form === 5) state.add(mode.ax, mode.ax, sign * immediate);
    else state.clobber(mode.ax);
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
  // Clang's -mspeculative-load-hardening adds bits to the stack pointer, all of them 0 unless the processor has speculated wrongly. Observed: clang 19.
  else if (!(operation === OR && form === 1 && isWide && to === mode.sp)) state.clobber(to);
}

/** ADD … CMP of the operand that may be in memory, and a number. */
export function sumWithNumber(instruction: X86Instruction, state: ScanState): void {
  const { opcode, extension, other, isMemory, isWide, immediate } = instruction;
  if (extension === CMP) return;
  if (!isMemory && isWide && (opcode & 1) === 1 && (extension === ADD || extension === SUB))
    state.add(other, other, extension === ADD ? immediate : -immediate);
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
export function push({ sp, wordBytes }: X86Mode, state: ScanState, register: number, bytes = wordBytes): void {
  state.add(sp, sp, -bytes);
  if (register === ANYTHING || register === sp || bytes < wordBytes) state.overwrite(sp, 0);
  else state.store(register, sp, 0);
}

/** @param register, bytes see {@link push} */
export function pop({ sp, wordBytes }: X86Mode, state: ScanState, register: number, bytes = wordBytes): void {
  if (register !== ANYTHING && bytes < wordBytes) state.clobber(register);
  else if (register !== ANYTHING) state.load(register, sp, 0);
  if (register !== sp) state.add(sp, sp, bytes);
}

/** Pops the return address into its column. */
export function takeReturnAddress(mode: X86Mode, state: ScanState): void {
  pop(mode, state, mode.returnAddress);
}
