import { readFileSync } from 'node:fs';

/**
 * A limit that the system sets this process.
 * @param name as in `/proc/self/limits`: `Max open files`
 * @returns undefined where there is none, or none that can be read. Source: proc_pid_limits(5)
 */
export function processLimit(name: string): number | undefined {
  try {
    const lines = readFileSync('/proc/self/limits', 'latin1').split('\n');
    const limit = lines.find((line) => line.startsWith(`${name} `))?.slice(name.length);
    const [, soft] = /^ +(\d+) /.exec(limit ?? '') ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined; // No Linux.
  }
}
