import { type BigIntStats, statSync } from 'node:fs';
import { ioError, systemCode } from './io-error.ts';
import { systemPath } from './system-path.ts';

/**
 * The stats of a file; undefined if there is none. Does not use `throwIfNoEntry`, which from Node 22 on also hides that a part of the path is a file.
 * @param name what messages call it
 * @throws PerfconvError `io` if the path cannot be looked up
 */
export function statNow(path: string, name: string): BigIntStats | undefined {
  try {
    return statSync(systemPath(path), { bigint: true });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError(error, name);
  }
}
