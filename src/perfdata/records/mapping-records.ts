import { type ByteView, hexOf } from '../../base/bytes/byte-view.ts';
import { bytes, padding, RecordLayout, text } from '../../base/bytes/record-layout.ts';
import { PROT_JIT_SYMFILE_MAP } from '../../simpleperf/constants.ts';
import { PERF_RECORD_MISC_BUILD_ID_SIZE, PERF_RECORD_MISC_MMAP_BUILD_ID, PERF_RECORD_MISC_MMAP_DATA, PERF_RECORD_MMAP2 } from '../abi/constants.ts';
import type { MappedFiles } from './mapped-files.ts';

/** What all three begin with. `addr` and `len` say where the file is in memory, `pgoff` where that part begins in the file. */
const MAPPED_RANGE = { pid: 'i32', tid: 'i32', addr: 'u64', len: 'u64', pgoff: 'u64' } as const;
/** Which file it is: the inode of a device. */
const FILE_IDENTITY = { maj: 'u32', min: 'u32', ino: 'u64', inoGeneration: 'u64' } as const;
/** What MMAP2 ends with: PROT_* and MAP_* of mmap(2). */
const PROTECTION = { prot: 'u32', flags: 'u32', filename: text() } as const;

/** PERF_RECORD_MMAP. */
export const MMAP = new RecordLayout({ ...MAPPED_RANGE, filename: text() });

/** PERF_RECORD_MMAP2 with the file's identity. */
export const MMAP2 = new RecordLayout({ ...MAPPED_RANGE, ...FILE_IDENTITY, ...PROTECTION });

/** PERF_RECORD_MMAP2 as it was before Linux 3.16, and in the 3.10 of Red Hat: without PROT_* and MAP_*. */
export const MMAP2_EARLY = new RecordLayout({ ...MAPPED_RANGE, ...FILE_IDENTITY, filename: text() });

const BUILD_ID_BYTES = 20;

/** PERF_RECORD_MMAP2 with PERF_RECORD_MISC_MMAP_BUILD_ID: the file's build id replaces its identity, see {@link holdsBuildId}. */
export const MMAP2_BUILD_ID = new RecordLayout({ ...MAPPED_RANGE, buildIdSize: 'u8', reserved: padding(3), buildId: bytes(BUILD_ID_BYTES), ...PROTECTION });

type MmapLayout = typeof MMAP | ReturnType<typeof mmap2LayoutOf>;

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
   * `major:minor:inode` of MMAP2; empty if the record has none. The inode's generation is left out: the kernel writes the real one, but perf itself writes 0
   * for what was mapped before.
   */
  readonly fileIdentity: string;
  /** Lower-case hex; empty if the record has none. */
  readonly buildId: string;
  /** Whether code can run there. MMAP has no protection, but a bit of misc says that it is data. */
  readonly isExecutable: boolean;
  /** Whether it is JIT code that simpleperf put into a file: MMAP2 with PROT_JIT_SYMFILE_MAP. */
  readonly isJitSymfile: boolean;
  /** Whether the memory is in pages of hugetlbfs: MMAP2 with MAP_HUGETLB. */
  readonly isHugetlb: boolean;
}

/** Where a map is in memory, and where that part begins in the file, in all 64 bits: low and high words. */
export interface MappedRange {
  readonly startLo: number;
  readonly startHi: number;
  readonly lengthLo: number;
  readonly lengthHi: number;
  readonly pageOffsetLo: number;
  readonly pageOffsetHi: number;
}

const PROT_EXEC = 4;
/** Source: mman.h. MIPS has another number, which perf takes into account only where it runs on MIPS. */
const MAP_HUGETLB = 0x40000;
/** What the kernel writes of PROT_*: reading, writing, execution. */
const PROT_BITS = 7;

/** How many bytes the fixed fields of an MMAP or MMAP2 at `at` need, record header included; `end` is just after its file name. */
export function mmapFixedBytes(view: ByteView, at: number, end: number, type: number, misc: number): number {
  return (type === PERF_RECORD_MMAP2 ? mmap2LayoutOf(view, at, end, misc) : MMAP).minBytes;
}

/** What MMAP and MMAP2 say after {@link MappedRange}, as {@link MmapRecord} has it. */
export interface MappedFile {
  readonly filename: string;
  readonly fileIdentity: string;
  readonly buildId: string;
  /** PROT_* of mmap(2), and {@link PROT_JIT_SYMFILE_MAP}; undefined in records that have none, or other bytes there. */
  readonly prot: number | undefined;
  /** MAP_* of mmap(2); 0 in records that have none. */
  readonly flags: number;
}

