import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { DebugSections } from '../../dwarf/sections/debug-sections.ts';
import { openDebugSections } from '../../dwarf/sections/elf-debug-sections.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import type { SourceLines } from '../../symbol-table/code-symbols.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';
import type { DebugFile } from './debug-lines.ts';

/** The large sections that are read of every file whose addresses are looked up. */
const ALWAYS_READ = ['info', 'abbrev', 'line'] as const;

/**
 * Opens the debug sections of a file, and begins to unpack those that look-ups need. They are unpacked completely, however few addresses are looked up. That
 * takes longer than the look-up, and as long as reading a symbol table.
 * @returns undefined if they are damaged, which {@link openLines} reports
 */
export async function openAhead(elf: ElfFile, host: SymbolFiles): Promise<DebugSections | undefined> {
  try {
    const sections = await openDebugSections(elf, host);
    for (const name of ALWAYS_READ) await sections.section(name).unpackAhead?.();
    return sections;
  } catch (error) {
    if (!(error instanceof PerfconvError)) throw error;
    return undefined;
  }
}

/**
 * Calls `openDebugLines`, which is loaded only when there is debug information to read: it is a quarter of the library, and most machines have none.
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
