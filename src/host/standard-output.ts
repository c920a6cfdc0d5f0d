import { fstatSync, readSync, type Stats, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { ByteSink } from '../bytes/byte-sink.ts';
import { PerfconvError } from '../errors.ts';
import { FileSink } from './file-sink.ts';
import { WritableSink } from './writable-sink.ts';

/** `process.stdout`, or a stream that stands in for it and has no descriptor. */
export type OutputStream = Writable & { readonly fd?: number; readonly isTTY?: boolean };

const STANDARD_ERROR = 2;
const NULL_DEVICE = '/dev/null';

/**
 * Opens standard output for a result. A file or a device is written by its descriptor: Node's stream for those calls write(2) once
 * and ignores how much was taken, so that on a disk with little room left the end of a result is lost without an error. Terminals,
 * pipes and sockets stay Node's, which waits until they have taken everything.
 * @param name what messages call it
 * @throws PerfconvError `io` when it was closed before the program started
 */
export function openStandardOutput(stream: OutputStream, name: string): ByteSink {
  const { fd } = stream;
  const stats = fd === undefined || stream.isTTY ? undefined : statDescriptor(fd);
  if (fd === undefined || stats === undefined || stats.isFIFO() || stats.isSocket()) return new WritableSink(stream, name);
  if (stats.isCharacterDevice() && wasClosed(fd)) throw new PerfconvError('io', 'is closed', { file: name });
  return new FileSink(fd, name);
}

/**
 * Whether a descriptor was closed when Node started, which then opened /dev/null in its place, for reading and writing. A shell's
 * `> /dev/null` opens it for writing only. Some launchers open it for both, too; those that throw away everything (daemon(3),
 * Node's `stdio: 'ignore'`) do so with standard error as well, and mean it.
 */
function wasClosed(fd: number): boolean {
  return isReadableNull(fd) && !isReadableNull(STANDARD_ERROR);
}

function isReadableNull(fd: number): boolean {
  const stats = statDescriptor(fd);
  if (!stats?.isCharacterDevice()) return false;
  try {
    return stats.rdev === statSync(NULL_DEVICE).rdev && readSync(fd, new Uint8Array(1)) === 0;
  } catch {
    return false; // Open for writing only, or a system without such a device.
  }
}

function statDescriptor(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined; // What the system does not describe is left to Node's stream.
  }
}
