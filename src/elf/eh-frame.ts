import { PT_GNU_EH_FRAME } from './elf-constants.ts';
import type { ElfFile } from './elf-file.ts';
import type { FrameBytes } from './frame-cursor.ts';
import { FrameTable } from './frame-table.ts';
import { type MappedBytes, readMapped, readTable } from './mapped-bytes.ts';

/** What exceptions need, and stripping leaves. */
export interface EhFrame {
  readonly frames: FrameBytes;
  /** `.eh_frame_hdr`. */
  readonly table: FrameTable | undefined;
}

/**
 * Reads `.eh_frame`: by its section, or in a file without section headers by what its header for unwinders points at.
 * @param maxBytes more is not read: it may be a hole
 * @returns undefined where there is none, or none that can be read
 */
export async function readEhFrame(elf: ElfFile, maxBytes: number): Promise<EhFrame | undefined> {
  const header = await readTable(elf, '.eh_frame_hdr', PT_GNU_EH_FRAME, maxBytes);
  const table = header && FrameTable.read(frameBytes(elf, header, header.addr));
  const section = elf.section('.eh_frame');
  let frames: MappedBytes | undefined;
  if (section !== undefined) frames = await readTable(elf, '.eh_frame', undefined, maxBytes);
  else if (table !== undefined) frames = await readMapped(elf, table.frameAddr, maxBytes, maxBytes);
  if (frames === undefined || frames.view.length === 0) return undefined;
  return { frames: frameBytes(elf, frames, elf.section('.got')?.addr ?? 0), table };
}

/** A table of frames, and what pointers in it are relative to. @param dataAddr svma that `DW_EH_PE_datarel` counts from */
export function frameBytes(elf: ElfFile, { view, addr }: MappedBytes, dataAddr: number): FrameBytes {
  return { view, addr, addressSize: elf.classBits === 64 ? 8 : 4, textAddr: elf.section('.text')?.addr ?? 0, dataAddr };
}
