import { messageOf, PerfconvError } from '../problems/errors.ts';
import type { ByteSource } from './byte-source.ts';

/** How many Files are read at a time: a browser takes a millisecond or more for each read, but works on many at once. */
export const FILES_AT_ONCE = 64;

/** The part of a Blob or File that is used; browsers and Node declare the type in different places. */
export interface BlobLike {
  readonly size: number;
  readonly name?: string;
  /** Of a File: milliseconds since 1970. */
  readonly lastModified?: number;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** Whether a value can be read as a Blob, since not every caller has its types checked by a compiler. */
export function isBlob(value: unknown): value is BlobLike {
  return typeof value === 'object' && value !== null && 'size' in value && 'arrayBuffer' in value && 'slice' in value;
}

/** When a File was last written, nanoseconds since 1970; undefined for a Blob, which does not say. */
export function modifiedNsOf({ lastModified }: Pick<BlobLike, 'lastModified'>): bigint | undefined {
  return lastModified === undefined ? undefined : BigInt(Math.round(lastModified)) * 1_000_000n;
}

/** The bytes of a Blob, read as they are needed. */
export class BlobSource implements ByteSource {
  readonly name: string;
  /** See RecordingSource. */
  readonly storedBytes: number | undefined;
  readonly #blob: BlobLike;

  /** @param storedBytes how many bytes these were unpacked from, if they were */
  constructor(blob: BlobLike, name: string, storedBytes?: number) {
    this.name = name;
    this.storedBytes = storedBytes;
    this.#blob = blob;
  }

  get sizeBytes(): number {
    return this.#blob.size;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    // Positions come from the recording, and slice() counts negative ones from the end.
    if (!(position >= 0 && position < this.#blob.size)) return 0;
    try {
      const bytes = new Uint8Array(await this.#blob.slice(position, position + target.length).arrayBuffer());
      target.set(bytes);
      return bytes.length;
    } catch (cause) {
      throw new PerfconvError('io', messageOf(cause), { file: this.name, offset: position }, { cause });
    }
  }

  async close(): Promise<void> {}
}
