import { CHAR, isDigit, isUpper } from '../chars.ts';
import { parseCvQualifiers, parseDecltype, parseName, parseSourceName, parseSubstitution, parseTemplateParam, parseUnscopedName } from './parse-names.ts';
import { atTemplateParameter, parseConcept, parseTemplateParameter } from './parse-template-parameters.ts';
import type { Parser } from './parser.ts';
import { FunctionSuffix, Kind, Qualifier } from './tree.ts';
import { BFLOAT16, BUILTIN_AFTER_D, BUILTIN_BY_LETTER, findFixedPoint } from './vocabulary.ts';

/** `<type>`. Itanium C++ ABI, 5.1.5. All but builtin types are candidates for substitution. */
// hot
export function parseType(p: Parser): number {
  const c = p.peek();
  const builtin = c < 128 ? BUILTIN_BY_LETTER[c] : -1;
  if (builtin >= 0) {
    p.pos++;
    return p.node(Kind.Builtin, builtin);
  }
  p.enter();
  const type = isDigit(c) || c === CHAR.N || c === CHAR.Z ? p.substitutable(parseClassName(p)) : parseCompoundType(p, c);
  p.leave();
  return type;
}

/** A type's name. Its qualifiers do not replace those of a function that were read before. */
function parseClassName(p: Parser): number {
  const qualifiers = p.nameQualifiers;
  const name = parseName(p);
  p.nameQualifiers = qualifiers;
  return name;
}

function parseCompoundType(p: Parser, c: number): number {
  switch (c) {
    case CHAR.S:
      return parseSubstitutedType(p);
    case CHAR.P:
      p.pos++;
      return p.substitutable(p.node(Kind.Pointer, parseType(p)));
    case CHAR.R:
      p.pos++;
      return p.substitutable(p.node(Kind.Reference, parseType(p)));
    case CHAR.O:
      p.pos++;
      return p.substitutable(p.node(Kind.RvalueReference, parseType(p)));
    case CHAR.K:
    case CHAR.V:
    case CHAR.r:
      return parseQualifiedType(p);
    case CHAR.T:
      return parseTypeWithT(p);
    case CHAR.F:
      return p.substitutable(parseFunctionType(p, 0));
    case CHAR.A:
      return p.substitutable(parseArrayType(p));
    case CHAR.M: {
      p.pos++;
      const owner = parseType(p);
      return p.substitutable(p.node(Kind.MemberPointer, owner, parseType(p)));
    }
    case CHAR.D:
      return parseTypeWithD(p);
    case CHAR.C:
      p.pos++;
      return p.substitutable(p.node(Kind.Complex, parseType(p)));
    case CHAR.G:
      p.pos++;
      return p.substitutable(p.node(Kind.Imaginary, parseType(p)));
    case CHAR.U:
      return parseTypeWithU(p);
    case CHAR.u: {
      p.pos++;
      const name = parseSourceName(p);
      return p.substitutable(p.node(Kind.VendorType, name, p.peek() === CHAR.I ? parseTemplateArguments(p) : -1));
    }
    default:
      return p.substitutable(parseClassName(p));
  }
}

/** S: something that was seen before, with or without template arguments; or a name in std. */
function parseSubstitutedType(p: Parser): number {
  if (p.peek(1) === CHAR.t) return p.substitutable(parseClassName(p));
  const c = p.peek(1);
  const isNumbered = c === CHAR._ || isDigit(c) || isUpper(c);
  const type = parseSubstitution(p, false);
  const kind = p.tree.kind(type);
  if (kind === Kind.Module) return p.substitutable(parseUnscopedName(p, -1, type));
  if (p.peek() !== CHAR.I) return type;
  if (isNumbered && kind === Kind.TemplateParam && p.inConversion) return parseConversionParam(p, type);
  return p.substitutable(p.node(Kind.Template, type, parseTemplateArguments(p)));
}

/** A qualified type. The qualifiers of a function type belong to it, and it is no candidate without them. */
function parseQualifiedType(p: Parser): number {
  const qualifiers = parseCvQualifiers(p);
  const isFunction = p.peek() === CHAR.F || atFunctionSuffix(p);
  if (isFunction) return p.substitutable(parseFunctionType(p, qualifiers));
  return p.substitutable(p.node(Kind.Qualified, parseType(p), qualifiers));
}

