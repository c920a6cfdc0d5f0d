import type { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { decodeText } from '../../base/text/text.ts';
import type { DebugSections } from '../sections/debug-sections.ts';
import { SectionWindow } from '../sections/section-window.ts';
import * as dw from './dwarf-constants.ts';
import { MAX_TEXT_SIZE_BYTES } from './forms.ts';

/** For strings that are asked for in the order of their offsets. */
const PAGE_SIZE_BYTES = 1 << 18;

/** Strings that end alike may share bytes, but not many times over. */
const MAX_TIMES_READ = 8;
const FREE_BYTES = 1 << 20;

/** Where a string is: in `.debug_str`. */
export const TEXT_IN_STR = 0;
export const TEXT_IN_LINE_STR = 1;
/** In the supplementary file's `.debug_str`. */
export const TEXT_IN_SUPPLEMENTARY = 2;
/** In `.debug_str`, at the offset that `.debug_str_offsets` has for an index. */
export const TEXT_BY_INDEX = 3;
/** Among the attributes of the unit. */
export const TEXT_IN_UNIT = 4;
/** There is none. */
export const TEXT_NONE = 5;

/** A section with strings. */
export type TextSection = typeof TEXT_IN_STR | typeof TEXT_IN_LINE_STR | typeof TEXT_IN_SUPPLEMENTARY;
export type TextPlace = TextSection | typeof TEXT_BY_INDEX | typeof TEXT_IN_UNIT | typeof TEXT_NONE;

/** Where strings of a form are. DWARF 5, 7.5.5. */
export function textPlace(form: number): TextPlace {
  switch (form) {
    case dw.DW_FORM_string:
      return TEXT_IN_UNIT;
    case dw.DW_FORM_strp:
      return TEXT_IN_STR;
    case dw.DW_FORM_line_strp:
      return TEXT_IN_LINE_STR;
    case dw.DW_FORM_strp_sup:
    case dw.DW_FORM_GNU_strp_alt:
      return TEXT_IN_SUPPLEMENTARY;
    case dw.DW_FORM_strx:
    case dw.DW_FORM_strx1:
    case dw.DW_FORM_strx2:
    case dw.DW_FORM_strx3:
    case dw.DW_FORM_strx4:
    case dw.DW_FORM_GNU_str_index:
      return TEXT_BY_INDEX;
    default:
      return TEXT_NONE;
  }
}

/** The string at a place in a unit. */
export function textInUnit(unit: ByteView, at: number): string {
  return unit.text(at, Math.min(unit.length, at + MAX_TEXT_SIZE_BYTES));
}

/** The strings of one file. It is fastest to ask for them in the order of their offsets. */
export class StringReader {
  /** By {@link TextSection}. */
  readonly #windows: readonly SectionWindow[];
  readonly #offsets: SectionWindow;
  readonly #pageSizeBytes: number;
  /** The last string of `.debug_str`: callers often ask for the same one several times in a row. */
  #lastOffset = -1;
  #lastText = '';
  #bytesLeft = 0;

  /**
   * @param supplementary the file that shares strings with this one, if any
   * @param pageSizeBytes how much is read for a string: little if the strings are scattered
   */
  constructor(sections: DebugSections, supplementary: DebugSections | undefined, pageSizeBytes = PAGE_SIZE_BYTES) {
    this.#pageSizeBytes = pageSizeBytes;
    const str = new SectionWindow(sections, 'str');
    this.#windows = [str, new SectionWindow(sections, 'line_str'), supplementary ? new SectionWindow(supplementary, 'str') : str];
    this.#offsets = new SectionWindow(sections, 'str_offsets');
    this.renewBudget();
  }

  /** Lets strings be read a number of times again. */
  renewBudget(): void {
    for (const window of [...this.#windows, this.#offsets]) window.renewBudget();
    this.#bytesLeft = this.#windows.reduce((sum, { section }) => sum + MAX_TIMES_READ * section.sizeBytes, FREE_BYTES);
  }

  /**
   * The offset in `.debug_str` of a string that is given by an index.
   * @param offset where the index's entry is in `.debug_str_offsets`
   * @returns −1 if there is none
   */
  async resolveIndex(offset: number, offsetSize: 4 | 8): Promise<number> {
    if (!this.#offsets.holds(offset, offsetSize)) return -1;
    if (!this.#offsets.covers(offset, offsetSize)) await this.#offsets.load(offset, offsetSize, this.#pageSizeBytes);
    const { view, start } = this.#offsets;
    return offsetSize === 8 ? view.u64(offset - start) : view.u32(offset - start);
  }

  /**
   * A string; empty if there is none at its offset.
   * @throws PerfconvError when it cannot be read, or strings are far longer than the file
   */
  async text(section: TextSection, offset: number): Promise<string> {
    const window = this.#windows[section];
    for (let size = this.#pageSizeBytes; offset < window.section.sizeBytes; size *= 4) {
      const text = this.textInMemory(section, offset);
      if (text !== undefined) return text;
      await window.load(offset, window.covers(offset, 1) ? size : 1, size);
    }
    return '';
  }

  /** Like {@link text}, but without reading the file: undefined if that is necessary. So not every name has to wait. */
  textInMemory(section: TextSection, offset: number): string | undefined {
    if (section === TEXT_IN_STR && offset === this.#lastOffset) return this.#lastText;
    const window = this.#windows[section];
    if (!window.covers(offset, 1)) return undefined;
    const { view, start } = window;
    const at = offset - start;
    const nul = view.bytes.indexOf(0, at);
    const isCut = nul < 0 && start + view.length < window.section.sizeBytes && view.length - at < MAX_TEXT_SIZE_BYTES;
    if (isCut) return undefined;
    const end = Math.min(nul < 0 ? view.length : nul, at + MAX_TEXT_SIZE_BYTES);
    this.#bytesLeft -= end - at;
    if (this.#bytesLeft < 0) throw new PerfconvError('damaged', 'strings overlap too much', { record: '.debug_str', offset });
    const text = decodeText(view.bytes.subarray(at, end));
    if (section === TEXT_IN_STR) {
      this.#lastOffset = offset;
      this.#lastText = text;
    }
    return text;
  }
}
