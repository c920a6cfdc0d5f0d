import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { BlockingSource } from '../../base/streams/blocking-source.ts';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import { BufferSource } from '../../base/streams/byte-source.ts';
import { hasElfMagic } from '../../elf/elf-file.ts';
import { statsIdentity } from '../system/file-identity.ts';
import { ioError, isOutOfDescriptors } from '../system/io-error.ts';
import type { OpenDescriptors, SuspendableFile } from '../system/open-descriptors.ts';
import type { OpenedFiles } from '../system/opened-files.ts';
import { storedBytesOf } from '../system/stored-bytes.ts';
import { systemPath } from '../system/system-path.ts';

/** The kallsyms of kernels with every symbol have some 20 MB. */
const MAX_MADE_SIZE_BYTES = 256 << 20;
/** Most have less. A large buffer for each would have V8 look for garbage again and again. */
const FIRST_MADE_SIZE_BYTES = 64 << 10;
/**
 * A file may have holes: terabytes of zeros that are stored nowhere. It is taken to end after this many bytes plus this many times what is stored of it: no
 * binary has such holes, and compressing file systems do not shrink one as much.
 */
const FREE_HOLE_BYTES = 64 << 20;
const MAX_SIZE_TIMES_STORED = 64;

/**
 * Opens a file for reading if it is a regular one, since paths in a recording are not to be trusted. A device is not opened, since even that may do something
 * to it, and opening a FIFO must not wait for a writer.
 * @param opened notes the file
 * @param descriptors may close the file between reads; without them, it stays open
 * @param onAbsent called if nothing is at the path
 * @returns undefined if it does not exist, is not readable or not a regular file
 * @throws PerfconvError `io` when the process can open no more files
 */
export function openRegularFile(
  path: string,
  opened?: OpenedFiles,
  descriptors?: OpenDescriptors,
  onAbsent?: () => void,
): DescriptorSource | BufferSource | undefined {
  let descriptor: number;
  try {
    // Most places where files are looked for have none, and making an error takes much longer than asking the system.
    const stats = statSync(systemPath(path), { throwIfNoEntry: false });
    if (stats === undefined) onAbsent?.();
    if (!stats?.isFile()) return undefined;
    descriptor = descriptors === undefined ? openToRead(path) : descriptors.opening(() => openToRead(path));
  } catch (error) {
    if (isOutOfDescriptors(error)) throw ioError(error, path);
    return undefined;
  }
  // What is below /proc may be gone when the process ends, so it stays open.
  return sourceOf(path, descriptor, opened, path.startsWith('/proc/') ? undefined : descriptors);
}

