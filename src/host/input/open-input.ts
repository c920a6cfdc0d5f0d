import { createReadStream, fstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { type ByteSource, type RecordingSource, readRange } from '../../base/streams/byte-source.ts';
import type { OpenInput } from '../../base/streams/recording-input.ts';
import { unpackedPieces } from '../../unwrap/packed-recording.ts';
import { findWrapping, WRAPPING_START_BYTES, type Wrapping } from '../../unwrap/wrappings.ts';
import { inflateByZlib } from '../compression/unwrap-deflate.ts';
import { ioError } from '../system/io-error.ts';
import { systemPath } from '../system/system-path.ts';
import { FORM_BYTES, findGrowingPrefix, isFileForm } from './file-form.ts';
import { FileSource } from './file-source.ts';
import { openDirectory } from './open-directory.ts';
import { keepWhole } from './spill.ts';
import { StreamSource } from './stream-source.ts';

/**
 * Opens a recording by its path: a file, a directory recording, or a named pipe (`<(perf record -o - …)`). What gzip, zstd, xz or zlib has compressed is
 * decompressed.
 * @param diagnostics gets what is wrong with a compressed input or a directory, also later, while it is read; without it, losses are thrown
 * @throws PerfconvError `io`, `unsupported` for a compression that is not supported, `damaged` if nothing can be decompressed
 */
export async function openFile(path: string, diagnostics?: Diagnostics): Promise<OpenInput> {
  const stats = await stat(systemPath(path)).catch((error: unknown) => {
    throw ioError(error, path);
  });
  if (stats.isDirectory()) return openDirectory(path, diagnostics);
  if (stats.isFile()) return openStored(await FileSource.open(path), diagnostics);
  return openStream(createReadStream(systemPath(path)), path, diagnostics);
}

/**
 * Opens standard input: as a file if it is one (`perfconv - < perf.data`), from its offset on, else as a pipe.
 * @param diagnostics as for {@link openFile}
 * @throws PerfconvError as {@link openFile}
 */
export async function openStandardInput(stdin: Readable & { readonly fd?: number }, diagnostics?: Diagnostics): Promise<OpenInput> {
  if (stdin.fd !== undefined && isRegularFile(stdin.fd)) return openStored(await FileSource.restOf(stdin.fd, '-'), diagnostics);
  return openStream(stdin, '-', diagnostics);
}

/**
 * Opens a stream of bytes. A recording in perf's pipe form is decoded as it arrives, and so is one in file form that is still being written; the header of any
 * other refers to places after the data, so it is first read to its end and kept.
 * @param diagnostics as for {@link openFile}
 * @throws PerfconvError as {@link openFile}
 */
export async function openStream(readable: Readable, name: string, diagnostics?: Diagnostics): Promise<OpenInput> {
  const stream = new StreamSource(readable, name, () => readable.destroy());
  return closingOnFailure(stream, async () => {
    const wrapping = findWrapping(await stream.peek(WRAPPING_START_BYTES));
    return { source: await asRecording(wrapping === undefined ? stream : unpacked(wrapping, stream, diagnostics)), modifiedNs: undefined };
  });
}

/** Bytes that can be read at any place, and, for a file, when it was last written. */
export interface StoredInput extends RecordingSource {
  readonly modifiedNs?: bigint | undefined;
}

/**
 * Opens stored bytes, or what is compressed in them. Closing the result closes them.
 * @param diagnostics as for {@link openFile}
 * @throws PerfconvError as {@link openFile}
 */
export function openStored(stored: StoredInput, diagnostics?: Diagnostics): Promise<OpenInput> {
  return closingOnFailure(stored, async () => {
    const wrapping = findWrapping(await readRange(stored, 0, WRAPPING_START_BYTES));
    const source = wrapping === undefined ? stored : await asRecording(unpacked(wrapping, stored, diagnostics));
    return { source, modifiedNs: stored.modifiedNs };
  });
}

async function closingOnFailure<T>(source: ByteSource, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** What can be decoded as it arrives stays a stream; anything else is kept. */
async function asRecording(stream: StreamSource): Promise<RecordingSource> {
  if (!isFileForm(await stream.peek(FORM_BYTES))) return stream;
  const prefixBytes = await findGrowingPrefix((sizeBytes) => stream.peek(sizeBytes));
  if (prefixBytes === undefined) return keepWhole(stream);
  await stream.keep(prefixBytes);
  return stream;
}

/** The decompressed content of `packed`, as a stream that closes it. */
function unpacked(wrapping: Wrapping, packed: ByteSource, diagnostics: Diagnostics | undefined): StreamSource {
  let packedBytes = 0;
  const count = (bytes: number): void => {
    packedBytes += bytes;
  };
  return new StreamSource(
    unpackedPieces(wrapping, packed, inflateByZlib, diagnostics, count),
    packed.name,
    () => packed.close(),
    () => packedBytes,
  );
}

/** Whether a descriptor is that of a regular file, which can be read at any place. */
export function isRegularFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // It was closed before we were started: the stream will report that.
    return false;
  }
}
