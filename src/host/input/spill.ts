import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { ByteSource, RecordingSource } from '../../base/streams/byte-source.ts';
import { ioError, reasonOf } from '../system/io-error.ts';
import { randomHex } from '../system/random-hex.ts';
import { MemorySource } from './memory-source.ts';

/** Anything larger goes to a file, so that memory does not grow with the recording. */
const MEMORY_BYTES = 64 << 20;
const BLOCK_BYTES = 16 << 20;
const COPY_BYTES = 1 << 20;

/**
 * Reads `stream` from its beginning to its end and keeps it, so that it can be read at any place: in memory, or, beyond `memoryBytes`, in a file in the
 * system's temporary directory. The file has no name if the system allows that, and is gone when the source is closed or the program ends. The stream is
 * closed.
 * @throws PerfconvError `io`
 */
export async function keepWhole(stream: RecordingSource, memoryBytes = MEMORY_BYTES, blockBytes = BLOCK_BYTES): Promise<RecordingSource> {
  try {
    const blocks: Uint8Array[] = [];
    let sizeBytes = 0;
    while (sizeBytes < memoryBytes) {
      const block = new Uint8Array(blockBytes);
      const filled = await fill(stream, sizeBytes, block);
      if (filled > 0) blocks.push(block.subarray(0, filled));
      sizeBytes += filled;
      if (filled < block.length) return new MemorySource(stream.name, blocks, stream.storedBytes);
    }
    return await TemporaryFile.from(stream, blocks, sizeBytes);
  } finally {
    await stream.close();
  }
}

/** Fills `target` from `position` on; reads less only if the source ends. @returns bytes read */
async function fill(source: ByteSource, position: number, target: Uint8Array): Promise<number> {
  let filled = 0;
  while (filled < target.length) {
    const count = await source.readAt(position + filled, target.subarray(filled));
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** A file that nobody else sees, or at least not for long. */
class TemporaryFile implements RecordingSource {
  readonly name: string;
  storedBytes: number | undefined;
  sizeBytes = 0;
  readonly #file: FileHandle;
  readonly #path: string;
  /** Whether it still has a name. On some file systems, Windows does not remove open files. */
  #hasName = true;
  readonly #remove = (): void => {
    try {
      rmSync(this.#path, { force: true });
      this.#hasName = false;
    } catch {
      // Tried again at the end.
    }
  };

  private constructor(name: string, file: FileHandle, path: string) {
    this.name = name;
    this.#file = file;
    this.#path = path;
    this.#remove();
    if (this.#hasName) process.once('exit', this.#remove);
  }

  /** @param stream its bytes from position `blocksBytes` on follow `blocks` */
  static async from(stream: RecordingSource, blocks: readonly Uint8Array[], blocksBytes: number): Promise<TemporaryFile> {
    const directory = tmpdir();
    const path = join(directory, `perfconv-${randomHex(12)}`);
    let target: TemporaryFile | undefined;
    try {
      target = new TemporaryFile(stream.name, await open(path, 'wx+', 0o600), path);
      for (const block of blocks) await target.#append(block);
      const buffer = new Uint8Array(COPY_BYTES);
      for (let position = blocksBytes; ; ) {
        const count = await stream.readAt(position, buffer);
        if (count === 0) break;
        await target.#append(buffer.subarray(0, count));
        position += count;
      }
      target.storedBytes = stream.storedBytes;
      return target;
    } catch (error) {
      await target?.close();
      if (error instanceof PerfconvError) throw error;
      // The file's own name says nothing to users, who did not ask for it.
      const message = `cannot be kept in the temporary directory ${directory} (TMPDIR): ${reasonOf(error)}`;
      throw new PerfconvError('io', message, { file: stream.name }, { cause: error });
    }
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    // Positions come from the recording, which may say anything.
    if (!(position >= 0 && position < this.sizeBytes)) return 0;
    try {
      return (await this.#file.read(target, 0, target.length, position)).bytesRead;
    } catch (error) {
      throw ioError(error, this.name);
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
    if (!this.#hasName) return;
    process.off('exit', this.#remove);
    this.#remove();
  }

  async #append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.sizeBytes);
      done += bytesWritten;
      this.sizeBytes += bytesWritten;
    }
  }
}
