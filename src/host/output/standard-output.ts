import { fstatSync, readFileSync, readSync, type Stats, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { isPipe } from '../system/pipes.ts';
import { FileSink } from './file-sink.ts';
import { WritableSink } from './writable-sink.ts';

/** `process.stdout`, or a stream that stands in for it and has no descriptor. */
export type OutputStream = Writable & { readonly fd?: number; readonly isTTY?: boolean };

const NULL_DEVICE = '/dev/null';

/**
 * Opens standard output for a result. A file or a device is written through its descriptor: Node's stream for those calls write(2) once and ignores how much
 * was written, so that on a nearly full disk the end of a result is lost without an error. For terminals, pipes and sockets, Node's stream is used, which waits
 * until they have taken everything.
 * @param name what messages call it
 * @throws PerfconvError `io` when it was closed before the program started
 */
export function openStandardOutput(stream: OutputStream, name: string): ByteSink {
  const { fd } = stream;
  const stats = fd === undefined || stream.isTTY ? undefined : statDescriptor(fd);
  if (fd === undefined || stats === undefined || isPipe(stats)) return new WritableSink(stream, name);
  if (stats.isCharacterDevice() && wasClosed(fd)) throw new PerfconvError('io', 'is closed', { file: name });
  return new FileSink(fd, name);
}

/** Shells, by their names in /proc/PID/comm: with a leading dash for login shells. */
const SHELL = /^-?(?:ba|da|z|k|mk|ya|a|fi)?sh$/;

/**
 * Whether a descriptor was closed when Node started, which then opened /dev/null in its place, for reading and writing. Shells close descriptors (`1>&-`), and
 * what they open for `> /dev/null` cannot be read. Other launchers (Python's `subprocess.DEVNULL`, Node's `stdio: 'ignore'`) open /dev/null for both on
 * purpose, and a shell that they start passes it on.
 */
function wasClosed(fd: number): boolean {
  if (!isReadableNull(fd)) return false;
  try {
    const parent = `/proc/${process.ppid}`;
    if (!SHELL.test(readFileSync(`${parent}/comm`, 'utf8').trimEnd())) return false;
    // Some shells close their own descriptor while the program runs.
    return statSync(`${parent}/fd/${fd}`, { throwIfNoEntry: false })?.rdev !== statSync(NULL_DEVICE).rdev;
  } catch {
    return false; // A system without /proc, or a shell of another user.
  }
}

function isReadableNull(fd: number): boolean {
  try {
    return fstatSync(fd).rdev === statSync(NULL_DEVICE).rdev && readSync(fd, new Uint8Array(1)) === 0;
  } catch {
    return false; // It is open for writing only, or the system has no such device.
  }
}

function statDescriptor(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined; // Node's stream deals with what the system does not describe.
  }
}
