import { readFileSync } from 'node:fs';

/**
 * A limit that the system sets this process.
 * @param name as in `/proc/self/limits`: `Max open files`
 * @returns undefined where there is none, or none that can be read. Source: proc_pid_limits(5)
 */
export function processLimit(name: string): number | undefined {
  try {
    const limit = new RegExp(`^${name} +(\\d+) `, 'm').exec(readFileSync('/proc/self/limits', 'latin1'));
    return limit === null ? undefined : Number(limit[1]);
  } catch {
    return undefined; // No Linux.
  }
}
