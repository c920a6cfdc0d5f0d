import { type Check, demand } from '../problems/check-options.ts';
import type { ByteSink } from './byte-sink.ts';
import type { RecordingSource } from './byte-source.ts';
import { ForwardedSource } from './forwarded-source.ts';

/** The part of an AbortSignal that is used; browsers and Node declare the type in different places. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What calls that may take long have in common. */
export interface CallOptions {
  /** Gives up the call once it is aborted: the call then throws the signal's `reason`, as `fetch` does. */
  readonly signal?: AbortSignalLike;
}

/** An AbortSignal, or what looks like one: each realm has its own class. */
export const abortSignal: Check = (option, value) => {
  const { aborted, addEventListener } = Object(value) as Partial<AbortSignalLike>;
  demand(typeof aborted === 'boolean' && typeof addEventListener === 'function', option, value, 'an AbortSignal');
};

/** How long a call with a signal keeps the event loop to itself. Without its turn, nothing could abort a call that reads bytes in memory. */
const TURN_MS = 20;

/**
 * Does the work of a call that a signal may give up. When it throws, everything that the work had begun is closed and removed.
 * @param work awaits the {@link Cancellation} between its steps
 * @throws the signal's reason, if it is aborted before the work is done; else whatever the work throws
 */
export async function cancellable<T>(signal: AbortSignalLike | undefined, work: (cancellation: Cancellation) => Promise<T>): Promise<T> {
  const cancellation = new Cancellation(signal);
  try {
    cancellation.throwIfAborted();
    return await work(cancellation);
  } catch (error) {
    // Whatever fails because of the signal says less.
    cancellation.throwIfAborted();
    throw error;
  } finally {
    cancellation.end();
  }
}

/** A call that a signal may give up, until its end. Without a signal, it costs nothing. */
export class Cancellation {
  readonly #signal: AbortSignalLike | undefined;
  /** Ends waits for what may never come. */
  readonly #waiting = new Set<(reason: unknown) => void>();
  #lastTurn = performance.now();
  #isOver = false;
  readonly #onAbort = (): void => {
    for (const reject of this.#waiting) reject(this.#signal?.reason);
  };

  constructor(signal: AbortSignalLike | undefined) {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort);
  }

  /** The signal; undefined if none was given, or the call is over. */
  get signal(): AbortSignalLike | undefined {
    return this.#isOver ? undefined : this.#signal;
  }

  /** Whether the signal was aborted before the call was over. */
  get isAborted(): boolean {
    return !this.#isOver && this.#signal?.aborted === true;
  }

  /** @throws the signal's reason, if it is aborted */
  throwIfAborted(): void {
    if (this.isAborted) throw this.#signal?.reason;
  }

  /** Lets the event loop have its turn, if it is due. @throws the signal's reason, if it is aborted */
  async checkpoint(): Promise<void> {
    if (this.#signal === undefined || this.#isOver) return;
    if (performance.now() - this.#lastTurn >= TURN_MS) {
      await eventLoopTurn();
      this.#lastTurn = performance.now();
    }
    this.throwIfAborted();
  }

  /** A source whose reads are given up. Closing it closes the other. */
  source<Source extends RecordingSource>(source: Source): RecordingSource | Source {
    return this.#signal === undefined ? source : new CancellableSource(source, this);
  }

  /** A sink whose writes are given up before they begin. */
  sink(sink: ByteSink): ByteSink {
    if (this.#signal === undefined) return sink;
    return {
      write: async (chunk) => {
        await this.checkpoint();
        await sink.write(chunk);
      },
    };
  }

  /** A sink whose writes may take forever, as into a stream that nobody reads, and are given up then. */
  streamSink(sink: ByteSink): ByteSink {
    return this.#signal === undefined ? sink : { write: (chunk) => this.orAborted(sink.write(chunk)) };
  }

  /** Waits for what may never come. @throws the signal's reason, once it is aborted */
  async orAborted<T>(pending: Promise<T>): Promise<T> {
    if (this.#signal === undefined || this.#isOver) return pending;
    let reject: (reason: unknown) => void = () => {};
    const aborted = new Promise<never>((_, give) => {
      reject = give;
      this.#waiting.add(give);
    });
    try {
      return await Promise.race([pending, aborted]);
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** Ends the call: what its sources and sinks still do is no longer given up. */
  end(): void {
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

class CancellableSource extends ForwardedSource<CancellableSource> {
  readonly #cancellation: Cancellation;

  constructor(source: RecordingSource, cancellation: Cancellation) {
    super(source, (part) => new CancellableSource(part, cancellation));
    this.#cancellation = cancellation;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    await this.#cancellation.checkpoint();
    const reading = this.source.readAt(position, target);
    // A stream's next bytes may never come.
    return this.sizeBytes === undefined ? this.#cancellation.orAborted(reading) : reading;
  }

  async close(): Promise<void> {
    const closing = this.source.close();
    // A stream closes when its last read has ended, which may be never.
    if (this.sizeBytes === undefined && this.#cancellation.isAborted) closing.catch(() => {});
    else await closing;
  }
}

/** Waits until timers, input and messages that are due were handled. Timers of web pages would wait longer, and in hidden pages a second. */
function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    // Node's types do not have the property.
    Object.assign(port1, {
      onmessage: () => {
        port1.close();
        resolve();
      },
    });
    port2.postMessage(undefined);
  });
}
