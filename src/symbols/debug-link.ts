import type { ByteSource } from '../bytes/byte-source.ts';
import type { ElfFile } from './elf.ts';

/** What `.gnu_debuglink` says of the separate debug file. */
export interface DebugLink {
  /** Its name, without a directory. */
  readonly fileName: string;
  /** CRC-32 of all of its bytes. */
  readonly crc: number;
}

/** No file system has longer names; then the CRC. */
const MAX_SECTION_SIZE_BYTES = 256 + 8;
const PIECE_SIZE_BYTES = 1 << 20;

/**
 * Reads `.gnu_debuglink`: a name that ends with NUL, zeros up to a multiple of four, a CRC in the file's byte order.
 * Source: gdb's documentation, "Separate Debug Files".
 * @returns undefined when there is none, or none that names a file in a directory
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

/** The polynomial of RFC 1952, section 8, its bits reversed. `TABLES[n][b]`: what becomes of byte b with n bytes of zeros behind it. */
const TABLES = crcTables();

function crcTables(): Uint32Array[] {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    return crc;
  });
  const tables = [first];
  for (let n = 1; n < 4; n++) tables.push(tables[n - 1].map((crc) => first[crc & 0xff] ^ (crc >>> 8)));
  return tables;
}

/** The CRC-32 of a whole file, as a debug link has it. */
export async function fileCrc(source: ByteSource): Promise<number> {
  const piece = new Uint8Array(PIECE_SIZE_BYTES);
  let crc = 0xffffffff;
  for (let position = 0; ; ) {
    const count = await source.readAt(position, piece);
    if (count === 0) return ~crc >>> 0;
    crc = updateCrc(crc, piece, count);
    position += count;
  }
}

function updateCrc(before: number, bytes: Uint8Array, sizeBytes: number): number {
  const [t0, t1, t2, t3] = TABLES;
  let crc = before;
  let at = 0;
  // hot
  for (; at + 4 <= sizeBytes; at += 4) {
    crc =
      t3[(crc ^ bytes[at]) & 0xff] ^ t2[((crc >>> 8) ^ bytes[at + 1]) & 0xff] ^ t1[((crc >>> 16) ^ bytes[at + 2]) & 0xff] ^ t0[(crc >>> 24) ^ bytes[at + 3]];
  }
  for (; at < sizeBytes; at++) crc = t0[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
  return crc;
}
