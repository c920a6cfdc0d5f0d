import { ZstdBlockDecoder } from './block.ts';
import type { BlockCore } from './block-core.ts';
import { ZstdChecksum } from './checksum.ts';
import { ZstdFrames, zstdError } from './frames.ts';
import { openCore } from './open-core.ts';
import { ZstdWindow } from './window.ts';

/**
 * Decompresses one continuous zstd stream, given in pieces as they come (perf: one per data file, over all COMPRESSED records).
 * Every length is checked and every bit accounted for: damage is reported, as the reference decoder reports it, and costs
 * neither more time nor more memory than what is whole. Memory is what matches may reach back, and half as much or 1 MiB again.
 */
export class ZstdDecoder {
  readonly #frames = new ZstdFrames();
  readonly #core: BlockCore;
  readonly #window: ZstdWindow;
  readonly #blocks: ZstdBlockDecoder;
  readonly #checksum = new ZstdChecksum();
  /** Bytes of the current frame so far. */
  #contentBytes = 0;
  #failure: unknown;

  /** @param core for this stream alone */
  constructor(core: BlockCore = openCore()) {
    this.#core = core;
    this.#window = new ZstdWindow(core);
    this.#blocks = new ZstdBlockDecoder(core, this.#window);
  }

  /** Whether the stream could end here: neither within a frame nor within a frame's header. perf never ends its frame. */
  get isAtFrameEnd(): boolean {
    return this.#frames.isAtFrameEnd;
  }

  /**
   * Decompresses what `bytes` complete, and calls `take` with piece after piece, at most 128 KiB each; a piece is gone after
   * `take` returns (copy it to keep it). Nothing else may be pushed before it is done.
   * @throws PerfconvError `damaged` when the stream is broken, needs a dictionary or reaches back more than 128 MiB: what
   * was given before remains valid
   */
  push(bytes: Uint8Array, take: (piece: Uint8Array) => void): void {
    // After damage nothing can be read.
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
      throw zstdError(`a frame of ${contentBytes} bytes has ${this.#contentBytes}`);
    }
    const { end } = this.#window;
    const piece = this.#core.areas.window.subarray(end, end + sizeBytes);
    this.#window.advance(sizeBytes);
    if (hasChecksum) this.#checksum.update(piece);
    if (sizeBytes > 0) take(piece);
  }
}
