import type { OptionWords } from '../base/problems/option-words.ts';
import { type RecordingSource, recordingBytes } from '../base/streams/byte-source.ts';

/** The memory that the process may use. */
export interface AvailableMemory {
  /** Bytes of memory in total. */
  readonly bytes: number;
  /** The part of it that JavaScript objects may take: engines limit their heap. */
  readonly objectBytes: number;
}

/**
 * How much memory a recording may need: this much in any case, plus this many times the bytes that it is stored in. A record that has to be kept needs about a
 * hundred bytes, and compression shrinks recordings to between a fifth and a twentieth; a file that needs more was made to exhaust memory.
 */
const FREE_BYTES = 128 << 20;
const MAX_RATIO = 32;
/** The rest is for the writers, which sort what was read and build trees and texts from it. */
const SHARE_FOR_RECORDS = 0.6;

const MIB = 2 ** 20;

/** Decides how much of a recording can be kept, by its own size and by the available memory. */
export class MemoryBudget {
  readonly #source: RecordingSource;
  readonly #option: OptionWords;
  readonly #available: AvailableMemory;

  /** @param available undefined if that is not known, as in a browser */
  constructor(
    source: RecordingSource,
    option: OptionWords,
    available: AvailableMemory = { bytes: Number.POSITIVE_INFINITY, objectBytes: Number.POSITIVE_INFINITY },
  ) {
    this.#source = source;
    this.#option = option;
    this.#available = available;
  }

  /**
   * @param columnBytes, objectBytes what is held, in typed arrays and in objects
   * @param readBytes how much of the recording was read: for a pipe, nothing else is known about its size
   * @returns undefined as long as more may be read; else why not
   */
  whyExceeded(columnBytes: number, objectBytes: number, readBytes: number): string | undefined {
    const held = columnBytes + objectBytes;
    const storedBytes = this.#source.storedBytes ?? recordingBytes(this.#source) ?? readBytes;
    if (held > FREE_BYTES + MAX_RATIO * storedBytes) {
      const hint = this.#source.storedBytes === undefined ? '' : '; if it is your own recording, unpack it first';
      return `its records need more memory than ${FREE_BYTES / MIB} MiB plus ${MAX_RATIO} times its stored size of ${storedBytes} bytes${hint}`;
    }
    const { bytes, objectBytes: bytesForObjects } = this.#available;
    if (held > bytes * SHARE_FOR_RECORDS || objectBytes > bytesForObjects * SHARE_FOR_RECORDS) {
      const limit = Math.floor(Math.min(bytes, bytesForObjects) / MIB);
      const filters = `${this.#option('time')}, ${this.#option('pid')} and ${this.#option('event')}`;
      return `its records need more than their share of the ${limit} MiB of memory; pprof, folded and report need the least, and ${filters} leave samples out`;
    }
    return undefined;
  }
}

/** A part of a session that grows with the recording: bytes in typed arrays, and about how many its objects need. */
export interface MemoryHolder {
  readonly heldBytes?: number;
  readonly heldObjectBytes?: number;
}

/** What a session holds in memory, and whether there is memory for more. */
export class SessionMemory {
  readonly #budget: MemoryBudget;
  readonly #observerBytesPerRecord: number;
  readonly #holders: MemoryHolder[] = [];
  /** How much had been read when the walk last asked. */
  #readBytes = 0;
  #observedBytes = 0;
  #whyNoMemory: string | undefined;

  /** @param observerBytesPerRecord how many bytes the observer keeps of each record */
  constructor(budget: MemoryBudget, observerBytesPerRecord: number) {
    this.#budget = budget;
    this.#observerBytesPerRecord = observerBytesPerRecord;
  }

  /** Counts these parts from now on. */
  add(...holders: readonly MemoryHolder[]): void {
    this.#holders.push(...holders);
  }

  /**
   * Whether more may be read.
   * @param readBytes how much of the recording was read, `recordCount` how many records
   * @param waitingBytes how much will also be kept of the samples that wait
   * @returns why not; undefined to go on
   */
  whyFull(readBytes: number, recordCount: number, waitingBytes: number): string | undefined {
    this.#readBytes = readBytes;
    this.#observedBytes = recordCount * this.#observerBytesPerRecord;
    return this.#whyExceeded(waitingBytes);
  }

  /** Whether there is memory for more stacks, totals, tasks and maps. What waits is already counted, and needs no more while it waits. */
  hasMemory(): boolean {
    this.#whyNoMemory = this.#whyExceeded(0);
    return this.#whyNoMemory === undefined;
  }

  /** Why there was no memory when {@link hasMemory} was last called; undefined if there was. */
  get whyNoMemory(): string | undefined {
    return this.#whyNoMemory;
  }

  #whyExceeded(waitingBytes: number): string | undefined {
    let columnBytes = waitingBytes + this.#observedBytes;
    let objectBytes = 0;
    for (const { heldBytes = 0, heldObjectBytes = 0 } of this.#holders) {
      columnBytes += heldBytes;
      objectBytes += heldObjectBytes;
    }
    return this.#budget.whyExceeded(columnBytes, objectBytes, this.#readBytes);
  }
}