/** Whether an exception specification or transaction_safe begins here. */
function atFunctionSuffix(p: Parser): boolean {
  if (p.peek() !== CHAR.D) return false;
  const c = p.peek(1);
  return c === CHAR.o || c === CHAR.O || c === CHAR.w || c === CHAR.x;
}

/** `<function-type>`, with the exception specification before it. Qualifiers are printed in GNU's order: the specification, then cv, then ref. */
function parseFunctionType(p: Parser, cvQualifiers: number): number {
  p.enter();
  let suffix = -1;
  let operand = -1;
  let isTransactionSafe = false;
  while (atFunctionSuffix(p)) {
    const c = p.peek(1);
    p.pos += 2;
    if (c === CHAR.x) isTransactionSafe = true;
    else if (c === CHAR.o) suffix = FunctionSuffix.Noexcept;
    else if (c === CHAR.O) {
      suffix = FunctionSuffix.NoexceptIf;
      operand = p.productions.expression(p);
      p.expect(CHAR.E);
    } else {
      suffix = FunctionSuffix.Throw;
      const begin = p.beginList();
      while (!p.take(CHAR.E)) p.addMember(parseType(p));
      operand = p.endList(begin);
    }
  }
  p.expect(CHAR.F);
  p.take(CHAR.Y);
  const returnType = parseType(p);
  const begin = p.beginList();
  let qualifiers = cvQualifiers;
  for (;;) {
    const c = p.peek();
    if (c === CHAR.E) break;
    if (p.peek(1) === CHAR.E && (c === CHAR.R || c === CHAR.O)) {
      qualifiers |= c === CHAR.R ? Qualifier.Lvalue : Qualifier.Rvalue;
      p.pos++;
      break;
    }
    p.addMember(parseType(p));
  }
  p.expect(CHAR.E);
  let type = p.node(Kind.Function, returnType, p.endParameters(begin));
  if (isTransactionSafe) type = p.node(Kind.FunctionSuffixed, type, FunctionSuffix.TransactionSafe);
  if (suffix >= 0) type = p.node(Kind.FunctionSuffixed, type, suffix, operand);
  if (qualifiers !== 0) type = p.node(Kind.FunctionQualified, type, qualifiers);
  p.leave();
  return type;
}

/** `<array-type>`: A; a number, an expression or nothing; _; the element type. */
function parseArrayType(p: Parser): number {
  p.expect(CHAR.A);
  let dimension = -1;
  if (isDigit(p.peek())) dimension = parseDigits(p);
  else if (p.peek() !== CHAR._) dimension = p.productions.expression(p);
  p.expect(CHAR._);
  return p.node(Kind.Array, parseType(p), dimension);
}

function parseDigits(p: Parser): number {
  const start = p.pos;
  p.skipDigits();
  return p.node(Kind.Number, start, p.pos);
}

/** T: a template parameter, with arguments if it is a template; or Ts, Tu, Te with a name. */
function parseTypeWithT(p: Parser): number {
  const c = p.peek(1);
  if (c === CHAR.s || c === CHAR.u || c === CHAR.e) {
    p.pos += 2;
    return p.substitutable(p.node(Kind.Elaborated, c === CHAR.s ? 0 : c === CHAR.u ? 1 : 2, parseClassName(p)));
  }
  const param = p.substitutable(parseTemplateParam(p));
  if (p.peek() !== CHAR.I) return param;
  if (p.inConversion) return parseConversionParam(p, param);
  return p.substitutable(p.node(Kind.Template, param, parseTemplateArguments(p)));
}

/**
 * `operator T_` with arguments after it: they only belong to T_ if other arguments, the operator's, follow them. Otherwise they may not even be readable here,
 * because the operator is then the first candidate for substitution.
 */
function parseConversionParam(p: Parser, param: number): number {
  const args = p.attempt(parseTemplateArguments, CHAR.I);
  return args < 0 ? param : p.substitutable(p.node(Kind.Template, param, args));
}

function parseTypeWithD(p: Parser): number {
  const c = p.peek(1);
  switch (c) {
    case CHAR.t:
    case CHAR.T:
      return p.substitutable(parseDecltype(p));
    case CHAR.p:
      p.pos += 2;
      return p.substitutable(p.node(Kind.PackExpansion, parseType(p)));
    case CHAR.v:
      return p.substitutable(parseVectorType(p));
    case CHAR.F:
      return parseFloatType(p);
    case CHAR.B:
    case CHAR.U:
      return p.substitutable(parseBitInt(p));
    case CHAR.k:
    case CHAR.K:
      p.pos += 2;
      return p.node(Kind.ConstrainedAuto, parseConcept(p), c === CHAR.K ? 1 : 0);
    case CHAR.o:
    case CHAR.O:
    case CHAR.w:
    case CHAR.x:
      return p.substitutable(parseFunctionType(p, 0));
    case CHAR.S:
    case CHAR.A:
    case CHAR.R:
      return parseFixedPointType(p);
    default: {
      const builtin = c < 128 ? BUILTIN_AFTER_D[c] : -1;
      if (builtin < 0) p.fail();
      p.pos += 2;
      return p.node(Kind.Builtin, builtin);
    }
  }
}

