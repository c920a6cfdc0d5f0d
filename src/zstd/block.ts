import { lastBitOf } from './bits.ts';
import type { BlockCore } from './block-core.ts';
import { BLOCK_HEADER_BYTES, RAW_BLOCK, RLE_BLOCK, type ZstdFrames, zstdError } from './frames.ts';
import { ZstdLiterals } from './literals.ts';
import { SequencesHeaders } from './sequences.ts';
import { BITS_LEFT, BLOCK_TOO_LARGE, LITERALS_MISSING, MATCH_BEFORE_START, OFFSET_TOO_LARGE, PADDING_BYTES, SEQUENCES_CUT_OFF } from './wasm/contract.ts';
import type { ZstdWindow } from './window.ts';

const DAMAGE = new Map([
  [OFFSET_TOO_LARGE, 'a match reaches back too far'],
  [LITERALS_MISSING, 'a sequence takes more literals than its block has'],
  [BLOCK_TOO_LARGE, 'a block is larger than its frame allows'],
  [MATCH_BEFORE_START, 'a match reaches back before the start of the data'],
  [SEQUENCES_CUT_OFF, 'the sequences of a block are cut off'],
  [BITS_LEFT, 'the sequences of a block do not end with their last bit'],
]);

/** Decodes zstd blocks one after the other into a window. Source: RFC 8878, 3.1.1.2 to 3.1.1.5. */
export class ZstdBlockDecoder {
  readonly #core: BlockCore;
  readonly #window: ZstdWindow;
  readonly #literals: ZstdLiterals;
  readonly #sequences: SequencesHeaders;

  /** @param window the core's */
  constructor(core: BlockCore, window: ZstdWindow) {
    this.#core = core;
    this.#window = window;
    this.#literals = new ZstdLiterals(core);
    this.#sequences = new SequencesHeaders(core);
  }

  startFrame(): void {
    this.#core.loops.startFrame();
    this.#literals.startFrame();
    this.#sequences.startFrame();
  }

  /**
   * Decodes the current block to the end of the window, which must have room for it. The window is not advanced.
   * @returns bytes decoded
   * @throws PerfconvError `damaged`
   */
  decode(frames: ZstdFrames): number {
    const { bytes, blockType, blockBytes, maxBlockBytes } = frames;
    const { end } = this.#window;
    const content = bytes.subarray(BLOCK_HEADER_BYTES);
    if (blockType === RAW_BLOCK) {
      this.#core.areas.window.set(content, end);
      return blockBytes;
    }
    if (blockType === RLE_BLOCK) {
      this.#core.areas.window.fill(content[0], end, end + blockBytes);
      return blockBytes;
    }
    const sequencesAt = this.#literals.read(frames);
    return this.#executeSequences(sequencesAt, PADDING_BYTES + blockBytes, maxBlockBytes);
  }

  /** Sequences_Section. @returns bytes decoded */
  #executeSequences(at: number, blockEnd: number, maxBlockBytes: number): number {
    const streamStart = this.#sequences.read(at, blockEnd);
    const { count } = this.#sequences;
    if (count === 0 && streamStart !== blockEnd) throw zstdError('a block has bytes after its last sequence');
    const { start, count: literalsCount } = this.#literals;
    const sizeBytes = this.#core.loops.executeSequences(
      count,
      streamStart * 8,
      count === 0 ? streamStart * 8 : lastBitOf(this.#core.areas.block, streamStart, blockEnd),
      start,
      start + literalsCount,
      this.#window.end,
      this.#window.reach,
      maxBlockBytes,
    );
    if (sizeBytes < 0) throw zstdError(DAMAGE.get(sizeBytes) ?? '');
    return sizeBytes;
  }
}
