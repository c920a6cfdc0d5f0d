import { fileURLToPath } from 'node:url';
import { codeCacheDir, type LoadedScript, loadScript } from '../host/code-cache.ts';

/** Loads everything but the few modules that start the program (program.ts). `bundle.mjs` makes one script of it, so that its compiled code can be kept. */
export function loadProgram(): LoadedScript<typeof import('./program.ts')> {
  return loadScript(fileURLToPath(new URL('./program.cjs', import.meta.url)), codeCacheDir(process.env));
}
