import type { ByteView } from '../base/bytes/byte-view.ts';
import { MAX_JIT_FUNCTION_BYTES } from '../base/jit-limits.ts';
import type { BlockingSource } from '../base/streams/blocking-source.ts';
import { GrowingBytes } from './growing-bytes.ts';
import type { JitDump } from './jitdump.ts';
import { JitLineCollector } from './lines.ts';
import { repeatedBytes } from './repeated-bytes.ts';
import { UnwindingInfoCollector } from './unwinding-info.ts';
import { FileWindow } from './window.ts';

// Names and layouts: jitdump-specification.txt, version 2.

/** `JiTD`, in the byte order of the machine that wrote it. */
const MAGIC = 0x4a695444;
const HEADER_BYTES = 40;
/** Times are those of an architecture's own counter, not of CLOCK_MONOTONIC. */
const JITDUMP_FLAGS_ARCH_TIMESTAMP = 1;

const JIT_CODE_LOAD = 0;
const JIT_CODE_MOVE = 1;
const JIT_CODE_DEBUG_INFO = 2;
const JIT_CODE_CLOSE = 3;
const JIT_CODE_UNWINDING_INFO = 4;

/** Offsets in the header. */
const HEADER = { magic: 0, version: 4, totalSize: 8, elfMach: 12, pad1: 16, pid: 20, timestamp: 24, flags: 32 } as const;
/** In `elfMach`. */
const EM_X86_64 = 62;
/** Offsets in a record, its own header included. */
const RECORD = { id: 0, totalSize: 4, timestamp: 8 } as const;
const RECORD_HEADER_BYTES = 16;
const LOAD = { pid: 16, tid: 20, vma: 24, codeAddr: 32, codeSize: 40, codeIndex: 48, name: 56 } as const;
const MOVE = { pid: 16, tid: 20, vma: 24, oldCodeAddr: 32, newCodeAddr: 40, codeSize: 48, codeIndex: 56 } as const;
const MOVE_BYTES = 64;
const DEBUG_INFO = { codeAddr: 16, nrEntry: 24, entries: 32 } as const;
const DEBUG_ENTRY = { codeAddr: 0, line: 8, discrim: 12, name: 16 } as const;

/** Longer names, of functions and of files, are damage. */
const MAX_NAME_BYTES = 1 << 16;
/**
 * The most that is taken from one file: places of code, lines, and bytes of names. This is more than the functions of any process, and some 300 MB of memory.
 */
const MAX_LOADS = 1 << 20;
const MAX_LINES = 1 << 22;
const MAX_NAMES_BYTES = 1 << 26;
/** The most code that is kept of one file. */
const MAX_CODE_BYTES = 1 << 26;

/** The largest buffer that may be written twice. Most have 4 KB. */
const MAX_REPEATED_BYTES = 1 << 16;
/** How often repeated bytes are skipped, and how often they are searched for in vain: this has to end in damaged files. */
const MAX_REPEATS = 1 << 10;
const MAX_VAIN_SEARCHES = 16;

/** V8 writes this where others write 0. Its lines count from 64 bytes before the code (the header of an ELF file made from it), and have columns. */
const V8_PAD1 = 0xdeadbeef;
const V8_LINE_SHIFT = 64;

/** Stands for the same file name as before: the byte 0xff, which is not UTF-8 (`decodeText`). */
const SAME_FILE = '\udcff';

/**
 * Reads a jitdump file (`jit-PID.dump`). A file that is cut off, or still being written, is read as far as it goes.
 * @param keepsCode whether the code is kept of functions without unwinding information, see {@link JitCodeBytes}
 * @returns a text that says what is wrong if it is not a jitdump
 * @throws PerfconvError `io`
 */
