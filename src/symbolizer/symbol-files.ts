import type { ByteSource } from '../base/byte-source.ts';
import type { Decompressor } from '../base/decompressor.ts';
import type { PlaceOutcome } from './search/search-log.ts';

/** What the symbolizer asks of the machine it runs on. Paths use `/`. */
export interface SymbolFiles extends Decompressor {
  /**
   * Opens a file, to be closed by the caller; undefined: it does not exist, is not readable or not a regular file.
   * @throws PerfconvError `io` where this says nothing of the file: too many are open
   */
  open(path: string): Promise<ByteSource | undefined>;
  /**
   * Opens a file that a process left for whoever profiles it (a JIT's list of functions), where others may leave files, too.
   * @param writer the process; undefined where whoever wrote it is believed
   * @returns undefined as {@link open}. Absent where nobody knows whose a file is: then {@link open} does
   */
  openLeft?(path: string, writer: RecordedProcess | undefined): Promise<LeftFile | undefined>;
  /** Whether {@link open} did not open a file because this user may not read it, or not look there; absent where nobody knows. */
  isForbidden?(path: string): Promise<boolean>;
  /** What tells whether a file is still the one that was recorded; undefined when it does not exist, absent where nobody knows. */
  stamp?(path: string): Promise<FileStamp | undefined>;
  /** The vdso of this process, an ELF file in memory; undefined where there is none. */
  ownVdso(): Promise<ByteSource | undefined>;
  /** The running kernel; undefined when it is not Linux. `buildId` is lower-case hex, empty when unknown. */
  runningKernel(): Promise<{ readonly osRelease: string; readonly buildId: string } | undefined>;
  /** Where `perf` keeps its build-id cache unless told otherwise, `~/.debug`; undefined without a home directory. */
  defaultBuildIdDir(): string | undefined;
  /** Asks servers (debuginfod) for a file, by its build id alone; absent where none is to be asked. Never throws. */
  fetch?(buildId: string, kind: DebugFileKind): Promise<FetchedFile>;
}

/** A process as a recording knows it. */
export interface RecordedProcess {
  readonly pid: number;
  /** A time at which the recording had ended, nanoseconds since 1970; undefined when unknown. */
  readonly recordedUntilNs: bigint | undefined;
}

/** A file that a process left, or that somebody else may have left under its name. */
export interface LeftFile {
  /** To be closed by the caller; undefined where it is not believed. */
  readonly source: ByteSource | undefined;
  /** Why it is not believed, or what is not sure of it; empty where there is nothing to say. */
  readonly remark: string;
}

/** What changes when a file is made anew. */
export interface FileStamp {
  /** Its number in its file system, decimal. */
  readonly inode: string;
  /** When its content was changed last, nanoseconds since 1970. */
  readonly modifiedNs: bigint;
}

/** What a debuginfod server has of a build id: the file with the debug information, or the binary itself. */
export type DebugFileKind = 'debuginfo' | 'executable';

/** What servers answered. */
export interface FetchedFile {
  /** To be closed by the caller; undefined when no server has it. */
  readonly source: ByteSource | undefined;
  /** Where it was asked for, and what came of it. */
  readonly places: readonly { readonly place: string; readonly outcome: PlaceOutcome; readonly detail: string }[];
}
