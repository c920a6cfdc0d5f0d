import { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { DebugSection, DebugSections } from '../sections/debug-sections.ts';
import { type LineHeader, type LineNames, NAME_INLINE, NAME_LINE_STR, NAME_STR, NAME_STR_SUP, NAME_STRX } from './line-header.ts';

/** No system opens a longer path (Linux, PATH_MAX). */
const MAX_NAME_SIZE_BYTES = 4096;
const WINDOW_SIZE_BYTES = 64 << 10;
/**
 * Names that end alike may share bytes: how many times the section's size all names of one table may have together, and how much in any
 * case.
 */
const MAX_SHARING = 4;
const FREE_TEXT_BYTES = 1 << 20;

/** The text of a name; empty if there is none. */
export type LineNameText = (names: LineNames, index: number) => string;

/** The strings that headers of line tables refer to. */
export class LineStrings {
  readonly #sections: DebugSections;
  readonly #supplementary: DebugSections | undefined;
  #lineStr: Promise<ByteView> | undefined;

  /** @param supplementary the file that DW_FORM_strp_sup refers to; absent if there is none */
  constructor(sections: DebugSections, supplementary: DebugSections | undefined) {
    this.#sections = sections;
    this.#supplementary = supplementary;
  }

  /**
   * Reads what is needed for all names of a header; those in the header itself and in `.debug_line_str`, which are nearly all, are decoded
   * when they are asked for.
   * @param strOffsetsBase where the unit's contribution to `.debug_str_offsets` begins; undefined if it has none
   * @throws PerfconvError when a section cannot be read
   */
  async of(unit: ByteView, header: LineHeader, strOffsetsBase: number | undefined): Promise<LineNameText> {
    const usesLineStr = [header.directories, header.files].some(({ sources }) => sources.includes(NAME_LINE_STR));
    if (usesLineStr) this.#lineStr ??= readAll(this.#sections.section('line_str'));
    const lineStr = await this.#lineStr;
    const str = await readTexts(this.#sections.section('str'), placesOf(header, NAME_STR));
    const sup = this.#supplementary && (await readTexts(this.#supplementary.section('str'), placesOf(header, NAME_STR_SUP)));
    const strx = await this.#readIndexed(header, strOffsetsBase);
    return (names, index) => {
      const place = names.places[index] ?? -1;
      if (place < 0) return '';
      switch (names.sources[index]) {
        case NAME_INLINE:
          return textAt(unit, place);
        case NAME_LINE_STR:
          return lineStr === undefined ? '' : textAt(lineStr, place);
        case NAME_STR:
          return str.get(place) ?? '';
        case NAME_STR_SUP:
          return sup?.get(place) ?? '';
        default:
          return strx.get(place) ?? '';
      }
    };
  }

  /** Strings by their index in the unit's contribution to `.debug_str_offsets`. */
  async #readIndexed(header: LineHeader, base: number | undefined): Promise<ReadonlyMap<number, string>> {
    const indexes = placesOf(header, NAME_STRX);
    const texts = new Map<number, string>();
    if (indexes.length === 0 || base === undefined) return texts;
    const size = header.offsetSize;
    const most = indexes.reduce((a, b) => Math.max(a, b));
    const offsets = await this.#sections.section('str_offsets').read(base, (most + 1) * size);
    const known = indexes.filter((index) => (index + 1) * size <= offsets.length);
    const placeOf = (index: number): number => (size === 8 ? offsets.u64(index * size) : offsets.u32(index * size));
    const byPlace = await readTexts(this.#sections.section('str'), known.map(placeOf));
    for (const index of known) texts.set(index, byPlace.get(placeOf(index)) ?? '');
    return texts;
  }
}

function placesOf({ directories, files }: LineHeader, source: number): number[] {
  return [directories, files].flatMap(({ sources, places }) => places.filter((_, i) => sources[i] === source));
}

function textAt(view: ByteView, at: number): string {
  return at < view.length ? view.text(at, Math.min(at + MAX_NAME_SIZE_BYTES, view.length)) : '';
}

function readAll(section: DebugSection): Promise<ByteView> {
  return section.read(0, section.sizeBytes);
}

/**
 * Strings by their offset in a section of which little is needed. Each part of it is read once at most.
 * @throws PerfconvError `damaged` when they are far longer than the section
 */
async function readTexts(section: DebugSection, places: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const texts = new Map<number, string>();
  let bytesLeft = MAX_SHARING * section.sizeBytes + FREE_TEXT_BYTES;
  let start = 0;
  let window = new ByteView(new Uint8Array(), true);
  for (const place of [...new Set(places)].sort((a, b) => a - b)) {
    if (!(place < section.sizeBytes)) break;
    if (place + MAX_NAME_SIZE_BYTES > start + window.length && start + window.length < section.sizeBytes) {
      start = place;
      window = await section.read(place, WINDOW_SIZE_BYTES);
    }
    const text = textAt(window, place - start);
    bytesLeft -= text.length;
    if (bytesLeft < 0) throw new PerfconvError('damaged', 'names overlap too much', { record: '.debug_line' });
    texts.set(place, text);
  }
  return texts;
}
