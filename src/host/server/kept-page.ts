import { BufferSink, type ByteSink } from '../../base/streams/byte-sink.ts';
import { GzipSink } from '../compression/gzip-sink.ts';

/** A page that can be served any number of times. */
export interface KeptPage {
  /** What the page is, compressed with gzip. */
  readonly gzipped: Uint8Array;
  /** Its size when it is not compressed. */
  readonly sizeBytes: number;
  /** Its content security policy. */
  readonly policy: string;
}

/** Keeps a page in memory. There is room for it, since it is much smaller than the profile that it is made of. It is compressed while it is made. */
export class PageSink implements ByteSink {
  readonly #kept = new BufferSink();
  readonly #gzip = new GzipSink(this.#kept);
  #sizeBytes = 0;

  write(chunk: Uint8Array): Promise<void> {
    this.#sizeBytes += chunk.length;
    return this.#gzip.write(chunk);
  }

  /** @param policy the page's content security policy */
  async end(policy: string): Promise<KeptPage> {
    await this.#gzip.end();
    return { gzipped: this.#kept.bytes(), sizeBytes: this.#sizeBytes, policy };
  }
}
