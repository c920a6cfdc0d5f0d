import { webAssemblyRefusal } from '../base/bytes/web-assembly-refusal.ts';
import { messageOf, PerfconvError } from '../base/problems/errors.ts';
import { XzStreamEnds } from './xz-ends.ts';

/** What the decoder's codes mean. Source: xz.h of XZ Embedded, enum xz_ret. */
const REASONS: Readonly<Record<string, string>> = {
  3: 'the xz data cannot be read: not enough memory',
  8: 'the xz data cannot be read: it is cut off',
};
const OTHER_REASON = 'the xz data is damaged or compressed in a way that perfconv cannot read (run unxz)';

/**
 * Unpacks a stream of pieces of xz, piece by piece, in WebAssembly, which browsers and Node bring.
 * @param onTrailing called last, if the data have ended and other bytes follow
 * @throws PerfconvError `damaged`; `unsupported` in an engine without WebAssembly
 */
export async function* unwrapXz(input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, onTrailing: () => void): AsyncGenerator<Uint8Array> {
  // The decoder itself would fail in ways that depend on the engine's streams.
  const refusal = webAssemblyRefusal();
  if (refusal !== undefined) throw new PerfconvError('unsupported', `xz is not unpacked here: this engine runs no WebAssembly: ${refusal} (run unxz)`);
  const { XzReadableStream } = await loadXz();
  const ends = new XzStreamEnds();
  const chunks = cutAtEnds(input, ends);
  let inputFailure: { readonly error: unknown } | undefined;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      const { done, value } = await chunks.next();
      if (done === true) {
        controller.close();
      } else {
        controller.enqueue(value);
      }
    } catch (error) {
      inputFailure = { error };
      controller.error(error);
    }
  };
  // Nothing is read ahead: when a chunk is asked for, everything that the ones before unpack to has been yielded.
  const compressed = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
  const reader = new XzReadableStream(compressed).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value.length > 0) yield value;
    }
  } catch (error) {
    if (inputFailure !== undefined) throw inputFailure.error;
    if (!ends.isPastEnd) throw new PerfconvError('damaged', reasonOf(error), {}, { cause: error });
    onTrailing();
  } finally {
    // No other stream can be opened before this one is done.
    await reader.cancel().catch(() => {});
  }
}

/** Copies the input, cut where an xz stream ends: the decoder discards what it has unpacked of a chunk in which it fails. */
async function* cutAtEnds(input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, ends: XzStreamEnds): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; ) {
      const sizeBytes = ends.push(chunk.subarray(at));
      yield chunk.slice(at, at + sizeBytes);
      at += sizeBytes;
    }
  }
}

function reasonOf(error: unknown): string {
  const text = messageOf(error);
  return REASONS[/error code (\d+)$/.exec(text)?.[1] ?? ''] ?? OTHER_REASON;
}

/** The package is CommonJS, and Node cannot detect the names of its exports. */
async function loadXz(): Promise<typeof import('xz-decompress')> {
  const loaded: typeof import('xz-decompress') & { readonly default?: typeof import('xz-decompress') } = await import('xz-decompress');
  return loaded.default ?? loaded;
}
