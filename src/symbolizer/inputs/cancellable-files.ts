import type { Cancellation } from '../../base/streams/cancellation.ts';
import { boundFiles } from './bound-files.ts';
import type { FetchedFile, SymbolFiles } from './symbol-files.ts';

/** Files that are opened, read and fetched for a call that a signal may give up. Without a signal, they are what they were. */
export function cancellableFiles(files: SymbolFiles, cancellation: Cancellation): SymbolFiles {
  if (cancellation.signal === undefined) return files;
  return {
    ...boundFiles(files),
    open: async (path) => {
      await cancellation.checkpoint();
      const source = await files.open(path);
      return source && cancellation.source(source);
    },
    decompress: async (compression, bytes, maxSizeBytes, isAhead) => {
      await cancellation.checkpoint();
      return files.decompress(compression, bytes, maxSizeBytes, isAhead);
    },
    ...(files.fetch && { fetch: cancellableFetch(files.fetch.bind(files), cancellation) }),
  };
}

/** Does not wait for an answer once the call is given up, whether the function knows signals or not. */
function cancellableFetch(fetch: NonNullable<SymbolFiles['fetch']>, cancellation: Cancellation): NonNullable<SymbolFiles['fetch']> {
  return async (buildId, kind) => {
    await cancellation.checkpoint();
    const asking = fetch(buildId, kind, cancellation.signal);
    try {
      const fetched = await cancellation.orAborted(asking);
      return fetched.source === undefined ? fetched : { ...fetched, source: cancellation.source(fetched.source) };
    } catch (error) {
      closeLate(asking);
      throw error;
    }
  };
}

/** Closes what arrives when nobody waits for it anymore. */
function closeLate(asking: Promise<FetchedFile>): void {
  asking.then(({ source }) => source?.close()).catch(() => {});
}
