import { join } from 'node:path';
import { randomHex } from './random-hex.ts';

/** A path in a directory that no other file has. Its name says whose it is, should it ever be left there. */
export function temporaryPath(directory: string): string {
  return join(directory, `.perfconv-${process.pid}-${randomHex(4)}.tmp`);
}
