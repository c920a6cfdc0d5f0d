/** A token of a print format. `text` is the name, the operator, the number as written, or a string's content with its escapes resolved. */
export interface TraceToken {
  readonly kind: 'name' | 'number' | 'string' | 'operator' | 'end';
  readonly text: string;
}

/** The longest format in Linux has about 30,000 characters. */
const MAX_TEXT = 1 << 20;

const TOKEN =
  /\s*(?:([A-Za-z_$][A-Za-z_0-9$]*)|(\d[A-Za-z_0-9.]*)|"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|(->|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|\.\.\.|[^\s"'\w]))/y;

/**
 * Splits a print format into tokens; the last one is an `end`.
 * @returns undefined if a string does not end, or the text is longer than in any kernel
 */
export function tokenizePrintFmt(text: string): TraceToken[] | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const tokens: TraceToken[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    const [, name, number, string, character, operator] = match;
    if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (string !== undefined) tokens.push({ kind: 'string', text: resolveEscapes(string) });
    else if (character !== undefined) tokens.push({ kind: 'number', text: String(resolveEscapes(character).charCodeAt(0) || 0) });
    else tokens.push({ kind: 'operator', text: operator });
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** Observed, perf 6.1: any other escaped character stands for itself; there are no codes. */
function resolveEscapes(text: string): string {
  return text.includes('\\') ? text.replace(/\\([\s\S])/g, (_, character: string) => ESCAPES[character] ?? character) : text;
}
