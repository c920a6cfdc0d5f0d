import { type BigIntStats, close, fstat, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import { ioError } from '../system/io-error.ts';
import { storedBytesOf } from '../system/stored-bytes.ts';
import { systemPath } from '../system/system-path.ts';
import { readingOffset } from './reading-offset.ts';

const openDescriptor = promisify(open);
const closeDescriptor = promisify(close);
const statDescriptor = promisify((descriptor: number, done: (error: NodeJS.ErrnoException | null, stats: BigIntStats) => void) =>
  fstat(descriptor, { bigint: true }, done),
);

/**
 * A regular file, read at any position. Uses a descriptor rather than a FileHandle, so that it can be standard input: Node cannot make a FileHandle from an
 * open descriptor.
 */
export class FileSource implements ByteSource {
  readonly name: string;
  readonly sizeBytes: number;
  /** Bytes that it occupies on disk, if that is less than its size: a file can have holes. */
  readonly storedBytes: number;
  /** When the file was last written, Unix time in nanoseconds. */
  readonly modifiedNs: bigint;
  readonly mayReadAhead = true;
  readonly #descriptor: number;
  readonly #ownsDescriptor: boolean;
  /** Offset in the file of position 0. */
  readonly #startOffset: number;
  #isOpen = true;
  /** Reads in progress: meanwhile their descriptor must not become another file's. */
  readonly #reads = new Set<Promise<number>>();

  private constructor(descriptor: number, ownsDescriptor: boolean, name: string, stats: BigIntStats, startOffset: number) {
    this.#descriptor = descriptor;
    this.#ownsDescriptor = ownsDescriptor;
    this.name = name;
    this.#startOffset = startOffset;
    this.sizeBytes = Math.max(0, Number(stats.size) - startOffset);
    this.storedBytes = Math.min(this.sizeBytes, storedBytesOf(stats));
    this.modifiedNs = stats.mtimeNs;
  }

  /** @throws PerfconvError `io` */
  static async open(path: string): Promise<FileSource> {
    let descriptor = -1;
    try {
      descriptor = await openDescriptor(systemPath(path), 'r');
      return new FileSource(descriptor, true, path, await statDescriptor(descriptor), 0);
    } catch (error) {
      if (descriptor >= 0) await closeDescriptor(descriptor).catch(() => {});
      throw ioError(error, path);
    }
  }

  /**
   * The rest of a file that somebody else opened, from its current offset on. Whoever opened it closes it.
   * @param descriptor of a regular file
   */
  static async restOf(descriptor: number, name: string): Promise<FileSource> {
    return new FileSource(descriptor, false, name, await statDescriptor(descriptor), readingOffset(descriptor));
  }

  readAt(position: number, target: Uint8Array): Promise<number> {
    // Positions come from the recording and may be anything: the system rejects those that are not 64-bit integers, and takes a negative one for the current
    // offset.
    if (!(position >= 0 && position < this.sizeBytes)) return Promise.resolve(0);
    if (!this.#isOpen) return Promise.reject(new PerfconvError('io', 'is closed', { file: this.name }));
    const reading = new Promise<number>((resolve, reject) => {
      read(this.#descriptor, target, 0, target.length, this.#startOffset + position, (error, count) => {
        this.#reads.delete(reading);
        if (error) reject(ioError(error, this.name));
        else resolve(count);
      });
    });
    this.#reads.add(reading);
    return reading;
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (!this.#ownsDescriptor) return;
    await Promise.allSettled(this.#reads);
    await closeDescriptor(this.#descriptor);
  }
}
