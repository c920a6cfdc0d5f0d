import { createReadStream, fstatSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ByteSource } from '../bytes/byte-source.ts';
import { PerfconvError } from '../errors.ts';
import { FileSource } from './file-source.ts';
import { ioError } from './io-error.ts';
import { MemorySource } from './memory-source.ts';
import { StreamSource } from './stream-source.ts';

/** An input that is open, and when its bytes were last written. */
export interface OpenInput {
  readonly source: ByteSource;
  /** Unix time in nanoseconds; undefined for a pipe. */
  readonly modifiedNs: bigint | undefined;
}

/**
 * Opens a recording by its path: a file, or a pipe that has a name (`<(perf record -o - …)`).
 * @throws PerfconvError `io`; `unsupported` for a directory recording
 */
export async function openFile(path: string): Promise<OpenInput> {
  const stats = await stat(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  if (stats.isDirectory()) throw await directoryError(path);
  if (stats.isFile()) return fromFile(await FileSource.open(path));
  return openStream(createReadStream(path), path);
}

/**
 * Opens standard input: as a file where it is one (`perfconv - < perf.data`), else as a pipe.
 * @throws PerfconvError `io`
 */
export async function openStandardInput(stdin: Readable & { readonly fd?: number }): Promise<OpenInput> {
  if (stdin.fd !== undefined && isRegularFile(stdin.fd)) return fromFile(await FileSource.fromDescriptor(stdin.fd, '-', false));
  return openStream(stdin, '-');
}

/**
 * Opens bytes that come once. A recording in perf's pipe form is decoded as it comes; any other is first read to its
 * end, for its header refers to places behind the data.
 * @throws PerfconvError `io`
 */
export async function openStream(readable: Readable, name: string): Promise<OpenInput> {
  const stream = new StreamSource(readable, name);
  const source = isFileForm(await stream.peek(16)) ? await MemorySource.readAll(stream) : stream;
  return { source, modifiedNs: undefined };
}

/**
 * Whether an input is a pipe or a socket, at whose other end a program may be recording.
 * @param input a path, or a descriptor; undefined for what has neither
 */
export function isLivePipe(input: string | number | undefined): boolean {
  if (input === undefined) return false;
  try {
    const stats = typeof input === 'string' ? statSync(input) : fstatSync(input);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    return false; // Opening it says what is wrong.
  }
}

function fromFile(source: FileSource): OpenInput {
  return { source, modifiedNs: source.modifiedNs };
}

function isRegularFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // Closed before we were started: the stream will say so.
    return false;
  }
}

/** Whether these are perf's magic and a header size other than the 16 bytes of a pipe (struct perf_pipe_file_header). */
function isFileForm(start: Uint8Array): boolean {
  const magic = new TextDecoder('latin1').decode(start.subarray(0, 8));
  if (start.length < 16 || (magic !== 'PERFILE2' && magic !== '2ELIFREP')) return false;
  return new DataView(start.buffer, start.byteOffset).getBigUint64(8, magic === 'PERFILE2') !== 16n;
}

async function directoryError(path: string): Promise<PerfconvError> {
  const names = await readdir(path).catch(() => []);
  const isRecording = names.some((name) => /^data(\.\d+)?$/.test(name));
  return isRecording
    ? new PerfconvError('unsupported', 'is a directory recording (perf record --threads), which is not read yet', { file: path })
    : new PerfconvError('io', 'is a directory, not a recording', { file: path });
}
