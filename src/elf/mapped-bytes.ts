import { ByteView } from '../base/bytes/byte-view.ts';
import { readRange } from '../base/streams/byte-source.ts';
import { PT_LOAD, SHT_NOBITS } from './elf-constants.ts';
import type { ElfFile } from './elf-file.ts';

/** Bytes of a file, and the address (svma) at which they are mapped. */
export interface MappedBytes {
  readonly view: ByteView;
  readonly addr: number;
}

/**
 * A table, found by the name of its section or else by the type of its segment.
 * @param maxBytes a larger table is not read: it may be a hole
 * @returns undefined if there is none that can be read
 */
export async function readTable(elf: ElfFile, name: string, segmentType: number | undefined, maxBytes: number): Promise<MappedBytes | undefined> {
  const section = elf.section(name);
  if (section !== undefined) return section.type === SHT_NOBITS ? undefined : readAt(elf, section.offset, section.sizeBytes, section.addr, maxBytes);
  const segment = elf.segments.find(({ type }) => type === segmentType);
  return segment && readAt(elf, segment.offset, segment.filesz, segment.vaddr, maxBytes);
}

/** `sizeBytes` bytes from an svma on, or as many as the segment has; undefined if nothing is mapped there, or these are more than `maxBytes`. */
export async function readMapped(elf: ElfFile, addr: number, sizeBytes: number, maxBytes: number): Promise<MappedBytes | undefined> {
  const load = elf.segments.find(({ type, vaddr, filesz }) => type === PT_LOAD && addr >= vaddr && addr < vaddr + filesz);
  return load && readAt(elf, load.offset + addr - load.vaddr, Math.min(sizeBytes, load.vaddr + load.filesz - addr), addr, maxBytes);
}

async function readAt(elf: ElfFile, offset: number, sizeBytes: number, addr: number, maxBytes: number): Promise<MappedBytes | undefined> {
  if (sizeBytes > maxBytes) return undefined;
  return { view: new ByteView(await readRange(elf.source, offset, sizeBytes), elf.littleEndian), addr };
}
