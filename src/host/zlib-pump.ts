import type { Transform } from 'node:stream';

/** A decompressor of node:zlib; it knows how much of its input it has used. */
type Decompressor = Transform & { readonly bytesWritten?: number };

/**
 * Drives one of zlib's decompressors by hand. Its own stream throws away what it has decompressed and not given yet when it comes
 * upon damage; here everything before that has been given.
 */
export class ZlibPump {
  readonly #zlib: Decompressor;
  #take: (piece: Uint8Array) => void = () => {};
  /** Ends the wait for zlib. */
  #settle: () => void = () => {};
  #failure: unknown;
  #hasEnded = false;
  /** All bytes that were pushed in, counted. */
  #pushedBytes = 0;

  constructor(decompress: Decompressor) {
    this.#zlib = decompress;
    decompress.on('data', (piece: Uint8Array) => this.#pass(piece));
    // Always listened to: an error that no one waits for must not end the program.
    decompress.on('error', (error) => this.#fail(error));
    decompress.on('end', () => {
      this.#hasEnded = true;
      this.#settle();
    });
    decompress.on('close', () => this.#fail(new Error('the stream was closed')));
  }

  /**
   * Waits until zlib has given all that these bytes are good for. Returns how many of them, the last ones, follow the end
   * of the compressed data: zlib ends there by itself.
   * @throws whatever zlib or `take` throws, now and ever after
   */
  async write(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<number> {
    this.#pushedBytes += bytes.length;
    await this.#wait(take, (done) => this.#zlib.write(bytes, done));
    return Math.min(bytes.length, this.#pushedBytes - (this.#zlib.bytesWritten ?? this.#pushedBytes));
  }

  /** Nothing more will come. @throws when the compressed data are cut off */
  end(take: (piece: Uint8Array) => void): Promise<void> {
    return this.#wait(take, () => this.#zlib.end());
  }

  close(): void {
    this.#zlib.destroy();
  }

  async #wait(take: (piece: Uint8Array) => void, start: (done: (error?: Error | null) => void) => void): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    // Then it would never answer.
    if (this.#hasEnded) return;
    this.#take = take;
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      start((error) => (error ? this.#fail(error) : resolve()));
    });
    // What was not asked for yet goes to `data` here.
    while (this.#zlib.read() !== null);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Called out of zlib's depths, where nothing may be thrown. */
  #pass(piece: Uint8Array): void {
    if (this.#failure !== undefined) return;
    try {
      this.#take(piece);
    } catch (error) {
      this.#failure = error;
    }
  }

  #fail(error: unknown): void {
    // What has ended in good order closes, too.
    if (this.#hasEnded) return;
    this.#failure ??= error;
    this.#settle();
  }
}
