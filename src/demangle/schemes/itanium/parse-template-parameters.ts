import { CHAR } from '../chars.ts';
import { parseName } from './parse-names.ts';
import type { Parser } from './parser.ts';
import { Kind, TemplateParameterKind } from './tree.ts';

/** Whether `<template-param-decl>` begins here: Ty, Tk, Tn, Tt or Tp, with which no type and no argument begins. */
export function atTemplateParameter(p: Parser): boolean {
  if (p.peek() !== CHAR.T) return false;
  const c = p.peek(1);
  return c === CHAR.y || c === CHAR.k || c === CHAR.n || c === CHAR.t || c === CHAR.p;
}

/** The `<template-param-decl>`s of a lambda's template head. @returns a list, or −1 if there are none */
export function parseTemplateParameters(p: Parser): number {
  if (!atTemplateParameter(p)) return -1;
  const begin = p.beginList();
  while (atTemplateParameter(p)) p.addMember(parseTemplateParameter(p));
  // The constraint of the head is not shown.
  if (p.take(CHAR.Q)) p.productions.expression(p);
  return p.endList(begin);
}

export function parseTemplateParameter(p: Parser): number {
  p.enter();
  const c = p.peek(1);
  p.pos += 2;
  let parameter: number;
  switch (c) {
    case CHAR.y:
      parameter = p.node(Kind.TemplateParameter, -1, TemplateParameterKind.Type);
      break;
    case CHAR.k:
      parameter = p.node(Kind.TemplateParameter, parseConcept(p), TemplateParameterKind.Constrained);
      break;
    case CHAR.n:
      parameter = p.node(Kind.TemplateParameter, -1, TemplateParameterKind.Value, p.productions.type(p));
      break;
    case CHAR.t: {
      const begin = p.beginList();
      while (atTemplateParameter(p)) p.addMember(parseTemplateParameter(p));
      if (p.take(CHAR.Q)) p.productions.expression(p);
      p.expect(CHAR.E);
      parameter = p.node(Kind.TemplateParameter, -1, TemplateParameterKind.Template, p.endList(begin));
      break;
    }
    default:
      if (!atTemplateParameter(p)) p.fail();
      parameter = p.node(Kind.TemplateParameter, -1, TemplateParameterKind.Pack, parseTemplateParameter(p));
  }
  p.leave();
  return parameter;
}

/** A concept's name, with the arguments after the constrained one. It is parsed as a name, so it is no candidate for substitution. */
export function parseConcept(p: Parser): number {
  const qualifiers = p.nameQualifiers;
  const name = parseName(p);
  p.nameQualifiers = qualifiers;
  return name;
}
