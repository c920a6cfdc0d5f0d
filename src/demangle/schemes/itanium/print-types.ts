import { printQualifiers, templateParameterName } from './print-names.ts';
import type { Printer } from './printer.ts';
import { FunctionSuffix, Kind } from './tree.ts';
import { collapseReferences, declaratorKind, declaratorOf, endsInDeclarator, isFunctionOrArray, qualifiersOf, referenceKind } from './type-shape.ts';
import { BUILTIN_TYPES, ELABORATED } from './vocabulary.ts';

/** Prints the part of a type to the left of a declared name: for most types, all of it; `int (*` for `int (*) [3]`, `void (A::*` for `void (A::*)(int)`. */
// hot
export function printTypeLeft(pr: Printer, node: number, kind: number): void {
  const tree = pr.tree;
  switch (kind) {
    case Kind.Builtin:
      pr.append(BUILTIN_TYPES[tree.a(node)].name);
      break;
    case Kind.Pointer:
      printPointerLeft(pr, tree.a(node), '*');
      break;
    case Kind.Reference:
    case Kind.RvalueReference:
      printReference(pr, node, printReferenceLeft);
      break;
    case Kind.Qualified:
      printQualifiedLeft(pr, node);
      break;
    case Kind.TemplateParam:
      printTemplateParamLeft(pr, node);
      break;
    case Kind.PackExpansion:
      printPackExpansion(pr, tree.a(node));
      break;
    case Kind.Function: {
      const returnType = tree.a(node);
      pr.printLeft(returnType);
      if (!endsInDeclarator(pr, returnType)) pr.append(' ');
      return;
    }
    case Kind.FunctionQualified:
    case Kind.FunctionSuffixed:
    case Kind.Array:
      pr.printLeft(tree.a(node));
      break;
    case Kind.MemberPointer:
      printMemberOpening(pr, tree.b(node));
      pr.print(tree.a(node));
      pr.append('::*');
      break;
    case Kind.Decltype:
      pr.append('decltype (');
      pr.print(tree.a(node));
      pr.append(')');
      break;
    default:
      printRareTypeLeft(pr, node, kind);
      break;
  }
}

function printRareTypeLeft(pr: Printer, node: number, kind: number): void {
  const tree = pr.tree;
  switch (kind) {
    case Kind.VendorQualified:
      pr.printLeft(tree.a(node));
      pr.append(isFunctionOrArray(pr, tree.a(node)) ? '( ' : ' ');
      pr.print(tree.b(node));
      if (tree.c(node) >= 0 && pr.options.templateArguments) pr.printTemplateArguments(tree.c(node));
      return;
    case Kind.Complex:
      pr.printLeft(tree.a(node));
      pr.append(' _Complex');
      break;
    case Kind.Imaginary:
      pr.printLeft(tree.a(node));
      pr.append(' _Imaginary');
      break;
    case Kind.Vector:
      pr.printLeft(tree.a(node));
      pr.append(' __vector(');
      pr.print(tree.b(node));
      pr.append(')');
      break;
    case Kind.FloatN:
      pr.append('_Float');
      pr.appendRange(tree.a(node), tree.b(node));
      break;
    case Kind.BitInt:
      pr.append(tree.b(node) === 1 ? '_BitInt(' : 'unsigned _BitInt(');
      pr.print(tree.a(node));
      pr.append(')');
      break;
    case Kind.VendorType:
      pr.print(tree.a(node));
      if (tree.b(node) >= 0 && pr.options.templateArguments) {
        pr.append('(');
        pr.printList(tree.b(node));
        pr.append(')');
      }
      return;
    case Kind.Elaborated:
      pr.append(ELABORATED[tree.a(node)]);
      pr.print(tree.b(node));
      break;
    case Kind.ConstrainedAuto:
      pr.print(tree.a(node));
      pr.append(tree.b(node) === 1 ? ' decltype(auto)' : ' auto');
      break;
    default:
      pr.fail();
      break;
  }
}

/** Prints the part of a type to the right of a declared name. */
export function printTypeRight(pr: Printer, node: number, kind: number): void {
  const tree = pr.tree;
  switch (kind) {
    case Kind.Pointer:
    case Kind.VendorQualified:
      printClosing(pr, tree.a(node));
      break;
    case Kind.Reference:
    case Kind.RvalueReference:
      printReference(pr, node, printReferenceRight);
      break;
    case Kind.MemberPointer:
      printClosing(pr, tree.b(node));
      break;
    case Kind.Qualified:
    case Kind.Complex:
    case Kind.Imaginary:
    case Kind.Vector:
      pr.printRight(tree.a(node));
      break;
    case Kind.TemplateParam:
      printTemplateParamRight(pr, node);
      break;
    case Kind.Function:
    case Kind.FunctionQualified:
    case Kind.FunctionSuffixed:
      pr.printRight(printSignature(pr, node));
      break;
    case Kind.Array:
      printArrayRight(pr, node);
      break;
  }
}

/** Prints a function type's parameters and qualifiers, which precede the right part of its return type. @returns that type */
function printSignature(pr: Printer, node: number): number {
  const tree = pr.tree;
  let returnType: number;
  switch (tree.kind(node)) {
    case Kind.FunctionQualified:
      returnType = printSignature(pr, tree.a(node));
      printQualifiers(pr, tree.b(node));
      return returnType;
    case Kind.FunctionSuffixed:
      returnType = printSignature(pr, tree.a(node));
      printFunctionSuffix(pr, node);
      return returnType;
    default:
      pr.append('(');
      pr.printList(tree.b(node));
      pr.append(')');
      return tree.a(node);
  }
}

