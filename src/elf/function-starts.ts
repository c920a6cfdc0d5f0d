import type { ByteView } from '../base/byte-view.ts';
import { readEhFrame } from './eh-frame.ts';
import { EM_ARM, PF_X, PT_ARM_EXIDX, PT_LOAD } from './elf-constants.ts';
import type { ElfFile } from './elf-file.ts';
import { EXIDX_ENTRY_SIZE_BYTES, prel31 } from './exidx-entries.ts';
import type { FrameBytes } from './frame-cursor.ts';
import { FrameSection } from './frame-section.ts';
import { type MappedBytes, readTable } from './mapped-bytes.ts';

/** The largest programs have some twenty megabytes. More is not read: it may be a hole. */
const MAX_TABLE_SIZE_BYTES = 64 << 20;

/**
 * Finds where the functions begin that hold some addresses, in tables that stripping leaves because exceptions need them:
 * `.eh_frame`, and on 32-bit Arm `.ARM.exidx`. Linkers merge neighbours in the latter that unwind alike: there several
 * functions may have one start.
 * @param addresses file offsets, ascending
 * @returns for each, the address (svma) of the function's start; −1 where no table knows it
 * @see Linux Standard Base Core, "Exception Frames"; Exception Handling ABI for the Arm Architecture, "Index table entries"
 */
export async function findFunctionStarts(elf: ElfFile, addresses: Float64Array): Promise<Float64Array> {
  const svmas = addresses.map((address) => elf.svmaOf(address) ?? Number.NaN);
  const wanted = new WantedStarts(svmas);
  const frames = await readEhFrame(elf, MAX_TABLE_SIZE_BYTES);
  if (frames !== undefined) visitFrameRanges(frames, wanted.take);
  if (elf.machine === EM_ARM) {
    const index = await readTable(elf, '.ARM.exidx', PT_ARM_EXIDX, MAX_TABLE_SIZE_BYTES);
    if (index !== undefined) visitExidxRanges(elf, index, wanted.take);
  }
  return wanted.starts;
}

/** Assigns ranges to the addresses in them; the first one wins. However ranges overlap, each address is looked at once. */
class WantedStarts {
  readonly starts: Float64Array;
  readonly #svmas: Float64Array;
  readonly #order: Uint32Array;
  /** By place in the order: the next place from there on that has no start yet, or one nearer to it. */
  readonly #next: Uint32Array;

  constructor(svmas: Float64Array) {
    this.starts = new Float64Array(svmas.length).fill(-1);
    // Segments may be mapped in another order than they lie in the file. An address in none is in no range.
    this.#order = Uint32Array.from(svmas.keys()).filter((i) => !Number.isNaN(svmas[i]));
    this.#order.sort((a, b) => svmas[a] - svmas[b]);
    this.#svmas = Float64Array.from(this.#order, (i) => svmas[i]);
    this.#next = Uint32Array.from({ length: this.#order.length + 1 }, (_, place) => place);
  }

  /** @param end just after the range's last byte */
  readonly take = (start: number, end: number): void => {
    // hot
    const svmas = this.#svmas;
    let low = 0;
    let high = svmas.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (svmas[middle] < start) low = middle + 1;
      else high = middle;
    }
    for (let place = this.#free(low); place < svmas.length && svmas[place] < end; place = this.#free(place)) {
      this.starts[this.#order[place]] = start;
      this.#next[place] = place + 1;
    }
  };

  #free(from: number): number {
    const next = this.#next;
    let place = from;
    while (next[place] !== place) {
      next[place] = next[next[place]];
      place = next[place];
    }
    return place;
  }
}

/**
 * Visits the code ranges that the FDEs of an `.eh_frame` section describe: one for each function, or for each part of one
 * that was split. An entry that makes no sense is passed over; one whose length overruns the section ends the walk.
 * @param visit gets the first address, and the one just after the last
 */
export function visitFrameRanges(frames: FrameBytes, visit: (start: number, end: number) => void): void {
  const section = new FrameSection({ ...frames, isDebugFrame: false, hasCodeAtZero: true });
  for (let at = 0; at >= 0 && at < section.sizeBytes; at = section.nextEntry) {
    // hot
    if (section.readFde(at) && section.hasCode) visit(section.start, section.end);
  }
}

/** Entries are in the order of their functions; each reaches up to the next one. */
function visitExidxRanges(elf: ElfFile, { view, addr }: MappedBytes, visit: (start: number, end: number) => void): void {
  const count = Math.floor(view.length / EXIDX_ENTRY_SIZE_BYTES);
  for (let i = 0; i < count; i++) {
    // hot
    const start = exidxStart(view, addr, i);
    const load =
      i + 1 < count
        ? undefined
        : elf.segments.find(({ type, flags, vaddr, memsz }) => type === PT_LOAD && (flags & PF_X) !== 0 && start >= vaddr && start < vaddr + memsz);
    visit(start, i + 1 < count ? exidxStart(view, addr, i + 1) : load === undefined ? start : load.vaddr + load.memsz);
  }
}

/** The first word of an entry says where its function begins. */
function exidxStart(view: ByteView, addr: number, index: number): number {
  const at = index * EXIDX_ENTRY_SIZE_BYTES;
  return prel31(view.u32(at), addr + at);
}
