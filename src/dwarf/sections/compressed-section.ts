import { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { readRange } from '../../base/streams/byte-source.ts';
import type { Compression, Decompressor } from '../../base/streams/decompressor.ts';
import { ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD, SHF_COMPRESSED } from '../../elf/elf-constants.ts';
import type { ElfFile, ElfSection } from '../../elf/elf-file.ts';

/** "ZLIB" and the size as a big-endian u64, whatever the file's byte order. */
const ZDEBUG_HEADER_SIZE_BYTES = 12;

/**
 * How much a section, and all sections of a file together, may unpack to: this much in any case, and this many times the compressed size. Debug information
 * usually shrinks to a tenth. What shrinks far more than this was made to fill memory.
 */
const FREE_SIZE_BYTES = 4 << 20;
const MAX_RATIO = 256;
/** No decompressor is sure to output more at once. */
const MAX_SIZE_BYTES = 0x7fff_ffff;

/** How a section's bytes are compressed. */
export interface SectionCompression {
  /** `unknown`: a method that this program does not know. */
  readonly method: Compression | 'unknown';
  readonly headerSizeBytes: number;
  /** Decompressed size that the file states. */
  readonly sizeBytes: number;
}

/** How a section is compressed (gABI, "Section Compression"; `.zdebug_` is GNU's older way); undefined if it is not. */
export async function sectionCompression(elf: ElfFile, section: ElfSection): Promise<SectionCompression | undefined> {
  const { offset, sizeBytes } = section;
  if ((section.flags & SHF_COMPRESSED) !== 0) {
    const is64 = elf.classBits === 64;
    const headerSizeBytes = is64 ? 24 : 12;
    const header = new ByteView(await readRange(elf.source, offset, Math.min(headerSizeBytes, sizeBytes)), elf.littleEndian);
    if (header.length < headerSizeBytes) return { method: 'unknown', headerSizeBytes: 0, sizeBytes: 0 };
    return { method: methodOf(header.u32(0)), headerSizeBytes, sizeBytes: is64 ? header.u64(8) : header.u32(4) };
  }
  if (!section.name.startsWith('.zdebug_')) return undefined;
  const header = new ByteView(await readRange(elf.source, offset, Math.min(ZDEBUG_HEADER_SIZE_BYTES, sizeBytes)), false);
  if (header.length < ZDEBUG_HEADER_SIZE_BYTES || header.text(0, 4) !== 'ZLIB') return undefined;
  return { method: 'zlib', headerSizeBytes: ZDEBUG_HEADER_SIZE_BYTES, sizeBytes: header.u64(4) };
}

function methodOf(type: number): Compression | 'unknown' {
  if (type === ELFCOMPRESS_ZLIB) return 'zlib';
  return type === ELFCOMPRESS_ZSTD ? 'zstd' : 'unknown';
}

/** How many bytes this many compressed bytes may become at most. */
export function maxDecompressedSize(sizeBytes: number): number {
  return Math.min(FREE_SIZE_BYTES + MAX_RATIO * sizeBytes, MAX_SIZE_BYTES);
}

/**
 * A compressed section's bytes.
 * @throws PerfconvError `damaged` when they cannot be unpacked or are not as many as the file states, `unsupported` for an unknown method
 */
export async function decompressSection(elf: ElfFile, section: ElfSection, compression: SectionCompression, decompressor: Decompressor): Promise<Uint8Array> {
  const { method, headerSizeBytes, sizeBytes } = compression;
  const problem = (code: 'damaged' | 'unsupported', what: string, options?: ErrorOptions): PerfconvError =>
    new PerfconvError(code, what, { file: elf.source.name, record: section.name }, options);
  if (method === 'unknown') throw problem('unsupported', 'compressed with an unknown method');
  const packed = await readRange(elf.source, section.offset + headerSizeBytes, section.sizeBytes - headerSizeBytes);
  // The size in the header is not trusted: no memory is allocated for it before the bytes are there.
  if (sizeBytes > maxDecompressedSize(packed.length)) {
    throw problem('damaged', `${packed.length} compressed bytes are said to unpack to ${sizeBytes}`);
  }
  let bytes: Uint8Array;
  try {
    bytes = await decompressor.decompress(method, packed, sizeBytes);
  } catch (cause) {
    if (!(cause instanceof PerfconvError)) throw cause;
    throw problem(cause.code === 'unsupported' ? 'unsupported' : 'damaged', cause.message, { cause });
  }
  if (bytes.length !== sizeBytes) throw problem('damaged', `unpacks to ${bytes.length} bytes instead of ${sizeBytes}`);
  return bytes;
}
