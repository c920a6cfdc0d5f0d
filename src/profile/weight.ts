/** What the numbers of an output are: the sum of the samples' periods, which are nanoseconds for clocks and occurrences for other events, or how many samples. */
export const WEIGHTS = ['period', 'samples'] as const;
export type Weight = (typeof WEIGHTS)[number];
