import { CHAR, isLower } from '../chars.ts';
import type { Printer } from './printer.ts';
import { FoldForm, Kind } from './tree.ts';
import { BUILTIN_TYPES, LiteralStyle, NULLPTR, OPERATORS } from './vocabulary.ts';

/** Prints expressions, template arguments and lists of them. */
export function printExpression(pr: Printer, node: number, kind: number): void {
  const tree = pr.tree;
  const a = tree.a(node);
  switch (kind) {
    case Kind.List:
      pr.printList(node);
      break;
    case Kind.ArgumentPack:
      pr.printList(a);
      break;
    case Kind.Literal:
      printLiteral(pr, node);
      break;
    case Kind.Number:
      pr.appendRange(a, tree.b(node));
      break;
    case Kind.FunctionParam:
      pr.append(a < 0 ? 'this' : `{parm#${a + 1}}`);
      break;
    case Kind.Unary:
      printUnary(pr, OPERATORS[a].text, tree.b(node));
      break;
    case Kind.Postfix:
      printOperand(pr, tree.b(node));
      pr.append(OPERATORS[a].text);
      break;
    case Kind.Binary:
      printBinary(pr, OPERATORS[a].text, tree.b(node), tree.c(node));
      break;
    case Kind.Conditional:
      printConditional(pr, a);
      break;
    case Kind.Call:
      printCallee(pr, a);
      pr.append('(');
      pr.printList(tree.b(node));
      pr.append(')');
      break;
    case Kind.Cast:
      printCast(pr, a, tree.b(node));
      break;
    case Kind.NamedCast:
      pr.append(`${OPERATORS[a].text}<`);
      pr.print(tree.b(node));
      pr.append('>(');
      pr.print(tree.c(node));
      pr.append(')');
      break;
    case Kind.InitializerList:
      if (a >= 0) pr.print(a);
      pr.append('{');
      pr.printList(tree.b(node));
      pr.append('}');
      break;
    case Kind.New:
    case Kind.NewArray:
      printNew(pr, node);
      break;
    case Kind.TypeOperator:
      pr.append(`${OPERATORS[a].text} (`);
      pr.print(tree.b(node));
      pr.append(')');
      break;
    case Kind.SizeofPack:
      printSizeofPack(pr, a, tree.b(node) === 1);
      break;
    case Kind.Fold:
      printFold(pr, node);
      break;
    case Kind.Global:
      pr.append('::');
      pr.print(a);
      break;
    case Kind.Throw:
      pr.append('throw');
      break;
    default:
      printRareExpression(pr, node, kind);
      break;
  }
}

function printRareExpression(pr: Printer, node: number, kind: number): void {
  const tree = pr.tree;
  const a = tree.a(node);
  switch (kind) {
    case Kind.Requires:
      pr.append('requires ');
      if (a >= 0) {
        pr.append('(');
        pr.printList(a);
        pr.append(') ');
      }
      pr.append('{');
      for (let i = 0; i < tree.count(tree.b(node)); i++) {
        pr.append(' ');
        pr.print(tree.item(tree.b(node), i));
        pr.append(';');
      }
      pr.append(' }');
      break;
    case Kind.ExpressionRequirement: {
      const isCompound = tree.b(node) === 1 || tree.c(node) >= 0;
      if (isCompound) pr.append('{');
      pr.print(a);
      if (isCompound) pr.append('}');
      if (tree.b(node) === 1) pr.append(' noexcept');
      if (tree.c(node) < 0) return;
      pr.append(' -> ');
      pr.print(tree.c(node));
      break;
    }
    case Kind.TypeRequirement:
      pr.append('typename ');
      pr.print(a);
      break;
    case Kind.NestedRequirement:
      pr.append('requires ');
      pr.print(a);
      break;
    case Kind.Designated:
      pr.append(tree.c(node) === 1 ? '[' : '.');
      pr.print(a);
      if (tree.c(node) === 1) pr.append(']');
      printDesignatedValue(pr, tree.b(node));
      break;
    case Kind.DesignatedRange:
      pr.append('[');
      pr.print(tree.item(a, 0));
      pr.append(' ... ');
      pr.print(tree.item(a, 1));
      pr.append(']');
      printDesignatedValue(pr, tree.item(a, 2));
      break;
    case Kind.VendorExpression:
      pr.print(a);
      pr.append('(');
      pr.printList(tree.b(node));
      pr.append(')');
      break;
    case Kind.DestructorName:
      pr.append('~');
      pr.print(a);
      break;
    case Kind.Subobject:
      pr.print(tree.b(node));
      pr.append('.<');
      pr.print(a);
      pr.append(' at offset ');
      if (tree.a(tree.c(node)) === tree.b(tree.c(node))) pr.append('0');
      else pr.print(tree.c(node));
      pr.append('>', CHAR['>']);
      break;
    default:
      pr.fail();
      break;
  }
}

