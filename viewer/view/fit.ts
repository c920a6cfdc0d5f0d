import { endsRightToLeft, isRightToLeft } from '../model/direction.ts';

/** Longer names are cut before they are measured: no box shows as much. */
const MAX_MEASURED = 400;
const MAX_WIDTHS = 50_000;
const ELLIPSIS = '…';
/** Keeps the ellipsis at the end of letters that are written from right to left, in a line that is not. */
const RIGHT_TO_LEFT_MARK = '\u200f';

/** Cuts names to the width of their boxes. */
export class Fitter {
  /** Of names, which are measured once. */
  readonly #widths = new Map<string, number>();

  /** As much of a name as fits, with an ellipsis where its end would be if that is not all; empty if nothing fits. @param measure the width of a text */
  fit(name: string, width: number, measure: (text: string) => number): string {
    const text = name.length > MAX_MEASURED ? name.slice(0, MAX_MEASURED) : name;
    let whole = this.#widths.get(text);
    if (whole === undefined) {
      if (this.#widths.size >= MAX_WIDTHS) this.#widths.clear();
      whole = measure(text);
      this.#widths.set(text, whole);
    }
    if (whole <= width) return text === name ? text : cut(name, text.length);
    let length = Math.floor((text.length * width) / whole);
    while (length > 1 && measure(`${text.slice(0, length)}${ELLIPSIS}`) > width) length--;
    return length < 2 ? '' : cut(name, length);
  }
}

function cut(name: string, length: number): string {
  const kept = withoutHalf(name.slice(0, length));
  const mark = endsRightToLeft(kept) && !isRightToLeft(name) ? RIGHT_TO_LEFT_MARK : '';
  return `${kept}${ELLIPSIS}${mark}`;
}

/** Without half a character at the end. */
function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00 ? text.slice(0, -1) : text;
}
