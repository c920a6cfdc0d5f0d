import type { Diagnostics } from '../../base/problems/diagnostics.ts';
import { PERF_TYPE_BREAKPOINT } from '../../perfdata/abi/constants.ts';
import type { AuxTraces } from './aux-traces.ts';
import { BufferReader } from './buffer-reader.ts';
import { BufferReplay } from './buffer-replay.ts';
import { type SpeSampleParts, SpeSamples } from './spe-samples.ts';

/** Bytes of all buffers that are decoded at a time, and least and most of one. */
const CHUNKS_BYTES = 4 << 20;
const MIN_CHUNK_BYTES = 4 << 10;
const MAX_CHUNK_BYTES = 64 << 10;

/** How many rows are gathered before they are sorted, at least; more if many of them have to wait. */
const MIN_FLUSHED_ROWS = 16 << 10;

/** What replaying traces works with. */
export interface TraceReplayParts extends SpeSampleParts {
  readonly traces: AuxTraces;
  /** Called after each chunk. @returns why no more can be read; undefined to go on */
  readonly settle: () => Promise<string | undefined>;
}

/**
 * Makes samples of the traces of a recording, side by side in time order. All records have been read before, since the kernel gives a trace away only when its
 * buffer is full or its thread leaves the CPU: what other buffers hold of the same time was written long before.
 */
export async function replayTraces(parts: TraceReplayParts, diagnostics: Diagnostics): Promise<void> {
  const { traces, events, order, compatPerf } = parts;
  const { buffers, traceClock } = traces;
  const recorded = events.events.find(({ attr }) => attr.type > PERF_TYPE_BREAKPOINT) ?? events.events[0];
  if (buffers.length === 0 || recorded === undefined) return;
  const samples = new SpeSamples(parts, traceClock, recorded);
  const chunk = new Uint8Array(Math.max(MIN_CHUNK_BYTES, Math.min(MAX_CHUNK_BYTES, Math.floor(CHUNKS_BYTES / buffers.length))));
  const open = new BufferHeap(buffers.map((buffer) => new BufferReplay({ traces, samples, compatPerf }, buffer, new BufferReader(buffer, chunk, diagnostics))));
  let enough = MIN_FLUSHED_ROWS;
  for (let next = open.first; next !== undefined; next = open.first) {
    const hasMore = await next.play();
    if (hasMore) open.sinkFirst();
    else open.removeFirst();
    if (order.queue.size < enough && open.first !== undefined) continue;
    order.flushUpTo(open.first?.settledNs ?? Number.POSITIVE_INFINITY);
    const whyFull = await parts.settle();
    enough = MIN_FLUSHED_ROWS + 2 * order.queue.size;
    if (whyFull === undefined) continue;
    diagnostics.addBytes('memory-limit', 'loss', `the hardware trace was not read to its end: ${whyFull}`, 0, open.bytesLeft);
    return;
  }
}

/** Buffers, of which the one whose settled time is the oldest comes first: a binary heap. */
class BufferHeap {
  readonly #buffers: BufferReplay[];

  /** @param buffers none of which has been read: their times are equal */
  constructor(buffers: BufferReplay[]) {
    this.#buffers = buffers;
  }

  get first(): BufferReplay | undefined {
    return this.#buffers[0];
  }

  /** Bytes that have not been decoded. */
  get bytesLeft(): number {
    return this.#buffers.reduce((sum, { bytesLeft }) => sum + bytesLeft, 0);
  }

  removeFirst(): void {
    const last = this.#buffers.pop();
    if (last === undefined || this.#buffers.length === 0) return;
    this.#buffers[0] = last;
    this.sinkFirst();
  }

  /** Puts the first one where it belongs now that its time is newer. */
  sinkFirst(): void {
    const buffers = this.#buffers;
    const moved = buffers[0];
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= buffers.length) break;
      if (child + 1 < buffers.length && buffers[child + 1].settledNs < buffers[child].settledNs) child++;
      if (buffers[child].settledNs >= moved.settledNs) break;
      buffers[at] = buffers[child];
      at = child;
    }
    buffers[at] = moved;
  }
}
