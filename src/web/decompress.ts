import { BoundedBytes } from '../base/bounded-bytes.ts';
import type { Compression } from '../base/decompressor.ts';
import { messageOf, PerfconvError } from '../base/errors.ts';
import { openZstd } from '../zstd/open.ts';

/** The part of the web's streams that is used; browsers and Node declare their types in different places. */
interface WebStreams {
  readonly DecompressionStream?: new (
    format: 'gzip' | 'deflate',
  ) => {
    readonly writable: { getWriter(): { write(chunk: Uint8Array): Promise<void>; close(): Promise<void> } };
    readonly readable: { getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>; cancel(): Promise<void> } };
  };
}

/** What the engine calls them. Source: Compression Streams, "CompressionFormat". */
const FORMAT_NAMES = { zlib: 'deflate', gzip: 'gzip' } as const;

/**
 * A {@link import('../base/decompressor.ts').Decompressor} for any engine: zlib and gzip by its DecompressionStream, zstd by perfconv itself.
 * Engines may refuse bytes that follow the compressed ones.
 * @throws PerfconvError also `unsupported` for xz, and in an engine without DecompressionStream
 */
export async function decompressInEngine(compression: Compression, bytes: Uint8Array, maxSizeBytes: number): Promise<Uint8Array> {
  const whole = new BoundedBytes(compression, maxSizeBytes);
  switch (compression) {
    case 'zlib':
    case 'gzip':
      await inflateInto(whole, compression, bytes);
      break;
    case 'zstd': {
      const stream = await openZstd();
      stream.push(bytes, (piece) => whole.push(piece));
      if (!stream.isAtFrameEnd) throw new PerfconvError('damaged', 'the zstd data cannot be read: it is cut off');
      break;
    }
    case 'xz':
      throw new PerfconvError('unsupported', 'xz is not unpacked here');
  }
  return whole.bytes();
}

async function inflateInto(whole: BoundedBytes, compression: 'zlib' | 'gzip', bytes: Uint8Array): Promise<void> {
  const { DecompressionStream } = globalThis as WebStreams;
  if (DecompressionStream === undefined) throw new PerfconvError('unsupported', `${compression} is not unpacked here: this engine has no DecompressionStream`);
  const { readable, writable } = new DecompressionStream(FORMAT_NAMES[compression]);
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  // Reading reports what is wrong with the data, too.
  const written = writer
    .write(bytes)
    .then(() => writer.close())
    .catch(() => {});
  try {
    for (let piece = await reader.read(); !piece.done && piece.value !== undefined; piece = await reader.read()) whole.push(piece.value);
  } catch (cause) {
    await reader.cancel().catch(() => {});
    if (cause instanceof PerfconvError) throw cause;
    throw new PerfconvError('damaged', `the ${compression} data cannot be read: ${messageOf(cause)}`, {}, { cause });
  } finally {
    await written;
  }
}
