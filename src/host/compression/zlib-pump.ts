import type { Transform } from 'node:stream';

/** A decompressor of node:zlib, which knows how much of its input it has used. */
type Decompressor = Transform & { readonly bytesWritten?: number };

/**
 * Drives one of zlib's decompressors by hand. When zlib's own stream comes upon damage, it discards what it has decompressed but not passed on; here,
 * everything before the damage was passed on.
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
    // There is always a listener: an error that nobody waits for must not end the program.
    decompress.on('error', (error) => this.#fail(error));
    decompress.on('end', () => {
      this.#hasEnded = true;
      this.#settle();
    });
    decompress.on('close', () => this.#fail(new Error('the stream was closed')));
  }

  /**
   * Waits until zlib has returned everything that these bytes unpack to. Returns how many of them, the last ones, follow the end of the compressed data, where
   * zlib stops by itself.
   * @throws whatever zlib or `take` throws, also in all later calls
   */
  async write(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<number> {
    this.#pushedBytes += bytes.length;
    await this.#wait(take, (done) => this.#zlib.write(bytes, done));
    return Math.min(bytes.length, this.#pushedBytes - (this.#zlib.bytesWritten ?? this.#pushedBytes));
  }

  /** Ends the input. @throws when the compressed data are cut off */
  end(take: (piece: Uint8Array) => void): Promise<void> {
    return this.#wait(take, () => this.#zlib.end());
  }

  close(): void {
    this.#zlib.destroy();
  }

  async #wait(take: (piece: Uint8Array) => void, start: (done: (error?: Error | null) => void) => void): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    // zlib would never answer after its end.
    if (this.#hasEnded) return;
    this.#take = take;
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      start((error) => (error ? this.#fail(error) : resolve()));
    });
    // Has what was not read yet go to `data`.
    while (this.#zlib.read() !== null);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Called from inside zlib, where nothing may be thrown. */
  #pass(piece: Uint8Array): void {
    if (this.#failure !== undefined) return;
    try {
      this.#take(piece);
    } catch (error) {
      this.#failure = error;
    }
  }

  #fail(error: unknown): void {
    // A stream that has ended in good order closes, too.
    if (this.#hasEnded) return;
    this.#failure ??= error;
    this.#settle();
  }
}
