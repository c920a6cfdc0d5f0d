/**
 * Random access to the bytes of a file, wherever they come from. The library reads through this and never opens a
 * file itself, so that it runs in a browser as it does in Node.
 */
export interface ByteSource {
  /** What to call it in messages: a path, `-`, a URL. */
  readonly name: string;
  /** Size in bytes; undefined for a stream whose end is not known yet. */
  readonly sizeBytes: number | undefined;
  /**
   * Fills `target` from byte `position` on, as far as the source goes.
   * A stream allows only the position right behind the last byte read.
   * @returns bytes read: less than `target.length` only at the end of the source
   * @throws PerfconvError `io`
   */
  readAt(position: number, target: Uint8Array): Promise<number>;
  /** Gives back what the source holds open. May be called more than once. */
  close(): Promise<void>;
}

/** A source over bytes in memory. */
export class BufferSource implements ByteSource {
  readonly name: string;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, name = 'buffer') {
    this.name = name;
    this.#bytes = bytes;
  }

  get sizeBytes(): number {
    return this.#bytes.length;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    const part = this.#bytes.subarray(position, position + target.length);
    target.set(part);
    return part.length;
  }

  async close(): Promise<void> {}
}

/** Reads `sizeBytes` bytes at `position`; the result is shorter only where the source ends. */
export async function readRange(source: ByteSource, position: number, sizeBytes: number): Promise<Uint8Array> {
  // A size read from a file is not trusted: never allocate past what the source can hold.
  const limit = source.sizeBytes === undefined ? sizeBytes : Math.max(0, Math.min(sizeBytes, source.sizeBytes - position));
  const target = new Uint8Array(limit);
  const count = await source.readAt(position, target);
  return count === limit ? target : target.subarray(0, count);
}
