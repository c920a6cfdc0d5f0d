import { CHAR } from '../chars.ts';
import { parseConcept } from './parse-template-parameters.ts';
import { parseType } from './parse-types.ts';
import type { Parser } from './parser.ts';
import { Kind } from './tree.ts';

/** `requires` expressions: rq, or rQ with parameters up to _; requirements; E. Itanium C++ ABI, 5.1.6.1. */
export function parseRequires(p: Parser, hasParameters: boolean): number {
  let parameters = -1;
  if (hasParameters) {
    const begin = p.beginList();
    while (!p.take(CHAR._)) p.addMember(parseType(p));
    parameters = p.endList(begin);
  }
  const begin = p.beginList();
  do p.addMember(parseRequirement(p));
  while (!p.take(CHAR.E));
  return p.node(Kind.Requires, parameters, p.endList(begin));
}

/** X expression, N for noexcept, R and a constraint on its type; T type; Q constraint. */
function parseRequirement(p: Parser): number {
  if (p.take(CHAR.X)) {
    const expression = p.productions.expression(p);
    const isNoexcept = p.take(CHAR.N) ? 1 : 0;
    return p.node(Kind.ExpressionRequirement, expression, isNoexcept, p.take(CHAR.R) ? parseConcept(p) : -1);
  }
  if (p.take(CHAR.T)) return p.node(Kind.TypeRequirement, parseType(p));
  p.expect(CHAR.Q);
  return p.node(Kind.NestedRequirement, p.productions.expression(p));
}
