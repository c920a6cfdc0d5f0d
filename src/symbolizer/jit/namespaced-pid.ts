/**
 * The pid of a process in its own namespace, which differs in a container; undefined if it is not shown. Source: proc(5): `NSpid` lists the pids in all its
 * namespaces, the innermost last.
 * @param status text of `/proc/PID/status`
 */
export function namespacedPid(status: string): string | undefined {
  return /^NSpid:.*\s(\d+)$/m.exec(status)?.[1];
}
