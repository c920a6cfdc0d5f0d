import { CHAR, isLower } from '../chars.ts';
import type { Printer } from './printer.ts';
import { Kind, Qualifier, StdForm, TemplateParameterKind } from './tree.ts';
import { endsInDeclarator } from './type-shape.ts';
import { OPERATORS, SPECIAL_TEXTS, STD_ABBREVIATIONS } from './vocabulary.ts';

// hot
export function printName(pr: Printer, node: number, kind: number): void {
  const tree = pr.tree;
  switch (kind) {
    case Kind.Name:
      pr.appendRange(tree.a(node), tree.b(node));
      break;
    case Kind.Member:
      if (tree.share(node) >= 0) pr.printShared(node, printMember);
      else printMember(pr, node);
      break;
    case Kind.Nested:
      if (tree.share(node) >= 0) pr.printShared(node, printNested);
      else printNested(pr, node);
      break;
    case Kind.Template:
      if (tree.share(node) >= 0) pr.printShared(node, printTemplate);
      else printTemplate(pr, node);
      break;
    case Kind.StdName:
      printStdName(pr, tree.a(node), tree.b(node));
      break;
    case Kind.Encoding:
      printEncoding(pr, node, true);
      break;
    case Kind.Constructor:
      printClassName(pr, tree.a(node));
      break;
    case Kind.Destructor:
      pr.append('~');
      printClassName(pr, tree.a(node));
      break;
    case Kind.Operator:
      printOperatorName(pr, OPERATORS[tree.a(node)].text);
      break;
    case Kind.Conversion:
      pr.append('operator ');
      pr.print(tree.a(node));
      break;
    case Kind.AbiTagged:
      pr.print(tree.a(node));
      pr.append('[abi:');
      pr.print(tree.b(node));
      pr.append(']');
      break;
    case Kind.LocalName:
      printEnclosing(pr, tree.a(node));
      pr.append('::');
      pr.print(tree.b(node));
      break;
    case Kind.Lambda:
      printLambda(pr, node);
      break;
    case Kind.UnnamedType:
      pr.append(`{unnamed type#${tree.a(node)}}`);
      break;
    case Kind.Special:
      pr.append(SPECIAL_TEXTS[tree.a(node)]);
      pr.print(tree.b(node));
      break;
    default:
      printRareName(pr, node, kind);
      break;
  }
}

function printRareName(pr: Printer, node: number, kind: number): void {
  const tree = pr.tree;
  switch (kind) {
    case Kind.DefaultArgument:
      pr.append(`{default arg#${tree.a(node)}}::`);
      pr.print(tree.b(node));
      break;
    case Kind.StringLiteral:
      pr.append('string literal');
      break;
    case Kind.UnnamedNamespace:
      pr.append('(anonymous namespace)');
      break;
    case Kind.BlockLiteral:
      pr.append("'block-literal'");
      break;
    case Kind.LiteralOperator:
      pr.append('operator"" ');
      pr.print(tree.a(node));
      break;
    case Kind.VendorOperator:
      pr.append('operator ');
      pr.print(tree.a(node));
      break;
    case Kind.StructuredBinding:
      pr.append('[');
      pr.printList(tree.a(node));
      pr.append(']');
      break;
    case Kind.Module:
      if (tree.a(node) >= 0) pr.print(tree.a(node));
      if (tree.c(node) === 1) pr.append(':');
      else if (tree.a(node) >= 0) pr.append('.');
      pr.print(tree.b(node));
      break;
    case Kind.ModuleEntity:
      pr.print(tree.a(node));
      pr.append('@');
      pr.print(tree.b(node));
      break;
    case Kind.Friend:
      pr.print(tree.a(node));
      pr.append('[friend]');
      break;
    case Kind.ConstructionVtable:
      pr.append('construction vtable for ');
      pr.print(tree.b(node));
      pr.append('-in-');
      pr.print(tree.a(node));
      break;
    case Kind.ReferenceTemporary:
      pr.append(`reference temporary #${tree.b(node)} for `);
      pr.print(tree.a(node));
      break;
    case Kind.TemplateParameter:
      printTemplateParameter(pr, node);
      break;
    default:
      pr.fail();
      break;
  }
}

