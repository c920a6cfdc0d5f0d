import { PerfconvError } from '../errors.ts';

/** What the decoder's codes mean. Source: xz.h of XZ Embedded, enum xz_ret. */
const REASONS: Readonly<Record<string, string>> = {
  3: 'not enough memory',
  6: 'they are packed in a way that is not read',
  7: 'they are damaged',
  8: 'they are cut off',
};

/**
 * Unpacks xz: piece after piece, of what comes in pieces. In the browser's and Node's own WebAssembly.
 * @throws PerfconvError `damaged`
 */
export async function* unwrapXz(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { XzReadableStream } = await loadXz();
  const chunks = input[Symbol.asyncIterator]();
  let inputFailure: { readonly error: unknown } | undefined;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      const { done, value } = await chunks.next();
      if (done === true) {
        controller.close();
      } else {
        controller.enqueue(value.slice());
      }
    } catch (error) {
      inputFailure = { error };
      controller.error(error);
    }
  };
  const compressed = new ReadableStream<Uint8Array>({ pull });
  const reader = new XzReadableStream(compressed).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value.length > 0) yield value;
    }
  } catch (error) {
    if (inputFailure !== undefined) throw inputFailure.error;
    throw new PerfconvError('damaged', `the xz data cannot be read: ${reasonOf(error)}`, {}, { cause: error });
  } finally {
    // It lets no other be opened before this one is done.
    await reader.cancel().catch(() => {});
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return REASONS[/error code (\d+)$/.exec(text)?.[1] ?? ''] ?? text;
}

/** The package is CommonJS of a kind whose exports Node cannot name. */
async function loadXz(): Promise<typeof import('xz-decompress')> {
  const loaded: typeof import('xz-decompress') & { readonly default?: typeof import('xz-decompress') } = await import('xz-decompress');
  return loaded.default ?? loaded;
}
