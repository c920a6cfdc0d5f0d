import { firstAbove } from '../../base/tables/first-above.ts';
import { grown } from '../../base/tables/growable.ts';
import type { DebugSections } from '../sections/debug-sections.ts';
import { SectionWindow } from '../sections/section-window.ts';
import { MAX_UNIT_HEADER_SIZE_BYTES, readUnitHeader, readUnitLength, type UnitHeader, type UnitSection } from './unit-header.ts';

/** How much is read at a unit's start: its header, and usually its root DIE. */
const HEAD_SIZE_BYTES = 4096;
/** If units are not much larger than a head, many are read at once. */
const HEADS_SIZE_BYTES = 1 << 18;

/** Version, abbreviation offset and address size. */
const MIN_UNIT_LENGTH = 7;

/** The units of a section. They are found one after the other, as far as they are asked for. */
export class UnitList {
  /** A window of the section for heads of units. */
  readonly window: SectionWindow;
  readonly #section: UnitSection;
  #starts = new Float64Array(64);
  #count = 0;
  /** Where the next unit starts. */
  #next = 0;

  constructor(sections: DebugSections, section: UnitSection) {
    this.#section = section;
    this.window = new SectionWindow(sections, section);
  }

  /** Where unit `index` starts, counted in section order; −1 after the last one. */
  async start(index: number): Promise<number> {
    while (this.#count <= index) if (!(await this.#step())) return -1;
    return this.#starts[index];
  }

  /** The header of a unit that is known to start at `offset`. @throws PerfconvError as {@link readUnitHeader} does */
  async headerAt(offset: number): Promise<UnitHeader> {
    await this.load(offset, MAX_UNIT_HEADER_SIZE_BYTES);
    return readUnitHeader(this.window.view, offset - this.window.start, offset, this.window.section.sizeBytes, this.#section);
  }

  /** Where the unit that contains the byte at `offset` starts; −1 for none. */
  async startOf(offset: number): Promise<number> {
    if (!(offset < this.window.section.sizeBytes)) return -1;
    while (this.#next <= offset) if (!(await this.#step())) return -1;
    const after = firstAbove(this.#starts, offset, 0, this.#count);
    return after === 0 ? -1 : this.#starts[after - 1];
  }

  /** Brings the head of a unit into the window: `sizeBytes` from `offset` on, or all up to the section's end. */
  async load(offset: number, sizeBytes: number): Promise<void> {
    const { window } = this;
    if (window.covers(offset, Math.min(sizeBytes, window.section.sizeBytes - offset))) return;
    const last = this.#count > 1 ? offset - this.#starts[this.#count - 1] : 0;
    await window.load(offset, sizeBytes, last > HEAD_SIZE_BYTES * 4 ? HEAD_SIZE_BYTES : HEADS_SIZE_BYTES);
  }

  /** Finds the next unit. @returns false if there is none */
  async #step(): Promise<boolean> {
    const { window } = this;
    const { sizeBytes } = window.section;
    while (this.#next < sizeBytes) {
      const offset = this.#next;
      // There may be megabytes of padding, so this only waits for bytes that are not in memory.
      if (!window.covers(offset, Math.min(12, sizeBytes - offset))) await this.load(offset, 12);
      const unitLength = readUnitLength(window.view, offset - window.start);
      // An invalid length ends the walk: nothing tells where the next unit starts.
      if (unitLength === undefined) return false;
      this.#next = offset + unitLength.lengthSize + unitLength.length;
      // What is too short for a unit is padding.
      if (unitLength.length < MIN_UNIT_LENGTH) continue;
      this.#starts = grown(this.#starts, this.#count + 1);
      this.#starts[this.#count++] = offset;
      return true;
    }
    return false;
  }
}
