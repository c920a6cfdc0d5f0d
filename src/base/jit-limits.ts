/** The largest function that a JIT made of which the code is used. The interpreter of Java's virtual machine has 90 KB. */
export const MAX_JIT_FUNCTION_BYTES = 1 << 17;
