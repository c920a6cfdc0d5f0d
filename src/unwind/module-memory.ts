import { readRange } from '../base/byte-source.ts';
import { ByteView } from '../base/byte-view.ts';
import { PerfconvError } from '../base/errors.ts';
import { PF_W, PF_X, PT_LOAD } from '../elf/elf-constants.ts';
import type { ElfFile, ElfSegment } from '../elf/elf-file.ts';

/** Read at once. Where one byte is wanted, those about it are soon. */
const PAGE_SIZE_BYTES = 1 << 14;
/** Of one file: what wants more is not looking for constants and the ends of functions. */
const MAX_PAGES = 1 << 11;
/** Linkers make about five segments. */
const MAX_SEGMENTS = 64;
/** The longest value that is read: a word of 8 bytes. */
const PEEK_SIZE_BYTES = 8;

/**
 * - `found`: the bytes are there
 * - `absent`: the file has none there that cannot change
 * - `wanted`: they have to be read first, by {@link ModuleMemory.readWanted}
 */
export type MemoryMatch = 'found' | 'absent' | 'wanted';

/**
 * What a file has in memory that nobody writes to: its segments that are not writable. Read page by page, where something was asked for; asking itself
 * waits for nothing.
 */
export class ModuleMemory {
  /** After `found`: bytes, in which what was asked for is at {@link offset}. */
  view: ByteView;
  offset = 0;
  /** After `found`: from which svma on, and up to which, the view has the bytes that are there. */
  foundStart = 0;
  foundEnd = 0;
  /** The svma of the first byte that may be there. */
  readonly start: number;
  readonly #elf: ElfFile | undefined;
  readonly #segments: readonly ElfSegment[];
  /** By number of the page in the file; undefined for one that could not be read. */
  readonly #pages = new Map<number, ByteView | undefined>();
  readonly #wanted = new Set<number>();
  readonly #peek: ByteView;

  /** @param elf undefined: nothing is there */
  constructor(elf: ElfFile | undefined, littleEndian: boolean) {
    this.#elf = elf;
    this.#segments = (elf?.segments ?? []).filter(({ type, flags, filesz }) => type === PT_LOAD && (flags & PF_W) === 0 && filesz > 0).slice(0, MAX_SEGMENTS);
    this.start = this.#segments.reduce((start, { vaddr }) => Math.min(start, vaddr), Number.MAX_SAFE_INTEGER);
    this.#peek = new ByteView(new Uint8Array(PEEK_SIZE_BYTES), littleEndian);
    this.view = this.#peek;
  }

  get wantsBytes(): boolean {
    return this.#wanted.size > 0;
  }

  /** Whether the code at an svma may be run, as the segments have it; true where nothing is known. */
  isExecutable(svma: number): boolean {
    if (this.#elf === undefined || this.#elf.segments.length === 0) return true;
    return this.#elf.segments.some(({ type, flags, vaddr, memsz }) => type === PT_LOAD && (flags & PF_X) !== 0 && svma >= vaddr && svma < vaddr + memsz);
  }

  /** Looks for up to 8 bytes at an svma. */
  find(svma: number, sizeBytes: number): MemoryMatch {
    const segment = this.#segments.find(({ vaddr, filesz }) => svma >= vaddr && svma + sizeBytes <= vaddr + filesz);
    if (segment === undefined || sizeBytes > PEEK_SIZE_BYTES) return 'absent';
    const fileOffset = svma - segment.vaddr + segment.offset;
    const page = Math.floor(fileOffset / PAGE_SIZE_BYTES);
    const inPage = fileOffset - page * PAGE_SIZE_BYTES;
    const first = this.#page(page);
    if (first === undefined) return this.#wanted.has(page) ? 'wanted' : 'absent';
    if (inPage + sizeBytes <= first.length) {
      this.view = first;
      this.offset = inPage;
      this.foundStart = Math.max(segment.vaddr, svma - inPage);
      this.foundEnd = Math.min(segment.vaddr + segment.filesz, svma - inPage + first.length);
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

  /**
   * Reads what was wanted. What cannot be read is absent from then on.
   * @returns why something could not be read; undefined where all was
   */
  async readWanted(): Promise<PerfconvError | undefined> {
    const elf = this.#elf;
    const wanted = [...this.#wanted];
    let failure: PerfconvError | undefined;
    for (const page of wanted) {
      let bytes: Uint8Array | undefined;
      try {
        bytes = elf && (await readRange(elf.source, page * PAGE_SIZE_BYTES, PAGE_SIZE_BYTES));
      } catch (error) {
        if (!(error instanceof PerfconvError)) throw error;
        failure ??= error;
      }
      this.#pages.set(page, bytes && new ByteView(bytes, this.#peek.littleEndian));
      this.#wanted.delete(page);
    }
    return failure;
  }

  #page(page: number): ByteView | undefined {
    const known = this.#pages.get(page);
    if (known === undefined && !this.#pages.has(page) && this.#pages.size + this.#wanted.size < MAX_PAGES) this.#wanted.add(page);
    return known;
  }
}
