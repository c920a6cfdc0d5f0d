import type { ByteSink } from './byte-sink.ts';
import { engineStream } from './engine-stream.ts';

/** The part of the web's streams that is used; browsers and Node declare their types in different places. */
interface WebStreams {
  readonly CompressionStream?: new (
    format: Format,
  ) => {
    readonly writable: {
      getWriter(): { write(chunk: Uint8Array): Promise<void>; close(): Promise<void>; abort(): Promise<void> };
    };
    readonly readable: { getReader(): CompressedReader };
  };
}

type Format = 'gzip' | 'deflate-raw';
type EngineStream = InstanceType<NonNullable<WebStreams['CompressionStream']>>;

interface CompressedReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>;
  cancel(reason: unknown): Promise<void>;
}

/** Compresses what is written to it, by the engine's CompressionStream. */
export class WebCompressor implements ByteSink {
  readonly #writer: ReturnType<EngineStream['writable']['getWriter']>;
  readonly #pumped: Promise<void>;
  #failure: unknown;

  /**
   * @param remedy what to do about an engine that does not compress, as the end of a sentence; may be empty
   * @throws PerfconvError `unsupported` if the engine has none
   */
  constructor(target: ByteSink, format: Format, remedy = '') {
    const { readable, writable } = engineStream((globalThis as WebStreams).CompressionStream, format, {
      absent: `this engine does not compress (it has no CompressionStream)${remedy}`,
      refused: `this engine does not compress (its CompressionStream refuses)${remedy}`,
    });
    this.#writer = writable.getWriter();
    this.#pumped = this.#pump(readable.getReader(), target);
  }

  async write(chunk: Uint8Array): Promise<void> {
    // The bytes are read later, when the caller may have overwritten them.
    await this.#orFailure(this.#writer.write(chunk.slice()));
  }

  /** Compresses the rest. Afterwards, the target has everything. */
  async end(): Promise<void> {
    await this.#orFailure(this.#writer.close());
    await this.#orFailure(this.#pumped);
  }

  /** Gives up. */
  async destroy(): Promise<void> {
    await this.#writer.abort().catch(() => {});
    await this.#pumped;
  }

  /** Waits for a step. What the target threw says more than what became of the stream after that. */
  async #orFailure(step: Promise<void>): Promise<void> {
    try {
      await step;
    } catch (error) {
      throw this.#failure ?? error;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Never rejects: the next write throws a failure. */
  async #pump(reader: CompressedReader, target: ByteSink): Promise<void> {
    try {
      for (let piece = await reader.read(); !piece.done && piece.value !== undefined; piece = await reader.read()) await target.write(piece.value);
    } catch (error) {
      this.#failure = error;
      // Otherwise, a write would wait for ever for somebody to read on.
      await reader.cancel(error).catch(() => {});
    }
  }
}
