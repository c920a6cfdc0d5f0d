import { CHAR, isDigit, isLower, isUpper } from '../chars.ts';
import type { Parser } from './parser.ts';
import { Kind, Qualifier, StdForm } from './tree.ts';
import { findOperator, STD_ABBREVIATIONS } from './vocabulary.ts';

/** `<name>`. Itanium C++ ABI, 5.1.3. */
export function parseName(p: Parser): number {
  const c = p.peek();
  if (c === CHAR.N) return parseNestedName(p);
  if (c === CHAR.Z) return parseLocalName(p);
  if (c === CHAR.S && p.peek(1) !== CHAR.t) {
    const substitution = parseSubstitution(p, false);
    if (p.tree.kind(substitution) === Kind.Module) return parseUnscopedName(p, -1, substitution);
    return p.peek() === CHAR.I ? p.node(Kind.Template, substitution, p.productions.templateArguments(p)) : substitution;
  }
  return parseUnscopedName(p, c === CHAR.S ? parseSubstitution(p, false) : -1, -1);
}

/** An unqualified name in std or in no scope, with or without template arguments. */
export function parseUnscopedName(p: Parser, scope: number, module: number): number {
  const name = module < 0 && isDigit(p.peek()) ? parseMember(p, scope) : within(p, scope, parseUnqualifiedName(p, module));
  if (p.peek() !== CHAR.I) return name;
  p.substitutable(name);
  return p.node(Kind.Template, name, p.productions.templateArguments(p));
}

/** `<nested-name>`: N, qualifiers, scopes and name, E. The qualifiers are left in {@link Parser.nameQualifiers}. */
function parseNestedName(p: Parser): number {
  p.expect(CHAR.N);
  p.enter();
  const c = p.peek();
  const qualifiers = isDigit(c) || c === CHAR.S ? 0 : parseNameQualifiers(p);
  const name = parsePrefix(p);
  p.nameQualifiers = qualifiers;
  p.leave();
  return name;
}

/** H for an explicit object parameter; else cv-qualifiers and a ref-qualifier. */
function parseNameQualifiers(p: Parser): number {
  if (p.take(CHAR.H)) return Qualifier.ExplicitObject;
  const qualifiers = parseCvQualifiers(p);
  if (p.take(CHAR.R)) return qualifiers | Qualifier.Lvalue;
  return p.take(CHAR.O) ? qualifiers | Qualifier.Rvalue : qualifiers;
}

/** `<CV-qualifiers>`, in the ABI's order: restrict, volatile, const. */
export function parseCvQualifiers(p: Parser): number {
  let qualifiers = 0;
  for (;;) {
    const c = p.peek();
    if (c === CHAR.K) qualifiers |= Qualifier.Const;
    else if (c === CHAR.V) qualifiers |= Qualifier.Volatile;
    else if (c === CHAR.r) qualifiers |= Qualifier.Restrict;
    else return qualifiers;
    p.pos++;
  }
}

/** `<prefix>` and the name after it, up to and including the E. Every prefix is a candidate for substitution, but the whole is not. */
// hot
function parsePrefix(p: Parser): number {
  let prefix = -1;
  let module = -1;
  let c = p.peek();
  for (;;) {
    let isCandidate = true;
    if (isDigit(c) && module < 0) prefix = parseMember(p, prefix);
    else if (c === CHAR.E) {
      if (prefix < 0 || module >= 0) p.fail();
      p.pos++;
      return prefix;
    } else if (c === CHAR.I) {
      if (prefix < 0) p.fail();
      prefix = p.node(Kind.Template, prefix, p.productions.templateArguments(p));
    } else if (c === CHAR.S) {
      const substitution = parseSubstitution(p, true);
      if (p.tree.kind(substitution) === Kind.Module) {
        module = substitution;
        c = p.peek();
        continue;
      }
      if (prefix >= 0) p.fail();
      prefix = substitution;
      isCandidate = false;
    } else if (c === CHAR.T) {
      if (prefix >= 0) p.fail();
      prefix = parseTemplateParam(p);
    } else if (c === CHAR.D && (p.peek(1) === CHAR.t || p.peek(1) === CHAR.T)) {
      if (prefix >= 0) p.fail();
      prefix = parseDecltype(p);
    } else if (c === CHAR.M) {
      // Only marks that what follows is in the initializer of the data member just named.
      if (prefix < 0) p.fail();
      p.pos++;
      c = p.peek();
      continue;
    } else prefix = within(p, prefix, parseUnqualifiedName(p, module));
    module = -1;
    c = p.peek();
    if (isCandidate && c !== CHAR.E) p.substitutable(prefix);
  }
}

function within(p: Parser, scope: number, name: number): number {
  return scope < 0 ? name : p.node(Kind.Nested, scope, name);
}

