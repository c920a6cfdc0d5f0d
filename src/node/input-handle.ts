import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { PerfconvError } from '../base/problems/errors.ts';
import { type BlobLike, isBlob } from '../base/streams/blob-source.ts';
import type { InputHandle } from '../host/input/repeatable-input.ts';
import { pathOf } from './path-of-url.ts';

/** The part of a web stream by which it is recognized; browsers and Node declare the type in different places. */
export interface WebStreamLike {
  getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> };
}

/** What a recording is opened from. */
export type RecordingInput = string | URL | number | Readable | WebStreamLike | Uint8Array | ArrayBuffer | BlobLike;

/**
 * What the host opens for an input.
 * @throws PerfconvError `usage` for an input of another kind, since not every caller has its types checked by a compiler; for a URL that is not that of a file,
 *   and for a web stream that somebody else reads
 */
export function inputHandle(input: RecordingInput): InputHandle {
  if (input instanceof URL) return pathOf(input, 'a recording is opened from');
  if (isWebStream(input)) return readableOf(input);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  const isDescriptor = typeof input === 'number' && Number.isInteger(input) && input >= 0;
  if (typeof input === 'string' || isDescriptor || input instanceof Readable || input instanceof Uint8Array || isBlob(input)) return input;
  throw new PerfconvError(
    'usage',
    'a recording is opened from a path, a file: URL, a descriptor, a stream of node:stream or of the web, a Blob, a Uint8Array or an ArrayBuffer',
  );
}

function isWebStream(input: unknown): input is WebStreamLike {
  return typeof input === 'object' && input !== null && 'getReader' in input;
}

function readableOf(stream: WebStreamLike): Readable {
  try {
    // Otherwise, text would become bytes, and objects an error of Node.
    return Readable.fromWeb(stream as ReadableStream, { objectMode: true });
  } catch (cause) {
    throw new PerfconvError('usage', 'the stream cannot be read: it is locked, or no web stream', {}, { cause });
  }
}
