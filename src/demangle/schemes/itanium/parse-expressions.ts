import { CHAR, isDigit, isLower } from '../chars.ts';
import { parseSourceName, parseTemplateParam, parseUnqualifiedName } from './parse-names.ts';
import { parseRequires } from './parse-requirements.ts';
import { parseTemplateArgument, parseTemplateArguments, parseType } from './parse-types.ts';
import type { Parser } from './parser.ts';
import { FoldForm, Kind } from './tree.ts';
import { findOperator, OPERATORS, OperatorUse } from './vocabulary.ts';

/** `<expression>`. Itanium C++ ABI, 5.1.6. */
export function parseExpression(p: Parser): number {
  p.enter();
  const c = p.peek();
  let expression: number;
  if (c === CHAR.L) expression = parseLiteral(p);
  else if (c === CHAR.T) expression = parseTemplateParam(p);
  else if (isDigit(c)) expression = withArguments(p, parseUnqualifiedName(p));
  else if (isLower(c)) expression = parseCodedExpression(p, c, p.peek(1));
  else expression = p.fail();
  p.leave();
  return expression;
}

function withArguments(p: Parser, name: number): number {
  return p.peek() === CHAR.I ? p.node(Kind.Template, name, parseTemplateArguments(p)) : name;
}

/** Expressions, and the terminator after them. @returns a list */
function parseExpressions(p: Parser, terminator: number): number {
  const begin = p.beginList();
  while (!p.take(terminator)) p.addMember(p.peek() === CHAR.I || p.peek() === CHAR.J || p.peek() === CHAR.X ? parseTemplateArgument(p) : parseExpression(p));
  return p.endList(begin);
}

/** An expression that begins with a code of two letters. Codes of operators are looked up last. */
function parseCodedExpression(p: Parser, first: number, second: number): number {
  p.pos += 2;
  switch (first) {
    case CHAR.f:
      if (second === CHAR.p || (second === CHAR.L && isDigit(p.peek()))) return parseFunctionParam(p, second === CHAR.L);
      return parseFold(p, second);
    case CHAR.s:
      if (second === CHAR.r) return parseScopedName(p);
      if (second === CHAR.p) return p.node(Kind.PackExpansion, parseExpression(p));
      if (second === CHAR.Z) return p.node(Kind.SizeofPack, parseExpression(p), 0);
      if (second === CHAR.P) {
        const begin = p.beginList();
        while (!p.take(CHAR.E)) p.addMember(parseTemplateArgument(p));
        return p.node(Kind.SizeofPack, p.endList(begin), 1);
      }
      if (second === CHAR.o) return parseSubobject(p);
      break;
    case CHAR.g:
      if (second === CHAR.s) return p.node(Kind.Global, parseExpression(p));
      break;
    case CHAR.t:
      if (second === CHAR.l) {
        const type = parseType(p);
        return p.node(Kind.InitializerList, type, parseInitializers(p));
      }
      if (second === CHAR.r) return p.node(Kind.Throw);
      break;
    case CHAR.i:
      if (second === CHAR.l) return p.node(Kind.InitializerList, -1, parseInitializers(p));
      break;
    case CHAR.c:
      if (second === CHAR.v) return parseConversion(p);
      if (second === CHAR.p) {
        const callee = parseExpression(p);
        return p.node(Kind.Call, callee, parseExpressions(p, CHAR.E));
      }
      break;
    case CHAR.d:
      if (second === CHAR.n) return parseDestructorName(p);
      break;
    case CHAR.o:
      if (second === CHAR.n) return withArguments(p, parseUnqualifiedName(p));
      break;
    case CHAR.r:
      if (second === CHAR.q || second === CHAR.Q) return parseRequires(p, second === CHAR.Q);
      break;
    case CHAR.m:
      if (second === CHAR.c) return parseMemberConversion(p);
      break;
    case CHAR.u:
      p.pos--;
      return parseVendorExpression(p);
  }
  return parseOperation(p, findOperator(first, second));
}

