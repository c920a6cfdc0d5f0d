import { signedOf, truncateWord, type Word } from './word.ts';

/** One piece of a template: text as it is, or something to be filled in. */
export type TemplatePiece =
  | { readonly kind: 'text'; readonly text: string }
  | ({ readonly kind: 'integer'; readonly conversion: 'd' | 'u' | 'x' | 'X' | 'o'; readonly bits: 8 | 16 | 32 | 64 } & Layout)
  | ({ readonly kind: 'string' } & Layout)
  /** `%p` and all letters after it; which of them mean something is not known yet. */
  | ({ readonly kind: 'pointer'; readonly letters: string } & Layout);

/** Flags, width and precision. `*` means that an argument gives the value. */
export interface Layout {
  readonly left: boolean;
  readonly zeros: boolean;
  readonly alternate: boolean;
  /** −1 if there is none. */
  readonly width: number | '*';
  readonly precision: number | '*';
}

/** Anything wider was made up; real fields have a handful of characters. */
const MAX_WIDTH = 1024;

const DIRECTIVE = /%([-#0]*)(\*|\d*)(?:\.(\*|\d*))?([hlLz]*)(.?)/sy;

/**
 * Splits a template into pieces.
 *
 * Observed, perf 6.1: flags and letters that it does not know, `%c` among them, show as `>c<` and take no argument; so do the letters of longer directives, one
 * by one. For `%z…`, it shows 32 bits, unsigned.
 * @param longBits size of the recording machine's `long`
 * @param compatPerf show for `%z…` what perf shows
 */
export function parseTemplate(template: string, longBits: 32 | 64, compatPerf: boolean): TemplatePiece[] {
  const pieces: TemplatePiece[] = [];
  let text = '';
  for (let at = 0; at < template.length; ) {
    if (template[at] !== '%') {
      const next = template.indexOf('%', at);
      const end = next < 0 ? template.length : next;
      text += template.slice(at, end);
      at = end;
      continue;
    }
    DIRECTIVE.lastIndex = at;
    const match = DIRECTIVE.exec(template);
    if (match === null) break;
    at = DIRECTIVE.lastIndex;
    const piece = pieceOf(match, template, longBits, compatPerf);
    if (piece === undefined) {
      text += unknownText(match);
      continue;
    }
    if (text !== '') pieces.push({ kind: 'text', text });
    text = '';
    pieces.push(piece);
    if (piece.kind === 'pointer') at += piece.letters.length;
  }
  if (text !== '') pieces.push({ kind: 'text', text });
  return pieces;
}

/** What a directive stands for; undefined if it is none that is known. */
function pieceOf(match: RegExpExecArray, template: string, longBits: 32 | 64, compatPerf: boolean): TemplatePiece | undefined {
  const [whole, , , , size, conversion] = match;
  const layout = layoutOf(match);
  const isPerfsSize = compatPerf && size === 'z';
  switch (conversion) {
    case 'd':
    case 'i':
      if (isPerfsSize) return { kind: 'integer', conversion: 'u', bits: 32, ...layout };
      return { kind: 'integer', conversion: 'd', bits: bitsOf(size, longBits), ...layout };
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return { kind: 'integer', conversion, bits: isPerfsSize ? 32 : bitsOf(size, longBits), ...layout };
    case 's':
      return { kind: 'string', ...layout };
    case 'p': {
      const at = match.index + whole.length;
      return { kind: 'pointer', letters: /^[A-Za-z0-9]*/.exec(template.slice(at, at + 16))?.[0] ?? '', ...layout };
    }
    default:
      return undefined;
  }
}

function layoutOf([, flags, width, precision]: RegExpExecArray): Layout {
  return {
    left: flags.includes('-'),
    zeros: flags.includes('0'),
    alternate: flags.includes('#'),
    width: lengthOf(width) ?? -1,
    precision: precision === undefined ? -1 : (lengthOf(precision) ?? 0),
  };
}

/** What is shown for a directive that is not known, or for `%%`; nothing at the template's end. */
function unknownText([whole, , , , , conversion]: RegExpExecArray): string {
  if (conversion === '') return '';
  return whole === '%%' ? '%' : `>${conversion}<`;
}

function lengthOf(digits: string): number | '*' | undefined {
  if (digits === '*') return '*';
  return digits === '' ? undefined : Math.min(Number(digits), MAX_WIDTH);
}

function bitsOf(size: string, longBits: 32 | 64): 8 | 16 | 32 | 64 {
  switch (size) {
    case 'hh':
      return 8;
    case 'h':
      return 16;
    case 'l':
    case 'z':
      return longBits;
    case 'll':
    case 'L':
      return 64;
    default:
      return 32;
  }
}

/** A width or precision given as an argument: negative ones count as none. */
export function widthOf(word: Word): number {
  const width = Number(signedOf(word, 32));
  return width < 0 ? -1 : Math.min(width, MAX_WIDTH);
}

/** Formats an integer as C's printf does. */
export function formatInteger(
  word: Word,
  { conversion, bits, left, zeros, alternate }: Extract<TemplatePiece, { kind: 'integer' }>,
  width: number,
  precision: number,
): string {
  const value = conversion === 'd' ? signedNumber(word, bits) : truncateWord(word, bits);
  const isNegative = value < 0;
  let digits = conversion === 'd' ? String(isNegative ? -value : value) : conversion === 'u' ? String(value) : value.toString(conversion === 'o' ? 8 : 16);
  if (conversion === 'X') digits = digits.toUpperCase();
  if (precision === 0 && value === 0) digits = '';
  digits = digits.padStart(precision, '0');
  let prefix = isNegative ? '-' : '';
  if (alternate && value !== 0) {
    if (conversion === 'x') prefix = '0x';
    else if (conversion === 'X') prefix = '0X';
    else if (conversion === 'o' && !digits.startsWith('0')) prefix = '0';
  }
  if (zeros && !left && precision < 0) return prefix + digits.padStart(width - prefix.length, '0');
  return left ? (prefix + digits).padEnd(width) : (prefix + digits).padStart(width);
}

function signedNumber(word: Word, bits: number): Word {
  if (typeof word === 'number' && word < 2 ** (bits - 1)) return word;
  const signed = signedOf(word, bits);
  return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed;
}

/** Formats a text as C's printf does. */
export function formatText(text: string, left: boolean, width: number, precision: number): string {
  const cut = precision >= 0 ? text.slice(0, precision) : text;
  return left ? cut.padEnd(width) : cut.padStart(width);
}
