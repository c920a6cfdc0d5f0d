import { readFileSync } from 'node:fs';

/** Source: proc_pid_fdinfo(5). */
const KEY = 'pos:\t';

/**
 * Where the next read of an open file begins: another program may have read a part of it (`(read line; perfconv -) < file`). Node does not have lseek(2), but
 * Linux tells the offset.
 * @returns 0 if the system does not tell it
 */
export function readingOffset(descriptor: number): number {
  let info: string;
  try {
    info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
  } catch {
    return 0; // There is no /proc.
  }
  const line = info.split('\n').find((one) => one.startsWith(KEY));
  return line === undefined ? 0 : Number(line.slice(KEY.length));
}