/** DA or DR, and the letter of an integer type of that size; if DS precedes it, the type saturates. ISO/IEC TR 18037, as implemented by clang. */
function parseFixedPointType(p: Parser): number {
  p.pos++;
  const isSaturated = p.take(CHAR.S);
  if (isSaturated) p.expect(CHAR.D);
  const isFraction = p.take(CHAR.R);
  if (!isFraction) p.expect(CHAR.A);
  const type = findFixedPoint(p.peek(), isFraction, isSaturated);
  if (type < 0) p.fail();
  p.pos++;
  return p.node(Kind.Builtin, type);
}

/** Dv; the number of elements, or another _ and an expression; _; the element type. */
function parseVectorType(p: Parser): number {
  p.pos += 2;
  const count = p.take(CHAR._) ? p.productions.expression(p) : parseDigits(p);
  p.expect(CHAR._);
  return p.node(Kind.Vector, parseType(p), count);
}

/** DF16_, DF16b, DF32x … */
function parseFloatType(p: Parser): number {
  p.pos += 2;
  const start = p.pos;
  p.skipDigits();
  if (p.pos === start) p.fail();
  if (p.take(CHAR.b)) return p.node(Kind.Builtin, BFLOAT16);
  if (p.take(CHAR.x)) return p.node(Kind.FloatN, start, p.pos);
  p.expect(CHAR._);
  return p.node(Kind.FloatN, start, p.pos - 1);
}

function parseBitInt(p: Parser): number {
  const isSigned = p.peek(1) === CHAR.B;
  p.pos += 2;
  const width = isDigit(p.peek()) ? parseDigits(p) : p.productions.expression(p);
  p.expect(CHAR._);
  return p.node(Kind.BitInt, width, isSigned ? 1 : 0);
}

/** U: a vendor's qualifier, or a lambda or unnamed type where a name is expected. */
function parseTypeWithU(p: Parser): number {
  if (!isDigit(p.peek(1))) return p.substitutable(parseClassName(p));
  p.pos++;
  const name = parseSourceName(p);
  const args = p.peek() === CHAR.I ? parseTemplateArguments(p) : -1;
  return p.substitutable(p.node(Kind.VendorQualified, parseType(p), name, args));
}

/** `<template-args>`: I (or J, in old names), arguments, E. @returns a list */
// hot
export function parseTemplateArguments(p: Parser): number {
  if (!p.take(CHAR.I)) p.expect(CHAR.J);
  p.enter();
  // The arguments change neither the name of constructors after them nor the name's qualifiers.
  const lastName = p.lastName;
  const inConversion = p.inConversion;
  p.inConversion = false;
  const begin = p.beginList();
  let constraint = -1;
  while (!p.take(CHAR.E)) {
    if (p.take(CHAR.Q)) {
      constraint = p.productions.expression(p);
      p.expect(CHAR.E);
      break;
    }
    p.addMember(parseTemplateArgument(p));
  }
  p.lastName = lastName;
  p.inConversion = inConversion;
  p.leave();
  return p.endList(begin, constraint);
}

/** `<template-arg>` */
export function parseTemplateArgument(p: Parser): number {
  switch (p.peek()) {
    case CHAR.L:
      return p.productions.literal(p);
    case CHAR.X: {
      p.pos++;
      const expression = p.productions.expression(p);
      p.expect(CHAR.E);
      return expression;
    }
    case CHAR.I:
    case CHAR.J:
      return p.node(Kind.ArgumentPack, parseTemplateArguments(p));
    case CHAR.T:
      // The declaration of the parameter, if the argument does not tell it. It is not shown.
      if (atTemplateParameter(p)) parseTemplateParameter(p);
      return atTemplateParameter(p) ? p.fail() : p.peek() === CHAR.T ? parseType(p) : parseTemplateArgument(p);
    default:
      return parseType(p);
  }
}
