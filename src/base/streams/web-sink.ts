import { messageOf, PerfconvError } from '../problems/errors.ts';
import type { ByteSink } from './byte-sink.ts';

/**
 * The part of a web stream that takes bytes; browsers and Node declare the type in different places. The bytes are in no SharedArrayBuffer, which streams such
 * as those of a CompressionStream refuse.
 */
export interface WebWritableLike {
  getWriter(): { write(chunk: Uint8Array<ArrayBuffer>): Promise<void>; releaseLock(): void };
}

export function isWebWritable(output: unknown): output is WebWritableLike {
  return typeof output === 'object' && output !== null && 'getWriter' in output;
}

/** Writes into a web stream (`WritableStream`) and waits for it. Nobody else can write there until {@link release} is called. */
export class WebSink implements ByteSink {
  readonly #writer: ReturnType<WebWritableLike['getWriter']>;
  readonly #name: string;

  /**
   * @param name what messages call the stream
   * @throws PerfconvError `usage` if somebody else writes into it
   */
  constructor(stream: WebWritableLike, name: string) {
    this.#name = name;
    try {
      this.#writer = stream.getWriter();
    } catch (cause) {
      throw new PerfconvError('usage', 'the stream cannot be written: it is locked, or no web stream', {}, { cause });
    }
  }

  async write(chunk: Uint8Array): Promise<void> {
    try {
      // The stream may keep the bytes, which the caller is about to overwrite.
      await this.#writer.write(chunk.slice());
    } catch (cause) {
      throw new PerfconvError('io', messageOf(cause), { file: this.#name }, { cause });
    }
  }

  release(): void {
    this.#writer.releaseLock();
  }
}
