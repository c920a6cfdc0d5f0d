/** Everything was done, perhaps with warnings. */
export const EXIT_DONE = 0;
export const EXIT_FAILED = 1;
/** The command line makes no sense. */
export const EXIT_USAGE = 2;
/** Data was lost, and `--strict` was given. */
export const EXIT_LOSS = 3;
