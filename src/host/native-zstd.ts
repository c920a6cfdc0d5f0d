import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { PerfconvError } from '../errors.ts';
import { COMPRESSED_BLOCK, MAX_BLOCK_BYTES, ZstdFrames, zstdError } from '../perfdata/zstd-frames.ts';
import type { OpenZstdStream, ZstdStream } from '../perfdata/zstd-stream.ts';

/** What node:zlib has from Node 22.15 and 23.8 on. */
interface ZstdOfZlib {
  readonly createZstdDecompress?: (options: { readonly chunkSize: number }) => Transform;
}

/** Parts smaller than this are not worth a way to zlib's thread and back each … */
const SMALL_BATCH_BYTES = 256;
/** … but so many are sent each by itself all the same, see {@link NativeZstdStream}. */
const MAX_SMALL_BATCHES = 1000;

/** zstd as this Node brings it; undefined where it does not. */
export function nativeZstd(): OpenZstdStream | undefined {
  const { createZstdDecompress } = zlib as ZstdOfZlib;
  return createZstdDecompress && (async () => new NativeZstdStream(createZstdDecompress({ chunkSize: MAX_BLOCK_BYTES })));
}

/**
 * Decompresses zstd in zlib's thread. zlib gets whole parts of the stream only, so that what it gives after each push is
 * what our own decoder gives. It forgets what stood before damage in the same write: therefore each block goes by itself. A
 * hostile stream of very many tiny blocks is the exception, for time's sake: there it may lose some more.
 */
class NativeZstdStream implements ZstdStream {
  readonly #frames = new ZstdFrames();
  readonly #zlib: Transform;
  #take: (piece: Uint8Array) => void = () => {};
  /** Ends the wait for zlib. */
  #settle: (error?: unknown) => void = () => {};
  #failure: unknown;
  #smallBatches = 0;

  constructor(decompress: Transform) {
    this.#zlib = decompress;
    decompress.on('data', (piece: Uint8Array) => this.#pass(piece));
    // Always listened to: an error that no one waits for must not end the program.
    decompress.on('error', (error) => this.#fail(brokenStream(error)));
    decompress.on('close', () => this.#fail(zstdError('it was closed')));
  }

  get isAtFrameEnd(): boolean {
    return this.#frames.isAtFrameEnd;
  }

  async push(bytes: Uint8Array, take: (piece: Uint8Array) => void): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#take = take;
    this.#frames.push(bytes);
    const batch: Uint8Array[] = [];
    let batchBytes = 0;
    const send = async (): Promise<void> => {
      if (batchBytes < SMALL_BATCH_BYTES) this.#smallBatches++;
      const sent = Buffer.concat(batch);
      batch.length = 0;
      batchBytes = 0;
      await this.#write(sent);
    };
    try {
      let hasBlock = false;
      while (this.#frames.next()) {
        const { part, blockType, bytes: partBytes } = this.#frames;
        // Only these can turn out to be broken.
        const mayFail = part === 'checksum' || (part === 'block' && blockType === COMPRESSED_BLOCK);
        const isWorthIt = batchBytes >= SMALL_BATCH_BYTES || this.#smallBatches < MAX_SMALL_BATCHES;
        // Node does not go on behind the end of a frame within a write.
        if ((hasBlock && ((mayFail && isWorthIt) || part === 'frame')) || batchBytes >= MAX_BLOCK_BYTES) {
          await send();
          hasBlock = false;
        }
        batch.push(partBytes);
        batchBytes += partBytes.length;
        if (part !== 'frame') hasBlock = true;
      }
      if (batchBytes > 0) await send();
    } catch (error) {
      // Of what stands before a part that we refuse, nothing is held back.
      if (batchBytes > 0 && this.#failure === undefined) await send();
      this.#failure ??= error;
      throw error;
    }
  }

  close(): void {
    this.#zlib.destroy();
  }

  /** Waits until zlib has given all that these bytes are good for. */
  async #write(bytes: Uint8Array): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#settle = (error) => (error === undefined ? resolve() : reject(error));
      this.#zlib.write(bytes, (error) => {
        if (error) this.#fail(brokenStream(error));
        else this.#settle(this.#failure);
      });
    });
    // What was not asked for yet goes to `data` here.
    while (this.#zlib.read() !== null);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Called out of zlib's depths, where nothing may be thrown. */
  #pass(piece: Uint8Array): void {
    if (this.#failure !== undefined) return;
    try {
      for (let at = 0; at < piece.length; at += MAX_BLOCK_BYTES) this.#take(piece.subarray(at, at + MAX_BLOCK_BYTES));
    } catch (error) {
      this.#failure = error;
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#settle(this.#failure);
  }
}

function brokenStream(error: unknown): PerfconvError {
  if (error instanceof PerfconvError) return error;
  return zstdError(error instanceof Error ? error.message : String(error));
}
