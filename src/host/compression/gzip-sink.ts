import { once } from 'node:events';
import type { TransformOptions } from 'node:stream';
import { createGzip, type Gzip, type ZlibOptions } from 'node:zlib';
import type { ByteSink } from '../../base/streams/byte-sink.ts';

/**
 * Level 1 takes a third of the default level's time and makes the output some 12 % larger (measured on a pprof profile of 96 MB): otherwise, large profiles
 * would wait for zlib. Some megabytes are queued before the writer has to wait, so that zlib's thread has work while the writer makes more.
 */
const OPTIONS: ZlibOptions & Pick<TransformOptions, 'writableHighWaterMark'> = { level: 1, chunkSize: 256 << 10, writableHighWaterMark: 4 << 20 };

/** Compresses what goes to another sink. zlib leaves the header's time and name empty, so that the same bytes always compress to the same bytes. */
export class GzipSink implements ByteSink {
  readonly #gzip: Gzip;
  readonly #pumped: Promise<void>;
  #failure: unknown;

  /** @param target gets the compressed bytes; it is not closed by {@link end} */
  constructor(target: ByteSink) {
    this.#gzip = createGzip(OPTIONS);
    this.#pumped = this.#pump(target);
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    // zlib reads the bytes after we return, when the caller may have overwritten them.
    if (!this.#gzip.write(chunk.slice())) await Promise.race([once(this.#gzip, 'drain'), this.#pumped]);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Writes the rest and the trailer. */
  async end(): Promise<void> {
    this.#gzip.end();
    await this.#pumped;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Gives up. Afterwards nothing more is written to the target, so that it can be closed. Never throws. */
  async destroy(): Promise<void> {
    this.#gzip.destroy();
    await this.#pumped;
  }

  /** Never rejects: the next write throws a failure. */
  async #pump(target: ByteSink): Promise<void> {
    try {
      for await (const piece of this.#gzip) await target.write(piece);
    } catch (error) {
      this.#failure = error;
    }
  }
}
