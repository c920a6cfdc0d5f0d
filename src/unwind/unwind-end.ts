/**
 * Where an unwinding ended, and why:
 *
 * - `complete`: at the start of the thread: the return address is undefined, or 0
 * - `truncated`: the dump does not hold what the next frame needs, or a function of Go has changed to another stack
 * - `no-rule`: in code of a module without a rule for that address, which frame pointers did not lead out of
 * - `no-module`: in code of which nothing is known (JIT code, a file that was not found), which frame pointers did not lead out of
 * - `unmapped`: a return address where no code is, {@link Unwinder.endAddress}; it is not among the frames
 * - `bad-frame`: a rule that cannot hold: the stack does not grow, an expression fails
 * - `limit`: after as many frames as were asked for
 * - `pending`: something has to be read first: see {@link Unwinder.endModule}
 * - `no-registers`: the sample has no instruction or stack pointer, and no frames; or a register that a frame needs was not recorded
 */
export type UnwindEnd = 'complete' | 'truncated' | 'no-rule' | 'no-module' | 'unmapped' | 'bad-frame' | 'limit' | 'pending' | 'no-registers';