function printFunctionSuffix(pr: Printer, node: number): void {
  const tree = pr.tree;
  switch (tree.b(node)) {
    case FunctionSuffix.TransactionSafe:
      pr.append(' transaction_safe');
      break;
    case FunctionSuffix.Noexcept:
      pr.append(' noexcept');
      break;
    case FunctionSuffix.NoexceptIf:
      pr.append(' noexcept(');
      pr.print(tree.c(node));
      pr.append(')');
      break;
    default:
      pr.append(' throw(');
      pr.printList(tree.c(node));
      pr.append(')');
      break;
  }
}

/** Dimensions follow each other without a space, but there is one before the first. */
function printArrayRight(pr: Printer, array: number): void {
  const tree = pr.tree;
  let node = array;
  pr.append(' [');
  for (;;) {
    if (tree.b(node) >= 0) pr.print(tree.b(node));
    pr.append(']');
    const element = tree.a(node);
    if (tree.kind(element) !== Kind.Array) {
      pr.printRight(element);
      return;
    }
    pr.countWork();
    pr.append('[');
    node = element;
  }
}

function printPointerLeft(pr: Printer, pointee: number, sign: string): void {
  printOpening(pr, pointee, '');
  pr.append(sign);
}

/** Prints the left part of what is pointed to, and what is needed so that the sign after it does not belong to the return or element type. */
function printOpening(pr: Printer, pointee: number, otherwise: string): void {
  const tree = pr.tree;
  const declarator = declaratorKind(pr, pointee);
  if (declarator === Kind.Function && tree.kind(pointee) === Kind.Qualified) {
    // Here, a template parameter stands for a function type, and the qualifiers have no meaning.
    pr.printLeft(tree.a(pointee));
    pr.append('(');
    printQualifiers(pr, tree.b(pointee));
    return;
  }
  pr.printLeft(pointee);
  if (declarator === Kind.Array) pr.append(' (');
  else if (declarator === Kind.Function) pr.append('(');
  else if (otherwise !== '') pr.append(otherwise);
}

/** Opens a pointer to a member. GNU's demangler prints a space there even after the sign of the return type. */
function printMemberOpening(pr: Printer, pointee: number): void {
  const declarator = declaratorOf(pr, pointee);
  if (declarator < 0 || pr.tree.kind(declarator) !== Kind.Function || !endsInDeclarator(pr, pr.tree.a(declarator))) {
    printOpening(pr, pointee, ' ');
    return;
  }
  pr.printLeft(pointee);
  pr.append(' (');
}

function printClosing(pr: Printer, pointee: number): void {
  if (isFunctionOrArray(pr, pointee)) pr.append(')');
  pr.printRight(pointee);
}

/** Prints a part of a reference. */
function printReference(pr: Printer, node: number, printPart: (pr: Printer, node: number) => void): void {
  const outer = pr.enterReference(pr.tree.a(node));
  printPart(pr, node);
  pr.templateArguments = outer;
}

/** References to references, which come from template parameters, collapse. */
function printReferenceLeft(pr: Printer, node: number): void {
  const tree = pr.tree;
  const referred = tree.a(node);
  const collapsed = collapseReferences(pr, referred);
  if (collapsed !== referred) {
    const isLvalue = tree.kind(node) === Kind.Reference || referenceKind(pr, referred) === Kind.Reference;
    printPointerLeft(pr, collapsed, isLvalue ? '&' : '&&');
    return;
  }
  printPointerLeft(pr, referred, tree.kind(node) === Kind.Reference ? '&' : '&&');
}

function printReferenceRight(pr: Printer, node: number): void {
  printClosing(pr, collapseReferences(pr, pr.tree.a(node)));
}

/** A qualifier that the type already has, which a template parameter's type may, is not repeated. */
function printQualifiedLeft(pr: Printer, node: number): void {
  const tree = pr.tree;
  const type = tree.a(node);
  pr.printLeft(type);
  printQualifiers(pr, tree.b(node) & ~qualifiersOf(pr, type));
}

function printTemplateParamLeft(pr: Printer, node: number): void {
  if (pr.inLambda) {
    const index = pr.tree.a(node);
    const declared = pr.lambdaParameters;
    if (declared >= 0 && index < pr.tree.count(declared)) {
      pr.append(templateParameterName(pr, declared, index));
      return;
    }
    pr.append(`auto:${index + 1}`);
    return;
  }
  const argument = pr.resolve(node);
  if (argument >= 0) pr.printLeft(argument);
}

function printTemplateParamRight(pr: Printer, node: number): void {
  if (pr.inLambda) return;
  const argument = pr.resolve(node);
  if (argument >= 0) pr.printRight(argument);
}

/** Prints the pattern once for each member of its pack; with dots if there is no pack, as in lambdas and for function parameters. */
function printPackExpansion(pr: Printer, pattern: number): void {
  const tree = pr.tree;
  const pack = pr.findPack(pattern);
  if (pack < 0) {
    pr.printOperand(pattern);
    pr.append('...');
    return;
  }
  const outerIndex = pr.packIndex;
  const count = tree.count(pack);
  for (let i = 0; i < count; i++) {
    pr.packIndex = i;
    if (i > 0) pr.append(', ');
    pr.print(pattern);
  }
  pr.packIndex = outerIndex;
}
