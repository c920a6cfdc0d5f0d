/** A name and what is said under it: one line or several; undefined where nothing is. */
export type Fact = readonly [name: string, value: string | readonly string[] | undefined];

/** How many entries of a long list are shown. */
const SHORT_LIST = 8;
/** Characters of a short list that stands in one line. */
const INLINE_WIDTH = 64;
/** Lines of running text are broken here. */
const LINE_WIDTH = 118;
/** However long a label is. */
const MIN_WRAPPED_WIDTH = 40;

/** Facts with their values in one column. */
export function facts(all: readonly Fact[]): string[] {
  const known = all.flatMap(([name, value]) => (value === undefined || value.length === 0 ? [] : [{ name, lines: [value].flat() }]));
  const width = known.reduce((widest, { name }) => Math.max(widest, name.length), 0);
  return known.flatMap(({ name, lines }) => lines.flatMap((line, i) => wrapped(`  ${(i === 0 ? name : '').padEnd(width)}  `, line)));
}

/** The first entries of a list, each as one line or several, and how many more there are; all of them with `verbose`. */
export function list<T>(entries: readonly T[], verbose: boolean, linesOf: (entry: T) => string | readonly string[]): string[] {
  // A line that says "1 more" would be no shorter than the entry.
  const shown = verbose || entries.length <= SHORT_LIST + 1 ? entries : entries.slice(0, SHORT_LIST);
  const lines = shown.flatMap((entry) => linesOf(entry));
  return shown.length === entries.length ? lines : [...lines, `  … ${entries.length - shown.length} more (--verbose shows them)`];
}

/** As many entries as fit into one line, and how many more there are; all of them with `verbose`. */
export function inlineList(entries: readonly (string | number)[], verbose: boolean, separator = ', '): string {
  let width = 0;
  const end = entries.findIndex((entry) => {
    width += String(entry).length + separator.length;
    return width > INLINE_WIDTH;
  });
  if (verbose || end < 0) return entries.join(separator);
  return `${entries.slice(0, end).join(separator)}${separator}… ${entries.length - end} more`;
}

/** Text behind a label, broken at blanks or at another separator; further lines begin under its first letter. */
export function wrapped(label: string, text: string, separator = ' '): string[] {
  const width = Math.max(MIN_WRAPPED_WIDTH, LINE_WIDTH - label.length);
  const lines: string[] = [];
  for (const part of text.split(separator)) {
    const line = lines.at(-1);
    if (line === undefined || line.length + separator.length + part.length > width) lines.push(part);
    else lines[lines.length - 1] = `${line}${separator}${part}`;
  }
  const last = lines.length - 1;
  return lines.map((line, i) => `${i === 0 ? label : ' '.repeat(label.length)}${line}${i < last ? separator.trimEnd() : ''}`);
}
