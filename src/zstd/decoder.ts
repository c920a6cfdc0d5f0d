import { ZstdBlockDecoder } from './block.ts';
import { ZstdChecksum } from './checksum.ts';
import { ZstdFrames, zstdError } from './frames.ts';
import { PlainCore } from './plain-core.ts';
import type { ZstdStream } from './stream.ts';
import { ZstdWindow } from './window.ts';

/**
 * Decompresses zstd in JavaScript. Every length is checked and every bit accounted for: damage is reported, as the
 * reference decoder reports it, and costs neither more time nor more memory than what is whole. Memory is what matches may
 * reach back, at most 1.5 times the frame's window.
 */
export class ZstdDecoder implements ZstdStream {
  readonly #frames = new ZstdFrames();
  readonly #core = new PlainCore();
  readonly #window = new ZstdWindow(this.#core);
  readonly #blocks = new ZstdBlockDecoder(this.#core, this.#window);
  readonly #checksum = new ZstdChecksum();
  /** Bytes of the current frame so far. */
  #contentBytes = 0;
  #failure: unknown;

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
