import type { UnwindState } from './unwind-state.ts';

/** A program whose start is looked for has few arguments: more than that are not in the dump. */
export const MAX_ARGUMENTS = 512;
/** How far above the stack's top the text of arguments and environment may be: the kernel lets them have a quarter of the stack, 6 MB at most. */
const MAX_TEXT_BYTES = 6 << 20;
/** Words of the first function's frame, above which the arguments are. */
const MAX_FRAME_WORDS = 32;

/**
 * Whether the number of a program's arguments was just taken from an address on, as the kernel puts it on top of the stack that it gives the program. Then come
 * the arguments, and a null pointer.
 */
export function hasArgumentsAt({ stack, machine }: UnwindState, at: number, argumentCount: number): boolean {
  const { addressSize } = machine;
  const hasEnd = stack.read(at + argumentCount * addressSize) && stack.lo === 0 && stack.hi === 0;
  if (!hasEnd || !stack.read(at)) return false;
  return stack.value > at && stack.value - at < MAX_TEXT_BYTES;
}

/** Whether a program's arguments are right above the frame at hand: it is that of the program's first function, or of who was called by it for good. */
export function isBelowArguments(state: UnwindState): boolean {
  const { stack, machine, registers } = state;
  const { addressSize } = machine;
  let at = registers.value(machine.sp);
  for (let i = 0; i < MAX_FRAME_WORDS; i++, at += addressSize) {
    if (!stack.read(at)) return false;
    const argumentCount = stack.hi === 0 ? stack.lo : 0;
    const first = at + addressSize;
    if (argumentCount < 1 || argumentCount > MAX_ARGUMENTS || !hasArgumentsAt(state, first, argumentCount)) continue;
    const firstText = stack.value;
    // The environment comes next, whose text is behind that of the arguments.
    if (stack.read(first + (argumentCount + 1) * addressSize) && (stack.value === 0 || (stack.value > firstText && stack.value - at < MAX_TEXT_BYTES)))
      return true;
  }
  return false;
}