/** Where the part begins from which {@link MappedFile} is read. */
const FILE_AT = MMAP.at.filename;

/**
 * Reads MMAP or MMAP2 at `at`; `end` is just after its file name. Source: perf_event.h.
 * @param files what was read of other maps
 */
export function readMmap(view: ByteView, at: number, end: number, type: number, misc: number, files: MappedFiles<MappedFile>): MmapRecord & MappedRange {
  const layout = type === PERF_RECORD_MMAP2 ? mmap2LayoutOf(view, at, end, misc) : MMAP;
  const { filename, fileIdentity, buildId, prot, flags } = files.of(view, at + FILE_AT, end, layout, () => readMappedFile(view, at, end, layout));
  return {
    pid: view.i32(at + MMAP.at.pid),
    tid: view.i32(at + MMAP.at.tid),
    start: view.i64(at + MMAP.at.addr),
    length: view.u64(at + MMAP.at.len),
    pageOffset: view.i64(at + MMAP.at.pgoff),
    startLo: view.lo(at + MMAP.at.addr),
    startHi: view.hi(at + MMAP.at.addr),
    lengthLo: view.lo(at + MMAP.at.len),
    lengthHi: view.hi(at + MMAP.at.len),
    pageOffsetLo: view.lo(at + MMAP.at.pgoff),
    pageOffsetHi: view.hi(at + MMAP.at.pgoff),
    filename,
    fileIdentity,
    buildId,
    isExecutable: prot !== undefined ? (prot & PROT_EXEC) !== 0 : (misc & PERF_RECORD_MISC_MMAP_DATA) === 0,
    isJitSymfile: prot !== undefined && (prot & PROT_JIT_SYMFILE_MAP) !== 0,
    isHugetlb: (flags & MAP_HUGETLB) !== 0,
  };
}

function readMappedFile(view: ByteView, at: number, end: number, layout: MmapLayout): MappedFile {
  const hasBuildId = layout === MMAP2_BUILD_ID;
  const hasProtection = layout !== MMAP && layout !== MMAP2_EARLY;
  let fileIdentity = '';
  if (layout !== MMAP && !hasBuildId) fileIdentity = `${view.u32(at + MMAP2.at.maj)}:${view.u32(at + MMAP2.at.min)}:${view.big(at + MMAP2.at.ino)}`;
  return {
    filename: view.text(at + layout.at.filename, end),
    fileIdentity,
    buildId: hasBuildId ? mmapBuildId(view.bytes.subarray(at + MMAP2_BUILD_ID.at.buildId), view.u8(at + MMAP2_BUILD_ID.at.buildIdSize)) : '',
    prot: hasProtection ? knownProt(view.u32(at + MMAP2.at.prot)) : undefined,
    flags: hasProtection ? view.u32(at + MMAP2.at.flags) : 0,
  };
}

/** The kernel and simpleperf write no other bits into the place of PROT_*: where there are others, none of them says anything (see {@link mmap2LayoutOf}). */
function knownProt(prot: number): number | undefined {
  return (prot & ~(PROT_BITS | PROT_JIT_SYMFILE_MAP)) === 0 ? prot : undefined;
}

/** All PROT_* are below the characters of file names. */
const FIRST_PRINTABLE = 0x20;

/**
 * Which of its three layouts an MMAP2 has. Where the early one has the first bytes of the file name, the later one has PROT_*, of which at least one byte is 0;
 * in a record that is too small for the later one, they may be the whole name. Some versions of hiperf left other bytes in PROT_* (observed: `mib/`), but then
 * MAP_* is MAP_SHARED or MAP_PRIVATE, whose byte no name has. The record may be too small for the layout.
 * @param end just after its file name
 */
export function mmap2LayoutOf(view: ByteView, at: number, end: number, misc: number): typeof MMAP2 | typeof MMAP2_EARLY | typeof MMAP2_BUILD_ID {
  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) !== 0 && holdsBuildId(view, at, end)) return MMAP2_BUILD_ID;
  const prot = at + MMAP2.at.prot;
  if (end - at < MMAP2.minBytes) return prot < end && view.u8(prot) >= FIRST_PRINTABLE ? MMAP2_EARLY : MMAP2;
  if (view.u8(prot) === 0 || view.u8(prot + 1) === 0 || view.u8(prot + 2) === 0 || view.u8(prot + 3) === 0) return MMAP2;
  const sharing = view.u32(at + MMAP2.at.flags) & 0xff;
  return sharing > 0 && sharing < FIRST_PRINTABLE ? MMAP2 : MMAP2_EARLY;
}

