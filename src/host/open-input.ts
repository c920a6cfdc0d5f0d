import { createReadStream, fstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type ByteSource, type RecordingSource, readRange } from '../base/byte-source.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import { PerfconvError } from '../base/errors.ts';
import type { OpenInput } from '../base/recording-input.ts';
import { FORM_BYTES, findGrowingPrefix, isFileForm } from './file-form.ts';
import { FileSource } from './file-source.ts';
import { ioError } from './io-error.ts';
import { openDirectory } from './open-directory.ts';
import { keepWhole } from './spill.ts';
import { StreamSource } from './stream-source.ts';
import { systemPath } from './system-path.ts';
import { unwrap } from './unwrap.ts';
import { findWrapping, unpackCommand, WRAPPING_START_BYTES, type Wrapping } from './wrappings.ts';

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
  const { name } = packed;
  if (wrapping === 'bzip2') {
    throw new PerfconvError('unsupported', `is compressed with bzip2, which perfconv does not unpack: run ${unpackCommand(wrapping, name)}`, { file: name });
  }
  const onTrailing = (message: string): void => diagnostics?.add('unpack-trailing', 'warning', message);
  let packedBytes = 0;
  const count = (bytes: number): void => {
    packedBytes += bytes;
  };
  const pieces = unwrap(wrapping, piecesOf(packed, count), onTrailing);
  return new StreamSource(
    reportingDamage(pieces, name, diagnostics),
    name,
    () => packed.close(),
    () => packedBytes,
  );
}

/** Ends where the damage begins, and reports it; data that are damaged from the beginning are refused. */
async function* reportingDamage(pieces: AsyncIterable<Uint8Array>, name: string, diagnostics: Diagnostics | undefined): AsyncGenerator<Uint8Array> {
  let position = 0;
  try {
    for await (const piece of pieces) {
      yield piece;
      position += piece.length;
    }
  } catch (error) {
    if (!(error instanceof PerfconvError) || error.code !== 'damaged') throw error;
    if (diagnostics === undefined || position === 0) throw new PerfconvError('damaged', error.message, { file: name }, { cause: error });
    diagnostics.add('unpack-damaged', 'loss', `${error.message}; the recording ends after ${position} unpacked bytes`, position);
  }
}

const PIECE_BYTES = 256 << 10;

/**
 * The bytes of a source from its beginning to its end. A piece is overwritten when the next one is asked for.
 * @param count called with the number of bytes of each
 */
async function* piecesOf(source: ByteSource, count: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(PIECE_BYTES);
  for (let position = 0; ; ) {
    const filled = await source.readAt(position, buffer);
    if (filled === 0) return;
    position += filled;
    count(filled);
    yield buffer.subarray(0, filled);
  }
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
