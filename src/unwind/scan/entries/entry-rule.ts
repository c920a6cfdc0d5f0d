import { CALLING_CONVENTIONS } from '../../machines/calling-conventions.ts';
import { RISCV_T0 } from '../../machines/riscv-registers.ts';
import { MACHINE_REGISTERS, returnColumn } from '../../machines/unwind-machine.ts';
import { MAX_FRAME_BYTES } from '../../memory/stack-memory.ts';
import type { MachineModule } from '../../modules/unwind-module.ts';
import { RegisterRule } from '../../rules/cfa-row.ts';
import { NO_RULE } from '../../rules/unwind-rules.ts';
import type { ScanState } from '../code/scan-state.ts';

/**
 * The number of the rule of a frame whose code was followed from the function's beginning, or from where it saved the link register; NO_RULE if the state does
 * not tell where the frame ends or the return address is.
 */
export function ruleSinceEntry({ registers: machine, rules }: MachineModule, state: ScanState): number {
  const { sp, lr, addressSize, cfaBias } = machine;
  const { link, calleeSaved } = CALLING_CONVENTIONS[machine.name];
  const isPushedByCall = link < 0;
  // As a distance from where the stack pointer was; undefined while it is in the link register.
  const returnPlace = isPushedByCall ? 0 : state.savedAt(link);
  if (returnPlace === undefined && !state.hasFirstValue(link)) return NO_RULE;
  const register = frameRegister(state, sp, calleeSaved);
  // How far above the register's value the stack pointer was.
  const distance = -state.offsets[register];
  if (register < 0 || distance < 0 || distance > MAX_FRAME_BYTES || distance % addressSize !== 0) return NO_RULE;
  const toCfa = isPushedByCall ? addressSize : cfaBias;
  const column = returnColumn(machine);
  rules.begin(0, register, distance + toCfa, column);
  if (returnPlace !== undefined) rules.addRegister(column, RegisterRule.offset, returnPlace - toCfa);
  else if (column !== lr) rules.addRegister(column, RegisterRule.register, lr);
  const top = state.bases[sp] === sp ? state.offsets[sp] : 0;
  for (const saved of calleeSaved) {
    const place = state.savedAt(saved);
    // A register that was saved and not changed was saved for a call: what is called may change it, as the functions of GraalVM's native images do that C calls,
    // and those with clang's `preserve_none`. Compilers' rules, too, have registers where they were saved from then on.
    const isInFrame = place !== undefined && place >= top;
    if (state.hasFirstValue(saved) && !isInFrame) continue;
    // It was changed without having been saved.
    if (place === undefined) rules.addRegister(saved, RegisterRule.undefined, 0);
    else rules.addRegister(saved, RegisterRule.offset, place - toCfa);
  }
  return rules.end();
}

/**
 * The same for a function of RISC-V that saves registers for its caller, so that it returns by t0, and leaves the caller's return address in ra. Its frame becomes
 * a part of the caller's only when it returns.
 */
export function ruleOfSaving({ rules }: MachineModule, state: ScanState): number {
  const { link, calleeSaved } = CALLING_CONVENTIONS.riscv64;
  const { sp } = MACHINE_REGISTERS.riscv64;
  const distance = -state.offsets[sp];
  const isKept = [link, RISCV_T0, ...calleeSaved].every((register) => state.hasFirstValue(register));
  if (!isKept || state.bases[sp] !== sp || distance < 0 || distance > MAX_FRAME_BYTES) return NO_RULE;
  rules.begin(0, sp, distance, RISCV_T0);
  return rules.end();
}

/** A register that points into the frame: the stack pointer, or else one that functions restore, so that calls leave it alone; −1 if there is none. */
function frameRegister({ bases }: ScanState, sp: number, calleeSaved: readonly number[]): number {
  if (bases[sp] === sp) return sp;
  return calleeSaved.find((register) => bases[register] === sp) ?? -1;
}
