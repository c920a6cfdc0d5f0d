import { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { WINDOW_SIZE_BYTES } from '../wasm/contract.ts';
import type { DebugSection, DebugSectionName, DebugSections } from './debug-sections.ts';
import { ReusedMemory } from './reused-memory.ts';

/** How much of a window is before the place asked for: compilers write a unit's own range list after those of its functions. */
const BACK_SIZE_BYTES = WINDOW_SIZE_BYTES >>> 2;
/** Sane files are read through once or twice. Hostile ones can alternate between distant places, with a window read for each. */
const MAX_TIMES_READ = 64;

/**
 * A stretch of a section in memory, which is moved to where it is needed: sections are not read whole. A new {@link SectionWindow.view} reuses the memory of
 * the last one.
 */
export class SectionWindow {
  readonly section: DebugSection;
  /** Section offset of the view's first byte. */
  start = 0;
  view: ByteView;
  readonly #name: string;
  readonly #memory = new ReusedMemory();
  #budgetBytes = 0;

  constructor(sections: DebugSections, name: DebugSectionName) {
    this.section = sections.section(name);
    this.view = new ByteView(new Uint8Array(), sections.littleEndian);
    this.#name = `.debug_${name} of ${sections.name}`;
    this.renewBudget();
  }

  /** Lets the section be read a number of times again. */
  renewBudget(): void {
    this.#budgetBytes = MAX_TIMES_READ * (this.section.sizeBytes + WINDOW_SIZE_BYTES);
  }

  /** Whether the bytes are in memory. */
  covers(offset: number, sizeBytes: number): boolean {
    return offset >= this.start && offset + sizeBytes <= this.start + this.view.length;
  }

  /** Whether the section has these bytes at all. */
  holds(offset: number, sizeBytes: number): boolean {
    return offset >= 0 && offset + sizeBytes <= this.section.sizeBytes;
  }

  /**
   * Moves the window: at least `sizeBytes` from `offset` on are in it afterwards, or all up to the section's end.
   * @param windowBytes how much to read around it
   * @throws PerfconvError when the section cannot be read, or has been read far too often
   */
  async load(offset: number, sizeBytes: number, windowBytes = WINDOW_SIZE_BYTES): Promise<void> {
    const back = windowBytes < WINDOW_SIZE_BYTES ? 0 : BACK_SIZE_BYTES;
    const start = this.section.sizeBytes <= windowBytes ? 0 : Math.max(0, offset - back);
    const size = Math.min(Math.max(windowBytes, offset - start + sizeBytes), this.section.sizeBytes - start);
    this.#budgetBytes -= size;
    if (this.#budgetBytes < 0) throw new PerfconvError('damaged', 'is read over and over', { record: this.#name, offset });
    // The view's memory is overwritten, even if reading fails halfway.
    this.view = new ByteView(new Uint8Array(), this.view.littleEndian);
    this.view = await this.section.read(start, size, this.#memory);
    this.start = start;
  }

  /** Bytes from `offset` on, until the window moves: `sizeBytes`, or fewer at the section's end. */
  async read(offset: number, sizeBytes: number): Promise<ByteView> {
    const size = Math.max(0, Math.min(sizeBytes, this.section.sizeBytes - offset));
    if (!this.covers(offset, size)) await this.load(offset, size);
    const at = offset - this.start;
    return new ByteView(this.view.bytes.subarray(at, at + size), this.view.littleEndian);
  }
}
