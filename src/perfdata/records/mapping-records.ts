import { type ByteView, hexOf } from '../../bytes/byte-view.ts';
import { PERF_RECORD_MISC_BUILD_ID_SIZE, PERF_RECORD_MISC_MMAP_BUILD_ID, PERF_RECORD_MISC_MMAP_DATA, PERF_RECORD_MMAP2 } from '../constants.ts';

/** PERF_RECORD_MMAP and MMAP2: memory of a process (or the kernel) was mapped. Addresses are signed doubles. */
export interface MmapRecord {
  /** −1 for the kernel's own maps. */
  readonly pid: number;
  readonly tid: number;
  readonly start: number;
  readonly length: number;
  /** Offset of `start` in the file; for the kernel's map, the run-time address of its reference symbol. */
  readonly pageOffset: number;
  readonly filename: string;
  /**
   * `major:minor:inode` of MMAP2; empty where the record has none. The inode's generation is left out: perf itself writes
   * 0 there for what was mapped before, the kernel the real one.
   */
  readonly fileIdentity: string;
  /** Lower-case hex; empty where the record has none. */
  readonly buildId: string;
  /** Whether code can run there. MMAP does not tell the protection, but sets a bit of misc where it is data. */
  readonly isExecutable: boolean;
}

const PROT_EXEC = 4;
const MMAP_FILENAME = 40;
const MMAP2_FILENAME = 72;

/** Bytes that the fixed fields need, record header included. */
export function mmapFixedBytes(type: number): number {
  return type === PERF_RECORD_MMAP2 ? MMAP2_FILENAME : MMAP_FILENAME;
}

/** Reads MMAP or MMAP2 at `at`; `end` is just behind its file name. Source: perf_event.h. */
export function readMmap(view: ByteView, at: number, end: number, type: number, misc: number): MmapRecord {
  const isMmap2 = type === PERF_RECORD_MMAP2;
  const hasBuildId = isMmap2 && (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) !== 0;
  let fileIdentity = '';
  if (isMmap2 && !hasBuildId) fileIdentity = `${view.u32(at + 40)}:${view.u32(at + 44)}:${view.big(at + 48)}`;
  return {
    pid: view.i32(at + 8),
    tid: view.i32(at + 12),
    start: view.i64(at + 16),
    length: view.u64(at + 24),
    pageOffset: view.i64(at + 32),
    filename: view.text(at + (isMmap2 ? MMAP2_FILENAME : MMAP_FILENAME), end),
    fileIdentity,
    buildId: hasBuildId ? hexOf(view.bytes.subarray(at + 44, at + 44 + Math.min(20, view.u8(at + 40)))) : '',
    isExecutable: isMmap2 ? (view.u32(at + 64) & PROT_EXEC) !== 0 : (misc & PERF_RECORD_MISC_MMAP_DATA) === 0,
  };
}

/** PERF_RECORD_HEADER_BUILD_ID, and an entry of the BUILD_ID feature: which build a file was. */
export interface BuildIdRecord {
  readonly pid: number;
  /** Lower-case hex. */
  readonly buildId: string;
  readonly filename: string;
  readonly misc: number;
}

export const BUILD_ID_FIXED_BYTES = 36;

/**
 * Reads a build-id record at `at`, record header included; `end` is just behind it.
 * Old writers do not say how long the id is: then trailing zeros are stripped, four bytes at a time.
 */
export function readBuildId(view: ByteView, at: number, end: number, misc: number): BuildIdRecord {
  const id = view.bytes.subarray(at + 12, at + 32);
  let length = 20;
  if ((misc & PERF_RECORD_MISC_BUILD_ID_SIZE) !== 0) length = Math.min(20, view.u8(at + 32));
  else while (length > 0 && id.subarray(length - 4, length).every((byte) => byte === 0)) length -= 4;
  return { pid: view.i32(at + 8), buildId: hexOf(id.subarray(0, length)), filename: view.text(at + BUILD_ID_FIXED_BYTES, end), misc };
}

/** PERF_RECORD_KSYMBOL: kernel code came or went at run time (BPF program, trampoline). */
export interface KsymbolRecord {
  readonly address: number;
  readonly length: number;
  readonly isUnregister: boolean;
  readonly name: string;
}

export const KSYMBOL_FIXED_BYTES = 24;

export function readKsymbol(view: ByteView, at: number, end: number): KsymbolRecord {
  return {
    address: view.i64(at + 8),
    length: view.u32(at + 16),
    isUnregister: (view.u16(at + 22) & 1) !== 0,
    name: view.text(at + KSYMBOL_FIXED_BYTES, end),
  };
}
