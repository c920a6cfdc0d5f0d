import { ByteView } from '../base/bytes/byte-view.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { ByteSource } from '../base/streams/byte-source.ts';
import { readRange } from '../base/streams/byte-source.ts';
import { findBuildId } from './build-id.ts';
import {
  ELFCLASS32,
  ELFCLASS64,
  ELFDATA2LSB,
  ELFDATA2MSB,
  ET_REL,
  PF_R,
  PF_W,
  PF_X,
  PN_XNUM,
  PT_LOAD,
  PT_NOTE,
  SHF_ALLOC,
  SHF_EXECINSTR,
  SHF_TLS,
  SHF_WRITE,
  SHT_NOBITS,
  SHT_NOTE,
} from './elf-constants.ts';
import { MAX_LOADS } from './wasm/contract.ts';

/** A section header: the fields that this program uses, named as in the gABI without `sh_`. */
export interface ElfSection {
  /** Empty when the section name table is missing or broken. */
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly addr: number;
  readonly offset: number;
  readonly sizeBytes: number;
  /** Index of an associated section: a symbol table's strings, a relocation section's symbols. */
  readonly link: number;
  /** Its meaning depends on the type; for a relocation section, the section whose bytes are relocated. */
  readonly info: number;
  readonly addralign: number;
  /** Size of an entry according to the file; may be 0 or wrong. */
  readonly entsize: number;
}

/** A program header; names as in {@link ElfSection}, without `p_`. */
export interface ElfSegment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly vaddr: number;
  readonly filesz: number;
  readonly memsz: number;
  readonly align: number;
}

/** Enough for any build id; a file with larger notes has the id elsewhere, or is hostile. */
const MAX_NOTES_SIZE_BYTES = 1 << 20;
/** Names of sections are compared, not shown: no longer name is of interest. */
const MAX_SECTION_NAME_SIZE_BYTES = 64;
const MAX_NOTE_PLACES = 64;
/** Section and segment counts are 16-bit unless a file uses the escape for larger ones. No linker makes more than this. */
const MAX_HEADERS = 1 << 20;

/**
 * An ELF file: header, section headers and program headers. Everything else is read from the source when asked for, and is bounded by the file's size.
 * Addresses and sizes are doubles; addresses of the upper half are negative.
 */
export class ElfFile {
  readonly source: ByteSource;
  /** 32 or 64. */
  readonly classBits: 32 | 64;
  readonly littleEndian: boolean;
  /** `e_type` */
  readonly type: number;
  /** `e_machine` */
  readonly machine: number;
  /** `e_flags` */
  readonly machineFlags: number;
  /** In file order; empty when the file has none or they cannot be read. Index 0 is the null section. */
  readonly sections: readonly ElfSection[];
  /**
   * In file order. If the file has none or they cannot be read, each of its sections in memory is a PT_LOAD here, unless the file is relocatable: before perf
   * 6.1, perf inject wrote such files for JITs' functions.
   */
  readonly segments: readonly ElfSegment[];
  /** Whether section headers that the file should have would be after its end, as in a file that was not completely copied. */
  readonly isCut: boolean;
  /** The segments that are mapped. */
  readonly loads: readonly ElfSegment[];

  private constructor(source: ByteSource, header: ElfIdentity, sections: readonly ElfSection[], segments: readonly ElfSegment[]) {
    this.source = source;
    this.classBits = header.classBits;
    this.littleEndian = header.littleEndian;
    this.type = header.type;
    this.machine = header.machine;
    this.machineFlags = header.machineFlags;
    this.isCut = header.isCut;
    this.sections = sections;
    this.segments = segments;
    this.loads = segments.filter((segment) => segment.type === PT_LOAD).slice(0, MAX_LOADS);
  }

