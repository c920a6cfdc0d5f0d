import { type CfaRows, RegisterRule } from './cfa-rows.ts';
import type { MachineRegisters } from './unwind-machine.ts';
import type { UnwindState } from './unwind-state.ts';

/**
 * Whether a row is of a function that ends in `__builtin_eh_return`, as `_Unwind_RaiseException` does: it saves registers that hold nothing for its
 * caller, because they carry the exception to the handler. Signal frames save them, too.
 */
export function returnsToHandler({ kinds }: CfaRows, { ehData }: MachineRegisters): boolean {
  return ehData >= 0 && kinds[ehData] === RegisterRule.offset;
}

/**
 * Finishes a step out of a function that returns to the handler of an exception. Before it returns, it copies the handler's registers and the return
 * address below the handler's frame over those that it saved for its own caller. From then on the frame's rule leads to the handler, but with the stack
 * pointer of the caller that is no more. The right one is in the function's own record of the handler's frame: the CFA, below which is that very return
 * address. Its record of its own frame has the CFA that the rule gives. Where that is not there yet, the others are left over from an exception before.
 * @param start the stack pointer in the frame that was left; the state's registers say where it ends
 */
export function landInHandler({ registers, stack, machine }: UnwindState, start: number): void {
  const end = registers.value(machine.sp);
  const { addressSize, pc } = machine;
  const lo = registers.lo[pc];
  const hi = registers.hi[pc];
  let knowsItself = false;
  let handler = 0;
  for (let at = start; at < end && stack.read(at); at += addressSize) {
    const cfa = stack.hi * 0x1_0000_0000 + stack.lo;
    if (cfa === end) knowsItself = true;
    else if (cfa > end && handler === 0 && stack.read(cfa - addressSize) && stack.lo === lo && stack.hi === hi) handler = cfa;
  }
  if (knowsItself && handler !== 0) registers.set(machine.sp, handler);
}
