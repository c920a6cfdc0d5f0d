/**
 * What the end of a frame's text can tell about its code, as stackcollapse-perf.pl writes it and flamegraph.pl colors it (`--color java`):
 *
 * - `kernel`: `_[k]`, code of the kernel and its modules
 * - `inlined`: `_[i]`, a function that was inlined into its caller
 * - `jit`: `_[j]`, a function that was made at run time
 */
export type FoldedMark = 'kernel' | 'inlined' | 'jit';

export const FOLDED_MARKS: readonly FoldedMark[] = ['kernel', 'inlined', 'jit'];