function openToRead(path: string): number {
  return openSync(systemPath(path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
}

/**
 * The content of an open descriptor, if it is a regular file. The descriptor is closed with the source, or at once if there is none.
 * @param opened notes the file
 * @param descriptors see {@link openRegularFile}
 */
export function sourceOf(path: string, descriptor: number, opened?: OpenedFiles, descriptors?: OpenDescriptors): DescriptorSource | BufferSource | undefined {
  try {
    const stat = fstatSync(descriptor, { bigint: true });
    if (stat.isFile()) opened?.add(path, stat);
    if (stat.isFile() && stat.size > 0n) {
      const size = sizeWithoutHoles(stat);
      return descriptors === undefined ? new DescriptorSource(path, descriptor, size) : new ReopenedSource(path, descriptor, size, stateOf(stat), descriptors);
    }
    // Files in /proc and /sys say that they are empty; their content is made while it is read.
    const content = stat.isFile() ? readMade(descriptor) : undefined;
    closeSync(descriptor);
    return content && new BufferSource(content, path);
  } catch {
    closeSync(descriptor);
    return undefined;
  }
}

function sizeWithoutHoles(stats: BigIntStats): number {
  return Math.min(Number(stats.size), FREE_HOLE_BYTES + storedBytesOf(stats) * MAX_SIZE_TIMES_STORED);
}

/** A source to be read synchronously; undefined for a file whose content was made while it was read. */
export function blocking(source: DescriptorSource | BufferSource | undefined): BlockingSource | undefined {
  if (source === undefined || source instanceof DescriptorSource) return source;
  return source.sizeBytes === 0 ? { name: source.name, sizeBytes: 0, readNow: () => 0, close: () => {} } : undefined;
}

/**
 * All bytes of a file whose size is not known; undefined if there are more than in any list of symbols: some files never end. Long ones that are neither text
 * nor a binary are read no further than their beginning: a recording may have thousands of paths like `/dev/fd/../pagemap`.
 */
function readMade(descriptor: number): Uint8Array | undefined {
  let bytes = new Uint8Array(FIRST_MADE_SIZE_BYTES);
  for (let size = 0; ; ) {
    // The kernel returns a page or so at a time.
    const count = readSync(descriptor, bytes, size, bytes.length - size, null);
    if (count === 0) return bytes.subarray(0, size);
    size += count;
    if (size < bytes.length) continue;
    if (size >= MAX_MADE_SIZE_BYTES || (size === FIRST_MADE_SIZE_BYTES && bytes.includes(0) && !hasElfMagic(bytes))) return undefined;
    const larger = new Uint8Array(2 * size);
    larger.set(bytes);
    bytes = larger;
  }
}

/** Random access to an open file. Reads block: symbol files are local, and their parts are read one after the other anyway. */
export class DescriptorSource implements ByteSource, BlockingSource {
  readonly name: string;
  readonly sizeBytes: number;
  /** −1 while it is not open. */
  protected descriptor: number;

  constructor(name: string, descriptor: number, sizeBytes: number) {
    this.name = name;
    this.sizeBytes = sizeBytes;
    this.descriptor = descriptor;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    return this.readNow(position, target);
  }

  readNow(position: number, target: Uint8Array): number {
    // As in FileSource: a position from a damaged file may be anything.
    if (!(position >= 0 && position < this.sizeBytes)) return 0;
    try {
      return readSync(this.descriptor, target, 0, target.length, position);
    } catch (cause) {
      throw new PerfconvError('io', 'cannot be read', { file: this.name, offset: position }, { cause });
    }
  }

  async close(): Promise<void> {
    this.closeNow();
  }

  protected closeNow(): void {
    if (this.descriptor >= 0) closeSync(this.descriptor);
    this.descriptor = -1;
  }
}

/** A file that may be closed between two reads and is reopened for the next. */
class ReopenedSource extends DescriptorSource implements SuspendableFile {
  readonly #state: string;
  readonly #descriptors: OpenDescriptors;
  #isClosed = false;

  constructor(path: string, descriptor: number, sizeBytes: number, state: string, descriptors: OpenDescriptors) {
    super(path, descriptor, sizeBytes);
    this.#state = state;
    this.#descriptors = descriptors;
    descriptors.use(this);
  }

  override readNow(position: number, target: Uint8Array): number {
    if (!this.#isClosed) {
      if (this.descriptor < 0) this.#reopen();
      this.#descriptors.use(this);
    }
    return super.readNow(position, target);
  }

  suspend(): void {
    this.closeNow();
  }

  override async close(): Promise<void> {
    this.#isClosed = true;
    this.#descriptors.forget(this);
    this.closeNow();
  }

  #reopen(): void {
    let isSame: boolean;
    try {
      this.descriptor = this.#descriptors.opening(() => openToRead(this.name));
      isSame = stateOf(fstatSync(this.descriptor, { bigint: true })) === this.#state;
    } catch (error) {
      this.closeNow();
      throw ioError(error, this.name);
    }
    if (isSame) return;
    this.closeNow();
    throw new PerfconvError('io', 'was replaced while it was being read', { file: this.name });
  }
}

/** Changes with a file's content. Size and time are needed, too: another file may get the inode number of a removed one. */
function stateOf(stats: BigIntStats): string {
  return `${statsIdentity(stats)}:${stats.size}:${stats.mtimeNs}`;
}
