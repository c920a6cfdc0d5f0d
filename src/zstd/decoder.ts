import { ZstdBlockDecoder } from './block.ts';
import type { BlockCore } from './block-core.ts';
import { ZstdChecksum } from './checksum.ts';
import { ZstdFrames, zstdError } from './frames.ts';
import { openCore } from './open-core.ts';
import { ZstdWindow } from './window.ts';

/**
 * Decompresses one continuous zstd stream, given in pieces of any size (perf: one per data file, over all COMPRESSED records). Every length is checked and
 * every bit accounted for: damage is reported where the reference decoder reports it, and takes no more time or memory than intact data. Memory is as much as
 * matches may reach back, plus half of that or 1 MiB.
 */
export class ZstdDecoder {
  readonly #frames = new ZstdFrames();
  readonly #core: BlockCore;
  readonly #window: ZstdWindow;
  readonly #blocks: ZstdBlockDecoder;
  readonly #checksum = new ZstdChecksum();
  /** How many bytes the current frame has had so far. */
  #contentBytes = 0;
  #failure: unknown;

  /** @param core is only used for this stream */
  constructor(core: BlockCore = openCore()) {
    this.#core = core;
    this.#window = new ZstdWindow(core);
    this.#blocks = new ZstdBlockDecoder(core, this.#window);
  }

  /** Whether the stream could end here: not inside a frame or a frame's header. perf never ends its frame. */
  get isAtFrameEnd(): boolean {
    return this.#frames.isAtFrameEnd;
  }

  /**
   * Decompresses what is complete with `bytes`, and calls `take` with one piece after the other, of at most 128 KiB each. A piece is gone after `take` returns
   * (copy it to keep it). Nothing else may be pushed before this returns.
   * @throws PerfconvError `damaged` when the stream is broken, needs a dictionary or reaches back more than 128 MiB. Earlier pieces remain valid
   */
  push(bytes: Uint8Array, take: (piece: Uint8Array) => void): void {
    // Nothing can be read after damage.
    if (this.#failure !== undefined) throw this.#failure;
    try {
      this.#frames.push(bytes);
      while (this.#frames.next()) this.#takePart(take);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  #takePart(take: (piece: Uint8Array) => void): void {
    switch (this.#frames.part) {
      case 'frame':
        this.#contentBytes = 0;
        this.#checksum.reset();
        this.#window.startFrame(this.#frames.windowBytes);
        this.#blocks.startFrame();
        break;
      case 'block':
        this.#takeBlock(take);
        break;
      case 'checksum':
        if (new DataView(this.#frames.bytes.slice().buffer).getUint32(0, true) !== this.#checksum.digest()) throw zstdError('the checksum of a frame is wrong');
        break;
    }
  }

  #takeBlock(take: (piece: Uint8Array) => void): void {
    const { isLastBlock, contentBytes, hasChecksum } = this.#frames;
    this.#window.reserve();
    const sizeBytes = this.#blocks.decode(this.#frames);
    this.#contentBytes += sizeBytes;
    if (isLastBlock && contentBytes >= 0 && contentBytes !== this.#contentBytes) {
      throw zstdError(`a frame that should have ${contentBytes} bytes has ${this.#contentBytes}`);
    }
    const { end } = this.#window;
    const piece = this.#core.areas.window.subarray(end, end + sizeBytes);
    this.#window.advance(sizeBytes);
    if (hasChecksum) this.#checksum.update(piece);
    if (sizeBytes > 0) take(piece);
  }
}
