import type { Decompressor } from '../base/streams/decompressor.ts';
import { PF_X, PT_LOAD } from '../elf/elf-constants.ts';
import type { ElfFile } from '../elf/elf-file.ts';
import { readUnwindModule, type UnwindModule } from '../unwind/modules/unwind-module.ts';
import type { UnwindModuleOptions } from '../unwind/rules/unwind-tables.ts';
import type { ObjectFiles } from './search/object-files.ts';

/** How the code of a file is unwound. */
export interface FileRules {
  readonly module: UnwindModule;
  /** Where its bytes are mapped: file offsets from the first to just after the last, and what to add to them to get addresses in the module (svmas). */
  readonly segments: readonly { readonly start: number; readonly end: number; readonly delta: number }[];
  /** Closes the files. The module must not be used after that. */
  close(): Promise<void>;
}

/** @throws PerfconvError if a file cannot be read */
export async function readRules(
  { runtime, symbols, debugInfo }: ObjectFiles,
  decompressor: Decompressor,
  options: Pick<UnwindModuleOptions, 'usesAllTables' | 'isOneFunction'>,
): Promise<Omit<FileRules, 'close'>> {
  // There are two kinds of debug files, one with symbols only; either may hold what strip removed.
  const debug = [debugInfo, symbols].find((file) => file !== undefined && file !== runtime);
  const module = await readUnwindModule(runtime, { ...(debug && { debug }), decompressor, ...options });
  return { module, segments: segmentsOf(runtime) };
}

/** Segments with code come first, since bytes at the border of two segments may be in both. */
function segmentsOf({ segments }: ElfFile): FileRules['segments'] {
  const loads = segments.filter(({ type, filesz }) => type === PT_LOAD && filesz > 0);
  const isCode = ({ flags }: { readonly flags: number }): boolean => (flags & PF_X) !== 0;
  return [...loads.filter(isCode), ...loads.filter((load) => !isCode(load))].map(({ offset, filesz, vaddr }) => ({
    start: offset,
    end: offset + filesz,
    delta: vaddr - offset,
  }));
}
