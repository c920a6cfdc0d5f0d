import type { ByteView } from '../../base/bytes/byte-view.ts';
import { DistinctAddresses } from '../../symbol-table/distinct-addresses.ts';
import { EM_ARM, PF_X, PT_ARM_EXIDX, PT_LOAD } from '../elf-constants.ts';
import type { ElfFile } from '../elf-file.ts';
import { type MappedBytes, readTable } from '../mapped-bytes.ts';
import { MAX_FRAME_TABLE_BYTES, readEhFrame, readFrameTable } from './eh-frame.ts';
import { EXIDX_ENTRY_SIZE_BYTES, prel31 } from './exidx-entries.ts';
import { FrameSection } from './frame-section.ts';
import type { FrameTable } from './frame-table.ts';

/**
 * Finds where the functions that contain some addresses begin, from tables that stripping keeps because exceptions need them: `.eh_frame`, and on 32-bit Arm
 * `.ARM.exidx`. In the latter, linkers merge neighbors that unwind alike, so several functions may have one start. If FDEs overlap, the first one in the
 * section counts; if `.eh_frame_hdr` lists all FDEs, it is the last one that begins before the address, if it extends that far.
 * @param addresses file offsets, ascending
 * @returns for each, the address (svma) of the function's start; −1 if no table knows it
 * @see Linux Standard Base Core, "Exception Frames"; Exception Handling ABI for the Arm Architecture, "Index table entries"
 */
export async function findFunctionStarts(elf: ElfFile, addresses: Float64Array): Promise<Float64Array> {
  const svmas = addresses.map((address) => elf.svmaOf(address) ?? Number.NaN);
  const wanted = await startsByFrames(elf, svmas);
  if (elf.machine === EM_ARM) {
    const index = await readTable(elf, '.ARM.exidx', PT_ARM_EXIDX, MAX_FRAME_TABLE_BYTES);
    if (index !== undefined) visitExidxRanges(elf, index, wanted.take);
  }
  return wanted.starts();
}

/** The starts that `.eh_frame` knows: by `.eh_frame_hdr` if that is right, since few FDEs are asked for, else by a walk over all. */
async function startsByFrames(elf: ElfFile, svmas: Float64Array): Promise<WantedStarts> {
  const wanted = new WantedStarts(svmas);
  const table = await readFrameTable(elf);
  const frames = await readEhFrame(elf, table);
  if (frames === undefined) return wanted;
  const section = new FrameSection({ ...frames, isDebugFrame: false, hasCodeAtZero: true });
  if (table !== undefined && listsAll(table, section) && wanted.takeListed(table, section)) return wanted;
  const walked = new WantedStarts(svmas);
  visitFrameRanges(section, walked.take);
  return walked;
}

/** Whether a table can be searched for a section's FDEs, and has all of them. Few linkers leave some out. */
function listsAll(table: FrameTable, section: FrameSection): boolean {
  return table.finds(section) && section.countFdes() <= table.count;
}

/** Assigns ranges to the addresses in them; the first one wins. However ranges overlap, each address is only visited once. */
class WantedStarts {
  readonly #count: number;
  readonly #wanted: DistinctAddresses;
  /** By position among the distinct addresses. */
  readonly #starts: Float64Array;
  /** By the same position: the next position from there on that has no start yet, or one nearer to it. */
  readonly #next: Uint32Array;

  /** @param svmas in any order: segments may be mapped in another order than they have in the file. NaN is in no range */
  constructor(svmas: Float64Array) {
    this.#count = svmas.length;
    this.#wanted = new DistinctAddresses(svmas);
    const { length } = this.#wanted.addresses;
    this.#starts = new Float64Array(length).fill(-1);
    this.#next = new Uint32Array(length + 1);
    for (let place = 0; place <= length; place++) this.#next[place] = place;
  }

  /** For each of the svmas, the start of the range that it got; −1 for none. */
  starts(): Float64Array {
    const { order, firsts } = this.#wanted;
    const starts = new Float64Array(this.#count).fill(-1);
    for (let place = 0; place < this.#starts.length; place++) {
      for (let nth = firsts[place]; nth < firsts[place + 1]; nth++) starts[order[nth]] = this.#starts[place];
    }
    return starts;
  }

  /**
   * Takes the ranges of the FDEs that a table lists for the addresses.
   * @returns whether the table tells everything about them. It does not if FDEs have the same start, or if it belongs to another section
   */
  takeListed(table: FrameTable, section: FrameSection): boolean {
    const svmas = this.#wanted.addresses;
    for (let place = 0; place < svmas.length; ) {
      // hot
      const entry = table.find(svmas[place]);
      const next = entry + 1 < table.count ? table.start(entry + 1) : Number.POSITIVE_INFINITY;
      if (entry >= 0) {
        const start = table.start(entry);
        if (!section.readFde(table.fdeAddr(entry) - section.bytes.addr) || section.start !== start) return false;
        // If several FDEs begin there, the table does not tell which one has the address.
        if (!section.hasCode || (entry > 0 && table.start(entry - 1) === start)) return false;
        // Addresses and entries both ascend: no earlier address is in the range.
        for (const end = Math.min(section.end, next); place < svmas.length && svmas[place] < end; place++) this.#assign(place, start);
      }
      while (place < svmas.length && svmas[place] < next) place++;
    }
    return true;
  }

  /** @param end just after the range's last byte */
  readonly take = (start: number, end: number): void => {
    // hot
    const svmas = this.#wanted.addresses;
    let low = 0;
    let high = svmas.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (svmas[middle] < start) low = middle + 1;
      else high = middle;
    }
    for (let place = this.#free(low); place < svmas.length && svmas[place] < end; place = this.#free(place)) this.#assign(place, start);
  };

  #assign(place: number, start: number): void {
    this.#starts[place] = start;
    this.#next[place] = place + 1;
  }

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
 * Visits the code ranges that the FDEs of an `.eh_frame` section describe: one for each function, or for each part of a split one. An entry that makes no sense
 * is skipped; one whose length overruns the section ends the walk.
 * @param visit gets the first address, and the one just after the last
 */
export function visitFrameRanges(section: FrameSection, visit: (start: number, end: number) => void): void {
  for (let at = 0; at >= 0 && at < section.sizeBytes; at = section.nextEntry) {
    // hot
    if (section.readFde(at) && section.hasCode) visit(section.start, section.end);
  }
}

/** Entries are in the order of their functions. Each extends to the next one. */
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
