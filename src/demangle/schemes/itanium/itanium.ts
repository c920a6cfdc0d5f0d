import { decodeText } from '../../../base/text/text.ts';
import { CHAR, isDigit, isLower } from '../chars.ts';
import type { DemangleStyle } from '../style.ts';
import { MAX_NAME, NotDemangled } from './limits.ts';
import { parseEncoding } from './parse-encodings.ts';
import { parseExpression, parseLiteral } from './parse-expressions.ts';
import { parseTemplateParameters } from './parse-template-parameters.ts';
import { parseTemplateArguments, parseType } from './parse-types.ts';
import { Parser, type Productions } from './parser.ts';
import { printExpression, printOperand } from './print-expressions.ts';
import { printName } from './print-names.ts';
import { printTypeLeft, printTypeRight } from './print-types.ts';
import { Printer, type Printing, type PrintOptions } from './printer.ts';

const OPTIONS: Readonly<Record<DemangleStyle, PrintOptions>> = {
  full: { spellOutStd: true, templateArguments: true, enclosingParameters: true },
  'no-params': { spellOutStd: false, templateArguments: true, enclosingParameters: true },
  simple: { spellOutStd: false, templateArguments: false, enclosingParameters: false },
};

const PRODUCTIONS: Productions = {
  encoding: parseEncoding,
  type: parseType,
  templateArguments: parseTemplateArguments,
  templateParameters: parseTemplateParameters,
  expression: parseExpression,
  literal: parseLiteral,
};

const PRINTING: Printing = {
  name: printName,
  typeLeft: printTypeLeft,
  typeRight: printTypeRight,
  expression: printExpression,
  operand: printOperand,
};

/** Made for the first name: it has arrays for the largest tree. */
let parser: Parser | undefined;

/**
 * Demangles a name of the Itanium C++ ABI (`_Z…`) as GNU c++filt prints it, and the names of functions that compilers make from such a name: for blocks (clang:
 * `___Z…_block_invoke`), and old GCCs' for global constructors (`_GLOBAL__I_…`).
 * @param keepsScopes see {@link Printer.enterReference}
 * @returns undefined if it is no such name, or exceeds the limits
 */
export function demangleItanium(name: string, style: DemangleStyle, keepsScopes = false): string | undefined {
  if (name.charCodeAt(0) !== CHAR._ || name.length > MAX_NAME) return undefined;
  const second = name.charCodeAt(1);
  if (second === CHAR.G) return demangleKeyed(name);
  if (second === CHAR._) return demangleBlock(name, style, keepsScopes);
  if (second !== CHAR.Z) return undefined;
  return demangleEncoding(name, style, keepsScopes);
}

function demangleEncoding(name: string, style: DemangleStyle, keepsScopes: boolean): string | undefined {
  parser ??= new Parser(PRODUCTIONS);
  try {
    // The lengths of identifiers count bytes of UTF-8.
    const isAscii = parser.tree.load(name);
    const demangled = demangleWith(parser, style, keepsScopes);
    return isAscii ? demangled : decodeText(Uint8Array.from(demangled, (byte) => byte.charCodeAt(0)));
  } catch (error) {
    // If the caller has almost used up the stack, that is a limit, too.
    if (error instanceof NotDemangled || error instanceof RangeError) return undefined;
    throw error;
  }
}

function demangleKeyed(name: string): string | undefined {
  if (!/^_GLOBAL_[._$][DI]_/.test(name)) return undefined;
  const key = name.slice(11);
  return `global ${name[9] === 'I' ? 'constructors' : 'destructors'} keyed to ${(key.startsWith('_Z') ? demangleItanium(key, 'full') : undefined) ?? key}`;
}

const BLOCK_SUFFIX = '_block_invoke';

function demangleBlock(name: string, style: DemangleStyle, keepsScopes: boolean): string | undefined {
  const end = name.startsWith('___Z') ? name.lastIndexOf(BLOCK_SUFFIX) : -1;
  if (end < 0 || !/^(?:_?\d+)?(?:\.|$)/.test(name.slice(end + BLOCK_SUFFIX.length))) return undefined;
  const enclosing = demangleItanium(name.slice(2, end), style, keepsScopes);
  return enclosing === undefined ? undefined : `invocation function for block in ${enclosing}`;
}

function demangleWith(p: Parser, style: DemangleStyle, keepsScopes: boolean): string {
  const nameOnly = style !== 'full';
  const encoding = parseMangledName(p, nameOnly);
  // What follows the name is not checked if it is not printed.
  const clones = nameOnly ? '' : readClones(p);
  const pr = new Printer(p.tree, OPTIONS[style], PRINTING, keepsScopes);
  pr.print(encoding);
  return clones === '' ? pr.out : pr.out + clones;
}

/** `<mangled-name>`, after the _Z. */
function parseMangledName(p: Parser, nameOnly: boolean): number {
  p.begin(2);
  try {
    const encoding = parseEncoding(p, nameOnly);
    if (nameOnly || isAtClonesOrEnd(p)) return encoding;
  } catch (error) {
    if (!(error instanceof NotDemangled)) throw error;
  }
  if (p.scopedNames !== 'new') p.fail();
  p.begin(2, 'old');
  return parseEncoding(p, nameOnly);
}

function isAtClonesOrEnd(p: Parser): boolean {
  return p.pos === p.end || p.peek() === CHAR['.'];
}

/**
 * Reads the suffixes of copies and parts of functions that compilers make: `.constprop.0`, `.cold`, `.123`.
 * @returns them as GNU's demangler prints them, empty if there are none
 * @throws NotDemangled if anything else follows the name
 */
function readClones(p: Parser): string {
  let clones = '';
  while (p.pos < p.end) {
    const start = p.pos;
    p.expect(CHAR['.']);
    if (!isCloneCharacter(p.peek())) p.fail();
    while (isCloneCharacter(p.peek())) p.pos++;
    while (p.peek() === CHAR['.'] && isDigit(p.peek(1))) {
      p.pos++;
      p.skipDigits();
    }
    clones += ` [clone ${p.tree.text.slice(start, p.pos)}]`;
  }
  return clones;
}

function isCloneCharacter(c: number): boolean {
  return isLower(c) || isDigit(c) || c === CHAR._;
}
