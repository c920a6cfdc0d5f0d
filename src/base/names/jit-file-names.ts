/** The list of the functions that a process made at run time, where JITs write it. perf also calls the memory that holds such functions by this name. */
export function perfMapName(pid: number | string): string {
  return `/tmp/perf-${pid}.map`;
}

/** The pid in such a name, in digits; undefined if the name is another one. */
export function perfMapPid(name: string): string | undefined {
  return /^\/tmp\/perf-(\d{1,10})\.map$/.exec(name)?.[1];
}

/**
 * The id, as text, of the process that writes a jitdump file of this name: `jit-PID.dump`, or `jit-TID-PID.dump` (JavaScriptCore; observed: Bun 1.4). Undefined
 * for other names.
 */
export function jitDumpPid(name: string): string | undefined {
  return /^jit-(?:\d{1,10}-)?(\d{1,10})\.dump$/.exec(name)?.[1];
}
