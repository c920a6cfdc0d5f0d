import { ZstdBlockDecoder } from './block.ts';
import type { BlockCore } from './block-core.ts';
import { ZstdChecksum } from './checksum.ts';
import { ZstdFrames, zstdError } from './frames.ts';
import { openCore } from './open-core.ts';
import type { ZstdStream } from './stream.ts';
import { ZstdWindow } from './window.ts';

/**
 * Decompresses zstd. Every length is checked and every bit accounted for: damage is reported, as the
 * reference decoder reports it, and costs neither more time nor more memory than what is whole. Memory is what matches may
 * reach back, at most 1.5 times the frame's window.
 */
export class ZstdDecoder implements ZstdStream {
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

  get isAtFrameEnd(): boolean {
    return this.#frames.isAtFrameEnd;
  }

  /** Async only because other streams are: its work is done when it returns. */
  async push(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void> {
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

  close(): void {
    // Nothing is held that the garbage collector would not take.
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
    const piece = this.#core.window.subarray(end, end + sizeBytes);
    this.#window.advance(sizeBytes);
    if (hasChecksum) this.#checksum.update(piece);
    if (sizeBytes > 0) take(piece);
  }
}
