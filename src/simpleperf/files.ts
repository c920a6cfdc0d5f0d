import type { ByteView } from '../base/bytes/byte-view.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { DSO_DEX_FILE, DSO_ELF_FILE, DSO_KERNEL_MODULE, DSO_UNKNOWN_FILE } from './constants.ts';
import { ProtobufReader, readProtobuf } from './protobuf-reader.ts';

/** Symbols as columns, in the order of the file. */
export interface SimpleperfSymbols {
  /** First address of each, as a signed double; the file's type determines what kind of address it is. */
  readonly starts: readonly number[];
  /** 0 if unknown. */
  readonly sizes: readonly number[];
  /** Where each name is in `names`, in bytes; UTF-8, mangled. */
  readonly nameOffsets: readonly number[];
  readonly nameLengths: readonly number[];
  readonly names: Uint8Array;
}

/** A binary in which there are samples, with those of its symbols that were hit: recorded where the program ran. */
export interface SimpleperfFile {
  /** As MMAP records name it. */
  readonly path: string;
  /** DSO_*. */
  readonly type: number;
  /** Virtual address at which the first executable segment begins. */
  readonly minVaddr: number;
  /** Where that is in the file (for a module, in the module's memory); −1 if the recording does not say. */
  readonly offsetOfMinVaddr: number;
  readonly symbols: SimpleperfSymbols;
  /** Where dex files begin, in a file that has some. */
  readonly dexFileOffsets: readonly number[];
}

/** Collects the columns of {@link SimpleperfSymbols}. */
export class SymbolList implements SimpleperfSymbols {
  readonly starts: number[] = [];
  readonly sizes: number[] = [];
  readonly nameOffsets: number[] = [];
  readonly nameLengths: number[] = [];
  readonly names: Uint8Array;

  constructor(names: Uint8Array) {
    this.names = names;
  }

  /** Adds a symbol whose name is between two offsets of `names`; one without a name is left out. */
  add(start: number, size: number, nameStart: number, nameEnd: number): void {
    if (nameEnd === nameStart) return;
    this.starts.push(start);
    this.sizes.push(size);
    this.nameOffsets.push(nameStart);
    this.nameLengths.push(nameEnd - nameStart);
  }
}

/** Limit of the binaries in a recording: simpleperf and hiperf list those that have samples. In memory, each takes many times its smallest size in the file. */
const MAX_FILES = 1 << 16;

/** @throws PerfconvError `damaged` if there is no room for another binary */
export function checkFileCount(files: readonly unknown[]): void {
  if (files.length >= MAX_FILES) throw new PerfconvError('damaged', `more than ${MAX_FILES} files`);
}

/** u64 −1: an unknown offset. */
const UNKNOWN_OFFSET = 2 ** 64;

/**
 * Reads the FILE feature into `files`: successive structs, each after a u32 with its size. What was read before a damaged one stays.
 * @throws PerfconvError `damaged` if the section is, or lists too many files
 */
export function readFileFeature(view: ByteView, files: SimpleperfFile[]): void {
  eachSized(view, (start, end) => {
    checkFileCount(files);
    files.push(readFileStruct(view, start, end));
  });
}

/**
 * Reads the FILE2 feature, in which each struct is a protobuf message.
 * @throws PerfconvError `damaged` if the section is, or lists too many files
 */
export function readFile2Feature(view: ByteView, files: SimpleperfFile[]): void {
  eachSized(view, (start, end) => {
    checkFileCount(files);
    files.push(readProtobuf(() => readFileMessage(view, start, end)));
  });
}

function eachSized(view: ByteView, read: (start: number, end: number) => void): void {
  for (let at = 0; at < view.length; ) {
    const start = at + 4;
    const end = start > view.length ? start : start + view.u32(at);
    if (end > view.length) throw new PerfconvError('damaged', 'file overruns section');
    read(start, end);
    at = end;
  }
}

/** Minimum size of a symbol: u64 address, u32 length, and the name's NUL. */
const SYMBOL_MIN_BYTES = 13;

