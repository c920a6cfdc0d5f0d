/**
 * Where an unwinding ended, and why:
 *
 * - `complete`: at the start of the thread: the return address is undefined, or 0
 * - `truncated`: the dump does not hold what the next frame needs, or a Go function has switched to another stack
 * - `no-rule`: in code of a module without a rule for that address; frame pointers did not lead out of it
 * - `no-module`: in code of which nothing is known (JIT code, a file that was not found); frame pointers did not lead out of it
 * - `unmapped`: at a return address where there is no code, {@link Unwinder.endAddress}; it is not among the frames
 * - `bad-frame`: at a rule that cannot be right: the stack does not grow, an expression fails
 * - `limit`: after the maximum number of frames
 * - `pending`: something has to be read first: see {@link Unwinder.endModule}
 * - `no-registers`: the sample lacks the instruction or stack pointer, so there are no frames; or a register that a frame needs was not recorded
 */
export type UnwindEnd = 'complete' | 'truncated' | 'no-rule' | 'no-module' | 'unmapped' | 'bad-frame' | 'limit' | 'pending' | 'no-registers';
