import type { Diagnostics } from '../../base/diagnostics.ts';
import type { SourceLines } from '../../symbol-table/code-symbols.ts';
import type { SymbolFiles } from '../symbol-files.ts';
import type { DebugFile } from './debug-lines.ts';

/**
 * Loads `openDebugLines` when there is debug information to read, and calls it. It is a quarter of the library, and
 * most machines have none.
 */
export async function openLines(file: DebugFile, machine: SymbolFiles, diagnostics: Diagnostics): Promise<SourceLines> {
  const { openDebugLines } = await import('./debug-lines.ts');
  return openDebugLines(file, machine, diagnostics);
}
