import type { ReportKey } from '../report/keys.ts';

/** What the rows of a comparison can be grouped by: names that are the same in another run, which numbers of processes are not. */
export const DIFF_KEYS = ['function', 'dso', 'comm'] as const satisfies readonly ReportKey[];
export type DiffKey = (typeof DIFF_KEYS)[number];