function printStdName(pr: Printer, letter: number, form: number): void {
  const abbreviation = STD_ABBREVIATIONS.get(letter)!;
  if (form === StdForm.Last) {
    pr.append(abbreviation.last);
    return;
  }
  if (form === StdForm.Short && !pr.options.spellOutStd) {
    pr.append(abbreviation.short);
    return;
  }
  if (pr.options.templateArguments) {
    pr.append(abbreviation.full, abbreviation.full.endsWith('>') ? CHAR['>'] : 0);
    return;
  }
  const arguments_ = abbreviation.full.indexOf('<');
  pr.append(arguments_ < 0 ? abbreviation.full : abbreviation.full.slice(0, arguments_));
}

function printOperatorName(pr: Printer, text: string): void {
  pr.append(isLower(text.charCodeAt(0)) ? `operator ${text}` : `operator${text}`, text.charCodeAt(text.length - 1));
}

/** A name in scopes. Scopes that nothing else refers to are joined here, from the innermost outwards. */
// hot
function printMember(pr: Printer, node: number): void {
  const tree = pr.tree;
  let names = tree.text.substring(tree.b(node), tree.c(node));
  let scope = tree.a(node);
  while (tree.kind(scope) === Kind.Member && tree.share(scope) < 0) {
    pr.countWork();
    names = `${tree.text.substring(tree.b(scope), tree.c(scope))}::${names}`;
    scope = tree.a(scope);
  }
  if (tree.kind(scope) === Kind.Name) {
    pr.append(`${tree.text.substring(tree.a(scope), tree.b(scope))}::${names}`);
    return;
  }
  printScope(pr, scope);
  pr.append(names);
}

function printNested(pr: Printer, node: number): void {
  const tree = pr.tree;
  printScope(pr, tree.a(node));
  pr.print(tree.b(node));
}

function printScope(pr: Printer, scope: number): void {
  const tree = pr.tree;
  if (tree.kind(scope) === Kind.StdName && tree.a(scope) === CHAR.t) pr.append('std::');
  else {
    pr.print(scope);
    pr.append('::');
  }
}

/** The name of constructors: for a class in a scope, without the scope. */
function printClassName(pr: Printer, name: number): void {
  const tree = pr.tree;
  if (tree.kind(name) === Kind.Member) pr.appendRange(tree.b(name), tree.c(name));
  else pr.print(name);
}

/** A template with its arguments. A conversion operator's type may refer to them, though they are printed after it. */
function printTemplate(pr: Printer, node: number): void {
  const tree = pr.tree;
  const name = tree.a(node);
  const args = tree.b(node);
  const isConversion = tree.kind(lastComponent(pr, name)) === Kind.Conversion;
  const outerArguments = pr.templateArguments;
  if (isConversion) pr.templateArguments = args;
  pr.print(name);
  pr.templateArguments = outerArguments;
  if (pr.options.templateArguments) pr.printTemplateArguments(args);
}

function lastComponent(pr: Printer, name: number): number {
  let node = name;
  while (pr.tree.kind(node) === Kind.Nested) node = pr.tree.b(node);
  return node;
}

/** @returns the arguments of the template that a function with this name is an instance of, or −1 */
function ownArguments(pr: Printer, name: number): number {
  const tree = pr.tree;
  let node = name;
  for (;;) {
    switch (tree.kind(node)) {
      case Kind.Template:
        return tree.b(node);
      case Kind.Member:
        node = tree.a(node);
        break;
      case Kind.Nested:
        node = partWithArguments(pr, node);
        break;
      case Kind.LocalName:
      case Kind.DefaultArgument:
        node = tree.b(node);
        break;
      case Kind.AbiTagged:
      case Kind.ModuleEntity:
      case Kind.Friend:
        node = tree.a(node);
        break;
      default:
        return -1;
    }
  }
}

/** @returns the part of a Nested name that has the template arguments */
function partWithArguments(pr: Printer, nested: number): number {
  const tree = pr.tree;
  const last = tree.b(nested);
  // What look like arguments of the base are those of an inherited template: its parameters can only refer to these.
  if (tree.kind(last) === Kind.Constructor && tree.b(last) >= 0 && tree.kind(tree.b(last)) === Kind.Template) return tree.b(last);
  // For a member that is not a template, the arguments are its class's.
  return tree.a(nested);
}

