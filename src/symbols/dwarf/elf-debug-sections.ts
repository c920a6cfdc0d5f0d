import { readRange } from '../../bytes/byte-source.ts';
import { ByteView } from '../../bytes/byte-view.ts';
import { PerfconvError } from '../../errors.ts';
import type { ElfFile, ElfSection } from '../elf.ts';
import { ET_REL, SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS } from '../elf-constants.ts';
import type { DebugSection, DebugSectionName, DebugSections } from './debug-sections.ts';

/** More than this at once is asked for by damaged files only, and is more than JavaScript surely gives. */
const MAX_READ_SIZE_BYTES = 1 << 30;

/**
 * The debug sections of an ELF file. Nothing of them is read yet.
 * @param elf stays open as long as the sections are read
 */
export async function openDebugSections(elf: ElfFile): Promise<DebugSections> {
  return new ElfDebugSections(elf);
}

class ElfDebugSections implements DebugSections {
  readonly name: string;
  readonly littleEndian: boolean;
  readonly addressSize: 4 | 8;
  readonly hasCodeAtZero: boolean;
  readonly #elf: ElfFile;

  constructor(elf: ElfFile) {
    this.#elf = elf;
    this.name = elf.source.name;
    this.littleEndian = elf.littleEndian;
    this.addressSize = elf.classBits === 64 ? 8 : 4;
    this.hasCodeAtZero = elf.type === ET_REL || elf.sections.some(isCodeAtZero);
  }

  section(name: DebugSectionName): DebugSection {
    const header = this.#elf.section(`.debug_${name}`);
    if (header === undefined || header.type === SHT_NOBITS) return new FileSection(this.#elf, 0, 0);
    return new FileSection(this.#elf, header.offset, header.sizeBytes);
  }
}

function isCodeAtZero({ flags, addr }: ElfSection): boolean {
  return (flags & SHF_ALLOC) !== 0 && (flags & SHF_EXECINSTR) !== 0 && addr === 0;
}

/** A part of a file. */
class FileSection implements DebugSection {
  readonly sizeBytes: number;
  readonly #elf: ElfFile;
  readonly #fileOffset: number;

  constructor(elf: ElfFile, fileOffset: number, sizeBytes: number) {
    this.#elf = elf;
    this.#fileOffset = fileOffset;
    // A header may say anything.
    const { sizeBytes: fileSize = Number.POSITIVE_INFINITY } = elf.source;
    this.sizeBytes = Math.max(0, Math.min(sizeBytes, fileSize - fileOffset));
  }

  async read(offset: number, sizeBytes: number): Promise<ByteView> {
    const size = Math.max(0, Math.min(sizeBytes, this.sizeBytes - offset));
    const { source, littleEndian } = this.#elf;
    if (size > MAX_READ_SIZE_BYTES) throw new PerfconvError('damaged', `${size} bytes of debug information at once`, { file: source.name, offset });
    return new ByteView(size === 0 ? new Uint8Array() : await readRange(source, this.#fileOffset + offset, size), littleEndian);
  }
}
