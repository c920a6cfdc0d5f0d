/** Breaks a text into lines of at most `width` characters, at spaces or at another separator; a longer word has a line of its own. */
export function wordWrap(text: string, width: number, separator = ' '): string[] {
  const lines: string[] = [];
  for (const part of text.split(separator)) {
    const line = lines.at(-1);
    if (line === undefined || line.length + separator.length + part.length > width) lines.push(part);
    else lines[lines.length - 1] = `${line}${separator}${part}`;
  }
  return lines;
}
