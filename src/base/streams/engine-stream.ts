import { PerfconvError } from '../problems/errors.ts';

/** What to say about an engine that has no such stream, and about one whose class refuses. */
export interface StreamProblems {
  readonly absent: string;
  readonly refused: string;
}

/**
 * Makes a stream of the engine's, such as its CompressionStream.
 * @param type its class; undefined if the engine has none
 * @throws PerfconvError `unsupported` if there is none, or only one that refuses: the sandbox of Next.js for its edge runtime has such classes
 */
export function engineStream<S, F>(type: (new (format: F) => S) | undefined, format: F, { absent, refused }: StreamProblems): S {
  if (type === undefined) throw new PerfconvError('unsupported', absent);
  try {
    return new type(format);
  } catch (cause) {
    throw new PerfconvError('unsupported', refused, {}, { cause });
  }
}
