import type { ByteView } from '../../bytes/byte-view.ts';
import type { DebugSections } from './debug-sections.ts';
import * as dw from './dwarf-constants.ts';
import type { FormReader } from './forms.ts';
import { SectionWindow } from './section-window.ts';

/** Names of templates come to tens of kilobytes; what is longer is cut. */
const MAX_TEXT_SIZE_BYTES = 1 << 18;
const PAGE_SIZE_BYTES = 1 << 16;

/** Where a text stands: in the unit itself, then it is read already; in a string section; or it is known by an index. */
export type TextPlace =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'str' | 'line_str' | 'supplementary'; readonly offset: number }
  | { readonly kind: 'index'; readonly index: number };

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
  /** The last text of `.debug_str`: callers ask for the same one in a row. */
  #lastOffset = -1;
  #lastText = '';

  /** @param supplementary the file that shares strings with this one, if any */
  constructor(sections: DebugSections, supplementary: DebugSections | undefined) {
    const str = new SectionWindow(sections, 'str');
    this.#windows = { str, line_str: new SectionWindow(sections, 'line_str'), supplementary: supplementary ? new SectionWindow(supplementary, 'str') : str };
    this.#offsets = new SectionWindow(sections, 'str_offsets');
  }

  /**
   * The place in `.debug_str` of a text that is known by its index.
   * @param base where the unit's part of `.debug_str_offsets` starts
   * @returns undefined when there is none
   */
  async resolveIndex(index: number, base: number, offsetSize: 4 | 8): Promise<TextPlace | undefined> {
    const offset = base + index * offsetSize;
    if (!this.#offsets.holds(offset, offsetSize)) return undefined;
    if (!this.#offsets.covers(offset, offsetSize)) await this.#offsets.load(offset, offsetSize, PAGE_SIZE_BYTES);
    const { view, start } = this.#offsets;
    return { kind: 'str', offset: offsetSize === 8 ? view.u64(offset - start) : view.u32(offset - start) };
  }

  /** A text; empty when there is none at its place. */
  async text(place: TextPlace): Promise<string> {
    if (place.kind === 'text') return place.text;
    if (place.kind === 'index') return '';
    const { kind, offset } = place;
    if (kind === 'str' && offset === this.#lastOffset) return this.#lastText;
    const text = await readText(this.#windows[kind], offset);
    if (kind === 'str') {
      this.#lastOffset = offset;
      this.#lastText = text;
    }
    return text;
  }
}

async function readText(window: SectionWindow, offset: number): Promise<string> {
  const { section } = window;
  if (!(offset < section.sizeBytes)) return '';
  for (let size = PAGE_SIZE_BYTES; ; size *= 4) {
    if (!window.covers(offset, 1)) await window.load(offset, 1, PAGE_SIZE_BYTES);
    const at = offset - window.start;
    const end = endOfText(window.view, at);
    if (end < window.view.length || window.start + end >= section.sizeBytes || end - at >= MAX_TEXT_SIZE_BYTES) return window.view.text(at, end);
    await window.load(offset, size, size);
  }
}

function endOfText(view: ByteView, at: number): number {
  const nul = view.bytes.indexOf(0, at);
  return Math.min(nul < 0 ? view.length : nul, at + MAX_TEXT_SIZE_BYTES);
}