function parseOperation(p: Parser, operator: number): number {
  if (operator < 0) p.fail();
  switch (OPERATORS[operator].use) {
    case OperatorUse.Unary:
    case OperatorUse.Delete:
      return p.node(Kind.Unary, operator, parseExpression(p));
    case OperatorUse.Prefix:
      // The underscore tells ++a from a++.
      return p.take(CHAR._) ? p.node(Kind.Unary, operator, parseExpression(p)) : p.node(Kind.Postfix, operator, parseExpression(p));
    case OperatorUse.TypeOperand:
      return p.node(Kind.TypeOperator, operator, parseType(p));
    case OperatorUse.NamedCast: {
      const type = parseType(p);
      return p.node(Kind.NamedCast, operator, type, parseExpression(p));
    }
    case OperatorUse.Call: {
      const callee = parseExpression(p);
      return p.node(Kind.Call, callee, parseExpressions(p, CHAR.E));
    }
    case OperatorUse.Conditional: {
      const begin = p.beginList();
      for (let i = 0; i < 3; i++) p.addMember(parseExpression(p));
      return p.node(Kind.Conditional, p.endList(begin));
    }
    case OperatorUse.New:
      return parseNew(p, operator);
    default: {
      const left = parseExpression(p);
      return p.node(Kind.Binary, operator, left, parseExpression(p));
    }
  }
}

/** nw or na: placement arguments, _, the type, and E or an initializer. */
function parseNew(p: Parser, operator: number): number {
  const kind = OPERATORS[operator].code === 'nw' ? Kind.New : Kind.NewArray;
  const placement = parseExpressions(p, CHAR._);
  const type = parseType(p);
  if (p.take(CHAR.E)) return p.node(kind, placement, type, -1);
  if (p.peek() === CHAR.i) return p.node(kind, placement, type, parseExpression(p));
  p.expect(CHAR.p);
  p.expect(CHAR.i);
  return p.node(kind, placement, type, parseExpressions(p, CHAR.E));
}

/** cv: a type and one expression, or any number of them between _ and E. */
function parseConversion(p: Parser): number {
  const type = parseType(p);
  return p.node(Kind.Cast, type, p.take(CHAR._) ? parseExpressions(p, CHAR.E) : parseExpression(p));
}

/** Members of a braced list, designated or not, up to and including the E. */
function parseInitializers(p: Parser): number {
  const begin = p.beginList();
  while (!p.take(CHAR.E)) p.addMember(parseInitializer(p));
  return p.endList(begin);
}

/** `<braced-expression>`: di name value, dx index value, dX first last value, or an expression. */
function parseInitializer(p: Parser): number {
  if (p.peek() !== CHAR.d) return parseExpression(p);
  const c = p.peek(1);
  if (c !== CHAR.i && c !== CHAR.x && c !== CHAR.X) return parseExpression(p);
  p.enter();
  p.pos += 2;
  let initializer: number;
  if (c === CHAR.X) {
    const begin = p.beginList();
    p.addMember(parseExpression(p));
    p.addMember(parseExpression(p));
    p.addMember(parseInitializer(p));
    initializer = p.node(Kind.DesignatedRange, p.endList(begin));
  } else {
    const designator = c === CHAR.i ? parseSourceName(p) : parseExpression(p);
    initializer = p.node(Kind.Designated, designator, parseInitializer(p), c === CHAR.i ? 0 : 1);
  }
  p.leave();
  return initializer;
}

/** Folds: fl and fr with an operator and a pack, fL and fR with a further operand. */
function parseFold(p: Parser, form: number): number {
  const operator = findOperator(p.peek(), p.peek(1));
  if (operator < 0) p.fail();
  p.pos += 2;
  const begin = p.beginList();
  p.addMember(parseExpression(p));
  switch (form) {
    case CHAR.l:
      return p.node(Kind.Fold, operator, FoldForm.Left, p.endList(begin));
    case CHAR.r:
      return p.node(Kind.Fold, operator, FoldForm.Right, p.endList(begin));
    case CHAR.L:
    case CHAR.R:
      p.addMember(parseExpression(p));
      return p.node(Kind.Fold, operator, FoldForm.Binary, p.endList(begin));
    default:
      return p.fail();
  }
}

