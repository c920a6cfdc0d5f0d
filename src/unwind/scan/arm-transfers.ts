import { bitCount } from '../../base/bit-count.ts';
import type { CodeFlow, CodeReader } from './instruction-decoder.ts';
import type { ScanState } from './scan-state.ts';

/** PLT stubs compute a library function's address in it. Source: AAPCS32, 6.1.1. */
export const ARM_IP = 12;
export const ARM_SP = 13;
export const ARM_LR = 14;
export const ARM_PC = 15;

/** Where code goes on after a conditional instruction. @param flow where it goes on if the condition holds */
export function conditional(flow: CodeFlow): CodeFlow {
  return flow === 'jump' ? 'branch' : flow === 'end' ? 'next' : flow;
}

/** 32 bits of code, signed. */
export function wordAt(code: CodeReader, svma: number): number {
  return code.half(svma) | (code.half(svma + 2) << 16);
}

/** LDM, STM, PUSH, POP. @param isUp, isBefore the addressing mode: increment or decrement, before or after each word */
export function transferMany(state: ScanState, list: number, base: number, isLoad: boolean, isUp: boolean, isBefore: boolean, writesBack: boolean): void {
  const sizeBytes = 4 * bitCount(list);
  const start = (isUp ? 0 : -sizeBytes) + (isUp === isBefore ? 4 : 0);
  let at = start;
  for (let register = 0; register <= ARM_PC; register++) {
    if ((list & (1 << register)) === 0) continue;
    if (!isLoad) state.store(register, base, at);
    else if (register !== base) state.load(register, base, at);
    at += 4;
  }
  // The base itself is loaded last: the others' addresses count from it.
  if (isLoad && (list & (1 << base)) !== 0) state.load(base, base, start + 4 * bitCount(list & ((1 << base) - 1)));
  else if (writesBack) state.add(base, base, isUp ? sizeBytes : -sizeBytes);
}

/** LDR, STR of one word. @param isBefore whether the distance is part of the address, and not only added to the base afterwards */
export function transferOne(state: ScanState, register: number, base: number, distance: number, isLoad: boolean, isBefore: boolean, writesBack: boolean): void {
  const at = isBefore ? distance : 0;
  if (!isLoad) state.store(register, base, at);
  else if (register !== base) state.load(register, base, at);
  if (isLoad && register === base) state.load(register, base, at);
  else if (writesBack || !isBefore) state.add(base, base, distance);
}

/**
 * For encodings that share a field between several instructions, only some of which write that register. Callee-saved registers keep their values: should one
 * have been written after all, it is restored before the function returns.
 */
export function clobberScratch(state: ScanState, register: number): void {
  if (register < 4 || register === 12) state.clobber(register);
}
