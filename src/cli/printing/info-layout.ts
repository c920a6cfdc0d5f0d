import { wordWrap } from './word-wrap.ts';

/** A name and its value: one line or several; undefined if it is not known. */
export type Fact = readonly [name: string, value: string | readonly string[] | undefined];

/** How many entries of a long list are shown. */
const SHORT_LIST = 8;
/** How many characters of a list are shown in one line. */
const INLINE_WIDTH = 64;
/** The width at which running text is wrapped, unless the terminal is narrower. */
export const LINE_WIDTH = 118;
/** The least width for wrapped text, however long its label is. */
const MIN_WRAPPED_WIDTH = 40;

/** Facts with their values in one column. @param lineWidth at which values are wrapped */
export function facts(all: readonly Fact[], lineWidth: number): string[] {
  const known = all.flatMap(([name, value]) => (value === undefined || value.length === 0 ? [] : [{ name, lines: [value].flat() }]));
  const width = known.reduce((widest, { name }) => Math.max(widest, name.length), 0);
  return known.flatMap(({ name, lines }) => lines.flatMap((line, i) => wrapped(`  ${(i === 0 ? name : '').padEnd(width)}  `, line, lineWidth)));
}

/**
 * The first entries of a list, each on one line or several, and the number of the rest; with `verbose`, all entries.
 */
export function list<T>(entries: readonly T[], verbose: boolean, linesOf: (entry: T) => string | readonly string[]): string[] {
  // A line saying "1 more" would be no shorter than the entry itself.
  const shown = verbose || entries.length <= SHORT_LIST + 1 ? entries : entries.slice(0, SHORT_LIST);
  const lines = shown.flatMap((entry) => linesOf(entry));
  return shown.length === entries.length ? lines : [...lines, `  … ${entries.length - shown.length} more (--verbose shows them)`];
}

/** As many entries as fit on one line, and the number of the rest; with `verbose`, all entries. */
export function inlineList(entries: readonly (string | number)[], verbose: boolean, separator = ', '): string {
  let width = 0;
  const end = entries.findIndex((entry) => {
    width += String(entry).length + separator.length;
    return width > INLINE_WIDTH;
  });
  if (verbose || end < 0) return entries.join(separator);
  return `${entries.slice(0, end).join(separator)}${separator}… ${entries.length - end} more`;
}

/** Text after a label, wrapped at spaces or at another separator; further lines begin below its first letter. */
export function wrapped(label: string, text: string, lineWidth: number, separator = ' '): string[] {
  const ending = separator.trimEnd();
  const width = Math.max(MIN_WRAPPED_WIDTH, lineWidth - label.length - ending.length);
  const lines = wordWrap(text, width, separator);
  const last = lines.length - 1;
  return lines.map((line, i) => `${i === 0 ? label : ' '.repeat(label.length)}${line}${i < last ? ending : ''}`);
}