/** fp: qualifiers and a number, or T for this; fL: the same, after the number of scopes outwards. */
function parseFunctionParam(p: Parser, isOuter: boolean): number {
  if (isOuter) {
    p.number();
    p.expect(CHAR.p);
  } else if (p.take(CHAR.T)) return p.node(Kind.FunctionParam, -1);
  for (let c = p.peek(); c === CHAR.K || c === CHAR.V || c === CHAR.r; c = p.peek()) p.pos++;
  return p.node(Kind.FunctionParam, p.compactNumber());
}

/**
 * sr: a type and a name in it; or scopes that are not resolved to types, E, and the name. Such scopes are no candidates for substitution. Both forms may begin
 * with an identifier, and which one it is only shows when the rest does not fit. GCC and older ABIs use the former, clang the latter, which is tried first.
 */
function parseScopedName(p: Parser): number {
  let scope: number;
  if (isDigit(p.peek()) && p.scopedNames !== 'old') {
    p.scopedNames = 'new';
    scope = withArguments(p, parseSourceName(p));
    while (!p.take(CHAR.E)) scope = withArguments(p, p.node(Kind.Nested, scope, parseSourceName(p)));
  } else scope = parseType(p);
  if (p.take(CHAR.o)) p.expect(CHAR.n);
  return withArguments(p, p.node(Kind.Nested, scope, p.peek() === CHAR.d && p.peek(1) === CHAR.n ? takeDestructorName(p) : parseUnqualifiedName(p)));
}

function takeDestructorName(p: Parser): number {
  p.pos += 2;
  return parseDestructorName(p);
}

/** dn: a type, or a name with arguments. */
function parseDestructorName(p: Parser): number {
  return p.node(Kind.DestructorName, isDigit(p.peek()) ? withArguments(p, parseSourceName(p)) : parseType(p));
}

/** so: the type of the part, the whole, the offset, which members of unions, p if it is one past the end, E. */
function parseSubobject(p: Parser): number {
  const type = parseType(p);
  const whole = parseExpression(p);
  const start = p.pos;
  p.take(CHAR.n);
  p.skipDigits();
  const offset = p.node(Kind.Number, start, p.pos);
  while (p.take(CHAR._)) p.skipDigits();
  p.take(CHAR.p);
  p.expect(CHAR.E);
  return p.node(Kind.Subobject, type, whole, offset);
}

/** mc: the type of a pointer to a member, the pointer, the offset by which it is adjusted, E. */
function parseMemberConversion(p: Parser): number {
  const type = parseType(p);
  const pointer = parseExpression(p);
  p.take(CHAR.n);
  p.skipDigits();
  p.expect(CHAR.E);
  return p.node(Kind.Cast, type, pointer);
}

/** u: a name, template arguments, E. */
function parseVendorExpression(p: Parser): number {
  const name = parseSourceName(p);
  const begin = p.beginList();
  while (!p.take(CHAR.E)) p.addMember(parseTemplateArgument(p));
  return p.node(Kind.VendorExpression, name, p.endList(begin));
}

/** `<expr-primary>`: L, a mangled name or a type and a value, E. */
export function parseLiteral(p: Parser): number {
  p.expect(CHAR.L);
  p.enter();
  let literal: number;
  if (p.peek() === CHAR.Z || (p.peek() === CHAR._ && p.peek(1) === CHAR.Z)) {
    p.take(CHAR._);
    p.expect(CHAR.Z);
    literal = p.productions.encoding(p);
  } else {
    const type = parseType(p);
    const start = p.pos;
    // Digits (hexadecimal for floats), n for minus, _ between the parts of a complex number.
    while (p.pos < p.end && p.peek() !== CHAR.E) p.pos++;
    literal = p.node(Kind.Literal, type, start, p.pos);
  }
  p.expect(CHAR.E);
  p.leave();
  return literal;
}
