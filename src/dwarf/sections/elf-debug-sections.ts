import { ByteView } from '../../base/bytes/byte-view.ts';
import { joinedBytes } from '../../base/bytes/joined-bytes.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { readRange } from '../../base/streams/byte-source.ts';
import type { Decompressor } from '../../base/streams/decompressor.ts';
import { SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS } from '../../elf/elf-constants.ts';
import type { ElfFile, ElfSection } from '../../elf/elf-file.ts';
import { relocatableLayout } from '../../elf/relocatable-layout.ts';
import { decompressSection, maxDecompressedSize, type SectionCompression, sectionCompression } from './compressed-section.ts';
import { DEBUG_SECTION_NAMES, type DebugSection, type DebugSectionName, type DebugSections } from './debug-sections.ts';
import { DebugRelocations } from './relocations.ts';
import type { ReusedMemory } from './reused-memory.ts';

/** Only damaged files ask for more than this at once, and JavaScript is not sure to provide it. */
const MAX_READ_SIZE_BYTES = 1 << 30;
/** How many sections may have the same name: object files have one `.debug_types` for each type. */
const MAX_PARTS = 1 << 16;

/** One section header of a debug section. Object files may have several of the same name. */
interface Part {
  readonly index: number;
  readonly header: ElfSection;
  readonly compression: SectionCompression | undefined;
  /** Size when decompressed. */
  readonly sizeBytes: number;
}

/**
 * The debug sections of an ELF file. So far, only how they are compressed is read. Sections of the same name count as one, joined in order. The sections of a
 * relocatable file are relocated to the addresses of {@link relocatableLayout}.
 * @param elf stays open as long as the sections are read
 * @param kind `dwo`: the split sections, `.debug_info.dwo` and so on, which may be in the same file as the others
 */
export async function openDebugSections(elf: ElfFile, decompressor: Decompressor, kind: 'main' | 'dwo' = 'main'): Promise<DebugSections> {
  const parts = await findParts(elf, kind);
  const bases = relocatableLayout(elf);
  const sections = new Map<DebugSectionName, DebugSection>();
  for (const ofName of parts.values()) {
    let offset = 0;
    for (const { index, sizeBytes } of ofName) {
      if (bases !== undefined) bases[index] = offset;
      offset += sizeBytes;
    }
  }
  const relocations = bases && new DebugRelocations(elf, bases);
  const budget = new UnpackBudget(elf);
  for (const [name, ofName] of parts) {
    const [{ header, compression }] = ofName;
    const isPlain = ofName.length === 1 && compression === undefined && relocations === undefined;
    sections.set(name, isPlain ? new FileSection(elf, header) : new LoadedSection(elf, ofName, decompressor, relocations, budget));
  }
  return new ElfDebugSections(elf, sections);
}

/** Unpacking less than this takes some three milliseconds at most, no more than starting it on another thread and hearing back. */
const LEAST_AHEAD_SIZE_BYTES = 3 << 18;

/** Whether the file itself has debug information. */
export function hasDebugInfo(elf: ElfFile): boolean {
  return elf.sections.some(({ name, sizeBytes }) => (name === '.debug_info' || name === '.zdebug_info') && sizeBytes > 0);
}

/** The section headers of each name. */
async function findParts(elf: ElfFile, kind: 'main' | 'dwo'): Promise<ReadonlyMap<DebugSectionName, readonly Part[]>> {
  const parts = new Map<DebugSectionName, Part[]>();
  const { sizeBytes: fileSize = Number.POSITIVE_INFINITY } = elf.source;
  let taken = 0;
  for (const [index, header] of elf.sections.entries()) {
    const name = debugSectionName(header.name, kind);
    if (name === undefined || header.type === SHT_NOBITS) continue;
    const ofName = parts.get(name) ?? [];
    // Parts do not share bytes. If a file says that they do, no more than its size is read.
    taken += header.sizeBytes;
    if (ofName.length > 0 && (taken > fileSize || ofName.length === MAX_PARTS)) continue;
    const compression = await sectionCompression(elf, header);
    ofName.push({ index, header, compression, sizeBytes: compression?.sizeBytes ?? sizeInFile(elf, header) });
    parts.set(name, ofName);
  }
  return parts;
}

const NAMES: ReadonlySet<string> = new Set(DEBUG_SECTION_NAMES);

/** The bare name of a section; undefined for one that is not read. */
function debugSectionName(name: string, kind: 'main' | 'dwo'): DebugSectionName | undefined {
  const [, bare, dwo] = /^\.z?debug_([a-z_]+)(\.dwo)?$/.exec(name) ?? [];
  // The indexes of packages lack the `.dwo`, though all sections that they list have it.
  const isKind = (dwo !== undefined) === (kind === 'dwo') || bare === 'cu_index' || bare === 'tu_index';
  return isKind && NAMES.has(bare) ? (bare as DebugSectionName) : undefined;
}

function sizeInFile(elf: ElfFile, { offset, sizeBytes }: Pick<ElfSection, 'offset' | 'sizeBytes'>): number {
  // A header may say anything.
  const { sizeBytes: fileSize = Number.POSITIVE_INFINITY } = elf.source;
  return Math.max(0, Math.min(sizeBytes, fileSize - offset));
}

