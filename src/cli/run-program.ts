import { fileURLToPath } from 'node:url';
import { codeCacheDir, loadScript } from '../host/code-cache.ts';
import { withLessInlining } from '../host/inlining.ts';

type Program = typeof import('./program.ts');

/**
 * Loads everything but the few modules that start the program (program.ts), and has it work. `bundle.mjs` makes one script of it, so that its compiled code can
 * be kept.
 */
export async function runProgram<Result>(work: (program: Program) => Promise<Result>): Promise<Result> {
  const { exports, keepCode } = loadScript<Program>(fileURLToPath(new URL('./program.cjs', import.meta.url)), codeCacheDir(process.env));
  const result = await withLessInlining(() => work(exports));
  keepCode();
  return result;
}
