import { BufferSource } from '../../base/byte-source.ts';
import type { Decompressor } from '../../base/decompressor.ts';
import { PerfconvError } from '../../base/errors.ts';
import { ElfFile } from '../../elf/elf-file.ts';
import { hasSymtab } from '../../elf/elf-symbols.ts';
import type { CheckedFiles } from './checked-files.ts';

const SECTION = '.gnu_debugdata';
/** Symbols of the largest programs are some ten megabytes. */
const MAX_UNPACKED_SIZE_BYTES = 256 << 20;

/**
 * The ELF file that `.gnu_debugdata` holds, packed by xz: symbols of the functions that `.dynsym` lacks, and nothing else.
 * Source: gdb's documentation, "MiniDebugInfo".
 * @returns undefined when there is none or it cannot be read
 */
export async function openMiniDebugInfo(binary: ElfFile, machine: Decompressor, files: CheckedFiles): Promise<ElfFile | undefined> {
  const section = binary.section(SECTION);
  if (section === undefined) return undefined;
  const place = `${SECTION} in ${binary.source.name}`;
  try {
    const { bytes } = await binary.readSection(section);
    const unpacked = await machine.decompress('xz', bytes, MAX_UNPACKED_SIZE_BYTES);
    const elf = await ElfFile.open(new BufferSource(unpacked, place));
    const symbols = hasSymtab(elf) ? 'symtab' : 'none';
    files.search.note(place, 'fits', '', { symbols });
    return symbols === 'symtab' ? elf : undefined;
  } catch (error) {
    if (!(error instanceof PerfconvError)) throw error;
    files.noteDamage(place, error);
    return undefined;
  }
}
