import { type BigIntStats, close, fstat, open, read } from 'node:fs';
import { promisify } from 'node:util';
import type { ByteSource } from '../base/byte-source.ts';
import { ioError } from './io-error.ts';
import { storedBytesOf } from './stored-bytes.ts';
import { systemPath } from './system-path.ts';

const openDescriptor = promisify(open);
const closeDescriptor = promisify(close);
const statDescriptor = promisify(fstat);

/**
 * A regular file, read at any position. A descriptor rather than a FileHandle, so that standard input can be one:
 * Node makes no FileHandle of a descriptor that is open already.
 */
export class FileSource implements ByteSource {
  readonly name: string;
  readonly sizeBytes: number;
  /** Bytes that it takes on the disk, where that is less than its size: a file can have holes. */
  readonly storedBytes: number;
  /** When the file was last written, Unix time in nanoseconds. */
  readonly modifiedNs: bigint;
  readonly #descriptor: number;
  readonly #ownsDescriptor: boolean;
  #isOpen = true;

  private constructor(descriptor: number, ownsDescriptor: boolean, name: string, stats: BigIntStats) {
    this.#descriptor = descriptor;
    this.#ownsDescriptor = ownsDescriptor;
    this.name = name;
    this.sizeBytes = Number(stats.size);
    this.storedBytes = storedBytesOf(stats);
    this.modifiedNs = stats.mtimeNs;
  }

  /** @throws PerfconvError `io` */
  static async open(path: string): Promise<FileSource> {
    try {
      return await FileSource.fromDescriptor(await openDescriptor(systemPath(path), 'r'), path, true);
    } catch (error) {
      throw ioError(error, path);
    }
  }

  /**
   * @param descriptor of a regular file
   * @param ownsDescriptor whether {@link close} closes it
   */
  static async fromDescriptor(descriptor: number, name: string, ownsDescriptor: boolean): Promise<FileSource> {
    return new FileSource(descriptor, ownsDescriptor, name, await statDescriptor(descriptor, { bigint: true }));
  }

  readAt(position: number, target: Uint8Array): Promise<number> {
    // Positions come from the recording, which may say anything: the system refuses those that are no 64-bit integers,
    // and takes a negative one for "where we are".
    if (!(position >= 0 && position < this.sizeBytes)) return Promise.resolve(0);
    return new Promise((resolve, reject) => {
      read(this.#descriptor, target, 0, target.length, position, (error, count) => {
        if (error) reject(ioError(error, this.name));
        else resolve(count);
      });
    });
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#ownsDescriptor) await closeDescriptor(this.#descriptor);
  }
}
