import { firstAbove } from '../../base/tables/first-above.ts';
import { allocated, grown } from '../../base/tables/growable.ts';
import type { FrameSection } from '../../elf/frame-tables/frame-section.ts';
import type { FrameTable } from '../../elf/frame-tables/frame-table.ts';

/** FDEs in the order of their code. */
interface SortedFdes {
  readonly starts: Float64Array;
  readonly offsets: Uint32Array;
  readonly count: number;
}

/** Finds the FDE of an address: by a table if there is one that is right, else by an index that is made when it is first needed. */
export class FrameIndex {
  readonly section: FrameSection;
  #table: FrameTable | undefined;
  #sorted: SortedFdes | undefined;
  /** undefined until code that is not in the table was looked up. */
  #isTableComplete: boolean | undefined;

  /** @param usesTableAlone whether FDEs that the table leaves out are not looked for */
  constructor(section: FrameSection, table?: FrameTable, usesTableAlone = false) {
    this.section = section;
    if (!table?.finds(section, usesTableAlone)) return;
    this.#table = table;
    if (usesTableAlone) this.#isTableComplete = true;
  }

  /** The table by which FDEs are found, as long as nothing has shown that it is wrong. */
  get table(): FrameTable | undefined {
    return this.#table;
  }

  /** The number of the FDE that an svma is in, if it is in any; −1 if none begins before it, or the FDEs were not read yet. */
  entryOf(svma: number): number {
    if (this.#table !== undefined) return this.#table.find(svma);
    return this.#sorted === undefined ? -1 : firstAbove(this.#sorted.starts, svma, 0, this.#sorted.count) - 1;
  }

  /** Makes the section read the FDE of the code at an svma; false if there is none. */
  find(svma: number): boolean {
    if (this.#table !== undefined) {
      if (this.#findInTable(this.#table, svma)) return true;
      if (this.#table !== undefined && this.#listsAll(this.#table)) return false;
    }
    this.#table = undefined;
    this.#sorted ??= this.#sort();
    return this.#findSorted(this.#sorted, svma);
  }

  /** Whether a table has all FDEs, so that code that is not in it has none. Few linkers leave some out. */
  #listsAll(table: FrameTable): boolean {
    this.#isTableComplete ??= this.section.countFdes() <= table.count || this.#countWithCode() <= table.count;
    return this.#isTableComplete;
  }

  /** How many FDEs have code. Linkers leave those of functions that they removed out of the table, but not always out of the section. */
  #countWithCode(): number {
    let count = 0;
    this.#readAll(() => count++);
    return count;
  }

  /** Makes the section read one FDE that has code after the other. @param visit gets the offset of each */
  #readAll(visit: (at: number) => void): void {
    const { section } = this;
    for (let at = 0; at >= 0 && at < section.sizeBytes; at = section.nextEntry) if (section.readFde(at) && section.hasCode) visit(at);
  }

  #findInTable(table: FrameTable, svma: number): boolean {
    const { section } = this;
    const index = table.find(svma);
    if (index < 0) return false;
    const isFde = section.readFde(table.fdeAddr(index) - section.bytes.addr);
    if (isFde && section.start === table.start(index)) return svma < section.end && section.hasCode;
    // Whatever wrote the table, it is not about this section.
    this.#table = undefined;
    return false;
  }

  #findSorted({ starts, offsets, count }: SortedFdes, svma: number): boolean {
    const above = firstAbove(starts, svma, 0, count);
    return above > 0 && this.section.readFde(offsets[above - 1]) && svma < this.section.end;
  }

  #sort(): SortedFdes {
    const { section } = this;
    let starts = allocated(Float64Array, 1024);
    let offsets = allocated(Uint32Array, 1024);
    let count = 0;
    let isSorted = true;
    this.#readAll((at) => {
      starts = grown(starts, count + 1);
      offsets = grown(offsets, count + 1);
      starts[count] = section.start;
      offsets[count] = at;
      isSorted &&= count === 0 || starts[count - 1] <= section.start;
      count++;
    });
    if (isSorted) return { starts, offsets, count };
    const order = Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => starts[a] - starts[b] || a - b);
    return { starts: Float64Array.from(order, (i) => starts[i]), offsets: Uint32Array.from(order, (i) => offsets[i]), count };
  }
}