  /**
   * Reads the headers. The source stays open and belongs to the caller.
   * @throws PerfconvError `damaged` when the source is not an ELF file or its header is cut. Broken tables after the header are left out; `usage` for anything
   *   but a ByteSource
   */
  static async open(source: ByteSource): Promise<ElfFile> {
    // Not every caller has its types checked by a compiler.
    if (typeof source?.readAt !== 'function') throw new PerfconvError('usage', 'an ELF file is opened from a ByteSource, such as new BufferSource(bytes)');
    const header = readHeader(await readRange(source, 0, 64), source.name);
    const sections = await readSections(source, header);
    const segmentCount = header.phnum === PN_XNUM && sections.escape ? sections.escape.segmentCount : header.phnum;
    const segments = await readSegments(source, header, segmentCount);
    const isWithoutSegments = segments.length === 0 && header.type !== ET_REL;
    return new ElfFile(source, { ...header, isCut: sections.isCut }, sections.list, isWithoutSegments ? loadsOf(sections.list) : segments);
  }

  /** The same file with other program headers. */
  withSegments(segments: readonly ElfSegment[]): ElfFile {
    return new ElfFile(this.source, this, this.sections, segments);
  }

  /** The same file with other section headers. */
  withSections(sections: readonly ElfSection[]): ElfFile {
    return new ElfFile(this.source, this, sections, this.segments);
  }

  /** The first section with a name, or undefined. */
  section(name: string): ElfSection | undefined {
    return this.sections.find((section) => section.name === name);
  }

  /** Whether the file has machine code: a separate debug file has the sections, but without their bytes. */
  get hasCode(): boolean {
    if (this.sections.length === 0 || this.isCut) return this.loads.some((segment) => (segment.flags & PF_X) !== 0 && segment.filesz > 0);
    return this.sections.some((section) => (section.flags & SHF_EXECINSTR) !== 0 && section.type !== SHT_NOBITS);
  }

  /** A section's bytes, as far as the file has them; empty for a section without bytes in the file. */
  async readSection(section: ElfSection): Promise<ByteView> {
    const bytes = section.type === SHT_NOBITS ? new Uint8Array() : await readRange(this.source, section.offset, section.sizeBytes);
    return new ByteView(bytes, this.littleEndian);
  }

  /**
   * Where the byte mapped at `vaddr` is in the file, according to the PT_LOAD that contains it; undefined if none does. The address right after a segment
   * counts as part of it unless another segment begins there: labels such as `_etext` have it.
   */
  fileOffsetOf(vaddr: number): number | undefined {
    let afterSegment: number | undefined;
    const loads = this.loads;
    // hot: called for every symbol
    for (let i = 0; i < loads.length; i++) {
      const load = loads[i];
      const at = vaddr - load.vaddr;
      if (at >= 0 && at < load.memsz) return at + load.offset;
      if (at === load.memsz) afterSegment = at + load.offset;
    }
    return afterSegment;
  }

  /**
   * Where the byte at `fileOffset` is mapped (svma), according to the PT_LOAD that contains it, preferably one with code: bytes at the border of two segments
   * may be in both. undefined if none does.
   */
  svmaOf(fileOffset: number): number | undefined {
    let found: number | undefined;
    const loads = this.loads;
    // hot: called for every address
    for (let i = 0; i < loads.length; i++) {
      const { vaddr, filesz, offset, flags } = loads[i];
      if (fileOffset < offset || fileOffset >= offset + filesz) continue;
      if ((flags & PF_X) !== 0) return fileOffset - offset + vaddr;
      found ??= fileOffset - offset + vaddr;
    }
    return found;
  }

  /** The GNU build id as lower-case hex, from a note section or a PT_NOTE segment; undefined if the file has none. */
  async buildId(): Promise<string | undefined> {
    const places = [
      ...this.sections.filter((section) => section.type === SHT_NOTE).map((section) => [section.offset, section.sizeBytes, section.addralign]),
      ...this.segments.filter((segment) => segment.type === PT_NOTE).map((segment) => [segment.offset, segment.filesz, segment.align]),
    ];
    for (const [offset, sizeBytes, align] of places.slice(0, MAX_NOTE_PLACES)) {
      const notes = await readRange(this.source, offset, Math.min(sizeBytes, MAX_NOTES_SIZE_BYTES));
      const buildId = findBuildId(new ByteView(notes, this.littleEndian), align);
      if (buildId !== undefined) return buildId;
    }
    return undefined;
  }
}

