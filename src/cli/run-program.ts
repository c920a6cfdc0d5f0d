import { fileURLToPath } from 'node:url';
import { codeCacheDir, loadScript } from '../host/program/code-cache.ts';
import { withLessInlining } from '../host/program/inlining.ts';

type Program = typeof import('./program.ts');

/**
 * Loads program.ts, everything but the few modules that start the program, and runs `work` with it. `bundle.mjs` bundles it into one script, so that its
 * compiled code can be cached.
 */
export async function runProgram<Result>(work: (program: Program) => Promise<Result>): Promise<Result> {
  const { exports, keepCode } = loadScript<Program>(fileURLToPath(new URL('./program.cjs', import.meta.url)), codeCacheDir(process.env));
  const result = await withLessInlining(() => work(exports));
  keepCode();
  return result;
}
