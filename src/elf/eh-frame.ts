import { PT_GNU_EH_FRAME } from './elf-constants.ts';
import type { ElfFile } from './elf-file.ts';
import type { FrameBytes } from './frame-cursor.ts';
import { FrameTable } from './frame-table.ts';
import { type MappedBytes, readMapped, readTable } from './mapped-bytes.ts';

/** Reads `.eh_frame_hdr`; undefined where there is none, or none that can be read. @param maxBytes more is not read: it may be a hole */
export async function readFrameTable(elf: ElfFile, maxBytes: number): Promise<FrameTable | undefined> {
  const header = await readTable(elf, '.eh_frame_hdr', PT_GNU_EH_FRAME, maxBytes);
  return header && FrameTable.read(frameBytes(elf, header, header.addr));
}

/**
 * Reads `.eh_frame`: by its section, or in a file without section headers by what its header for unwinders points at.
 * @param maxBytes as for {@link readFrameTable}
 * @param table what that has read, by default when it is needed
 * @returns undefined where there is none, or none that can be read
 */
export async function readEhFrame(elf: ElfFile, maxBytes: number, table?: FrameTable): Promise<FrameBytes | undefined> {
  const frames = await readFrames(elf, maxBytes, table);
  return frames === undefined || frames.view.length === 0 ? undefined : frameBytes(elf, frames, elf.section('.got')?.addr ?? 0);
}

async function readFrames(elf: ElfFile, maxBytes: number, known: FrameTable | undefined): Promise<MappedBytes | undefined> {
  if (elf.section('.eh_frame') !== undefined) return readTable(elf, '.eh_frame', undefined, maxBytes);
  const table = known ?? (await readFrameTable(elf, maxBytes));
  return table && readMapped(elf, table.frameAddr, maxBytes, maxBytes);
}

/** A table of frames, and what pointers in it are relative to. @param dataAddr svma that `DW_EH_PE_datarel` counts from */
export function frameBytes(elf: ElfFile, { view, addr }: MappedBytes, dataAddr: number): FrameBytes {
  return { view, addr, addressSize: elf.classBits === 64 ? 8 : 4, textAddr: elf.section('.text')?.addr ?? 0, dataAddr };
}
