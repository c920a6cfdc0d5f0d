import { type Check, demand } from '../base/problems/check-options.ts';
import type { SymbolFiles } from '../symbolizer/symbolizer.ts';

/** Where a program's own symbol files come from. */
export interface OwnSymbolFiles {
  /**
   * Opens the symbol files that options name, and all others that symbols come from. Default: in Node the files of this machine; in browsers none, so that there
   * are only the names that the recording itself has.
   */
  readonly symbolFiles?: SymbolFiles;
}

/** What symbols are never looked for without. */
const FILE_FUNCTIONS = ['open', 'decompress', 'ownVdso', 'runningKernel', 'defaultBuildIdDir'] as const satisfies readonly (keyof SymbolFiles)[];

/** Not every caller has its types checked by a compiler. */
export const checkSymbolFiles: Check = (option, value) => {
  const isRight = value instanceof Object && FILE_FUNCTIONS.every((name) => name in value);
  demand(isRight, option, value, `an object with the functions ${FILE_FUNCTIONS.join(', ')}`);
};