/** What the ELF header says about the file as a whole. */
interface ElfIdentity {
  readonly classBits: 32 | 64;
  readonly littleEndian: boolean;
  readonly type: number;
  readonly machine: number;
  readonly machineFlags: number;
  readonly isCut: boolean;
}

interface ElfHeader extends Omit<ElfIdentity, 'isCut'> {
  readonly phoff: number;
  readonly shoff: number;
  readonly phentsize: number;
  readonly phnum: number;
  readonly shentsize: number;
  readonly shnum: number;
  readonly shstrndx: number;
}

export const ELF_MAGIC_BYTES = 4;
/** How {@link ElfFile.open} says that a file is in another format. */
export const NO_ELF = 'not an ELF file';

/** Whether a file that begins with these bytes is an ELF file, or part of one. */
export function hasElfMagic(bytes: Uint8Array): boolean {
  return bytes[0] === 0x7f && bytes[1] === 0x45 && bytes[2] === 0x4c && bytes[3] === 0x46;
}

function readHeader(bytes: Uint8Array, file: string): ElfHeader {
  const damaged = (what: string): PerfconvError => new PerfconvError('damaged', what, { file, offset: 0, record: 'ELF header' });
  if (bytes.length < 16 || !hasElfMagic(bytes)) throw damaged(NO_ELF);
  const [, , , , elfClass, data] = bytes;
  if (elfClass !== ELFCLASS32 && elfClass !== ELFCLASS64) throw damaged(`unknown class ${elfClass}`);
  if (data !== ELFDATA2LSB && data !== ELFDATA2MSB) throw damaged(`unknown byte order ${data}`);
  const is64 = elfClass === ELFCLASS64;
  if (bytes.length < (is64 ? 64 : 52)) throw damaged(`cut off after ${bytes.length} bytes`);
  const view = new ByteView(bytes, data === ELFDATA2LSB);
  const shorts = is64 ? 54 : 42; // e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx
  return {
    classBits: is64 ? 64 : 32,
    littleEndian: view.littleEndian,
    type: view.u16(16),
    machine: view.u16(18),
    machineFlags: view.u32(is64 ? 48 : 36),
    phoff: is64 ? view.u64(32) : view.u32(28),
    shoff: is64 ? view.u64(40) : view.u32(32),
    phentsize: view.u16(shorts),
    phnum: view.u16(shorts + 2),
    shentsize: view.u16(shorts + 4),
    shnum: view.u16(shorts + 6),
    shstrndx: view.u16(shorts + 8),
  };
}

/** Counts that do not fit into the ELF header and are in section 0 instead (gABI, "Section Header Table"). */
interface Escape {
  readonly segmentCount: number;
}

async function readSections(source: ByteSource, header: ElfHeader): Promise<{ list: ElfSection[]; isCut: boolean; escape?: Escape }> {
  const is64 = header.classBits === 64;
  const { shoff, shentsize } = header;
  if (shoff === 0 || shentsize < (is64 ? 64 : 40)) return { list: [], isCut: false };
  // If the count is not in the header, it is in the first section.
  let table = await readTable(Math.max(header.shnum, 1));
  if (table.length < shentsize) return { list: [], isCut: true };
  const null0 = readSection(table, 0, is64, NO_NAMES);
  const count = Math.min(header.shnum === 0 ? null0.sizeBytes : header.shnum, MAX_HEADERS);
  if (header.shnum === 0) table = await readTable(count);
  const whole = Math.floor(table.length / shentsize);
  const namesIndex = header.shstrndx === 0xffff ? null0.link : header.shstrndx;
  const strings = namesIndex < whole ? readSection(table, namesIndex * shentsize, is64, NO_NAMES) : undefined;
  const hasNames = strings !== undefined && strings.type !== SHT_NOBITS;
  const names = hasNames ? new ByteView(await readRange(source, strings.offset, strings.sizeBytes), true) : NO_NAMES;
  return {
    list: Array.from({ length: whole }, (_, i) => readSection(table, i * shentsize, is64, names)),
    isCut: whole < count,
    escape: { segmentCount: null0.info },
  };

  async function readTable(entries: number): Promise<ByteView> {
    return new ByteView(await readRange(source, shoff, entries * shentsize), header.littleEndian);
  }
}

