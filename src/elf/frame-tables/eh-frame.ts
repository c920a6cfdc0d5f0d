import { PT_GNU_EH_FRAME } from '../elf-constants.ts';
import type { ElfFile } from '../elf-file.ts';
import { type MappedBytes, readMapped, readTable } from '../mapped-bytes.ts';
import type { FrameBytes } from './frame-cursor.ts';
import { FrameTable } from './frame-table.ts';

/** Tables for unwinding have some fifty megabytes in the largest programs. A larger one is not read: it may be a hole. */
export const MAX_FRAME_TABLE_BYTES = 1 << 28;

/** Reads `.eh_frame_hdr`; undefined if there is none that can be read. */
export async function readFrameTable(elf: ElfFile): Promise<FrameTable | undefined> {
  const header = await readTable(elf, '.eh_frame_hdr', PT_GNU_EH_FRAME, MAX_FRAME_TABLE_BYTES);
  return header && FrameTable.read(frameBytes(elf, header, header.addr));
}

/**
 * Reads `.eh_frame`: by its section or, in a file without section headers, by the address in `.eh_frame_hdr`.
 * @param table what {@link readFrameTable} has read
 * @returns undefined if there is none that can be read
 */
export async function readEhFrame(elf: ElfFile, table: FrameTable | undefined): Promise<FrameBytes | undefined> {
  const frames = await readFrames(elf, table);
  return frames === undefined || frames.view.length === 0 ? undefined : frameBytes(elf, frames, elf.section('.got')?.addr ?? 0);
}

async function readFrames(elf: ElfFile, table: FrameTable | undefined): Promise<MappedBytes | undefined> {
  if (elf.section('.eh_frame') !== undefined) return readTable(elf, '.eh_frame', undefined, MAX_FRAME_TABLE_BYTES);
  return table && readMapped(elf, table.frameAddr, MAX_FRAME_TABLE_BYTES, MAX_FRAME_TABLE_BYTES);
}

/** A frame table, and what pointers in it are relative to. @param dataAddr svma that `DW_EH_PE_datarel` counts from */
export function frameBytes(elf: ElfFile, { view, addr }: MappedBytes, dataAddr: number): FrameBytes {
  return { view, addr, addressSize: elf.classBits === 64 ? 8 : 4, textAddr: elf.section('.text')?.addr ?? 0, dataAddr };
}
