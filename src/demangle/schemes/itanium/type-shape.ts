import type { Printer } from './printer.ts';
import { Kind } from './tree.ts';

/** What types are behind template parameters: questions that printing asks before it writes a sign. */

/** @returns the node, or what it stands for if it is a template parameter; −1 for nothing */
function lookThrough(pr: Printer, type: number): number {
  let node = type;
  while (node >= 0 && pr.tree.kind(node) === Kind.TemplateParam && !pr.inLambda) {
    pr.countWork();
    node = pr.resolve(node);
  }
  return node;
}

/** @returns Kind.Function or Kind.Array if a sign of the declarator is put between two parts of the type, else −1 */
export function declaratorKind(pr: Printer, type: number): number {
  const node = declaratorOf(pr, type);
  return node < 0 ? -1 : pr.tree.kind(node);
}

/** @returns the Function or Array between whose parts a sign of the declarator is put; −1 if it follows the whole type */
export function declaratorOf(pr: Printer, type: number): number {
  const tree = pr.tree;
  let node = type;
  for (;;) {
    const kind = tree.kind(node);
    if (kind === Kind.Function || kind === Kind.Array) return node;
    if (kind === Kind.Qualified || kind === Kind.FunctionQualified || kind === Kind.FunctionSuffixed) node = tree.a(node);
    else if (kind === Kind.TemplateParam) {
      const argument = lookThrough(pr, node);
      if (argument < 0 || argument === node) return -1;
      node = argument;
    } else return -1;
  }
}

export function isFunctionOrArray(pr: Printer, type: number): boolean {
  return declaratorKind(pr, type) >= 0;
}

/** Whether the left part of a type ends in the open parenthesis and sign of a pointer to a function or array. */
export function endsInDeclarator(pr: Printer, type: number): boolean {
  const tree = pr.tree;
  let node = lookThrough(pr, type);
  for (;;) {
    if (node < 0) return false;
    const kind = tree.kind(node);
    if (kind !== Kind.Pointer && kind !== Kind.Reference && kind !== Kind.RvalueReference && kind !== Kind.MemberPointer) return false;
    const pointee = lookThrough(pr, kind === Kind.MemberPointer ? tree.b(node) : tree.a(node));
    if (pointee < 0) return false;
    if (isFunctionOrArray(pr, pointee)) return true;
    node = pointee;
  }
}

/** @returns Kind.Reference or Kind.RvalueReference if the type is one, else −1 */
export function referenceKind(pr: Printer, type: number): number {
  const node = lookThrough(pr, type);
  if (node < 0) return -1;
  const kind = pr.tree.kind(node);
  return kind === Kind.Reference || kind === Kind.RvalueReference ? kind : -1;
}

/** @returns what is finally referred to if a template parameter stands for a reference; else the type itself */
export function collapseReferences(pr: Printer, type: number): number {
  const tree = pr.tree;
  let node = type;
  while (tree.kind(node) === Kind.TemplateParam && referenceKind(pr, node) >= 0) node = tree.a(lookThrough(pr, node));
  return node;
}

/** @returns the type's own Qualifier bits; an array has those of its elements */
export function qualifiersOf(pr: Printer, type: number): number {
  const tree = pr.tree;
  let node = lookThrough(pr, type);
  while (node >= 0 && tree.kind(node) === Kind.Array) {
    pr.countWork();
    node = lookThrough(pr, tree.a(node));
  }
  return node >= 0 && tree.kind(node) === Kind.Qualified ? tree.b(node) : 0;
}
