import { CHAR } from '../chars.ts';
import { MAX_DEPTH } from './limits.ts';
import { parseExpression } from './parse-expressions.ts';
import { parseModule, parseName } from './parse-names.ts';
import { parseTemplateArgument, parseTemplateArguments, parseType } from './parse-types.ts';
import type { Parser } from './parser.ts';
import { Kind } from './tree.ts';
import { type SPECIAL_NAMES, specialIndex } from './vocabulary.ts';

/**
 * `<encoding>`: a function with its parameters, data, or a special name. Itanium C++ ABI, 5.1.2.
 * @param nameOnly whether to stop after the name, because parameters are not wanted
 */
export function parseEncoding(p: Parser, nameOnly = false): number {
  const c = p.peek();
  if (c === CHAR.T || c === CHAR.G) return parseSpecialName(p);
  p.enter();
  const outerQualifiers = p.nameQualifiers;
  p.nameQualifiers = 0;
  const name = parseName(p);
  const qualifiers = p.nameQualifiers;
  p.nameQualifiers = outerQualifiers;
  p.leave();
  if (nameOnly) return p.node(Kind.Encoding, name, -1, qualifiers);
  if (atEncodingEnd(p)) return name;
  return p.node(Kind.Encoding, name, parseBareFunctionType(p, name), qualifiers);
}

function atEncodingEnd(p: Parser): boolean {
  const c = p.peek();
  return c === 0 || c === CHAR.E || c === CHAR['.'];
}

/** What clang puts after the name of a function with the attribute enable_if. The conditions follow, as template arguments. */
const ENABLE_IF = 'Ua9enable_if';

/** `<bare-function-type>`, with the constraint that may follow. */
function parseBareFunctionType(p: Parser, name: number): number {
  const conditions = p.peek() === CHAR.U && p.tree.text.startsWith(ENABLE_IF, p.pos) ? parseEnableIf(p) : -1;
  const hasReturnType = p.take(CHAR.J) || isTemplateFunction(p, name);
  const returnType = hasReturnType ? parseType(p) : -1;
  const begin = p.beginList();
  while (!atEncodingEnd(p) && p.peek() !== CHAR.Q) p.addMember(parseType(p));
  const parameters = p.endParameters(begin);
  const constraint = p.take(CHAR.Q) ? parseExpression(p) : conditions;
  return p.node(Kind.Function, returnType, parameters, constraint);
}

function parseEnableIf(p: Parser): number {
  p.pos += ENABLE_IF.length;
  return p.node(Kind.EnableIf, parseTemplateArguments(p));
}

/** Whether a function of this name has its return type encoded: templates do, but constructors, destructors and conversions do not. */
function isTemplateFunction(p: Parser, name: number): boolean {
  const tree = p.tree;
  let node = name;
  let template = false;
  // With substitutions, chains of tags and arguments may be longer than what was parsed for them.
  for (let steps = 0; steps < MAX_DEPTH; steps++) {
    switch (tree.kind(node)) {
      case Kind.Nested:
      case Kind.LocalName:
      case Kind.DefaultArgument:
        node = tree.b(node);
        break;
      case Kind.Template:
        template = true;
        node = tree.a(node);
        break;
      case Kind.AbiTagged:
      case Kind.ModuleEntity:
      case Kind.Friend:
        node = tree.a(node);
        break;
      case Kind.Constructor:
      case Kind.Destructor:
      case Kind.Conversion:
        return false;
      default:
        return template;
    }
  }
  return p.fail();
}

/** `<special-name>`: virtual tables, thunks, guards, modules' initializers. Both those of the ABI and those of GNU's demangler. */
function parseSpecialName(p: Parser): number {
  const code = String.fromCharCode(p.peek(), p.peek(1));
  p.pos += 2;
  switch (code) {
    case 'TV':
    case 'TT':
    case 'TI':
    case 'TS':
    case 'TF':
    case 'TJ':
      return special(p, code, parseType(p));
    case 'TA':
      return special(p, code, parseTemplateArgument(p));
    case 'TH':
    case 'TW':
    case 'GV':
      return special(p, code, parseName(p));
    case 'Th':
    case 'Tv':
      p.pos--;
      skipCallOffset(p);
      return special(p, code, parseInnerEncoding(p));
    case 'Tc':
      skipCallOffset(p);
      skipCallOffset(p);
      return special(p, code, parseInnerEncoding(p));
    case 'TC': {
      const derived = parseType(p);
      p.number();
      p.expect(CHAR._);
      return p.node(Kind.ConstructionVtable, derived, parseType(p));
    }
    case 'GA':
      return special(p, code, parseInnerEncoding(p));
    case 'GT': {
      const isTransactional = p.take(CHAR.t);
      if (!isTransactional) p.expect(CHAR.n);
      return special(p, isTransactional ? 'GTt' : 'GTn', parseInnerEncoding(p));
    }
    case 'GI': {
      const module = parseModule(p, -1);
      if (module < 0) p.fail();
      return special(p, code, module);
    }
    case 'GR': {
      const name = parseName(p);
      return parseReferenceTemporary(p, name);
    }
    default:
      return p.fail();
  }
}

/**
 * The number of a reference temporary: `[<seq-id>]_`, or, as GCC wrote it before version 4.9, a plain number or none. GNU's demangler only
 * knows these. For a local variable, it takes the underscore for a discriminator, so that none is left here.
 */
function parseReferenceTemporary(p: Parser, name: number): number {
  const start = p.pos;
  p.skipDigits();
  if (p.peek() === 0) {
    const end = p.pos;
    p.pos = start;
    return p.node(Kind.ReferenceTemporary, name, start === end ? 0 : p.number());
  }
  p.pos = start;
  p.sequenceNumber();
  return special(p, 'GR', name);
}

function special(p: Parser, letters: keyof typeof SPECIAL_NAMES, object: number): number {
  return p.node(Kind.Special, specialIndex(letters), object);
}

function parseInnerEncoding(p: Parser): number {
  p.enter();
  const encoding = parseEncoding(p);
  p.leave();
  return encoding;
}

/** `<call-offset>`: h and one number, or v and two. None of them is shown. */
function skipCallOffset(p: Parser): void {
  const isVirtual = p.take(CHAR.v);
  if (!isVirtual) p.expect(CHAR.h);
  skipSignedNumber(p);
  if (isVirtual) skipSignedNumber(p);
}

function skipSignedNumber(p: Parser): void {
  p.take(CHAR.n);
  p.skipDigits();
  p.expect(CHAR._);
}
