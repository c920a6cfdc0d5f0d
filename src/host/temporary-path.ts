import { join } from 'node:path';
import { randomHex } from './random-hex.ts';

/** A name in a directory that no other file has, and that says whose it is should it ever be left there. */
export function temporaryPath(directory: string): string {
  return join(directory, `.perfconv-${process.pid}-${randomHex(4)}.tmp`);
}
