import type { RecordingSource } from '../../base/streams/byte-source.ts';

/** A stream that was read to its end and kept. */
export class MemorySource implements RecordingSource {
  readonly name: string;
  readonly sizeBytes: number;
  readonly storedBytes: number | undefined;
  readonly #blocks: readonly Uint8Array[];

  /**
   * @param blocks of the same size except the last: one piece of memory would be limited to the largest array and copied as it grows
   * @param storedBytes see RecordingSource
   */
  constructor(name: string, blocks: readonly Uint8Array[], storedBytes?: number) {
    this.storedBytes = storedBytes;
    this.name = name;
    this.#blocks = blocks;
    this.sizeBytes = blocks.reduce((sum, block) => sum + block.length, 0);
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    if (!(position >= 0 && position < this.sizeBytes)) return 0;
    const blockBytes = this.#blocks[0].length;
    const block = this.#blocks[Math.floor(position / blockBytes)];
    const start = position % blockBytes;
    const part = block.subarray(start, start + target.length);
    target.set(part);
    return part.length;
  }

  async close(): Promise<void> {}
}
