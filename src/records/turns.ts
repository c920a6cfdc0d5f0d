import type { ByteSource, RecordingSource } from '../base/streams/byte-source.ts';

/** Maximum number of bytes that are read at once: plain values need many times the memory of the record they come from. */
const READ_BYTES = 256 << 10;

/** Thrown into a walk whose reader has had enough. */
class Stopped extends Error {}

/**
 * Lets a walk, which pushes records, and a reader, which pulls them, take turns. Before the walk reads on, it waits until everything that it has found was
 * taken, so that no more is held than one read or one compressed record yields.
 */
export class Turns {
  readonly #hasRecords: () => boolean;
  #isEnded = false;
  #isStopped = false;
  #wakeReader: (() => void) | undefined;
  #wakeWalk: (() => void) | undefined;

  constructor(hasRecords: () => boolean) {
    this.#hasRecords = hasRecords;
  }

  /** The walk's source: reading from it waits for the walk's turn. */
  guardSource(source: RecordingSource): RecordingSource {
    const guard = (one: ByteSource): ByteSource => ({
      name: one.name,
      get sizeBytes() {
        return one.sizeBytes;
      },
      readAt: async (position, target) => {
        await this.giveReaderItsTurn();
        return one.readAt(position, target.subarray(0, READ_BYTES));
      },
      close: () => one.close(),
    });
    return source.parts === undefined ? guard(source) : Object.assign(guard(source), { parts: source.parts.map(guard) });
  }

  /** @returns false if the walk has ended: what it found last can still be taken */
  async waitForRecords(): Promise<boolean> {
    if (!this.#isEnded && this.#wakeWalk === undefined) {
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
    return !this.#isEnded;
  }

  continueWalk(): void {
    this.#wakeWalk?.();
    this.#wakeWalk = undefined;
  }

  stopWalk(): void {
    this.#isStopped = true;
    this.continueWalk();
  }

  endWalk(): void {
    this.#isEnded = true;
    this.#wakeReader?.();
  }

  /** Called by the walk before it finds more: waits until everything that it has found was taken. @throws Stopped if the reader has had enough */
  async giveReaderItsTurn(): Promise<void> {
    if (this.#hasRecords()) {
      await new Promise<void>((resolve) => {
        this.#wakeWalk = resolve;
        this.#wakeReader?.();
      });
    }
    if (this.#isStopped) throw new Stopped();
  }
}
