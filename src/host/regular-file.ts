import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { BlockingSource } from '../base/blocking-source.ts';
import type { ByteSource } from '../base/byte-source.ts';
import { BufferSource } from '../base/byte-source.ts';
import { PerfconvError } from '../base/errors.ts';
import { ioError, isOutOfDescriptors } from './io-error.ts';
import type { OpenedFiles } from './opened-files.ts';
import { storedBytesOf } from './stored-bytes.ts';
import { systemPath } from './system-path.ts';

/** Kernels with every symbol have lists of some 20 MB. */
const MAX_MADE_SIZE_BYTES = 256 << 20;
const FIRST_MADE_SIZE_BYTES = 1 << 20;
/**
 * A file may have holes: terabytes of zeros that are stored nowhere. It is taken to end where it would be so much, and so many times what is stored of it:
 * no binary has such holes, and file systems that compress do not shrink one as much.
 */
const FREE_HOLE_BYTES = 64 << 20;
const MAX_SIZE_TIMES_STORED = 64;

/**
 * Opens a file for reading, if it is a regular one: paths of a recording are not to be trusted. A device is not even opened, which
 * may do something to it, and opening a FIFO must not wait for a writer.
 * @param opened notes it
 * @returns undefined: it does not exist, is not readable or not a regular file
 * @throws PerfconvError `io` where the process can open no more files
 */
export function openRegularFile(path: string, opened?: OpenedFiles): DescriptorSource | BufferSource | undefined {
  let descriptor: number;
  try {
    const place = systemPath(path);
    if (!statSync(place).isFile()) return undefined;
    descriptor = openSync(place, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isOutOfDescriptors(error)) throw ioError(error, path);
    return undefined;
  }
  return sourceOf(path, descriptor, opened);
}

/**
 * What an open descriptor shows, if that is a regular file. The descriptor is closed with the source, or at once where there is none.
 * @param opened notes it
 */
export function sourceOf(path: string, descriptor: number, opened?: OpenedFiles): DescriptorSource | BufferSource | undefined {
  try {
    const stat = fstatSync(descriptor, { bigint: true });
    if (stat.isFile()) opened?.add(path, stat);
    if (stat.isFile() && stat.size > 0n) return new DescriptorSource(path, descriptor, sizeWithoutHoles(stat));
    // Files of /proc and /sys say that they are empty; what they hold is made while it is read.
    const content = stat.isFile() ? readMade(descriptor) : undefined;
    closeSync(descriptor);
    return content && new BufferSource(content, path);
  } catch {
    closeSync(descriptor);
    return undefined;
  }
}

function sizeWithoutHoles(stats: BigIntStats): number {
  return Math.min(Number(stats.size), FREE_HOLE_BYTES + storedBytesOf(stats) * MAX_SIZE_TIMES_STORED);
}

/** A source to be read where nothing can be waited for; undefined for a file whose content was made while it was read. */
export function blocking(source: DescriptorSource | BufferSource | undefined): BlockingSource | undefined {
  if (source === undefined || source instanceof DescriptorSource) return source;
  return source.sizeBytes === 0 ? { name: source.name, sizeBytes: 0, readNow: () => 0, close: () => {} } : undefined;
}

/** All bytes of a file whose size is not known; undefined when there are more than any list of symbols has: some never end. */
function readMade(descriptor: number): Uint8Array | undefined {
  let bytes = new Uint8Array(FIRST_MADE_SIZE_BYTES);
  for (let size = 0; ; ) {
    // The kernel gives a page or so at a time.
    const count = readSync(descriptor, bytes, size, bytes.length - size, null);
    if (count === 0) return bytes.subarray(0, size);
    size += count;
    if (size < bytes.length) continue;
    if (size >= MAX_MADE_SIZE_BYTES) return undefined;
    const larger = new Uint8Array(2 * size);
    larger.set(bytes);
    bytes = larger;
  }
}

/** Random access to an open file. Reads block: symbol files are local and their parts are read one after the other anyway. */
export class DescriptorSource implements ByteSource, BlockingSource {
  readonly name: string;
  readonly sizeBytes: number;
  #descriptor: number;

  constructor(name: string, descriptor: number, sizeBytes: number) {
    this.name = name;
    this.sizeBytes = sizeBytes;
    this.#descriptor = descriptor;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    return this.readNow(position, target);
  }

  readNow(position: number, target: Uint8Array): number {
    // As FileSource: a position from a damaged file may be anything.
    if (!(position >= 0 && position < this.sizeBytes)) return 0;
    try {
      return readSync(this.#descriptor, target, 0, target.length, position);
    } catch (cause) {
      throw new PerfconvError('io', 'cannot be read', { file: this.name, offset: position }, { cause });
    }
  }

  async close(): Promise<void> {
    if (this.#descriptor >= 0) closeSync(this.#descriptor);
    this.#descriptor = -1;
  }
}