const NO_NAMES = new ByteView(new Uint8Array(), true);

/** @param names the bytes of the section name table */
function readSection(view: ByteView, at: number, is64: boolean, names: ByteView): ElfSection {
  const nameOffset = view.u32(at);
  const name = names.text(nameOffset, Math.min(nameOffset + MAX_SECTION_NAME_SIZE_BYTES, names.length));
  const type = view.u32(at + 4);
  return is64
    ? {
        name,
        type,
        flags: view.lo(at + 8),
        addr: view.i64(at + 16),
        offset: view.u64(at + 24),
        sizeBytes: view.u64(at + 32),
        link: view.u32(at + 40),
        info: view.u32(at + 44),
        addralign: view.u64(at + 48),
        entsize: view.u64(at + 56),
      }
    : {
        name,
        type,
        flags: view.u32(at + 8),
        addr: view.u32(at + 12),
        offset: view.u32(at + 16),
        sizeBytes: view.u32(at + 20),
        link: view.u32(at + 24),
        info: view.u32(at + 28),
        addralign: view.u32(at + 32),
        entsize: view.u32(at + 36),
      };
}

async function readSegments(source: ByteSource, header: ElfHeader, count: number): Promise<ElfSegment[]> {
  const is64 = header.classBits === 64;
  const { phoff, phentsize } = header;
  if (phoff === 0 || phentsize < (is64 ? 56 : 32)) return [];
  const table = new ByteView(await readRange(source, phoff, Math.min(count, MAX_HEADERS) * phentsize), header.littleEndian);
  const segments: ElfSegment[] = [];
  for (let at = 0; at + phentsize <= table.length; at += phentsize) segments.push(readSegment(table, at, is64));
  return segments;
}

/** What program headers would say about the sections that are in memory. Notes are left out: perf inject gives theirs the address 0. */
function loadsOf(sections: readonly ElfSection[]): ElfSegment[] {
  return sections
    .filter(({ type, flags, sizeBytes }) => (flags & (SHF_ALLOC | SHF_TLS)) === SHF_ALLOC && type !== SHT_NOTE && sizeBytes > 0)
    .slice(0, MAX_LOADS)
    .map(({ type, flags, offset, addr, sizeBytes, addralign }) => ({
      type: PT_LOAD,
      flags: PF_R | ((flags & SHF_WRITE) === 0 ? 0 : PF_W) | ((flags & SHF_EXECINSTR) === 0 ? 0 : PF_X),
      offset,
      vaddr: addr,
      filesz: type === SHT_NOBITS ? 0 : sizeBytes,
      memsz: sizeBytes,
      align: addralign,
    }));
}

function readSegment(view: ByteView, at: number, is64: boolean): ElfSegment {
  const type = view.u32(at);
  return is64
    ? {
        type,
        flags: view.u32(at + 4),
        offset: view.u64(at + 8),
        vaddr: view.i64(at + 16),
        filesz: view.u64(at + 32),
        memsz: view.u64(at + 40),
        align: view.u64(at + 48),
      }
    : {
        type,
        offset: view.u32(at + 4),
        vaddr: view.u32(at + 8),
        filesz: view.u32(at + 16),
        memsz: view.u32(at + 20),
        flags: view.u32(at + 24),
        align: view.u32(at + 28),
      };
}
