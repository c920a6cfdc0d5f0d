/** The list of the functions that a process made at run time, where JITs write it. perf also calls the memory that holds such functions by this name. */
export function perfMapName(pid: number | string): string {
  return `/tmp/perf-${pid}.map`;
}

/** The pid in such a name, in digits; undefined if the name is another one. */
export function perfMapPid(name: string): string | undefined {
  return /^\/tmp\/perf-(\d{1,10})\.map$/.exec(name)?.[1];
}
