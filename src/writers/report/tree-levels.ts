import type { ReportKey } from './keys.ts';

/** Keys that make levels above the functions of a tree: they say something about samples, not about frames. */
export const TREE_LEVELS = ['comm', 'pid', 'tid', 'input'] as const satisfies readonly ReportKey[];
export type TreeLevel = (typeof TREE_LEVELS)[number];

/** The share in per cent below which calls are added up: that of perf report (perf-report(1), "--call-graph"). */
export const DEFAULT_PERCENT_LIMIT = 0.5;
