import type { UnwindState } from './unwind-state.ts';

/** A program whose start is looked for has few arguments: more than that are not in the dump. */
export const MAX_ARGUMENTS = 512;
/** How far above the stack's top the text of arguments and environment may be: the kernel lets them have a quarter of the stack, 6 MB at most. */
const MAX_TEXT_BYTES = 6 << 20;
/** Types of entries of the auxiliary vector. Source: the kernel's uapi/linux/auxvec.h, asm/auxvec.h. */
const MAX_AUXILIARY_TYPE = 64;
/** Words of the first function's frame, above which the arguments are. */
const MAX_FRAME_WORDS = 32;

/**
 * Whether there are so many pointers at an address to text higher up on the stack, and then a null: a program's arguments, as the kernel lays them out behind
 * their number. Programs may have put them into another order (getopt does). Leaves the first one in the state's `stack`.
 */
export function hasArgumentsAt({ stack, machine }: UnwindState, at: number, argumentCount: number): boolean {
  const { addressSize } = machine;
  const end = at + argumentCount * addressSize;
  if (!stack.read(end) || stack.value !== 0) return false;
  for (let argument = end - addressSize; argument >= at; argument -= addressSize) {
    if (!stack.read(argument) || stack.value <= end || stack.value - at >= MAX_TEXT_BYTES) return false;
  }
  return true;
}

/** Whether a program's arguments are right above the frame at hand: it is that of the program's first function, or of one that this called and that never returns. */
export function isBelowArguments(state: UnwindState): boolean {
  const { machine, registers } = state;
  const sp = registers.value(machine.sp);
  for (let word = 0; word < MAX_FRAME_WORDS; word++) if (isTopOfStack(state, sp + word * machine.addressSize)) return true;
  return false;
}

/** Whether the stack is as the kernel gives it to a program: its first function has not begun to use it. */
export function isAtArguments(state: UnwindState): boolean {
  return isTopOfStack(state, state.registers.value(state.machine.sp));
}

/** Whether the number of a program's arguments is at an address, and behind it they and the environment. */
function isTopOfStack(state: UnwindState, at: number): boolean {
  const { stack, machine } = state;
  if (!stack.read(at)) return false;
  const argumentCount = stack.hi === 0 ? stack.lo : 0;
  const first = at + machine.addressSize;
  if (argumentCount < 1 || argumentCount > MAX_ARGUMENTS || !hasArgumentsAt(state, first, argumentCount)) return false;
  const firstText = stack.value;
  const environment = first + (argumentCount + 1) * machine.addressSize;
  return firstText > environment && isEnvironmentAt(state, environment, firstText);
}

/**
 * Whether the environment follows: pointers to text that lies behind that of the arguments, or none, and behind them the auxiliary vector, as far as the dump
 * has it. Only the first pointer is checked: programs may have changed the others.
 */
function isEnvironmentAt({ stack, machine }: UnwindState, at: number, firstText: number): boolean {
  const { addressSize } = machine;
  if (!stack.read(at)) return false;
  let end = at;
  if (stack.value !== 0) {
    if (stack.value <= firstText || stack.value - at >= MAX_TEXT_BYTES) return false;
    do end += addressSize;
    while (stack.read(end) && stack.value !== 0);
  }
  let entry = end + addressSize;
  for (; stack.read(entry) && stack.value !== 0; entry += 2 * addressSize) if (stack.value > MAX_AUXILIARY_TYPE) return false;
  // Nothing else tells that there is no environment.
  return end > at || entry > end + addressSize;
}
