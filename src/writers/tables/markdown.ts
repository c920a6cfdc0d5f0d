import type { TextWriter } from '../../base/streams/text-writer.ts';
import { printable } from '../../base/text/printable.ts';
import type { Table, TextLine } from './table.ts';

/** What ends a code span, separates the cells of a table, or may be read as an escape of these. */
const UNSAFE_IN_SPAN = /[`|\\]/;
const PUNCTUATION = /[!-/:-@[-`{-~]/g;

/**
 * A name as code, in which nothing is a link, a mention, emphasis or a tag. Most names make a code span; with backticks, bars or backslashes, about which
 * renderers of tables disagree, they make an element with character references.
 * Source: GitHub Flavored Markdown Spec, 4.10 "Tables", 6.2 "Entity and numeric character references", 6.3 "Code spans".
 */
export function markdownName(name: string): string {
  const text = printable(name);
  if (text !== '' && text.trim() === text && !UNSAFE_IN_SPAN.test(text)) return `\`${text}\``;
  const escaped = text.replace(PUNCTUATION, (character) => `&#${character.charCodeAt(0)};`).replace(/^ | $/g, '&#32;');
  return `<code>${escaped}</code>`;
}

/** A line of text in Markdown. */
function markdownLine(line: TextLine): string {
  return line.map((part) => (typeof part === 'string' ? part : markdownName(part.name))).join('');
}

/** Writes lines of text as they are, in a block whose fence is longer than any that is in them. */
export function putCodeBlock(text: string, out: TextWriter): void {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  out.put(`${fence}text\n${text}${fence}\n`);
}

/** Writes a table in GitHub's Markdown. */
export async function writeMarkdownTable<Row>({ headlines, numbers, names, rows, notes }: Table<Row>, out: TextWriter): Promise<void> {
  const rowText = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  for (const line of headlines) out.put(`${markdownLine(line)}\n\n`);
  out.put(rowText([...numbers, ...names].map(({ name }) => name)));
  out.put(rowText([...numbers.map(() => '---:'), ...names.map(() => ':---')]));
  for (const row of rows) {
    out.put(rowText([...numbers.map(({ text }) => text(row)), ...names.map(({ text }) => markdownName(text(row)))]));
    if (out.isFull) await out.flush();
  }
  for (const line of notes) out.put(`\n${markdownLine(line)}\n`);
}
