import type { BlockingSource } from '../base/streams/blocking-source.ts';

/** The functions that a JIT made: columns, in the order of the file, so that file offsets ascend. */
export interface JitFunctionColumns {
  /** Where the code begins in the dump. */
  readonly fileOffsets: readonly number[];
  readonly sizesBytes: readonly number[];
  /** A function's lines are those from here on, up to the next function's. */
  readonly firstLines: readonly number[];
  /** Where the name is in {@link JitDump.names}. */
  readonly nameOffsets: readonly number[];
  readonly nameLengths: readonly number[];
}

/** Lines of all functions: columns, ascending by offset within a function. */
export interface JitLineColumns {
  /** Offset of the line's code from its function's start. */
  readonly offsets: readonly number[];
  readonly lines: readonly number[];
  /** 0 where unknown. */
  readonly columns: readonly number[];
  /** Index into {@link JitDump.files}. */
  readonly files: readonly number[];
}

/** How functions are unwound, as far as the JIT has told (JIT_CODE_UNWINDING_INFO). */
export interface JitUnwinding {
  readonly littleEndian: boolean;
  /** `.eh_frame` of all functions, one after the other. */
  readonly bytes: Uint8Array;
  /** By function: where its bytes begin, and how many there are; 0 for none. */
  readonly offsets: readonly number[];
  readonly sizesBytes: readonly number[];
}

/** The code of functions without unwinding information: what it does tells how they are unwound. Only for x86-64, on which this was tried. */
export interface JitCodeBytes {
  /** One function after the other. */
  readonly bytes: Uint8Array;
  /** By function: where its bytes begin; −1 if they were not kept. */
  readonly offsets: readonly number[];
}

/** When code was placed where: columns with an element for each LOAD and MOVE, in the order of the file. */
export interface JitPlacements {
  /** CLOCK_MONOTONIC in nanoseconds, as two words. */
  readonly timeLo: readonly number[];
  readonly timeHi: readonly number[];
  /** Run-time address; plus the function's size, it is within 2^53. */
  readonly addresses: readonly number[];
  /** Index into {@link JitDump.functions}. */
  readonly functions: readonly number[];
}

/**
 * Opens the jitdump file that a process has mapped.
 * @param path as recorded; its name is one that {@link jitDumpPid} knows
 * @param pid of that process
 * @returns the file, to be closed by the caller; why there is one that is not trusted; undefined if there is none
 * @throws PerfconvError `io` when the system refuses to open any file
 */
export type OpenJitDump = (path: string, pid: number) => BlockingSource | RefusedJitDump | undefined;

/** A dump that exists, but is not trusted. */
export interface RefusedJitDump {
  readonly name: string;
  /** Why, in words. */
  readonly refusal: string;
}

/** What a JIT dumped about its code. */
export interface JitDump {
  /** What it was read from. */
  readonly name: string;
  /** Whether times are those of an architecture's own counter. */
  readonly hasArchTimes: boolean;
  readonly functions: JitFunctionColumns;
  /** The bytes of the functions' names, as they are in the dump. */
  readonly names: Uint8Array;
  readonly placements: JitPlacements;
  readonly lines: JitLineColumns;
  readonly files: readonly string[];
  readonly unwinding: JitUnwinding;
  readonly code: JitCodeBytes;
  /** How many records made no sense, and were left out. */
  readonly damagedRecords: number;
  /** What is wrong with the first of them, or with what follows the last record; empty if nothing is. */
  readonly damage: string;
}
