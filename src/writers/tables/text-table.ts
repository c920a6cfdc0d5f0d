import type { TextWriter } from '../../base/streams/text-writer.ts';
import { cutMiddle, displayWidth, padDisplay } from '../../base/text/display-width.ts';
import { printable } from '../../base/text/printable.ts';
import type { NameColumn, NumberColumn, Table, TextLine } from './table.ts';

/** Columns of names are padded up to this width; longer names are not cut, unless they go to a terminal. */
const MAX_ALIGNED = 60;
/** From this width of a terminal on, there is room for all columns. */
const ROOMY_WIDTH = 140;
/** The least width to which a name is cut, however narrow the terminal. */
const MIN_NAME = 8;
/** How much of a long path is from its beginning: its end is the file's name. */
const PATH_HEAD_SHARE = 0.25;

/**
 * Writes a table as text: numbers, then names.
 * @param width that of the terminal, to which names are cut; undefined if the text does not go to one
 */
export async function writeTextTable<Row>({ headlines, numbers: all, names, rows, notes }: Table<Row>, out: TextWriter, width?: number): Promise<void> {
  const numbers = width === undefined || width >= ROOMY_WIDTH ? all : all.filter(({ isOptional = false }) => !isOptional);
  const numberWidths = numbers.map((column) =>
    rows.reduce((widest, row) => Math.max(widest, column.text(row).length), Math.max(column.width, column.name.length)),
  );
  const numbersWidth = numberWidths.reduce((sum, one) => sum + one + 1, 0);
  const nameWidths = width === undefined ? alignedWidths(names, rows) : fittedWidths(names, rows, width - numbersWidth - 2 * (names.length - 1));
  const last = names.length - 1;
  const nameCell = (column: number, text: string): string => {
    const shown = width === undefined ? text : cutMiddle(text, nameWidths[column], names[column].isPath ? PATH_HEAD_SHARE : undefined);
    return column < last ? padDisplay(shown, nameWidths[column]) : shown;
  };
  const namesText = (cells: readonly string[]): string => cells.map((cell, column) => nameCell(column, cell)).join('  ');
  const numberCell = ({ text, paint }: NumberColumn<Row>, nth: number, row: Row): string => {
    const cell = text(row).padStart(numberWidths[nth]);
    return paint === undefined ? cell : paint(cell, row);
  };

  for (const line of headlines) out.put(`# ${lineText(line)}\n`);
  out.put(`${numbers.map(({ name }, nth) => `${name.padStart(numberWidths[nth])} `).join('')}${namesText(names.map(({ name }) => name))}\n`);
  for (const row of rows) {
    out.put(`${numbers.map((column, nth) => `${numberCell(column, nth, row)} `).join('')}${namesText(names.map(({ text }) => printable(text(row))))}\n`);
    if (out.isFull) await out.flush();
  }
  for (const line of notes) out.put(`# ${lineText(line)}\n`);
}

/** A line as text for a terminal. */
export function lineText(line: TextLine): string {
  return line.map((part) => (typeof part === 'string' ? part : printable(part.name))).join('');
}

function alignedWidths<Row>(names: readonly NameColumn<Row>[], rows: readonly Row[]): number[] {
  return names.map((column) => {
    // Making a text printable never makes it shorter.
    const widthOf = (row: Row): number => ((column.length?.(row) ?? 0) < MAX_ALIGNED ? displayWidth(printable(column.text(row))) : MAX_ALIGNED);
    // There may be more rows than a call can take arguments.
    return Math.min(
      MAX_ALIGNED,
      rows.reduce((widest, row) => Math.max(widest, widthOf(row)), column.name.length),
    );
  });
}

/** Shares a width among columns of names: those that need less than their share leave the rest to the others. Paths get half as much as other names. */
function fittedWidths<Row>(names: readonly NameColumn<Row>[], rows: readonly Row[], available: number): number[] {
  const wanted = names.map((column) => rows.reduce((widest, row) => Math.max(widest, displayWidth(printable(column.text(row)))), column.name.length));
  const widths = wanted.slice();
  let open = [...names.keys()];
  let left = available;
  while (open.length > 0) {
    const unit = left / open.reduce((sum, column) => sum + shareOf(names[column]), 0);
    const narrow = open.filter((column) => wanted[column] <= unit * shareOf(names[column]));
    if (narrow.length === 0) {
      for (const column of open) widths[column] = Math.max(MIN_NAME, Math.floor(unit * shareOf(names[column])));
      break;
    }
    for (const column of narrow) left -= wanted[column];
    open = open.filter((column) => !narrow.includes(column));
  }
  return widths;
}

function shareOf({ isPath = false }: { readonly isPath?: boolean }): number {
  return isPath ? 1 : 2;
}
