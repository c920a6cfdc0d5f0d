import { BoundedBytes } from '../base/bounded-bytes.ts';
import type { Compression } from '../base/decompressor.ts';
import { messageOf, PerfconvError } from '../base/errors.ts';
import { openZstd } from '../zstd/open.ts';

/** The part of the web's streams that is used; browsers and Node declare their types in different places. */
interface WebStreams {
  readonly DecompressionStream?: new (
    format: 'gzip' | 'deflate',
  ) => {
    readonly writable: { getWriter(): StreamWriter };
    readonly readable: { getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>; cancel(): Promise<void> } };
  };
}

interface StreamWriter {
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/**
 * How much the engine gets at once. It may unpack all of that, to a thousand times as much, before the first piece of it can be read and found to be too much.
 * Observed: Chromium.
 */
const CHUNK_BYTES = 1 << 14;
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
  const written = writeAll(writer, bytes).catch(() => {});
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

/** Each chunk waits until what the one before it unpacked to has been read. */
async function writeAll(writer: StreamWriter, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) await writer.write(bytes.subarray(at, at + CHUNK_BYTES));
  await writer.close();
}
