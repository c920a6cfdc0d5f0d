import { type CfaRows, RegisterRule } from './cfa-rows.ts';
import type { StackMemory } from './stack-memory.ts';
import type { MachineRegisters } from './unwind-machine.ts';
import type { UnwindState } from './unwind-state.ts';

/**
 * Whether a row is of a function that ends in `__builtin_eh_return`, as `_Unwind_RaiseException` does: it saves registers that hold nothing for its
 * caller, because they carry the exception to the handler. Signal frames save them, too.
 */
export function returnsToHandler({ kinds }: CfaRows, { ehData }: MachineRegisters): boolean {
  return ehData >= 0 && kinds[ehData] === RegisterRule.offset;
}

/** Registers of which libgcc's record of a frame (on x86) tells where they were saved, by DWARF number; then comes the CFA, then where the frame goes on. */
const RECORDED_REGISTERS = 18;

/**
 * Finishes a step out of a function that returns to the handler of an exception. Before it returns, it copies the handler's registers, one by one, over
 * those that it saved for its own caller, and then the return address below the handler's frame. From then on the frame's rule leads nowhere: to the
 * caller with the handler's registers, or to the handler with the caller's stack pointer. The function's own record of the handler's frame says where all
 * of them are. While frames are searched for the handler, a record's frame goes on at the return address below its CFA; at the end, at the landing pad.
 * Where there is no record of the function's own frame yet, the others are left over from an exception before.
 *
 * The layout of the records is what the code of libgcc shows; that of other run times does not match, and nothing is done.
 * @param start the stack pointer in the frame that was left; the state's registers say where it ends
 */
export function landInHandler({ registers, stack, machine }: UnwindState, start: number): void {
  const end = registers.value(machine.sp);
  const { addressSize, pc } = machine;
  const toReturnSlot = (RECORDED_REGISTERS - pc) * addressSize;
  let knowsItself = false;
  let handler = 0;
  for (let at = start + toReturnSlot; at < end && stack.read(at); at += addressSize) {
    const cfa = wordOf(stack);
    if (cfa < end || !stack.read(at - toReturnSlot) || wordOf(stack) !== cfa - addressSize) continue;
    if (cfa === end) knowsItself = true;
    else if (handler === 0 && landsAt(stack, at, cfa, machine, registers.value(pc))) handler = at;
  }
  if (!knowsItself || handler === 0 || !stack.read(handler)) return;
  const cfa = wordOf(stack);
  const record = handler - RECORDED_REGISTERS * addressSize;
  for (let register = 0; register <= pc; register++) {
    if (register !== machine.sp && stack.read(record + register * addressSize) && stack.read(wordOf(stack))) registers.setWords(register, stack.lo, stack.hi);
  }
  registers.set(machine.sp, cfa);
}

/** Whether the frame of a record goes on elsewhere than it would without an exception, or its return address was copied already. */
function landsAt(stack: StackMemory, at: number, cfa: number, { addressSize }: MachineRegisters, returnAddress: number): boolean {
  if (!stack.read(cfa - addressSize)) return false;
  const callSite = wordOf(stack);
  return callSite !== 0 && (callSite === returnAddress || (stack.read(at + addressSize) && wordOf(stack) !== callSite));
}

function wordOf({ lo, hi }: StackMemory): number {
  return hi * 0x1_0000_0000 + lo;
}
