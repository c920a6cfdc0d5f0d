/**
 * What came of one step from a frame to its caller:
 *
 * - `stepped`: the registers are the caller's
 * - `outermost`: there is no caller
 * - `uncalled`: nor was the frame called: whoever made the stack put its address there, for the stack's first function to return to
 * - `truncated`: what is needed is not in the dump: see {@link Shortfall}
 * - `bad-frame`: a rule that cannot hold
 * - `no-rule`: there is nothing to go by
 * - `pending`: bytes of a file have to be read first, see {@link ProcessMemory.wantingModule}
 * - `repeat`: registers are needed that frames which were taken over have not restored: all frames have to be unwound
 */
export type StepEnd = 'stepped' | 'outermost' | 'uncalled' | 'truncated' | 'bad-frame' | 'no-rule' | 'pending' | 'repeat';