export function readJitDump(source: BlockingSource, keepsCode: boolean): JitDump | string {
  // Observed: dumps of children that CPython forks and that end with os._exit.
  if (source.sizeBytes === 0) return 'it is empty';
  const littleEndian = byteOrderOf(source);
  if (littleEndian === undefined) return 'it is not a jitdump file: it does not begin with JiTD';
  const window = new FileWindow(source, littleEndian);
  const header = window.at(0, HEADER_BYTES);
  if (header.length < HEADER_BYTES) return `its header of ${HEADER_BYTES} bytes is cut off`;
  const size = header.u32(HEADER.totalSize);
  if (size < HEADER_BYTES) return `its header says that it has ${size} bytes`;
  const isV8 = header.u32(HEADER.pad1) === V8_PAD1;
  const reader = new JitDumpReader(window, source.sizeBytes, isV8, keepsCode && header.u32(HEADER.elfMach) === EM_X86_64);
  const hasArchTimes = (header.u32(HEADER.flags + (littleEndian ? 0 : 4)) & JITDUMP_FLAGS_ARCH_TIMESTAMP) !== 0;
  reader.readFrom(size);
  const { functions, names, placements, damagedRecords, damage } = reader;
  const { offsets, lines, columns, files, fileNames } = reader.lines;
  const found = { functions, names, placements, lines: { offsets, lines, columns, files }, files: fileNames };
  const unwinding = { littleEndian, bytes: reader.unwinding.bytes, offsets: reader.unwinding.offsets, sizesBytes: reader.unwinding.sizesBytes };
  const code = { bytes: reader.code.bytes, offsets: reader.codeOffsets };
  return { name: source.name, hasArchTimes, ...found, unwinding, code, damagedRecords, damage };
}

/** Whether a dump is little-endian; undefined if it is not a dump. */
function byteOrderOf(source: BlockingSource): boolean | undefined {
  const magic = new FileWindow(source, true).at(HEADER.magic, 4);
  if (magic.length < 4) return undefined;
  if (magic.u32(0) === MAGIC) return true;
  return [0x4a, 0x69, 0x54, 0x44].every((byte, i) => magic.u8(i) === byte) ? false : undefined;
}

class JitDumpReader {
  readonly functions = {
    fileOffsets: [] as number[],
    sizesBytes: [] as number[],
    firstLines: [] as number[],
    nameOffsets: [] as number[],
    nameLengths: [] as number[],
  };
  readonly placements = { timeLo: [] as number[], timeHi: [] as number[], addresses: [] as number[], functions: [] as number[] };
  readonly lines = new JitLineCollector();
  readonly unwinding = new UnwindingInfoCollector();
  readonly code = new GrowingBytes();
  readonly codeOffsets: number[] = [];
  damagedRecords = 0;
  damage = '';
  readonly #window: FileWindow;
  readonly #sizeBytes: number;
  readonly #isV8: boolean;
  readonly #keepsCode: boolean;
  /** The code_index of each function. */
  readonly #codeIndexes: number[] = [];
  /** The last function of each code_index, among the first {@link #indexedCount}. Filled when something is moved, which few JITs do. */
  readonly #byCodeIndex = new Map<number, number>();
  #indexedCount = 0;
  readonly #names = new GrowingBytes();
  #lineCount = 0;
  #repeats = 0;
  #vainSearches = 0;

  constructor(window: FileWindow, sizeBytes: number, isV8: boolean, keepsCode: boolean) {
    this.#window = window;
    this.#sizeBytes = sizeBytes;
    this.#isV8 = isV8;
    this.#keepsCode = keepsCode;
  }

  get names(): Uint8Array {
    return this.#names.bytes;
  }

  /** Reads the records from `position` to the end of the file. */
  readFrom(position: number): void {
    let at = position;
    while (at < this.#sizeBytes) {
      const excess = this.#excess();
      if (excess !== '') {
        this.#noteDamage(excess, at);
        break;
      }
      const header = this.#window.at(at, RECORD_HEADER_BYTES);
      const isWhole = header.length === RECORD_HEADER_BYTES;
      const id = isWhole ? header.u32(RECORD.id) : JIT_CODE_CLOSE;
      const size = isWhole ? header.u32(RECORD.totalSize) : 0;
      let end = '';
      if (!isWhole || at + size > this.#sizeBytes) end = 'the last record is cut off';
      else if (size < RECORD_HEADER_BYTES) end = `a record says that it has ${size} bytes`;
      const complaint = end === '' ? this.#take(id, at, size) : end;
      const repeated = complaint !== undefined || id > JIT_CODE_UNWINDING_INFO ? this.#repeatedAt(at) : 0;
      if (repeated > 0) {
        at += repeated;
        continue;
      }
      if (complaint !== undefined) this.#noteDamage(complaint, at);
      if (end !== '' || id === JIT_CODE_CLOSE) break;
      if (complaint !== undefined) this.damagedRecords++;
      at += size;
    }
    this.lines.drop();
  }

  /** What there is already too much of; empty if there is room. */
  #excess(): string {
    if (this.placements.functions.length >= MAX_LOADS) return `only the first ${MAX_LOADS} functions are used`;
    return this.#names.length + this.lines.fileNamesLength >= MAX_NAMES_BYTES ? `only the first ${MAX_NAMES_BYTES} bytes of names are used` : '';
  }

