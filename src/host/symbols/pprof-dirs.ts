import { delimiter, join } from 'node:path';
import { homeDirectory } from '../system/home-directory.ts';

/** Where pprof looks for binaries. Source: pprof's documentation, "Symbolization". */
export function pprofBinaryDirs(env: Readonly<Record<string, string | undefined>>): string[] {
  const dirs = (env.PPROF_BINARY_PATH ?? '').split(delimiter).filter((dir) => dir !== '');
  const home = env.HOME || homeDirectory();
  return dirs.length > 0 || home === '' ? dirs : [join(home, 'pprof', 'binaries')];
}