/** Nested designators follow each other: `.a.b[3]=(1)`. */
function printDesignatedValue(pr: Printer, value: number): void {
  const kind = pr.tree.kind(value);
  if (kind === Kind.Designated || kind === Kind.DesignatedRange) {
    pr.print(value);
    return;
  }
  pr.append('=');
  printOperand(pr, value);
}

const NEEDS_NO_PARENTHESES: ReadonlySet<number> = new Set([
  Kind.Name,
  Kind.UnnamedNamespace,
  Kind.Member,
  Kind.Nested,
  Kind.InitializerList,
  Kind.FunctionParam,
]);

/** An operand: in parentheses, except for names, parameters and braced lists. */
export function printOperand(pr: Printer, node: number): void {
  const kind = pr.tree.kind(node);
  if (NEEDS_NO_PARENTHESES.has(kind)) {
    pr.print(node);
    return;
  }
  pr.append('(');
  pr.print(node);
  pr.append(')');
}

function isScoped(kind: number): boolean {
  return kind === Kind.Member || kind === Kind.Nested;
}

function printUnary(pr: Printer, text: string, operand: number): void {
  const tree = pr.tree;
  if (text === '&' && tree.kind(operand) === Kind.Encoding && tree.c(operand) === 0 && isScoped(tree.kind(tree.a(operand)))) {
    // The address of a member function: parameters, which would tell which one of that name, are not shown.
    pr.append('&');
    pr.print(tree.a(operand));
    return;
  }
  if (text === 'noexcept') {
    pr.append('noexcept(');
    pr.print(operand);
    pr.append(')');
    return;
  }
  pr.append(isLower(text.charCodeAt(0)) ? `${text} ` : text);
  printOperand(pr, operand);
}

function printBinary(pr: Printer, text: string, left: number, right: number): void {
  if (text === '[]') {
    printOperand(pr, left);
    pr.append('[');
    pr.print(right);
    pr.append(']');
    return;
  }
  // Otherwise, > would seem to end template arguments.
  if (text === '>') pr.append('(');
  printOperand(pr, left);
  pr.append(text);
  printOperand(pr, right);
  if (text === '>') pr.append(')');
}

function printConditional(pr: Printer, operands: number): void {
  const tree = pr.tree;
  printOperand(pr, tree.item(operands, 0));
  pr.append('?');
  printOperand(pr, tree.item(operands, 1));
  pr.append(' : ');
  printOperand(pr, tree.item(operands, 2));
}

/** What is called. For a function that is given by its encoding, only the name. */
function printCallee(pr: Printer, callee: number): void {
  const tree = pr.tree;
  printOperand(pr, tree.kind(callee) === Kind.Encoding ? tree.a(callee) : callee);
}

function printCast(pr: Printer, type: number, operand: number): void {
  pr.append('(');
  pr.print(type);
  pr.append(')');
  printOperand(pr, operand);
}

