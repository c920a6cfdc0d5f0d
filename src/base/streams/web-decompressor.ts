import { messageOf, PerfconvError } from '../problems/errors.ts';
import { engineStream } from './engine-stream.ts';

/** The part of the web's streams that is used; browsers and Node declare their types in different places. */
interface WebStreams {
  readonly DecompressionStream?: new (
    format: 'deflate',
  ) => {
    readonly writable: { getWriter(): StreamWriter };
    readonly readable: { getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>; cancel(): Promise<void> } };
  };
}

interface StreamWriter {
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
  abort(reason: unknown): Promise<void>;
}

/**
 * How much the engine gets at once. It may unpack all of that, to a thousand times as much, before the first piece of it can be read and found to be too much.
 * Observed: Chromium.
 */
const CHUNK_BYTES = 1 << 14;
/** What the engine calls zlib's format. Source: Compression Streams, "CompressionFormat". */
const ZLIB = 'deflate';

/**
 * Unpacks zlib's format by the engine's DecompressionStream, piece by piece. Engines may refuse bytes that follow the compressed ones (Chromium, Firefox), and
 * then lose some of what came before them.
 * @throws PerfconvError `damaged`, after what the engine had unpacked before; `unsupported` in an engine without DecompressionStream
 */
export async function* inflateInEngine(input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { readable, writable } = engineStream((globalThis as WebStreams).DecompressionStream, ZLIB, {
    absent: 'zlib is not unpacked here: this engine has no DecompressionStream',
    refused: "zlib is not unpacked here: this engine's DecompressionStream refuses",
  });
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  let inputFailure: { readonly error: unknown } | undefined;
  // Reading reports what is wrong with the data, too.
  const written = writeAll(writer, input, (error) => {
    inputFailure = { error };
  });
  try {
    for (let piece = await reader.read(); !piece.done && piece.value !== undefined; piece = await reader.read()) yield piece.value;
  } catch (cause) {
    if (inputFailure !== undefined) throw inputFailure.error;
    throw new PerfconvError('damaged', `the zlib data cannot be read: ${messageOf(cause)}`, {}, { cause });
  } finally {
    await reader.cancel().catch(() => {});
    await written;
  }
}

/** Each chunk waits until what the one before it unpacked to has been read. */
async function writeAll(writer: StreamWriter, input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, fail: (error: unknown) => void): Promise<void> {
  try {
    for await (const piece of asRead(input, fail)) {
      for (let at = 0; at < piece.length; at += CHUNK_BYTES) await writer.write(piece.slice(at, at + CHUNK_BYTES));
    }
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
  }
}

/** The input itself. An error of reading it is told from one of the engine. */
async function* asRead(input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, fail: (error: unknown) => void): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of input) yield piece;
  } catch (error) {
    fail(error);
    throw error;
  }
}
