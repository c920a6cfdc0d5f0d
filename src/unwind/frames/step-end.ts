/**
 * Outcome of one step from a frame to its caller:
 *
 * - `stepped`: the registers are the caller's
 * - `outermost`: there is no caller
 * - `uncalled`: there is no caller, nor was the frame called: whoever made the stack put its address there for the first function to return to
 * - `truncated`: the dump lacks what is needed: see {@link Shortfall}
 * - `bad-frame`: the rule cannot be right
 * - `no-rule`: there is nothing to go by
 * - `pending`: bytes of a file have to be read first, see {@link ProcessMemory.wantingModule}
 * - `repeat`: a register is needed that was not restored because frames were taken over: all frames have to be unwound
 */
export type StepEnd = 'stepped' | 'outermost' | 'uncalled' | 'truncated' | 'bad-frame' | 'no-rule' | 'pending' | 'repeat';
