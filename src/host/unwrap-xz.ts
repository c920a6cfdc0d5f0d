import { PerfconvError } from '../errors.ts';

/**
 * Unpacks xz: piece after piece, of what comes in pieces. In the browser's and Node's own WebAssembly.
 * @throws PerfconvError `damaged`
 */
export async function* unwrapXz(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { XzReadableStream } = await loadXz();
  const chunks = input[Symbol.asyncIterator]();
  let inputFailure: { readonly error: unknown } | undefined;
  let hasInputEnded = false;
  const compressed = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done === true) {
          hasInputEnded = true;
          // Without it, the decoder would ask a closed stream again and again.
          controller.error(new Error('the data are cut off'));
        } else if (value.length > 0) controller.enqueue(value.slice());
      } catch (error) {
        inputFailure = { error };
        controller.error(error);
      }
    },
  });
  const reader = new XzReadableStream(compressed).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (value.length > 0) yield value;
    }
    if (!hasInputEnded && (await chunks.next()).done !== true) throw new Error('several xz streams stand one behind the other; only the first is read');
  } catch (error) {
    if (inputFailure !== undefined) throw inputFailure.error;
    throw new PerfconvError('damaged', `the xz data cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    // It lets no other be opened before this one is done.
    await reader.cancel().catch(() => {});
  }
}

/** The package is CommonJS of a kind whose exports Node cannot name. */
async function loadXz(): Promise<typeof import('xz-decompress')> {
  const loaded: typeof import('xz-decompress') & { readonly default?: typeof import('xz-decompress') } = await import('xz-decompress');
  return loaded.default ?? loaded;
}
