import type { BlockingSource } from '../../base/streams/blocking-source.ts';
import type { ByteSource } from '../../base/streams/byte-source.ts';
import type { AbortSignalLike } from '../../base/streams/cancellation.ts';
import type { Decompressor } from '../../base/streams/decompressor.ts';
import type { PlaceOutcome } from './search-log.ts';

/** What the symbolizer needs from the machine it runs on. Paths use `/`. */
export interface SymbolFiles extends Decompressor {
  /**
   * Opens a file, to be closed by the caller; undefined if it does not exist, is not readable or is not a regular file.
   * @throws PerfconvError `io` for failures that say nothing about the file, such as too many open files
   */
  open(path: string): Promise<ByteSource | undefined>;
  /**
   * Opens a file that a process left for profilers (a JIT's list of functions) in a directory where others may leave
   * files, too.
   * @param writer the process; undefined if any writer is trusted
   * @returns undefined as for {@link open}. Absent if owners of files are unknown: then {@link open} is used
   */
  openJitFile?(path: string, writer: RecordedProcess | undefined): Promise<JitFile | undefined>;
  /**
   * Opens a jitdump file. Its bytes must be there at once, since it is read while records are replayed, when nothing can be awaited.
   * @param path as recorded
   * @returns undefined if there is none, or its bytes are not there. Absent if jitdump files are not to be read, or come from elsewhere
   */
  openJitDump?(path: string): BlockingSource | undefined;
  /** Whether {@link open} did not open a file because this user or program may not read it or its directory; absent if that is unknown. */
  isForbidden?(path: string): Promise<boolean>;
  /** What shows whether a file is still the one that was recorded; undefined when it does not exist, absent if that is unknown. */
  stamp?(path: string): Promise<FileStamp | undefined>;
  /** The vdso of this process, an ELF file in memory; undefined if there is none. */
  ownVdso(): Promise<ByteSource | undefined>;
  /** The running kernel; undefined when it is not Linux. `buildId` is lower-case hex, empty when unknown. */
  runningKernel(): Promise<{ readonly osRelease: string; readonly buildId: string } | undefined>;
  /** Where `perf` keeps its build-id cache unless told otherwise, `~/.debug`; undefined without a home directory. */
  defaultBuildIdDir(): string | undefined;
  /**
   * Asks servers (debuginfod) for a file by its build id; absent if no server is to be asked.
   * @param signal gives up the call that needs the file; undefined if that has none. A function of yours may declare it as `AbortSignal`
   * @throws PerfconvError `io` as {@link open}; the signal's reason
   */
  fetch?(buildId: string, kind: DebugFileKind, signal?: AbortSignalLike): Promise<FetchedFile>;
}

/** A process as a recording knows it. */
export interface RecordedProcess {
  /** Its id on the recording machine. */
  readonly pid: number;
  /** A time at which the recording had ended, nanoseconds since 1970; undefined when unknown. */
  readonly recordedUntilNs: bigint | undefined;
}

/** A file that a JIT has left for profilers, or that someone else may have left under the same name. */
export interface JitFile {
  /** To be closed by the caller; undefined if it is not trusted. */
  readonly source: ByteSource | undefined;
  /** Why it is not trusted, or what is uncertain about it; empty otherwise. */
  readonly remark: string;
}

/** What changes when a file is replaced or rewritten. */
export interface FileStamp {
  /** Its inode number, decimal. */
  readonly inode: string;
  /** When its content was last changed, nanoseconds since 1970. */
  readonly modifiedNs: bigint;
}

/** What a debuginfod server has for a build id: the file with the debug information, or the binary itself. */
export type DebugFileKind = 'debuginfo' | 'executable';

/** All of these, in the order in which servers are asked for them. */
export const SERVED_KINDS: readonly DebugFileKind[] = ['debuginfo', 'executable'];

/** What servers answered. */
export interface FetchedFile {
  /** To be closed by the caller; undefined when no server has it. */
  readonly source: ByteSource | undefined;
  /** Which servers were asked, and the outcome. */
  readonly places: readonly { readonly place: string; readonly outcome: PlaceOutcome; readonly detail: string }[];
}
