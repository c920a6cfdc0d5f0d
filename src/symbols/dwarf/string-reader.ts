import { decodeText } from '../../bytes/text.ts';
import { PerfconvError } from '../../errors.ts';
import type { DebugSections } from './debug-sections.ts';
import * as dw from './dwarf-constants.ts';
import { type FormReader, MAX_TEXT_SIZE_BYTES } from './forms.ts';
import { SectionWindow } from './section-window.ts';

/** For texts that are asked for in the order of their offsets. */
const PAGE_SIZE_BYTES = 1 << 18;

/** Texts that end alike may share their bytes, but not many times over. */
const MAX_TIMES_READ = 8;
const SPARE_BYTES = 1 << 20;

/** Where a text stands: in the unit itself, then it is read already; in a string section; or it is known by an index. */
export type TextPlace = { readonly kind: 'text'; readonly text: string } | SectionTextPlace | { readonly kind: 'index'; readonly index: number };

/** A text in a string section, the supplementary file's `.debug_str` among them. */
export interface SectionTextPlace {
  readonly kind: 'str' | 'line_str' | 'supplementary';
  readonly offset: number;
}

/** The place of the string that `reader` has just read, or undefined when it was something else. DWARF 5, 7.5.5. */
export function textPlace(reader: FormReader): TextPlace | undefined {
  const { value } = reader;
  switch (reader.form) {
    case dw.DW_FORM_string:
      return { kind: 'text', text: reader.inlineText() };
    case dw.DW_FORM_strp:
      return { kind: 'str', offset: value };
    case dw.DW_FORM_line_strp:
      return { kind: 'line_str', offset: value };
    case dw.DW_FORM_strp_sup:
    case dw.DW_FORM_GNU_strp_alt:
      return { kind: 'supplementary', offset: value };
    case dw.DW_FORM_strx:
    case dw.DW_FORM_strx1:
    case dw.DW_FORM_strx2:
    case dw.DW_FORM_strx3:
    case dw.DW_FORM_strx4:
    case dw.DW_FORM_GNU_str_index:
      return { kind: 'index', index: value };
    default:
      return undefined;
  }
}

/** The strings of one file. Those asked for in the order of their offsets are read fastest. */
export class StringReader {
  readonly #windows: Readonly<Record<'str' | 'line_str' | 'supplementary', SectionWindow>>;
  readonly #offsets: SectionWindow;
  readonly #pageSizeBytes: number;
  /** The last text of `.debug_str`: callers ask for the same one in a row. */
  #lastOffset = -1;
  #lastText = '';
  #bytesLeft = 0;

  /**
   * @param supplementary the file that shares strings with this one, if any
   * @param pageSizeBytes how much is read for a text: little, for texts that lie anywhere
   */
  constructor(sections: DebugSections, supplementary: DebugSections | undefined, pageSizeBytes = PAGE_SIZE_BYTES) {
    this.#pageSizeBytes = pageSizeBytes;
    const str = new SectionWindow(sections, 'str');
    this.#windows = { str, line_str: new SectionWindow(sections, 'line_str'), supplementary: supplementary ? new SectionWindow(supplementary, 'str') : str };
    this.#offsets = new SectionWindow(sections, 'str_offsets');
    this.renewBudget();
  }

  /** Lets texts be read a number of times again. */
  renewBudget(): void {
    const windows = Object.values(this.#windows);
    for (const window of [...windows, this.#offsets]) window.renewBudget();
    this.#bytesLeft = windows.reduce((sum, { section }) => sum + MAX_TIMES_READ * section.sizeBytes, SPARE_BYTES);
  }

  /**
   * The place in `.debug_str` of a text that is known by its index.
   * @param offset where the index's entry stands in `.debug_str_offsets`
   * @returns undefined when there is none
   */
  async resolveIndex(offset: number, offsetSize: 4 | 8): Promise<SectionTextPlace | undefined> {
    if (!this.#offsets.holds(offset, offsetSize)) return undefined;
    if (!this.#offsets.covers(offset, offsetSize)) await this.#offsets.load(offset, offsetSize, this.#pageSizeBytes);
    const { view, start } = this.#offsets;
    return { kind: 'str', offset: offsetSize === 8 ? view.u64(offset - start) : view.u32(offset - start) };
  }

  /** A text; empty when there is none at its place. @throws PerfconvError when it cannot be read, or texts are far longer than the file */
  async text(place: TextPlace): Promise<string> {
    if (place.kind === 'text') return place.text;
    if (place.kind === 'index') return '';
    const window = this.#windows[place.kind];
    for (let size = this.#pageSizeBytes; place.offset < window.section.sizeBytes; size *= 4) {
      const text = this.textInMemory(place);
      if (text !== undefined) return text;
      await window.load(place.offset, window.covers(place.offset, 1) ? size : 1, size);
    }
    return '';
  }

  /** The same as far as no file must be read for it, undefined elsewhere: so that not every name waits for one. */
  textInMemory(place: SectionTextPlace): string | undefined {
    const { kind, offset } = place;
    if (kind === 'str' && offset === this.#lastOffset) return this.#lastText;
    const window = this.#windows[kind];
    if (!window.covers(offset, 1)) return undefined;
    const { view, start } = window;
    const at = offset - start;
    const nul = view.bytes.indexOf(0, at);
    const isCut = nul < 0 && start + view.length < window.section.sizeBytes && view.length - at < MAX_TEXT_SIZE_BYTES;
    if (isCut) return undefined;
    const end = Math.min(nul < 0 ? view.length : nul, at + MAX_TEXT_SIZE_BYTES);
    this.#bytesLeft -= end - at;
    if (this.#bytesLeft < 0) throw new PerfconvError('damaged', 'texts that overlap over and over', { record: '.debug_str', offset });
    const text = decodeText(view.bytes.subarray(at, end));
    if (kind === 'str') {
      this.#lastOffset = offset;
      this.#lastText = text;
    }
    return text;
  }
}
