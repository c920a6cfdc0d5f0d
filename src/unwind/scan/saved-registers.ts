import { RegisterRule } from '../cfa-rows.ts';
import type { UnwindRules } from '../unwind-rules.ts';
import type { ScanState } from './scan-state.ts';

/**
 * Adds to a rule where a function has saved registers since its beginning: those that it has changed without saving them are unknown.
 * @param toCfa how far the CFA is above the stack pointer's first value
 */
export function addSavedRegisters(rules: UnwindRules, state: ScanState, registers: readonly number[], toCfa: number): void {
  for (const register of registers) {
    if (state.hasFirstValue(register)) continue;
    const place = state.savedAt(register);
    if (place === undefined) rules.addRegister(register, RegisterRule.undefined, 0);
    else rules.addRegister(register, RegisterRule.offset, place - toCfa);
  }
}

/** A register that points into the frame: the stack pointer, or else one that functions restore, so that calls leave it alone; −1 if there is none. */
export function frameRegister({ bases }: ScanState, sp: number, calleeSaved: readonly number[]): number {
  if (bases[sp] === sp) return sp;
  return calleeSaved.find((register) => bases[register] === sp) ?? -1;
}