/** Path, u32 type, u64 min_vaddr, u32 symbol count, symbols; dex files' offsets; u64 offset of min_vaddr, if there is one. */
function readFileStruct(view: ByteView, start: number, end: number): SimpleperfFile {
  let at = start;
  const need = (bytes: number): void => {
    if (bytes > end - at) throw new PerfconvError('damaged', 'field overruns file');
  };
  const nameEnd = (): number => {
    const nul = view.bytes.indexOf(0, at);
    if (nul < 0 || nul >= end) throw new PerfconvError('damaged', 'unterminated text');
    return nul;
  };
  const pathEnd = nameEnd();
  const path = view.text(at, pathEnd);
  at = pathEnd + 1;
  need(16);
  const type = view.u32(at);
  const minVaddr = view.i64(at + 4);
  const symbolCount = view.u32(at + 12);
  at += 16;
  if (type > DSO_UNKNOWN_FILE) throw new PerfconvError('damaged', `file type ${type}`);
  need(symbolCount * SYMBOL_MIN_BYTES);
  const symbols = new SymbolList(view.bytes);
  for (let i = 0; i < symbolCount; i++) {
    need(SYMBOL_MIN_BYTES);
    const address = view.i64(at);
    const size = view.u32(at + 8);
    at += 12;
    const symbolEnd = nameEnd();
    symbols.add(address, size, at, symbolEnd);
    at = symbolEnd + 1;
  }
  const dexFileOffsets: number[] = [];
  if (type === DSO_DEX_FILE) {
    need(4);
    const count = view.u32(at);
    at += 4;
    need(count * 8);
    for (let i = 0; i < count; i++, at += 8) dexFileOffsets.push(view.u64(at));
  }
  // Added in 2018: older recordings end before it.
  const hasOffset = (type === DSO_ELF_FILE || type === DSO_KERNEL_MODULE) && end - at >= 8;
  const offset = hasOffset ? view.u64(at) : UNKNOWN_OFFSET;
  return { path, type, minVaddr, offsetOfMinVaddr: offset < UNKNOWN_OFFSET ? offset : -1, symbols, dexFileOffsets };
}

/** FileFeature of record_file.proto: 1 path, 2 type, 3 min_vaddr, 4 symbols, and by type 5 dex_file, 6 elf_file, 7 kernel_module. */
function readFileMessage(view: ByteView, start: number, end: number): SimpleperfFile {
  const { bytes } = view;
  let path = '';
  let type = 0;
  let minVaddr = 0;
  let offset = UNKNOWN_OFFSET;
  const symbols = new SymbolList(bytes);
  const dexFileOffsets: number[] = [];
  const message = new ProtobufReader(bytes, start);
  while (message.next(end)) {
    if (message.isBytes(1)) {
      const pathEnd = message.bytesEnd(end);
      path = view.text(message.at, pathEnd);
      message.skipTo(pathEnd);
    } else if (message.isNumber(2)) type = message.u64();
    else if (message.isNumber(3)) minVaddr = message.address();
    else if (message.isBytes(4)) readSymbolMessage(message, message.bytesEnd(end), symbols);
    else if (message.isBytes(5)) readNumbers(message, message.bytesEnd(end), dexFileOffsets);
    else if (message.isBytes(6) || message.isBytes(7)) {
      const offsets: number[] = [];
      readNumbers(message, message.bytesEnd(end), offsets);
      // proto3 omits a zero.
      offset = offsets.at(-1) ?? 0;
    } else message.skip();
  }
  return { path, type, minVaddr, offsetOfMinVaddr: offset < UNKNOWN_OFFSET ? offset : -1, symbols, dexFileOffsets };
}

/** Symbol: 1 vaddr, 2 len, 3 name. */
function readSymbolMessage(message: ProtobufReader, end: number, symbols: SymbolList): void {
  let address = 0;
  let size = 0;
  let nameStart = 0;
  let nameEnd = 0;
  while (message.next(end)) {
    if (message.isNumber(1)) address = message.address();
    else if (message.isNumber(2)) size = message.u32();
    else if (message.isBytes(3)) {
      nameEnd = message.bytesEnd(end);
      nameStart = message.at;
      message.skipTo(nameEnd);
    } else message.skip();
  }
  symbols.add(address, size, nameStart, nameEnd);
}

/** The numbers in a message's field 1, packed or not; these messages have no other field. */
function readNumbers(message: ProtobufReader, end: number, numbers: number[]): void {
  while (message.next(end)) {
    if (message.isNumber(1)) numbers.push(message.u64());
    else if (message.isBytes(1)) {
      const packedEnd = message.bytesEnd(end);
      while (message.at < packedEnd) numbers.push(message.u64());
      if (message.at > packedEnd) throw new PerfconvError('damaged', 'number overruns its field');
    } else message.skip();
  }
}
