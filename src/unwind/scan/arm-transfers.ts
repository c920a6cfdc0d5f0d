import { bitCount } from '../../base/bit-count.ts';
import type { CodeFlow, CodeReader } from './instruction-decoder.ts';
import type { ScanState } from './scan-state.ts';

/** Stubs of the PLT make of it where a function of a library is. Source: AAPCS32, 6.1.1. */
export const ARM_IP = 12;
export const ARM_SP = 13;
export const ARM_LR = 14;
export const ARM_PC = 15;

/** Where code goes on after an instruction that has a condition, if it goes on like this where that is true. */
export function conditional(flow: CodeFlow): CodeFlow {
  return flow === 'jump' ? 'branch' : flow === 'end' ? 'next' : flow;
}

/** 32 bits of code, signed. */
export function wordAt(code: CodeReader, svma: number): number {
  return code.half(svma) | (code.half(svma + 2) << 16);
}

/** LDM, STM, PUSH, POP. @param isUp, isBefore how addresses go on, and whether the base's own is left out */
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
  // What is loaded into the base itself comes last: the others' addresses are made of it.
  if (isLoad && (list & (1 << base)) !== 0) state.load(base, base, start + 4 * bitCount(list & ((1 << base) - 1)));
  else if (writesBack) state.add(base, base, isUp ? sizeBytes : -sizeBytes);
}

/** One word. @param isBefore whether the distance counts for the address, and not only for what the base becomes */
export function transferOne(state: ScanState, register: number, base: number, distance: number, isLoad: boolean, isBefore: boolean, writesBack: boolean): void {
  const at = isBefore ? distance : 0;
  if (!isLoad) state.store(register, base, at);
  else if (register !== base) state.load(register, base, at);
  if (isLoad && register === base) state.load(register, base, at);
  else if (writesBack || !isBefore) state.add(base, base, distance);
}

/** A register is written where the code says so only if it is of one of several kinds: what must be kept for the caller is restored before it matters. */
export function clobberScratch(state: ScanState, register: number): void {
  if (register < 4 || register === 12) state.clobber(register);
}