  /**
   * How many bytes at `position` are a repetition of those just before it, so that reading has to continue after them. Observed: CPython 3.13 and 3.14. A child
   * that it forks writes what its parent has not written yet from its copy of the buffer, and later the parent writes the same.
   */
  #repeatedAt(position: number): number {
    if (this.#repeats >= MAX_REPEATS || this.#vainSearches >= MAX_VAIN_SEARCHES) return 0;
    const from = Math.max(0, position - MAX_REPEATED_BYTES);
    const { bytes } = this.#window.at(from, position - from + MAX_REPEATED_BYTES);
    const after = bytes.subarray(position - from);
    const repeated = repeatedBytes(bytes.subarray(0, position - from), after);
    // Fewer may be the same by chance, and zeros were never written.
    const isFound = repeated >= RECORD_HEADER_BYTES && after.subarray(0, repeated).some((byte) => byte !== 0);
    if (isFound) this.#repeats++;
    else this.#vainSearches++;
    return isFound ? repeated : 0;
  }

  #noteDamage(what: string, position: number): void {
    if (this.damage === '') this.damage = `${what} at 0x${position.toString(16)}`;
  }

  /** @returns what is wrong with a record; undefined if nothing is */
  #take(id: number, position: number, size: number): string | undefined {
    switch (id) {
      case JIT_CODE_LOAD:
        return this.#load(position, size);
      case JIT_CODE_MOVE:
        return this.#move(position, size);
      case JIT_CODE_DEBUG_INFO:
        return this.#debugInfo(position, size);
      case JIT_CODE_UNWINDING_INFO:
        return this.unwinding.begin(this.#window.at(position, size), size);
      default:
        // Records that may be defined later name nothing.
        return undefined;
    }
  }

  #load(position: number, size: number): string | undefined {
    const complaint = this.#loadCode(position, size);
    // The unwinding information for this code is not for the next.
    this.unwinding.drop();
    return complaint;
  }

  #loadCode(position: number, size: number): string | undefined {
    const record = this.#window.at(position, Math.min(size, LOAD.name + MAX_NAME_BYTES));
    if (record.length <= LOAD.name) return `JIT_CODE_LOAD of ${size} bytes has no name`;
    const nameBytes = record.bytes.indexOf(0, LOAD.name) - LOAD.name;
    if (nameBytes < 0) return 'JIT_CODE_LOAD: its name is not terminated';
    const codeStart = LOAD.name + nameBytes + 1;
    const sizeBytes = record.u64(LOAD.codeSize);
    if (codeStart + sizeBytes > size) return `JIT_CODE_LOAD: code of ${sizeBytes} bytes overruns record of ${size} bytes`;
    const codeAddr = record.i64(LOAD.codeAddr);
    const isPlaced = isAddress(codeAddr, sizeBytes);
    if (sizeBytes === 0 || !isPlaced) this.lines.drop();
    if (sizeBytes === 0) return undefined;
    if (!isPlaced) return 'JIT_CODE_LOAD: its code has no valid address';
    const { fileOffsets, sizesBytes, firstLines, nameOffsets, nameLengths } = this.functions;
    const index = fileOffsets.length;
    fileOffsets.push(position + codeStart);
    sizesBytes.push(sizeBytes);
    firstLines.push(this.lines.end);
    this.unwinding.take();
    nameOffsets.push(this.#names.length);
    nameLengths.push(nameBytes);
    this.#names.add(record.bytes.subarray(LOAD.name, LOAD.name + nameBytes));
    this.#codeIndexes.push(record.u64(LOAD.codeIndex));
    this.#place(record, codeAddr, index);
    // Reads on: `record` is no longer valid.
    this.#keepCode(position + codeStart, sizeBytes, index);
    return this.lines.take(codeAddr, sizeBytes) ? undefined : 'JIT_CODE_LOAD: the lines before it do not belong to its code';
  }

  /** Keeps the code of a function that has no unwinding information. */
  #keepCode(position: number, sizeBytes: number, index: number): void {
    const isSmall = sizeBytes <= MAX_JIT_FUNCTION_BYTES && this.code.length + sizeBytes <= MAX_CODE_BYTES;
    const isKept = this.#keepsCode && isSmall && this.unwinding.sizesBytes[index] === 0;
    this.codeOffsets.push(isKept ? this.code.length : -1);
    if (isKept) this.code.add(this.#window.at(position, sizeBytes).bytes);
  }

  /** The last function of a code_index; undefined if none has it. */
  #functionOf(codeIndex: number): number | undefined {
    for (; this.#indexedCount < this.#codeIndexes.length; this.#indexedCount++)
      this.#byCodeIndex.set(this.#codeIndexes[this.#indexedCount], this.#indexedCount);
    return this.#byCodeIndex.get(codeIndex);
  }

  #move(position: number, size: number): string | undefined {
    const record = this.#window.at(position, MOVE_BYTES);
    if (size < MOVE_BYTES) return `JIT_CODE_MOVE of ${size} bytes`;
    const moved = this.#functionOf(record.u64(MOVE.codeIndex));
    if (moved === undefined) return 'JIT_CODE_MOVE of code that was not loaded';
    const newCodeAddr = record.i64(MOVE.newCodeAddr);
    if (!isAddress(newCodeAddr, this.functions.sizesBytes[moved])) return 'JIT_CODE_MOVE to an invalid address';
    this.#place(record, newCodeAddr, moved);
    return undefined;
  }

  #place(record: ByteView, address: number, index: number): void {
    const { timeLo, timeHi, addresses, functions } = this.placements;
    timeLo.push(record.lo(RECORD.timestamp));
    timeHi.push(record.hi(RECORD.timestamp));
    addresses.push(address);
    functions.push(index);
  }

  #debugInfo(position: number, size: number): string | undefined {
    if (size < DEBUG_INFO.entries) return `JIT_CODE_DEBUG_INFO of ${size} bytes`;
    const record = this.#window.at(position, DEBUG_INFO.entries);
    const codeAddr = record.i64(DEBUG_INFO.codeAddr);
    const count = record.u64(DEBUG_INFO.nrEntry);
    this.lines.begin(codeAddr);
    let at = DEBUG_INFO.entries;
    let file = -1;
    for (let i = 0; i < count; i++) {
      const room = size - at;
      if (room <= DEBUG_ENTRY.name) return `JIT_CODE_DEBUG_INFO: ${count} entries overrun record of ${size} bytes`;
      const entry = this.#window.at(position + at, Math.min(room, DEBUG_ENTRY.name + MAX_NAME_BYTES));
      const nameEnd = entry.bytes.indexOf(0, DEBUG_ENTRY.name);
      if (nameEnd < 0) return 'JIT_CODE_DEBUG_INFO: the name of a file is not terminated';
      if (++this.#lineCount > MAX_LINES) return `JIT_CODE_DEBUG_INFO: only the first ${MAX_LINES} lines are used`;
      if (this.lines.fileNamesLength >= MAX_NAMES_BYTES) return `JIT_CODE_DEBUG_INFO: only the first ${MAX_NAMES_BYTES} bytes of names are used`;
      const name = entry.text(DEBUG_ENTRY.name, nameEnd);
      if (name !== SAME_FILE || file < 0) file = this.lines.internFile(name);
      const offset = entry.i64(DEBUG_ENTRY.codeAddr) - codeAddr - (this.#isV8 ? V8_LINE_SHIFT : 0);
      this.lines.add(offset, entry.u32(DEBUG_ENTRY.line), this.#isV8 ? entry.u32(DEBUG_ENTRY.discrim) : 0, file);
      at += nameEnd + 1;
    }
    return undefined;
  }
}

/** No process has code at addresses that a double cannot hold. */
function isAddress(start: number, sizeBytes: number): boolean {
  return Number.isSafeInteger(start) && Number.isSafeInteger(start + sizeBytes);
}
