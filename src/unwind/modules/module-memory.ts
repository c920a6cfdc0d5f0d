import { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { readRange } from '../../base/streams/byte-source.ts';
import { PF_W, PF_X, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHT_NOBITS } from '../../elf/elf-constants.ts';
import type { ElfFile } from '../../elf/elf-file.ts';
import { isCodeKnown } from '../machines/unwind-machine.ts';

/** How much is read at once. Where one byte is wanted, those around it soon are, too. */
const PAGE_SIZE_BYTES = 1 << 14;
/** Pages kept of one file: 32 MB. Browsers have some ten times as much code. */
const MAX_PAGES = 1 << 11;
/** Pages read of one file in all, including those that were forgotten again: one to three seconds. Observed: a recording of Chromium needs fewer than 2^12. */
const MAX_READS = 1 << 15;
/** Linkers make about five segments, and programs that dump themselves have a few sections of code beside them. */
const MAX_PARTS = 64;
/** The longest value that is read: a word of 8 bytes. */
const PEEK_SIZE_BYTES = 8;

/**
 * - `found`: the bytes are there
 * - `absent`: the file has no bytes there, or only such as may have changed
 * - `wanted`: they have to be read first, by {@link ModuleMemory.readWanted}
 */
export type MemoryMatch = 'found' | 'absent' | 'wanted';

/** The code of one function that a JIT made, of which there is no file. */
export interface FunctionCode {
  readonly view: ByteView;
  /** The svma of the first byte. */
  readonly addr: number;
}

/** A part of the file that is in memory unchanged. */
interface MemoryPart {
  readonly svma: number;
  readonly offset: number;
  readonly sizeBytes: number;
}

/**
 * The part of a file that is in memory and that nobody writes to: its read-only segments, and the sections of code in writable ones, which Lisp systems and
 * editors that dump themselves have. It is read page by page where something was asked for; look-ups never wait.
 */
export class ModuleMemory {
  /** After `found`: bytes, with those that were asked for at {@link offset}. */
  view: ByteView;
  offset = 0;
  /** After `found`: the view has the bytes from this svma up to before {@link foundEnd}. */
  foundStart = 0;
  foundEnd = 0;
  /** The svma of the first byte that may be there. */
  readonly start: number;
  /** Whether the code is of an instruction set that is followed, if any of its machine is. */
  readonly hasKnownCode: boolean;
  readonly #elf: ElfFile | undefined;
  readonly #function: FunctionCode | undefined;
  readonly #parts: readonly MemoryPart[];
  /** Those of {@link #parts} that are code although their segment may not say so. */
  readonly #writableCode: readonly MemoryPart[];
  /** The segment in which the last executable svma was. */
  #executableStart = 0;
  #executableEnd = 0;
  /** By number of the page in the file, in the order in which they were read; undefined for one that could not be read. */
  readonly #pages = new Map<number, ByteView | undefined>();
  readonly #wanted = new Set<number>();
  /** How many pages were read. */
  #reads = 0;
  readonly #peek: ByteView;

  /**
   * @param elf undefined: nothing is there but the function
   * @param code of the function; undefined: there is none
   */
  constructor(elf: ElfFile | undefined, littleEndian: boolean, code?: FunctionCode) {
    this.#elf = elf;
    this.#function = code;
    this.hasKnownCode = elf === undefined || isCodeKnown(elf);
    const readOnly = elf === undefined ? [] : readOnlySegments(elf);
    this.#writableCode = elf === undefined ? [] : writableCode(elf, readOnly);
    this.#parts = [...readOnly, ...this.#writableCode];
    this.start = this.#parts.reduce((start, { svma }) => Math.min(start, svma), code?.addr ?? Number.MAX_SAFE_INTEGER);
    this.#peek = new ByteView(new Uint8Array(PEEK_SIZE_BYTES), littleEndian);
    this.view = this.#peek;
  }

  /** Whether there is nothing but one function, which a JIT made: it begins at {@link start}. */
  get isOneFunction(): boolean {
    return this.#function !== undefined;
  }

  get wantsBytes(): boolean {
    return this.#wanted.size > 0;
  }

  /** Whether the code at an svma may be run, according to segments or sections; true if nothing is known. */
  isExecutable(svma: number): boolean {
    // hot
    if (svma >= this.#executableStart && svma < this.#executableEnd) return true;
    if (this.#elf === undefined || this.#elf.segments.length === 0) return true;
    const segment = this.#elf.segments.find(
      ({ type, flags, vaddr, memsz }) => type === PT_LOAD && (flags & PF_X) !== 0 && svma >= vaddr && svma < vaddr + memsz,
    );
    if (segment === undefined) return this.#writableCode.some((code) => holds(code, svma, 1));
    this.#executableStart = segment.vaddr;
    this.#executableEnd = segment.vaddr + segment.memsz;
    return true;
  }

  /** Looks for up to 8 bytes at an svma. */
  find(svma: number, sizeBytes: number): MemoryMatch {
    if (this.#function !== undefined) return this.#findInFunction(this.#function, svma, sizeBytes);
    const part = this.#parts.find((each) => holds(each, svma, sizeBytes));
    if (part === undefined || sizeBytes > PEEK_SIZE_BYTES) return 'absent';
    const fileOffset = svma - part.svma + part.offset;
    const page = Math.floor(fileOffset / PAGE_SIZE_BYTES);
    const inPage = fileOffset - page * PAGE_SIZE_BYTES;
    const first = this.#page(page);
    if (first === undefined) return this.#wanted.has(page) ? 'wanted' : 'absent';
    if (inPage + sizeBytes <= first.length) {
      this.view = first;
      this.offset = inPage;
      this.foundStart = Math.max(part.svma, svma - inPage);
      this.foundEnd = Math.min(part.svma + part.sizeBytes, svma - inPage + first.length);
      return 'found';
    }
    const second = this.#page(page + 1);
    if (second === undefined) return this.#wanted.has(page + 1) ? 'wanted' : 'absent';
    const firstPart = first.bytes.subarray(inPage, PAGE_SIZE_BYTES);
    const secondPart = second.bytes.subarray(0, sizeBytes - firstPart.length);
    if (firstPart.length + secondPart.length < sizeBytes) return 'absent';
    this.#peek.bytes.set(firstPart);
    this.#peek.bytes.set(secondPart, firstPart.length);
    this.view = this.#peek;
    this.offset = 0;
    this.foundStart = svma;
    this.foundEnd = svma + sizeBytes;
    return 'found';
  }

  #findInFunction({ view, addr }: FunctionCode, svma: number, sizeBytes: number): MemoryMatch {
    const offset = svma - addr;
    if (offset < 0 || offset + sizeBytes > view.length) return 'absent';
    this.view = view;
    this.offset = offset;
    this.foundStart = addr;
    this.foundEnd = addr + view.length;
    return 'found';
  }

  /**
   * Reads what was wanted. What cannot be read is absent from then on.
   * @returns why something could not be read; undefined if all was
   */
  async readWanted(): Promise<PerfconvError | undefined> {
    const elf = this.#elf;
    const wanted = [...this.#wanted];
    let failure: PerfconvError | undefined;
    for (const page of wanted) {
      let bytes: Uint8Array | undefined;
      this.#reads++;
      try {
        bytes = elf && (await readRange(elf.source, page * PAGE_SIZE_BYTES, PAGE_SIZE_BYTES));
      } catch (error) {
        if (!(error instanceof PerfconvError)) throw error;
        failure ??= error;
      }
      this.#pages.set(page, bytes && new ByteView(bytes, this.#peek.littleEndian));
      this.#wanted.delete(page);
    }
    this.#forgetOldest();
    return failure;
  }

  #page(page: number): ByteView | undefined {
    const known = this.#pages.get(page);
    if (known === undefined && !this.#pages.has(page) && this.#reads + this.#wanted.size < MAX_READS) this.#wanted.add(page);
    return known;
  }

  /** Forgets the pages that were read first, if there are too many. */
  #forgetOldest(): void {
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) return;
      this.#pages.delete(page);
    }
  }
}

function readOnlySegments({ segments }: ElfFile): MemoryPart[] {
  return segments
    .filter(({ type, flags, filesz }) => type === PT_LOAD && (flags & PF_W) === 0 && filesz > 0)
    .map(({ vaddr, offset, filesz }) => ({ svma: vaddr, offset, sizeBytes: filesz }))
    .slice(0, MAX_PARTS);
}

function writableCode({ sections }: ElfFile, readOnly: readonly MemoryPart[]): MemoryPart[] {
  return sections
    .filter(({ type, flags, sizeBytes }) => type !== SHT_NOBITS && (flags & SHF_ALLOC) !== 0 && (flags & SHF_EXECINSTR) !== 0 && sizeBytes > 0)
    .map(({ addr, offset, sizeBytes }) => ({ svma: addr, offset, sizeBytes }))
    .filter((code) => !readOnly.some((part) => holds(part, code.svma, code.sizeBytes)))
    .slice(0, MAX_PARTS);
}

function holds(part: MemoryPart, svma: number, sizeBytes: number): boolean {
  return svma >= part.svma && svma + sizeBytes <= part.svma + part.sizeBytes;
}
