import type { ElfFile } from './elf.ts';
import { PF_X, PT_LOAD } from './elf-constants.ts';

/** What file offsets of maps are multiples of, at least. */
const PAGE_SIZE_BYTES = 4096;

/**
 * A debug file with the offsets that its segments have in the binary. Tools that make debug files keep addresses but no offsets (observed:
 * objcopy of binutils 2.40 and LLVM 14); where the binary is not at hand, the recording tells where its code was mapped from.
 * A file with several segments of code, or none, stays as it is.
 * @param codeStart file offset from which code was mapped, as recorded; Infinity when unknown
 */
export function withCodeAt(debugFile: ElfFile, codeStart: number): ElfFile {
  const code = debugFile.segments.filter(({ type, flags }) => type === PT_LOAD && (flags & PF_X) !== 0);
  if (code.length !== 1 || !Number.isFinite(codeStart)) return debugFile;
  // Offset and address of a segment are the same within a page (gABI, "Program Loading").
  const offset = codeStart - (codeStart % PAGE_SIZE_BYTES) + (((code[0].vaddr % PAGE_SIZE_BYTES) + PAGE_SIZE_BYTES) % PAGE_SIZE_BYTES);
  const bias = code[0].vaddr - offset;
  return debugFile.withSegments(
    debugFile.segments.map((segment) => (segment.type === PT_LOAD ? { ...segment, offset: segment.vaddr - bias, filesz: segment.memsz } : segment)),
  );
}
