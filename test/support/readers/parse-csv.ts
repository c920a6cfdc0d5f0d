/** Rows of an RFC 4180 text, as objects by the names in its first line. @throws Error on a row of another length, or a misplaced quote */
export function parseCsv(text: string): Record<string, string>[] {
  const [header = [], ...rows] = parseCsvRows(text);
  return rows.map((row) => {
    if (row.length !== header.length) throw new Error(`a row of ${row.length} fields below a header of ${header.length}: ${row.join(',')}`);
    return Object.fromEntries(header.map((name, index) => [name, row[index] ?? '']));
  });
}

/** All rows, including the header, each with as many fields as it has. */
export function parseCsvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  // One field, then what ends it: a comma, a line end or the text's end.
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  while (field.lastIndex < text.length) {
    const start = field.lastIndex;
    const match = field.exec(text);
    if (!match) throw new Error(`CSV: cannot go on at offset ${start}: ${JSON.stringify(text.slice(start, start + 40))}`);
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] !== ',') {
      rows.push(row);
      row = [];
    }
  }
  if (row.length > 0) rows.push([...row, '']);
  return rows;
}
