import type { Diagnostics } from '../../base/diagnostics.ts';
import { PerfconvError } from '../../base/errors.ts';
import type { SourceLines } from '../../symbol-table/code-symbols.ts';
import type { SymbolFiles } from '../symbol-files.ts';
import type { DebugFile } from './debug-lines.ts';

/**
 * Loads `openDebugLines` when there is debug information to read, and calls it. It is a quarter of the library, and
 * most machines have none.
 * @returns undefined for debug information that cannot be read, which is reported: the names of symbols do not depend
 * on it
 */
export async function openLines(file: DebugFile, host: SymbolFiles, diagnostics: Diagnostics): Promise<SourceLines | undefined> {
  const { openDebugLines } = await import('./debug-lines.ts');
  try {
    return await openDebugLines(file, host, diagnostics);
  } catch (error) {
    if (!(error instanceof PerfconvError)) throw error;
    diagnostics.add('debug-info-damaged', 'warning', error.message);
    file.places?.files.search.cannotUse(file.elf.source.name, 'lines', error.message);
    return undefined;
  }
}
