import type { ByteSource } from '../bytes/byte-source.ts';

const BLOCK_BYTES = 16 << 20;

/** A stream read to its end and kept, for input that must be read back and forth but lies in no file. */
export class MemorySource implements ByteSource {
  readonly name: string;
  readonly sizeBytes: number;
  /** Of one size but the last: memory in one piece would end at the largest array and be copied as it grows. */
  readonly #blocks: readonly Uint8Array[];

  private constructor(name: string, blocks: readonly Uint8Array[]) {
    this.name = name;
    this.#blocks = blocks;
    this.sizeBytes = blocks.reduce((sum, block) => sum + block.length, 0);
  }

  /**
   * Reads `source` from its beginning to its end.
   * @throws PerfconvError `io`
   */
  static async readAll(source: ByteSource, blockBytes = BLOCK_BYTES): Promise<MemorySource> {
    const blocks: Uint8Array[] = [];
    for (let position = 0; ; position += blockBytes) {
      const block = new Uint8Array(blockBytes);
      let filled = 0;
      while (filled < block.length) {
        const count = await source.readAt(position + filled, block.subarray(filled));
        if (count === 0) break;
        filled += count;
      }
      if (filled > 0) blocks.push(block.subarray(0, filled));
      if (filled < block.length) return new MemorySource(source.name, blocks);
    }
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