/** `<local-name>`: Z, the function, E, and the entity in it. */
function parseLocalName(p: Parser): number {
  p.expect(CHAR.Z);
  p.enter();
  const encoding = p.productions.encoding(p);
  p.expect(CHAR.E);
  let entity: number;
  if (p.take(CHAR.s)) {
    skipDiscriminator(p);
    entity = p.node(Kind.StringLiteral);
  } else if (p.take(CHAR.d)) {
    const number = p.compactNumber() + 1;
    entity = p.node(Kind.DefaultArgument, number, parseName(p));
  } else {
    entity = parseName(p);
    const kind = p.tree.kind(entity);
    if (kind !== Kind.Lambda && kind !== Kind.UnnamedType) skipDiscriminator(p);
  }
  p.leave();
  return p.node(Kind.LocalName, encoding, entity);
}

/** `<discriminator>`, if there is one: _ and a digit; or two underscores, a number and, if that has several digits, another underscore. */
function skipDiscriminator(p: Parser): void {
  if (!p.take(CHAR._)) return;
  const isLong = p.take(CHAR._);
  const start = p.pos;
  p.skipDigits();
  if (isLong && p.pos - start > 1) p.expect(CHAR._);
}

/** `<unqualified-name>` with the modules before it and the ABI tags after it. */
// hot
export function parseUnqualifiedName(p: Parser, inModule = -1): number {
  if (inModule < 0 && isDigit(p.peek())) return parseMember(p, -1);
  const module = p.peek() === CHAR.W ? parseModule(p, inModule) : inModule;
  const isFriend = p.take(CHAR.F);
  let name = parseBaseName(p);
  if (isFriend) name = p.node(Kind.Friend, name);
  if (module >= 0) name = p.node(Kind.ModuleEntity, name, module);
  return p.peek() === CHAR.B ? parseAbiTags(p, name) : name;
}

function parseBaseName(p: Parser): number {
  const c = p.peek();
  if (isDigit(c)) return parseSourceName(p);
  if (isLower(c)) return parseOperatorName(p);
  switch (c) {
    case CHAR.C:
      return parseConstructor(p);
    case CHAR.D:
      return p.peek(1) === CHAR.C ? parseStructuredBinding(p) : parseDestructor(p);
    case CHAR.L: {
      p.pos++;
      const name = parseBaseName(p);
      skipDiscriminator(p);
      return name;
    }
    case CHAR.U:
      return parseUnnamed(p);
    default:
      return p.fail();
  }
}

function parseAbiTags(p: Parser, tagged: number): number {
  const lastName = p.lastName;
  let name = tagged;
  while (p.take(CHAR.B)) name = p.node(Kind.AbiTagged, name, parseSourceName(p));
  p.lastName = lastName;
  return name;
}

/** `<source-name>`: its length and the identifier. */
export function parseSourceName(p: Parser): number {
  return identifierNode(p, parseIdentifier(p));
}

/** A source name and its ABI tags, inside a scope unless that is −1. */
// hot
function parseMember(p: Parser, scope: number): number {
  const start = parseIdentifier(p);
  if (scope < 0 || p.peek() === CHAR.B || isUnnamedNamespace(p, start)) {
    const name = identifierNode(p, start);
    return within(p, scope, p.peek() === CHAR.B ? parseAbiTags(p, name) : name);
  }
  const member = p.node(Kind.Member, scope, start, p.pos);
  p.lastName = member;
  return member;
}

/** @returns where the identifier begins; it ends at the parser's position */
function parseIdentifier(p: Parser): number {
  const length = p.number();
  const start = p.pos;
  const end = start + length;
  if (length === 0 || end > p.end) p.fail();
  p.pos = end;
  return start;
}

/** @param start of the identifier that was parsed last */
function identifierNode(p: Parser, start: number): number {
  const name = p.node(isUnnamedNamespace(p, start) ? Kind.UnnamedNamespace : Kind.Name, start, p.pos);
  p.lastName = name;
  return name;
}

/** GCC calls unnamed namespaces _GLOBAL__N_… (or with a dot or dollar sign as the second underscore). */
function isUnnamedNamespace(p: Parser, start: number): boolean {
  const codes = p.codes;
  if (p.pos - start < 10 || codes[start] !== CHAR._ || codes[start + 1] !== CHAR.G || codes[start + 9] !== CHAR.N) return false;
  const c = codes[start + 8];
  return (c === CHAR._ || c === CHAR['.'] || c === CHAR.$) && p.tree.text.startsWith('_GLOBAL_', start);
}

