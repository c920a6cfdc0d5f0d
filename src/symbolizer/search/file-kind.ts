import { PerfconvError } from '../../base/problems/errors.ts';
import { readRange } from '../../base/streams/byte-source.ts';
import { ELF_MAGIC_BYTES, hasElfMagic } from '../../elf/elf-file.ts';
import type { SymbolFiles } from '../inputs/symbol-files.ts';

/** Whether the file at a place begins like an ELF file; undefined if there is none or it cannot be read. */
export async function isElfAt(files: SymbolFiles, path: string): Promise<boolean | undefined> {
  const source = await files.open(path);
  if (source === undefined) return undefined;
  try {
    return hasElfMagic(await readRange(source, 0, ELF_MAGIC_BYTES));
  } catch (error) {
    if (!(error instanceof PerfconvError)) throw error;
    return undefined;
  } finally {
    await source.close();
  }
}