/** A function with its return type, parameters and qualifiers; or data. */
function printEncoding(pr: Printer, node: number, withReturnType: boolean, withParameters = true): void {
  const tree = pr.tree;
  const name = tree.a(node);
  const type = tree.b(node);
  const outerArguments = pr.templateArguments;
  const args = ownArguments(pr, name);
  if (args >= 0) pr.templateArguments = args;
  if (type < 0) pr.print(name);
  else {
    const returnType = withReturnType ? tree.a(type) : -1;
    if (returnType >= 0) printReturnType(pr, returnType);
    pr.print(name);
    printParameters(pr, withParameters ? tree.b(type) : -1, (tree.c(node) & Qualifier.ExplicitObject) !== 0);
    printQualifiers(pr, tree.c(node));
    if (returnType >= 0) pr.printRight(returnType);
    if (args >= 0 && tree.c(args) >= 0) printConstraint(pr, tree.c(args));
    if (tree.c(type) >= 0) printConstraint(pr, tree.c(type));
  }
  pr.templateArguments = outerArguments;
}

function printParameters(pr: Printer, list: number, hasExplicitObject: boolean): void {
  if (list < 0 || pr.tree.count(list) === 0) {
    pr.append('()');
    return;
  }
  pr.append(hasExplicitObject ? '(this ' : '(');
  pr.printList(list);
  pr.append(')');
}

/** Prints a return type and a space, unless the type ends in the declarator of a function or array. */
function printReturnType(pr: Printer, type: number): void {
  pr.printLeft(type);
  if (!endsInDeclarator(pr, type)) pr.append(' ');
}

function printConstraint(pr: Printer, constraint: number): void {
  if (pr.tree.kind(constraint) === Kind.EnableIf) {
    // In LLVM's spelling: GNU's demangler does not know such names.
    pr.append(' [enable_if:');
    pr.printList(pr.tree.a(constraint));
    pr.append(']');
    return;
  }
  pr.append(' requires ');
  pr.print(constraint);
}

/** The function that something is local to: without its return type, and with empty parentheses in the shortest form. */
function printEnclosing(pr: Printer, encoding: number): void {
  const tree = pr.tree;
  if (tree.kind(encoding) !== Kind.Encoding) {
    pr.print(encoding);
    return;
  }
  printEncoding(pr, encoding, false, pr.options.enclosingParameters);
}

/** Qualifiers after a parameter list or a type, each after a space. */
export function printQualifiers(pr: Printer, qualifiers: number): void {
  const text = QUALIFIER_TEXTS[qualifiers];
  if (text !== '') pr.append(text);
}

/** By Qualifier bits. */
const QUALIFIER_TEXTS: readonly string[] = Array.from({ length: 64 }, (_, qualifiers) =>
  [' const', ' volatile', ' restrict', ' &', ' &&'].filter((_, bit) => (qualifiers & (1 << bit)) !== 0).join(''),
);

function printLambda(pr: Printer, node: number): void {
  const tree = pr.tree;
  const outer = pr.inLambda;
  const outerParameters = pr.lambdaParameters;
  pr.inLambda = true;
  pr.lambdaParameters = tree.c(node);
  pr.append('{lambda');
  if (pr.lambdaParameters >= 0) printTemplateHead(pr, pr.lambdaParameters, true);
  pr.append('(');
  pr.printList(tree.a(node));
  pr.append(`)#${tree.b(node)}}`);
  pr.inLambda = outer;
  pr.lambdaParameters = outerParameters;
}

/** `<typename $T0, int $N1>` */
function printTemplateHead(pr: Printer, list: number, withNames: boolean): void {
  const tree = pr.tree;
  pr.append('<');
  for (let i = 0; i < tree.count(list); i++) {
    if (i > 0) pr.append(', ');
    pr.print(tree.item(list, i));
    if (withNames) pr.append(` ${templateParameterName(pr, list, i)}`);
  }
  pr.append('>');
}

/** @param index less than the list's count */
export function templateParameterName(pr: Printer, list: number, index: number): string {
  const tree = pr.tree;
  let parameter = tree.item(list, index);
  while (tree.b(parameter) === TemplateParameterKind.Pack) parameter = tree.c(parameter);
  const kind = tree.b(parameter);
  return `${kind === TemplateParameterKind.Value ? '$N' : kind === TemplateParameterKind.Template ? '$TT' : '$T'}${index}`;
}

function printTemplateParameter(pr: Printer, node: number): void {
  const tree = pr.tree;
  switch (tree.b(node)) {
    case TemplateParameterKind.Type:
      pr.append('typename');
      break;
    case TemplateParameterKind.Value:
      pr.print(tree.c(node));
      break;
    case TemplateParameterKind.Template:
      pr.append('template');
      printTemplateHead(pr, tree.c(node), false);
      pr.append(' class');
      break;
    case TemplateParameterKind.Pack:
      pr.print(tree.c(node));
      pr.append('...');
      break;
    default:
      pr.print(tree.a(node));
      break;
  }
}
