import { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { Decompressor } from '../../base/streams/decompressor.ts';
import { decompressSection, sectionCompression } from '../../dwarf/sections/compressed-section.ts';
import { EM_ARM, PT_ARM_EXIDX, SHF_EXECINSTR, SHT_NOBITS } from '../../elf/elf-constants.ts';
import type { ElfFile, ElfSection } from '../../elf/elf-file.ts';
import { frameBytes, MAX_FRAME_TABLE_BYTES, readEhFrame, readFrameTable } from '../../elf/frame-tables/eh-frame.ts';
import { FrameSection } from '../../elf/frame-tables/frame-section.ts';
import type { FrameTable } from '../../elf/frame-tables/frame-table.ts';
import { readMapped, readTable } from '../../elf/mapped-bytes.ts';
import { GoFrames } from '../../gopclntab/go-frames.ts';
import { ExidxTable } from './exidx-table.ts';
import { FrameIndex } from './frame-index.ts';

/** What else is known when the rules of a file are read. */
export interface UnwindModuleOptions {
  /** The separate debug file: it may hold `.debug_frame`. It may be closed once the module is read. */
  readonly debug?: ElfFile;
  /** Unpacks a compressed `.debug_frame`. Without it, that is left out. */
  readonly decompressor?: Decompressor;
  /**
   * Whether to use what perf 6.1 does not (observed): the `.eh_frame_hdr` of a file without section headers, rules that its table leaves out, `.debug_frame`
   * beside one, and the table of a Go program's runtime where nothing else has rules for its functions. Default: yes.
   */
  readonly usesAllTables?: boolean;
  /**
   * Whether the file has nothing but one function that a JIT made, as those of `perf inject --jit`: it may be returned to without having called, and what it
   * calls or jumps to is in other files. Default: no.
   */
  readonly isOneFunction?: boolean;
}

/** Where rules come from, in the order in which they are searched. */
export interface UnwindTables {
  readonly frames: readonly FrameIndex[];
  /** Of `.eh_frame_hdr`; it may have no entries. */
  readonly frameTable: FrameTable | undefined;
  readonly exidx: ExidxTable | undefined;
  /** Used for what nothing else has rules for. */
  readonly goFrames: GoFrames | undefined;
}

/** Of a file without rules. */
export const NO_TABLES: UnwindTables = { frames: [], frameTable: undefined, exidx: undefined, goFrames: undefined };

/** Reads all tables of a file, without looking into them yet. */
export async function readUnwindTables(elf: ElfFile, { debug, decompressor, usesAllTables = true }: UnwindModuleOptions): Promise<UnwindTables> {
  // perf 6.1 finds the table only by its section (observed).
  const hasTable = usesAllTables || elf.section('.eh_frame_hdr') !== undefined;
  const table = hasTable ? await readFrameTable(elf) : undefined;
  // perf 6.1 finds rules by the table alone, even if the linker wrote none into the header, or not all, as versions of Zig's own linker do (observed).
  const ehFrame = usesAllTables || table === undefined || table.count > 0 ? await readEhFrame(elf, table) : undefined;
  const frames = [ehFrame && new FrameIndex(new FrameSection({ ...ehFrame, isDebugFrame: false, hasCodeAtZero: hasCodeAtZero(elf) }), table, !usesAllTables)];
  if (usesAllTables || table === undefined)
    for (const file of debug === undefined ? [elf] : [elf, debug]) frames.push(await readDebugFrame(file, decompressor));
  const exidx = elf.machine === EM_ARM ? await readTable(elf, '.ARM.exidx', PT_ARM_EXIDX, MAX_FRAME_TABLE_BYTES) : undefined;
  return {
    frames: frames.filter((index) => index !== undefined),
    frameTable: table,
    exidx: exidx && (await ExidxTable.read(exidx.view, exidx.addr, (addr, sizeBytes) => readMapped(elf, addr, sizeBytes, MAX_FRAME_TABLE_BYTES))),
    goFrames: usesAllTables ? await GoFrames.find(elf) : undefined,
  };
}

/** `.debug_frame`, unpacked; undefined if there is none, or it cannot be unpacked. */
async function readDebugFrame(elf: ElfFile, decompressor: Decompressor | undefined): Promise<FrameIndex | undefined> {
  const section = elf.sections.find(({ name, type }) => (name === '.debug_frame' || name === '.zdebug_frame') && type !== SHT_NOBITS);
  if (section === undefined || section.sizeBytes === 0 || section.sizeBytes > MAX_FRAME_TABLE_BYTES) return undefined;
  const bytes = await readPacked(elf, section, decompressor);
  if (bytes === undefined || bytes.length === 0) return undefined;
  const frames = frameBytes(elf, { view: new ByteView(bytes, elf.littleEndian), addr: 0 }, 0);
  return new FrameIndex(new FrameSection({ ...frames, isDebugFrame: true, hasCodeAtZero: hasCodeAtZero(elf) }));
}

async function readPacked(elf: ElfFile, section: ElfSection, decompressor: Decompressor | undefined): Promise<Uint8Array | undefined> {
  const compression = await sectionCompression(elf, section);
  if (compression === undefined) return (await elf.readSection(section)).bytes;
  if (decompressor === undefined) return undefined;
  try {
    return await decompressSection(elf, section, compression, decompressor);
  } catch (error) {
    // Damaged, or packed by an unknown method: then the file has no such rules.
    if (error instanceof PerfconvError && (error.code === 'damaged' || error.code === 'unsupported')) return undefined;
    throw error;
  }
}

function hasCodeAtZero(elf: ElfFile): boolean {
  return elf.sections.some(({ flags, addr, sizeBytes }) => (flags & SHF_EXECINSTR) !== 0 && addr === 0 && sizeBytes > 0);
}