class ElfDebugSections implements DebugSections {
  readonly name: string;
  readonly littleEndian: boolean;
  readonly addressSize: 4 | 8;
  readonly hasCodeAtZero: boolean;
  readonly #sections: ReadonlyMap<DebugSectionName, DebugSection>;
  readonly #none: DebugSection;

  constructor(elf: ElfFile, sections: ReadonlyMap<DebugSectionName, DebugSection>) {
    this.name = elf.source.name;
    this.littleEndian = elf.littleEndian;
    this.addressSize = elf.classBits === 64 ? 8 : 4;
    this.hasCodeAtZero = elf.sections.some(isCodeAtZero);
    this.#sections = sections;
    this.#none = new FileSection(elf, { offset: 0, sizeBytes: 0 });
  }

  section(name: DebugSectionName): DebugSection {
    return this.#sections.get(name) ?? this.#none;
  }
}

function isCodeAtZero({ flags, addr }: ElfSection): boolean {
  return (flags & SHF_ALLOC) !== 0 && (flags & SHF_EXECINSTR) !== 0 && addr === 0;
}

/** A section that is read from the file on each request. */
class FileSection implements DebugSection {
  readonly sizeBytes: number;
  readonly #elf: ElfFile;
  readonly #fileOffset: number;

  constructor(elf: ElfFile, section: Pick<ElfSection, 'offset' | 'sizeBytes'>) {
    this.#elf = elf;
    this.#fileOffset = section.offset;
    this.sizeBytes = sizeInFile(elf, section);
  }

  async read(offset: number, sizeBytes: number, memory?: ReusedMemory): Promise<ByteView> {
    const size = Math.max(0, Math.min(sizeBytes, this.sizeBytes - offset));
    const { source, littleEndian } = this.#elf;
    if (size > MAX_READ_SIZE_BYTES)
      throw new PerfconvError('damaged', `${size} bytes of debug information are too many to read at once`, { file: source.name, offset });
    return new ByteView(size === 0 ? new Uint8Array() : await readRange(source, this.#fileOffset + offset, size, memory?.take(size)), littleEndian);
  }
}

/**
 * How much memory the sections of a file may take together. Each may unpack to a multiple of its size, but a great many may not, nor may all of them be the
 * same bytes.
 */
class UnpackBudget {
  readonly #name: string;
  readonly #fileSize: number;
  #taken = 0;

  constructor({ source, sections }: ElfFile) {
    this.#name = source.name;
    this.#fileSize = source.sizeBytes ?? sections.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  /** @throws PerfconvError `damaged` if this is too much */
  take(sizeBytes: number, record: string): void {
    this.#taken += sizeBytes;
    if (this.#taken <= maxDecompressedSize(this.#fileSize)) return;
    throw new PerfconvError('damaged', `${this.#taken} bytes of debug information from a file of ${this.#fileSize}`, { file: this.#name, record });
  }
}

/** A section that has to be decompressed, relocated or joined first. The result is kept. */
class LoadedSection implements DebugSection {
  readonly sizeBytes: number;
  readonly #elf: ElfFile;
  readonly #parts: readonly Part[];
  readonly #decompressor: Decompressor;
  readonly #relocations: DebugRelocations | undefined;
  readonly #budget: UnpackBudget;
  #bytes: Promise<Uint8Array> | undefined;

  constructor(elf: ElfFile, parts: readonly Part[], decompressor: Decompressor, relocations: DebugRelocations | undefined, budget: UnpackBudget) {
    this.#budget = budget;
    this.#elf = elf;
    this.#parts = parts;
    this.#decompressor = decompressor;
    this.#relocations = relocations;
    this.sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  }

  async read(offset: number, sizeBytes: number): Promise<ByteView> {
    this.#bytes ??= this.#load(this.#decompressor);
    const bytes = await this.#bytes;
    const end = Math.max(offset, Math.min(offset + sizeBytes, bytes.length));
    return new ByteView(offset < bytes.length ? bytes.subarray(offset, end) : new Uint8Array(), this.#elf.littleEndian);
  }

  async unpackAhead(): Promise<void> {
    if (this.#bytes !== undefined || this.sizeBytes < LEAST_AHEAD_SIZE_BYTES) return;
    await new Promise<void>((hasBegun) => {
      const decompress: Decompressor['decompress'] = (compression, bytes, maxSizeBytes) => {
        const unpacked = this.#decompressor.decompress(compression, bytes, maxSizeBytes, true);
        hasBegun();
        return unpacked;
      };
      this.#bytes = this.#load({ decompress });
      // Stops waiting for a section that cannot be read, or has nothing packed.
      this.#bytes.catch(() => {}).finally(hasBegun);
    });
  }

  async #load(decompressor: Decompressor): Promise<Uint8Array> {
    const loaded: Uint8Array[] = [];
    this.#budget.take(this.sizeBytes, this.#parts[0].header.name);
    for (const { index, header, compression } of this.#parts) {
      const bytes =
        compression === undefined ? (await this.#elf.readSection(header)).bytes : await decompressSection(this.#elf, header, compression, decompressor);
      await this.#relocations?.apply(index, bytes);
      loaded.push(bytes);
    }
    return joinedBytes(loaded);
  }
}
