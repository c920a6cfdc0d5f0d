/** Memory is mapped by pages of that size, or of a multiple of it. */
const PAGE_BYTES = 4096;

/** Code of one DSO in a part of one page. */
export interface CodePatch {
  readonly start: number;
  readonly end: number;
  /** What to add to a run-time address for the DSO's own. */
  readonly delta: number;
  readonly dso: number;
}

/**
 * Small pieces of code that a JIT puts into a process's memory one by one, over whatever is mapped there; the latest one counts. There may be
 * a hundred thousand of them, in any order: they are kept by page, cut at its ends.
 */
export class CodePatches {
  /** Those of a page: disjoint, ascending. */
  readonly #pages = new Map<number, CodePatch[]>();

  clone(): CodePatches {
    const copy = new CodePatches();
    for (const [page, patches] of this.#pages) copy.#pages.set(page, patches.slice());
    return copy;
  }

  /** Puts code into [start, end). Takes time by the number of pages in it. */
  put(start: number, end: number, delta: number, dso: number): void {
    for (let page = pageOf(start); page * PAGE_BYTES < end; page++) {
      const patch = { start: Math.max(start, page * PAGE_BYTES), end: Math.min(end, (page + 1) * PAGE_BYTES), delta, dso };
      const patches = this.#pages.get(page);
      if (patches === undefined) this.#pages.set(page, [patch]);
      else replace(patches, patch.start, patch.end, [patch]);
    }
  }

  /** Forgets the code in [start, end). */
  remove(start: number, end: number): void {
    const first = pageOf(start);
    // Maps may be of any size; the pages that hold code are few.
    if ((end - start) / PAGE_BYTES > this.#pages.size) {
      for (const page of this.#pages.keys()) if (page >= first && page * PAGE_BYTES < end) this.#removeFrom(page, start, end);
    } else {
      for (let page = first; page * PAGE_BYTES < end; page++) this.#removeFrom(page, start, end);
    }
  }

  /** The code at an address; undefined where there is none. */
  find(address: number): CodePatch | undefined {
    // hot
    const patches = this.#pages.get(pageOf(address));
    if (patches === undefined) return undefined;
    const patch = patches[firstEndingAfter(patches, address)];
    return patch !== undefined && patch.start <= address ? patch : undefined;
  }

  #removeFrom(page: number, start: number, end: number): void {
    const patches = this.#pages.get(page);
    if (patches === undefined) return;
    replace(patches, start, end, []);
    if (patches.length === 0) this.#pages.delete(page);
  }
}

function pageOf(address: number): number {
  return Math.floor(address / PAGE_BYTES);
}

/** Puts pieces in the place of what lies in [start, end); what reaches over its ends is cut. */
function replace(patches: CodePatch[], start: number, end: number, pieces: CodePatch[]): void {
  const first = firstEndingAfter(patches, start);
  let last = first;
  while (last < patches.length && patches[last].start < end) last++;
  const before = first < last && patches[first].start < start ? [{ ...patches[first], end: start }] : [];
  const behind = first < last && patches[last - 1].end > end ? [{ ...patches[last - 1], start: end }] : [];
  patches.splice(first, last - first, ...before, ...pieces, ...behind);
}

/** First piece whose end is greater than `address`. */
function firstEndingAfter(patches: readonly CodePatch[], address: number): number {
  let low = 0;
  let high = patches.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (patches[middle].end > address) high = middle;
    else low = middle + 1;
  }
  return low;
}
