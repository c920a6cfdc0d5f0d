import { readFileSync } from 'node:fs';

/**
 * A limit that the system sets for this process.
 * @param name as in `/proc/self/limits`, such as `Max open files`
 * @returns undefined if there is none, or it cannot be read. Source: proc_pid_limits(5)
 */
export function processLimit(name: string): number | undefined {
  try {
    const lines = readFileSync('/proc/self/limits', 'latin1').split('\n');
    const limit = lines.find((line) => line.startsWith(`${name} `))?.slice(name.length);
    const [, soft] = /^ +(\d+) /.exec(limit ?? '') ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined; // Not Linux.
  }
}
