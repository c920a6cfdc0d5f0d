/**
 * By which number a process goes in its own namespace, which in a container is another one; undefined where that is not told.
 * Source: proc(5), `NSpid` has the numbers of all its namespaces, the innermost last.
 * @param status text of `/proc/PID/status`
 */
export function namespacedPid(status: string): string | undefined {
  return /^NSpid:.*\s(\d+)$/m.exec(status)?.[1];
}
