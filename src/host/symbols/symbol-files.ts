import { accessSync, type BigIntStats, closeSync, constants, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { ByteView } from '../../base/bytes/byte-view.ts';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import { BufferSource } from '../../base/streams/byte-source.ts';
import type { AbortSignalLike } from '../../base/streams/cancellation.ts';
import type { Compression } from '../../base/streams/decompressor.ts';
import { findBuildId } from '../../elf/build-id.ts';
import type { DebugFileKind, FetchedFile, FileStamp, JitFile, RecordedProcess, SymbolFiles } from '../../symbolizer/inputs/symbol-files.ts';
import { decompress } from '../compression/decompress.ts';
import { homeDirectory } from '../system/home-directory.ts';
import { ioError, isForbidden, isOutOfDescriptors } from '../system/io-error.ts';
import { OpenDescriptors } from '../system/open-descriptors.ts';
import type { OpenedFiles } from '../system/opened-files.ts';
import { systemPath } from '../system/system-path.ts';
import type { DebuginfodClient } from './debuginfod.ts';
import { openJitFile } from './jit-file.ts';
import { openRegularFile, sourceOf } from './regular-file.ts';
import type { SectionCache } from './section-cache.ts';

const KERNEL_NOTES = '/sys/kernel/notes';
const MAX_VDSO_SIZE_BYTES = 1 << 20;

/** The symbol files of the machine that Node runs on. */
export class NodeSymbolFiles implements SymbolFiles {
  /** Absent without debuginfod. A method, so that classes that extend this one can have their own. */
  fetch?(buildId: string, kind: DebugFileKind, signal?: AbortSignalLike): Promise<FetchedFile>;

  readonly #opened: OpenedFiles | undefined;
  readonly #descriptors = new OpenDescriptors();
  readonly #sectionCache: SectionCache | undefined;
  /** The last path at which {@link open} found nothing; undefined at first. */
  #lastAbsent: string | undefined;

  /**
   * @param debuginfod asked for what is not on this machine; without it, nothing is fetched
   * @param opened gets the files that are opened
   * @param sectionCache has what was decompressed before; without it, everything is decompressed again
   */
  constructor(debuginfod?: DebuginfodClient, opened?: OpenedFiles, sectionCache?: SectionCache) {
    this.#opened = opened;
    this.#sectionCache = sectionCache;
    if (debuginfod === undefined) return;
    this.fetch = (buildId, kind, signal) => debuginfod.fetch(buildId, kind, opened, this.#descriptors, signal);
  }

  async open(path: string): Promise<ByteSource | undefined> {
    return openRegularFile(path, this.#opened, this.#descriptors, () => {
      this.#lastAbsent = path;
    });
  }

  async openJitFile(path: string, writer: RecordedProcess | undefined): Promise<JitFile | undefined> {
    const opened = openJitFile(path, writer);
    if (opened === undefined) return undefined;
    const { descriptor, remark } = opened;
    if (descriptor === undefined) return { source: undefined, remark };
    const source = sourceOf(path, descriptor, this.#opened);
    return source && { source, remark };
  }

  async isForbidden(path: string): Promise<boolean> {
    // This is asked about each place where nothing was opened: hundreds, almost all of which do not exist.
    if (path === this.#lastAbsent) return false;
    try {
      const place = systemPath(path);
      if (statSync(place, { throwIfNoEntry: false }) !== undefined) accessSync(place, constants.R_OK);
      return false;
    } catch (error) {
      return isForbidden(error);
    }
  }

  async stamp(path: string): Promise<FileStamp | undefined> {
    try {
      const stats = statSync(systemPath(path), { bigint: true, throwIfNoEntry: false });
      return stats && stampOf(stats);
    } catch {
      return undefined;
    }
  }

  decompress(compression: Compression, bytes: Uint8Array, maxSizeBytes: number, isAhead?: boolean): Promise<Uint8Array> {
    return (this.#sectionCache ?? { decompress }).decompress(compression, bytes, maxSizeBytes, isAhead);
  }

  async ownVdso(): Promise<ByteSource | undefined> {
    try {
      const range = /^([0-9a-f]+)-([0-9a-f]+) .*\[vdso\]$/m.exec(readFileSync('/proc/self/maps', 'latin1'));
      if (range === null) return undefined;
      const start = BigInt(`0x${range[1]}`);
      const bytes = new Uint8Array(Math.min(Number(BigInt(`0x${range[2]}`) - start), MAX_VDSO_SIZE_BYTES));
      const memory = openSync('/proc/self/mem', 'r');
      try {
        return new BufferSource(bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, start)), '[vdso]');
      } finally {
        closeSync(memory);
      }
    } catch (error) {
      if (isOutOfDescriptors(error)) throw ioError(error, '[vdso]');
      return undefined; // Not Linux, or a sandbox without /proc: there is no vdso to read.
    }
  }

  async runningKernel(): Promise<{ osRelease: string; buildId: string } | undefined> {
    if (process.platform !== 'linux') return undefined;
    return { osRelease: release(), buildId: kernelBuildId() };
  }

  defaultBuildIdDir(): string | undefined {
    const home = homeDirectory();
    return home === '' ? undefined : join(home, '.debug');
  }
}

function kernelBuildId(): string {
  try {
    const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
    return findBuildId(new ByteView(new Uint8Array(readFileSync(KERNEL_NOTES)), isLittleEndian)) ?? '';
  } catch {
    return ''; // Kernels may be built without the notes, and containers may hide them.
  }
}

/** Inode numbers are unsigned (overlayfs with `xino` sets the uppermost bits), but Node reads them as signed. */
export function stampOf({ ino, mtimeNs }: Pick<BigIntStats, 'ino' | 'mtimeNs'>): FileStamp {
  return { inode: `${BigInt.asUintN(64, ino)}`, modifiedNs: mtimeNs };
}
