import type { StackMemory } from '../memory/stack-memory.ts';

/** How many arguments a program whose start is looked for may have: a dump does not hold more. */
export const MAX_ARGUMENTS = 512;
/** How far above the stack's top the text of arguments and environment may be: the kernel allows them a quarter of the stack, 6 MB at most. */
const MAX_TEXT_BYTES = 6 << 20;
/** The highest type of an entry of the auxiliary vector. Source: the kernel's uapi/linux/auxvec.h, asm/auxvec.h. */
const MAX_AUXILIARY_TYPE = 64;
/** The type of the entry that every program gets: the size of a page, which is a power of two. */
const AT_PAGESZ = 6;
const LEAST_PAGE_BYTES = 4096;
const MAX_PAGE_BYTES = 1 << 20;
/** Maximum number of words in the first function's frame, above which the arguments are. */
const MAX_FRAME_WORDS = 32;

/**
 * Whether an address has that many pointers to text higher up on the stack, and then a null: a program's arguments, as the kernel lays them out after their
 * number. Programs may have reordered them (getopt does). Leaves the first one in the stack's value.
 */
export function hasArgumentsAt(stack: StackMemory, at: number, argumentCount: number): boolean {
  const { wordSize } = stack;
  const end = at + argumentCount * wordSize;
  if (!stack.read(end) || stack.value !== 0) return false;
  for (let argument = end - wordSize; argument >= at; argument -= wordSize) {
    if (!stack.read(argument) || stack.value <= end || stack.value - at >= MAX_TEXT_BYTES) return false;
  }
  return true;
}

/**
 * Whether a program's arguments are right above the current frame: it is that of the program's first function, or of one that this called and that never
 * returns.
 */
export function isBelowArguments(stack: StackMemory, sp: number): boolean {
  for (let word = 0; word < MAX_FRAME_WORDS; word++) if (isAtArguments(stack, sp + word * stack.wordSize)) return true;
  return false;
}

/**
 * Whether the stack is as the kernel hands it to a program, before its first function uses it: the number of arguments is at the stack pointer, followed by the
 * arguments and the environment.
 */
export function isAtArguments(stack: StackMemory, sp: number): boolean {
  if (!stack.read(sp)) return false;
  const first = sp + stack.wordSize;
  // glibc's first function of 32-bit Arm takes the number from the stack, and puts the address of the arguments into its place.
  const isReplaced = stack.value === first;
  const argumentCount = isReplaced ? countArguments(stack, first) : stack.hi === 0 ? stack.lo : 0;
  if (argumentCount < 1 || argumentCount > MAX_ARGUMENTS || !hasArgumentsAt(stack, first, argumentCount)) return false;
  const firstText = stack.value;
  const environment = first + (argumentCount + 1) * stack.wordSize;
  return firstText > environment && isEnvironmentAt(stack, environment, firstText);
}

/** How many words are not 0 from an address on, up to one more than {@link MAX_ARGUMENTS}. */
function countArguments(stack: StackMemory, first: number): number {
  let count = 0;
  while (count <= MAX_ARGUMENTS && stack.read(first + count * stack.wordSize) && stack.value !== 0) count++;
  return count;
}

/**
 * Whether the environment is at an address: pointers to text above that of the arguments, or none, and after them the auxiliary vector, as far as the dump has
 * it; and above all of that, the text. Only the first pointer is checked: programs may have changed the others.
 */
function isEnvironmentAt(stack: StackMemory, at: number, firstText: number): boolean {
  const { wordSize } = stack;
  if (!stack.read(at)) return false;
  let end = at;
  if (stack.value !== 0) {
    if (stack.value <= firstText || stack.value - at >= MAX_TEXT_BYTES) return false;
    do end += wordSize;
    while (stack.read(end) && stack.value !== 0);
  }
  const vector = end + wordSize;
  let entry = vector;
  let hasPageSize = false;
  for (; stack.read(entry) && stack.value !== 0; entry += 2 * wordSize) {
    const type = stack.value;
    if (type > MAX_AUXILIARY_TYPE) return false;
    hasPageSize ||= type === AT_PAGESZ && stack.read(entry + wordSize) && isPageSize(stack.value);
  }
  // Without an environment, the vector has to be in the dump.
  const isCut = end > at && !stack.read(entry);
  return (hasPageSize || isCut) && entry < firstText;
}

function isPageSize(bytes: number): boolean {
  return bytes >= LEAST_PAGE_BYTES && bytes <= MAX_PAGE_BYTES && (bytes & (bytes - 1)) === 0;
}
