import { crc32 } from '../../base/bytes/crc32.ts';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import type { ElfFile } from '../../elf/elf-file.ts';

/** What `.gnu_debuglink` says about the separate debug file. */
export interface DebugLink {
  /** Its name, without a directory. */
  readonly fileName: string;
  /** CRC-32 of all of its bytes. */
  readonly crc: number;
}

/** Room for the longest name that file systems allow, padding and the CRC. */
const MAX_SECTION_SIZE_BYTES = 256 + 8;
const PIECE_SIZE_BYTES = 1 << 20;

/**
 * Reads `.gnu_debuglink`: a name that ends with NUL, zeros up to a multiple of four, a CRC in the file's byte order.
 * Source: gdb's documentation, "Separate Debug Files".
 * @returns undefined if there is none, or it does not hold a plain file name
 */
export async function readDebugLink(elf: ElfFile): Promise<DebugLink | undefined> {
  const section = elf.section('.gnu_debuglink');
  if (section === undefined) return undefined;
  const view = await elf.readSection({ ...section, sizeBytes: Math.min(section.sizeBytes, MAX_SECTION_SIZE_BYTES) });
  const nameEnd = view.bytes.indexOf(0);
  if (nameEnd <= 0) return undefined;
  const fileName = view.text(0, nameEnd);
  const crcAt = Math.ceil((nameEnd + 1) / 4) * 4;
  if (/[/\\]/.test(fileName) || fileName === '.' || fileName === '..' || crcAt + 4 > view.length) return undefined;
  return { fileName, crc: view.u32(crcAt) };
}

/** The CRC-32 of a whole file, as in a debug link. */
export async function fileCrc(source: ByteSource): Promise<number> {
  const piece = new Uint8Array(PIECE_SIZE_BYTES);
  let crc = 0;
  for (let position = 0; ; ) {
    const count = await source.readAt(position, piece);
    if (count === 0) return crc;
    crc = crc32(piece.subarray(0, count), crc);
    position += count;
  }
}
