import type { AuxBuffer } from './aux-buffer.ts';
import type { AuxTraces } from './aux-traces.ts';
import type { BufferReader } from './buffer-reader.ts';
import type { CpuThreads } from './cpu-threads.ts';
import type { SpeSamples } from './spe-samples.ts';

/** What replaying a buffer works with. */
export interface BufferReplayParts {
  readonly traces: AuxTraces;
  readonly samples: SpeSamples;
  /** Whether only what perf 6.1 knows says which thread wrote a trace. */
  readonly compatPerf: boolean;
}

/** Makes samples of one buffer's contents: finds out who wrote them, and when. */
export class BufferReplay {
  readonly #reader: BufferReader;
  readonly #buffer: AuxBuffer;
  readonly #samples: SpeSamples;
  readonly #cpuThreads: CpuThreads | undefined;
  readonly #compatPerf: boolean;
  /** The thread of the last operation that named one; −1 before. */
  #context = -1;
  readonly #around = { nr: -1, cpu: -1, pid: -1, tid: -1, turnNs: Number.POSITIVE_INFINITY };
  /** The newest time of an operation, and the newest turn. */
  #newestNs = Number.NEGATIVE_INFINITY;
  #newestTurnNs = Number.NEGATIVE_INFINITY;
  #settledNs = Number.NEGATIVE_INFINITY;

  constructor({ traces, samples, compatPerf }: BufferReplayParts, buffer: AuxBuffer, reader: BufferReader) {
    this.#reader = reader;
    this.#buffer = buffer;
    this.#samples = samples;
    this.#cpuThreads = buffer.cpu < 0 ? undefined : traces.threadsOn(buffer.cpu);
    this.#compatPerf = compatPerf;
    this.#around.cpu = buffer.cpu;
  }

  /** Bytes that have not been read. */
  get bytesLeft(): number {
    return this.#reader.bytesLeft;
  }

  /** The newest turn when the chunk before the last one had been read: what comes is hardly older, since operations only overtake one another by a little. */
  get settledNs(): number {
    return this.#settledNs;
  }

  /** Reads the next chunk, and adds its samples. @returns false at the end */
  async play(): Promise<boolean> {
    this.#settledNs = this.#newestTurnNs;
    const reader = this.#reader;
    if (!(await reader.read())) return false;
    const around = this.#around;
    around.nr = reader.nr;
    while (reader.next()) {
      // hot
      const { operation } = reader;
      const timeNs = this.#samples.timeOf(operation);
      if (timeNs > this.#newestNs) this.#newestNs = timeNs;
      const range = this.#buffer.ranges.find(reader.position);
      around.turnNs = this.#turnOf(timeNs, range);
      if (around.turnNs > this.#newestTurnNs && around.turnNs !== Number.POSITIVE_INFINITY) this.#newestTurnNs = around.turnNs;
      this.#findThread(operation.context, around.turnNs, range);
      this.#samples.add(operation, timeNs, around);
    }
    return true;
  }

  /** When an operation's turn is: at its own time, or after the one before it, or when the trace came. Infinity if nothing is known. */
  #turnOf(timeNs: number, range: number): number {
    if (!Number.isNaN(timeNs)) return timeNs;
    if (this.#newestNs > Number.NEGATIVE_INFINITY) return this.#newestNs;
    const rangeNs = range < 0 ? Number.NaN : this.#buffer.ranges.timeNs(range);
    return Number.isNaN(rangeNs) ? Number.POSITIVE_INFINITY : rangeNs;
  }

  /** Sets the thread of an operation. A pid of −1 is found when the operation's turn comes. @param context the thread that it names itself; −1 for none */
  #findThread(context: number, turnNs: number, range: number): void {
    if (context >= 0) this.#context = context | 0;
    if (this.#context >= 0) this.#setThread(-1, this.#context);
    else if (range >= 0 && this.#buffer.ranges.tid(range) >= 0 && !this.#compatPerf) {
      this.#setThread(this.#buffer.ranges.pid(range), this.#buffer.ranges.tid(range));
    } else if (this.#buffer.tid >= 0) this.#setThread(-1, this.#buffer.tid);
    else {
      const place = this.#cpuThreads?.at(turnNs) ?? -1;
      if (place < 0 || this.#cpuThreads === undefined) this.#setThread(-1, -1);
      else this.#setThread(this.#cpuThreads.pid(place), this.#cpuThreads.tid(place));
    }
  }

  #setThread(pid: number, tid: number): void {
    this.#around.pid = pid;
    this.#around.tid = tid;
  }
}
