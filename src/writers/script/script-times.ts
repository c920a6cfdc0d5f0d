/** Seconds since the first sample that is printed, or since the one before, as perf's `--reltime` and `--deltatime` print them. */
export const SCRIPT_TIMES = ['relative', 'delta'] as const;
export type ScriptTimes = (typeof SCRIPT_TIMES)[number];
