import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { TextWriter } from '../../base/streams/text-writer.ts';
import { writeMarkdownTable } from './markdown.ts';
import type { Table } from './table.ts';
import { writeTextTable } from './text-table.ts';

/**
 * Writes tables one after the other, with an empty line between them.
 * @param width that of the terminal, to which names are cut in text; undefined if the text does not go to one
 */
export async function writeTables<Row>(tables: Iterable<Table<Row>>, sink: ByteSink, layout: 'text' | 'markdown', width?: number): Promise<void> {
  const out = new TextWriter(sink);
  let isFirst = true;
  for (const table of tables) {
    if (!isFirst) out.put('\n');
    isFirst = false;
    await (layout === 'markdown' ? writeMarkdownTable(table, out) : writeTextTable(table, out, width));
  }
  await out.flush();
}

/** What a table says below its rows about those that are left out. */
export function omittedNotes(count: number): Table<unknown>['notes'] {
  return count > 0 ? [[`${count} more`]] : [];
}