/** File systems are on devices of lower major numbers than this, or of much higher ones: loop (7), SCSI disks (8), RAID (9), CD-ROMs (11). */
const LOWEST_UNLIKELY_MAJOR = 16;

/**
 * Whether an MMAP2 with PERF_RECORD_MISC_MMAP_BUILD_ID holds a build id. The kernel (observed: 6.18) also sets the bit in the records of an event that did not
 * ask for build ids, if the event of another perf that runs at the same time did: such a record has the file's identity. Its major number, then, is where a
 * build id has its length and zeros, and a build id is followed by zeros, too. perf 6.1 takes the identity for a build id, and may abort.
 */
function holdsBuildId(view: ByteView, at: number, end: number): boolean {
  if (end - at < MMAP2_BUILD_ID.minBytes) return true;
  const sizeBytes = view.u8(at + MMAP2_BUILD_ID.at.buildIdSize);
  const reserved = at + MMAP2_BUILD_ID.at.reserved;
  if (sizeBytes === 0 || sizeBytes > BUILD_ID_BYTES || view.u8(reserved) !== 0 || view.u8(reserved + 1) !== 0 || view.u8(reserved + 2) !== 0) return false;
  if (sizeBytes >= LOWEST_UNLIKELY_MAJOR) return true;
  const id = at + MMAP2_BUILD_ID.at.buildId;
  for (let i = sizeBytes; i < BUILD_ID_BYTES; i++) if (view.u8(id + i) !== 0) return false;
  return true;
}

/** The build id of an MMAP2, as lower-case hex. */
export function mmapBuildId(id: Uint8Array, sizeBytes: number): string {
  return hexOf(id.subarray(0, sizeBytes));
}

/** PERF_RECORD_HEADER_BUILD_ID, and an entry of the BUILD_ID feature: a file's build id. */
export interface BuildIdRecord {
  readonly pid: number;
  /** Lower-case hex. */
  readonly buildId: string;
  readonly filename: string;
  readonly misc: number;
}

/** The build id has 20 bytes, of which `buildIdSize` count if misc has PERF_RECORD_MISC_BUILD_ID_SIZE. */
export const BUILD_ID = new RecordLayout({ pid: 'i32', buildId: bytes(20), buildIdSize: 'u8', reserved: padding(3), filename: text() });

/**
 * Reads a build-id record at `at`, record header included; `end` is just after it.
 * Old writers do not say how long the id is: then trailing zeros are stripped, four bytes at a time.
 */
export function readBuildId(view: ByteView, at: number, end: number, misc: number): BuildIdRecord {
  const id = view.bytes.subarray(at + BUILD_ID.at.buildId, at + BUILD_ID.at.buildIdSize);
  let length = 20;
  if ((misc & PERF_RECORD_MISC_BUILD_ID_SIZE) !== 0) length = Math.min(20, view.u8(at + BUILD_ID.at.buildIdSize));
  else while (length > 0 && id.subarray(length - 4, length).every((byte) => byte === 0)) length -= 4;
  return { pid: view.i32(at + BUILD_ID.at.pid), buildId: hexOf(id.subarray(0, length)), filename: view.text(at + BUILD_ID.at.filename, end), misc };
}

/** PERF_RECORD_KSYMBOL: kernel code was added or removed at run time (BPF program, trampoline). */
export const KSYMBOL = new RecordLayout({ addr: 'u64', len: 'u32', ksymType: 'u16', flags: 'u16', name: text() });

/** The parts of a KSYMBOL on which the kernel's map depends. */
export interface KsymbolRecord {
  readonly address: number;
  /** All 64 bits of the address. */
  readonly addressLo: number;
  readonly addressHi: number;
  readonly length: number;
  readonly isUnregister: boolean;
  readonly name: string;
}

const PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER = 1;

export function readKsymbol(view: ByteView, at: number, end: number): KsymbolRecord {
  return {
    address: view.i64(at + KSYMBOL.at.addr),
    addressLo: view.lo(at + KSYMBOL.at.addr),
    addressHi: view.hi(at + KSYMBOL.at.addr),
    length: view.u32(at + KSYMBOL.at.len),
    isUnregister: (view.u16(at + KSYMBOL.at.flags) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) !== 0,
    name: view.text(at + KSYMBOL.at.name, end),
  };
}
