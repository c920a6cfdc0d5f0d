/** Where a writer's bytes go. A writer calls {@link write} and waits for it before it touches the chunk again: the chunk may be a buffer that is reused. */
export interface ByteSink {
  /** @throws PerfconvError `io` if the bytes cannot be stored */
  write(chunk: Uint8Array): Promise<void>;
}

/** Collects everything written, for tests and for callers who want the result in memory. */
export class BufferSink implements ByteSink {
  readonly #chunks: Uint8Array[] = [];

  async write(chunk: Uint8Array): Promise<void> {
    this.#chunks.push(chunk.slice());
  }

  /** All bytes written so far, as one array. */
  bytes(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let offset = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, offset);
      offset += chunk.length;
    }
    return all;
  }

  /** All bytes written so far, read as UTF-8. */
  text(): string {
    return new TextDecoder().decode(this.bytes());
  }
}