/** `<operator-name>`, including conversions, literal operators and vendors' operators. */
function parseOperatorName(p: Parser): number {
  const first = p.peek();
  const second = p.peek(1);
  p.pos += 2;
  if (first === CHAR.v && isDigit(second)) return p.node(Kind.VendorOperator, parseSourceName(p));
  if (first === CHAR.c && second === CHAR.v) {
    const outer = p.inConversion;
    p.inConversion = true;
    const type = p.productions.type(p);
    p.inConversion = outer;
    return p.node(Kind.Conversion, type);
  }
  if (first === CHAR.l && second === CHAR.i) return p.node(Kind.LiteralOperator, parseSourceName(p));
  const operator = findOperator(first, second);
  if (operator < 0) p.fail();
  return p.node(Kind.Operator, operator);
}

/** C1 … C5, or CI1 … CI5 with the base class whose constructor is inherited; the last two of each are gcc's names for all variants together. */
function parseConstructor(p: Parser): number {
  p.expect(CHAR.C);
  const isInheriting = p.take(CHAR.I);
  const variant = p.peek() - CHAR.zero;
  if (variant < 1 || variant > 5) p.fail();
  p.pos++;
  // In that case, GNU's demangler names the constructor after the base, which is the last name that it saw.
  const base = isInheriting ? p.productions.type(p) : -1;
  if (p.lastName < 0) p.fail();
  return p.node(Kind.Constructor, p.lastName, base);
}

/** D0, D1, D2; or D4 and D5, gcc's names for all variants together. */
function parseDestructor(p: Parser): number {
  p.expect(CHAR.D);
  const variant = p.peek() - CHAR.zero;
  if (variant < 0 || variant > 5 || variant === 3 || p.lastName < 0) p.fail();
  p.pos++;
  return p.node(Kind.Destructor, p.lastName);
}

function parseStructuredBinding(p: Parser): number {
  p.pos += 2;
  const begin = p.beginList();
  do p.addMember(parseSourceName(p));
  while (!p.take(CHAR.E));
  return p.node(Kind.StructuredBinding, p.endList(begin));
}

/** `<unnamed-type-name>`: Ut and a number; Ub and a number, for clang's blocks; or Ul, the lambda's parameters, E and a number. */
function parseUnnamed(p: Parser): number {
  p.expect(CHAR.U);
  // For GNU's demangler, an unnamed type is a candidate twice: here, without its scope, and as a prefix.
  if (p.take(CHAR.t)) return p.substitutable(p.node(Kind.UnnamedType, p.compactNumber() + 1));
  if (p.take(CHAR.b)) {
    p.compactNumber();
    return p.node(Kind.BlockLiteral);
  }
  p.expect(CHAR.l);
  p.enter();
  const templateParameters = p.productions.templateParameters(p);
  const begin = p.beginList();
  while (p.peek() !== CHAR.E && p.peek() !== CHAR.Q) p.addMember(p.productions.type(p));
  const parameters = p.endParameters(begin);
  p.expect(CHAR.E);
  p.leave();
  return p.node(Kind.Lambda, parameters, p.compactNumber() + 1, templateParameters);
}

/** `<module-name>`: W and a name, several of them, WP for a partition. @returns `inModule` if there is none here */
export function parseModule(p: Parser, inModule: number): number {
  let module = inModule;
  while (p.take(CHAR.W)) {
    const isPartition = p.take(CHAR.P);
    module = p.substitutable(p.node(Kind.Module, module, parseSourceName(p), isPartition ? 1 : 0));
  }
  return module;
}

/**
 * `<substitution>`: S and a number, or one of the standard abbreviations.
 * @param isPrefix whether a name in its scope follows; if that is a constructor or destructor, the abbreviation is spelt out
 */
export function parseSubstitution(p: Parser, isPrefix: boolean): number {
  p.expect(CHAR.S);
  const c = p.peek();
  if (c === CHAR._ || isDigit(c) || isUpper(c)) return p.substitution();
  const abbreviation = STD_ABBREVIATIONS.get(c);
  if (!abbreviation) return p.fail();
  p.pos++;
  if (c === CHAR.t) return p.node(Kind.StdName, c, StdForm.Short);
  const next = p.peek();
  p.lastName = p.node(Kind.StdName, c, StdForm.Last);
  const name = p.node(Kind.StdName, c, isPrefix && (next === CHAR.C || next === CHAR.D) ? StdForm.Full : StdForm.Short);
  return next === CHAR.B ? p.substitutable(parseAbiTags(p, name)) : name;
}

/** `<template-param>`: T_, T0_ …, or with a level, which is ignored, TL0__, TL0_0_ … */
export function parseTemplateParam(p: Parser): number {
  p.expect(CHAR.T);
  if (p.take(CHAR.L)) {
    p.number();
    p.expect(CHAR._);
  }
  return p.node(Kind.TemplateParam, p.compactNumber());
}

/** `<decltype>`: DT or Dt, the expression, E. */
export function parseDecltype(p: Parser): number {
  p.pos += 2;
  const expression = p.productions.expression(p);
  p.expect(CHAR.E);
  return p.node(Kind.Decltype, expression);
}
