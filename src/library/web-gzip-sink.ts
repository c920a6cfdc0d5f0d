import type { ByteSink } from '../base/byte-sink.ts';
import { PerfconvError } from '../base/errors.ts';
import type { Compressor } from './platform.ts';

/** The part of the web's streams that is used; browsers and Node declare their types in different places. */
interface WebStreams {
  readonly CompressionStream?: new (
    format: 'gzip',
  ) => {
    readonly writable: {
      getWriter(): { readonly ready: Promise<unknown>; write(chunk: Uint8Array): Promise<void>; close(): Promise<void>; abort(): Promise<void> };
    };
    readonly readable: { getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }> } };
  };
}

/** Compresses with gzip, by the engine's CompressionStream. */
export class WebGzipSink implements Compressor {
  readonly #writer: ReturnType<InstanceType<NonNullable<WebStreams['CompressionStream']>>['writable']['getWriter']>;
  readonly #pumped: Promise<void>;
  #failure: unknown;

  /** @throws PerfconvError `unsupported` if the engine has none */
  constructor(target: ByteSink) {
    const { CompressionStream } = globalThis as WebStreams;
    if (CompressionStream === undefined)
      throw new PerfconvError('unsupported', 'this engine does not compress (it has no CompressionStream): give gzip: false');
    const { readable, writable } = new CompressionStream('gzip');
    this.#writer = writable.getWriter();
    this.#pumped = this.#pump(readable.getReader(), target);
  }

  async write(chunk: Uint8Array): Promise<void> {
    // The bytes are read later, when the caller may have overwritten them.
    await Promise.race([this.#writer.write(chunk.slice()), this.#pumped]);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async end(): Promise<void> {
    await Promise.all([this.#writer.close(), this.#pumped]);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async destroy(): Promise<void> {
    await this.#writer.abort().catch(() => {});
    await this.#pumped;
  }

  /** Never rejects: the next write throws a failure. */
  async #pump(reader: { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }> }, target: ByteSink): Promise<void> {
    try {
      for (let piece = await reader.read(); !piece.done && piece.value !== undefined; piece = await reader.read()) await target.write(piece.value);
    } catch (error) {
      this.#failure = error;
    }
  }
}