function printNew(pr: Printer, node: number): void {
  const tree = pr.tree;
  const placement = tree.a(node);
  pr.append('new ');
  if (tree.count(placement) > 0) {
    pr.append('(');
    pr.printList(placement);
    pr.append(') ');
  }
  pr.print(tree.b(node));
  const initializer = tree.c(node);
  if (initializer < 0) return;
  if (tree.kind(initializer) === Kind.List) {
    pr.append('(');
    pr.print(initializer);
    pr.append(')');
    return;
  }
  pr.print(initializer);
}

/** The number of members, as in GNU's demangler: of the pack that a pattern expands to, or of listed arguments. */
function printSizeofPack(pr: Printer, operand: number, isList: boolean): void {
  const tree = pr.tree;
  let count = 0;
  if (isList) {
    for (let i = 0; i < tree.count(operand); i++) {
      const item = tree.item(operand, i);
      const pack = tree.kind(item) === Kind.PackExpansion ? pr.findPack(tree.a(item)) : -1;
      count += pack >= 0 ? tree.count(pack) : 1;
    }
  } else {
    const pack = pr.findPack(operand);
    if (pack >= 0) count = tree.count(pack);
  }
  pr.append(String(count));
}

/** Packs inside a fold are printed whole, not member by member. */
function printFold(pr: Printer, node: number): void {
  const tree = pr.tree;
  const text = OPERATORS[tree.a(node)].text;
  const operands = tree.c(node);
  const outerIndex = pr.packIndex;
  pr.packIndex = -1;
  const first = tree.item(operands, 0);
  pr.append('(');
  switch (tree.b(node)) {
    case FoldForm.Left:
      pr.append(`...${text}`);
      printOperand(pr, first);
      break;
    case FoldForm.Right:
      printOperand(pr, first);
      pr.append(`${text}...`);
      break;
    default:
      printOperand(pr, first);
      pr.append(`${text}...${text}`);
      printOperand(pr, tree.item(operands, 1));
  }
  pr.append(')');
  pr.packIndex = outerIndex;
}

function printLiteral(pr: Printer, node: number): void {
  const tree = pr.tree;
  const type = tree.a(node);
  let start = tree.b(node);
  const end = tree.c(node);
  const kind = tree.kind(type);
  if (start === end) {
    printLiteralOfType(pr, type, kind);
    return;
  }
  const builtin = kind === Kind.Builtin ? BUILTIN_TYPES[tree.a(type)] : undefined;
  const isNegative = tree.codes[start] === CHAR.n;
  if (isNegative) start++;
  if (start === end) pr.fail();
  const style = builtin?.literal ?? LiteralStyle.Cast;
  if (style === LiteralStyle.Bool && !isNegative && end - start === 1) {
    const digit = tree.codes[start] - CHAR.zero;
    if (digit === 0 || digit === 1) {
      pr.append(digit === 1 ? 'true' : 'false');
      return;
    }
  }
  if (style !== LiteralStyle.Plain) {
    pr.append('(');
    pr.print(type);
    pr.append(')');
  }
  if (isNegative) pr.append('-');
  if (style === LiteralStyle.Float) pr.append('[');
  pr.appendRange(start, end);
  if (style === LiteralStyle.Float) pr.append(']');
  if (style === LiteralStyle.Plain && builtin!.suffix !== '') pr.append(builtin!.suffix);
}

/** Literals without a value: nullptr, and those for which only the type is encoded. */
function printLiteralOfType(pr: Printer, type: number, kind: number): void {
  const tree = pr.tree;
  if (kind === Kind.Builtin && tree.a(type) === NULLPTR) {
    pr.print(type);
    return;
  }
  if (kind === Kind.Array) {
    pr.append('"<');
    pr.print(type);
    pr.append('>"');
    return;
  }
  if (kind !== Kind.Lambda) pr.fail();
  pr.append('[](');
  pr.printList(tree.a(type));
  pr.append('){...}');
}
