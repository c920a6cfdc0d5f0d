import { PF_X, PT_LOAD } from './elf-constants.ts';
import type { ElfFile, ElfSegment } from './elf-file.ts';

/** File offsets of maps are multiples of at least this. */
const PAGE_SIZE_BYTES = 4096;

/**
 * A debug file with the offsets that its segments have in the binary, if that is not at hand. Tools that make debug files keep addresses, but not all of them
 * keep offsets (observed: elfutils 0.188 does; objcopy of binutils 2.40 and LLVM 14 do not, and their segments are shorter in the file than in memory). If they
 * do not, and the code is a single segment, the recording shows where it was mapped from.
 * @param codeStart file offset from which code was mapped, as recorded; undefined when unknown
 * @returns undefined if the offsets are unknown
 */
export function withCodeAt(debugFile: ElfFile, codeStart: number | undefined): ElfFile | undefined {
  const code = debugFile.segments.filter(({ type, flags }) => type === PT_LOAD && (flags & PF_X) !== 0);
  if (code.length > 0 && code.every(({ filesz, memsz }) => filesz === memsz)) return debugFile;
  if (code.length !== 1 || codeStart === undefined) return undefined;
  const bias = biasOf(code[0], codeStart);
  return debugFile.withSegments(
    debugFile.segments.map((segment) => (segment.type === PT_LOAD ? { ...segment, offset: segment.vaddr - bias, filesz: segment.memsz } : segment)),
  );
}

/** Address minus file offset. The two are the same within a page (gABI, "Program Loading"). */
function biasOf({ vaddr }: ElfSegment, codeStart: number): number {
  const inPage = ((vaddr % PAGE_SIZE_BYTES) + PAGE_SIZE_BYTES) % PAGE_SIZE_BYTES;
  return vaddr - (codeStart - (codeStart % PAGE_SIZE_BYTES) + inPage);
}
