import { encodeText } from '../../../base/text/text.ts';
import { MAX_NAME, MAX_NODES, NotDemangled } from './limits.ts';

/**
 * The kinds of nodes, and what their fields a, b and c hold: a node, a list (a node of kind List), `text` (start and end in the mangled
 * name), or a number. −1 stands for an absent node.
 */
export const Kind = {
  // Names. print-names.ts
  /** a, b: text */
  Name: 0,
  /** a: scope, b: name in it */
  Nested: 1,
  /** a: template's name, b: list of arguments */
  Template: 2,
  /** a: letter after the S, b: StdForm */
  StdName: 3,
  /** a: name of the class, b: type of the base whose constructor it inherits or −1 */
  Constructor: 4,
  /** a: name of the class */
  Destructor: 5,
  /** a: index in OPERATORS */
  Operator: 6,
  /** a: type */
  Conversion: 7,
  /** a: name */
  LiteralOperator: 8,
  /** a: name */
  VendorOperator: 9,
  /** a: name, b: tag */
  AbiTagged: 10,
  /** a: encoding of the function, b: what is local to it */
  LocalName: 11,
  /** a: number, from 1 on, b: what is local to it */
  DefaultArgument: 12,
  StringLiteral: 13,
  /** a: list of parameter types, b: number, from 1 on, c: list of template parameter declarations or −1 */
  Lambda: 14,
  /** a: number, from 1 on */
  UnnamedType: 15,
  /** a: list of names */
  StructuredBinding: 16,
  /** a: enclosing module or −1, b: name, c: 1 for a partition */
  Module: 17,
  /** a: name, b: module */
  ModuleEntity: 18,
  /** a: name */
  Friend: 19,
  /** a: name, b: function type or −1, c: Qualifier bits */
  Encoding: 20,
  /** a: index in SPECIAL_NAMES, b: name, encoding or type */
  Special: 21,
  /** a: derived type, b: base type */
  ConstructionVtable: 22,
  /** a: name, b: number */
  ReferenceTemporary: 23,
  /** a: constraint of a declaration. Only inside lists of lambdas' template parameters. b: TemplateParameterKind, c: type or list */
  TemplateParameter: 24,

  BlockLiteral: 25,
  /** a, b: text, the name that compilers give it */
  UnnamedNamespace: 26,
  /** a: scope, b, c: text of the name in it. Most names consist of these; each takes a node less than a Nested and a Name */
  Member: 27,

  // Types. print-types.ts
  /** a: index in BUILTIN_TYPES */
  Builtin: 32,
  Pointer: 33,
  Reference: 34,
  RvalueReference: 35,
  /** a: type, b: Qualifier bits */
  Qualified: 36,
  /** a: index */
  TemplateParam: 37,
  /** a: return type or −1, b: list of parameter types, c: constraint or −1 */
  Function: 38,
  /** a: function type, b: FunctionSuffix, c: its operand or −1 */
  FunctionSuffixed: 39,
  /** a: element type, b: dimension or −1 */
  Array: 40,
  /** a: class, b: type of the member */
  MemberPointer: 41,
  /** a: pattern */
  PackExpansion: 42,
  /** a: expression */
  Decltype: 43,
  /** a: type, b: name, c: list of template arguments or −1 */
  VendorQualified: 44,
  Complex: 45,
  Imaginary: 46,
  /** a: element type, b: number of elements */
  Vector: 47,
  /** a, b: text of the width and its suffix */
  FloatN: 48,
  /** a: width, b: 1 if signed */
  BitInt: 49,
  /** a: name, b: list of template arguments or −1 */
  VendorType: 50,
  /** a: index in ELABORATED, b: type */
  Elaborated: 51,
  /** a: constraint, b: 1 for decltype(auto) */
  ConstrainedAuto: 52,
  /** a: function type, b: Qualifier bits */
  FunctionQualified: 53,

  // Template arguments and expressions. print-expressions.ts
  /** a: start in items, b: number of items, c: constraint on template arguments or −1 */
  List: 64,
  /** a: list */
  ArgumentPack: 65,
  /** a: type, b, c: text of the value */
  Literal: 66,
  /** a: index of the parameter, from 0 on; −1: this */
  FunctionParam: 67,
  /** a: index in OPERATORS, b: operand */
  Unary: 68,
  /** a: index in OPERATORS, b: operand */
  Postfix: 69,
  /** a: index in OPERATORS, b and c: operands */
  Binary: 70,
  /** a: list of the operands condition, then, else */
  Conditional: 71,
  /** a: function, b: list of arguments */
  Call: 72,
  /** a: type, b: expression or list */
  Cast: 73,
  /** a: index in OPERATORS, b: type, c: expression */
  NamedCast: 74,
  /** a: type or −1, b: list */
  InitializerList: 75,
  /** a: list of placement arguments, b: type, c: InitializerList, List or −1 */
  New: 76,
  /** as New */
  NewArray: 77,
  /** a: index in OPERATORS, b: type */
  TypeOperator: 78,
  /** a: template parameter, list of arguments or pattern, b: 1 for a list */
  SizeofPack: 79,
  /** a: index in OPERATORS, b: FoldForm, c: list of operands */
  Fold: 80,
  /** a: expression */
  Global: 81,
  Throw: 82,
  /** a: list of parameter types or −1, b: list of requirements */
  Requires: 83,
  /** a: expression, b: 1 for noexcept, c: constraint or −1 */
  ExpressionRequirement: 84,
  /** a: type */
  TypeRequirement: 85,
  /** a: constraint */
  NestedRequirement: 86,
  /** a: field or index, b: value */
  Designated: 87,
  /** a: list of first index, last index and value */
  DesignatedRange: 88,
  /** a: name, b: list of arguments */
  VendorExpression: 89,
  /** a: type or name */
  DestructorName: 90,
  /** a: type of the part, b: the whole, c: offset */
  Subobject: 91,
  /** a, b: text of digits */
  Number: 92,
  /** a: list of conditions; in the place of a constraint */
  EnableIf: 93,
} as const;

export const FIRST_TYPE: number = Kind.Builtin;
export const FIRST_EXPRESSION: number = Kind.List;

/** Bits of cv- and ref-qualifiers, in the order in which they are printed. */
export const Qualifier = { Const: 1, Volatile: 2, Restrict: 4, Lvalue: 8, Rvalue: 16, ExplicitObject: 32 } as const;
/** The forms of a standard abbreviation: as it is written, spelt out, and only its last component. */
export const StdForm = { Short: 0, Full: 1, Last: 2 } as const;
/** What may follow a function type's parameters, besides qualifiers. */
export const FunctionSuffix = { Noexcept: 0, NoexceptIf: 1, Throw: 2, TransactionSafe: 3 } as const;
/** Declared template parameters of lambdas: typename, a value, a template, a pack of one of these, a type with a constraint. */
export const TemplateParameterKind = { Type: 0, Value: 1, Template: 2, Pack: 3, Constrained: 4 } as const;
export const FoldForm = { Left: 0, Right: 1, Binary: 2 } as const;

/** Which of the fields a (1), b (2) and c (4) are nodes, by kind: for walks that only need a node's children. */
export const CHILD_FIELDS: Uint8Array = (() => {
  const fields = new Uint8Array(96).fill(1);
  for (const kind of [
    Kind.Name,
    Kind.UnnamedNamespace,
    Kind.StdName,
    Kind.Operator,
    Kind.StringLiteral,
    Kind.BlockLiteral,
    Kind.UnnamedType,
    Kind.Builtin,
    Kind.TemplateParam,
    Kind.FloatN,
    Kind.List,
    Kind.FunctionParam,
    Kind.Throw,
    Kind.Number,
    Kind.Lambda,
  ])
    fields[kind] = 0;
  for (const kind of [
    Kind.Nested,
    Kind.Template,
    Kind.AbiTagged,
    Kind.LocalName,
    Kind.ModuleEntity,
    Kind.Encoding,
    Kind.ConstructionVtable,
    Kind.Array,
    Kind.MemberPointer,
    Kind.Vector,
    Kind.VendorType,
    Kind.Call,
    Kind.Cast,
    Kind.InitializerList,
    Kind.Requires,
    Kind.Designated,
    Kind.VendorExpression,
  ])
    fields[kind] = 3;
  for (const kind of [Kind.DefaultArgument, Kind.Special, Kind.Elaborated, Kind.Unary, Kind.Postfix, Kind.TypeOperator]) fields[kind] = 2;
  for (const kind of [Kind.Function, Kind.VendorQualified, Kind.New, Kind.NewArray, Kind.Subobject]) fields[kind] = 7;
  for (const kind of [Kind.FunctionSuffixed, Kind.ExpressionRequirement, Kind.TemplateParameter]) fields[kind] = 5;
  for (const kind of [Kind.Binary, Kind.NamedCast]) fields[kind] = 6;
  fields[Kind.Module] = 3;
  fields[Kind.Fold] = 4;
  return fields;
})();

const NODE_WORDS = 5;
/** How far any production looks or steps beyond the end of the name before it fails there, or more. */
const LOOKAHEAD = 4;
const encoder = new TextEncoder();

/**
 * The parsed name: nodes of five words (kind, a, b, c, share) in one array, reused from name to name. A node is the index of its first word.
 * Substitutions make it a graph, not a tree; it has no cycles, because nodes only refer to earlier ones.
 */
export class Tree {
  /** The mangled name that the nodes' texts are ranges of. */
  text = '';
  /**
   * The codes of its characters, followed by zeros, so that nothing has to check for the end. They are much faster to read than the string.
   */
  readonly codes: Uint8Array = new Uint8Array(MAX_NAME + LOOKAHEAD);
  readonly words: Int32Array = new Int32Array(MAX_NODES * NODE_WORDS);
  /** Members of lists; a List node has the range of its own. */
  readonly items: Int32Array = new Int32Array(MAX_NODES);
  #end = 0;
  #itemEnd = 0;

  /**
   * Loads a mangled name, from which the tree is made next.
   * @returns whether all characters are ASCII; if not, {@link text} has one for each byte
   * @throws NotDemangled if it is too long
   */
  load(name: string): boolean {
    const ascii = encoder.encodeInto(name, this.codes);
    const isAscii = ascii.read === name.length && ascii.written === name.length;
    const length = isAscii ? name.length : this.#loadBytes(name);
    if (length > MAX_NAME) throw new NotDemangled();
    for (let i = length; i < length + LOOKAHEAD; i++) this.codes[i] = 0;
    this.text = isAscii ? name : Array.from(this.codes.subarray(0, length), (byte) => String.fromCharCode(byte)).join('');
    return isAscii;
  }

  #loadBytes(name: string): number {
    const bytes = encodeText(name);
    if (bytes.length > MAX_NAME) throw new NotDemangled();
    this.codes.set(bytes);
    return bytes.length;
  }

  clear(): void {
    this.#end = 0;
    this.#itemEnd = 0;
  }

  /** @throws NotDemangled if there are too many nodes */
  node(kind: number, a: number, b: number, c: number): number {
    const node = this.#end;
    const words = this.words;
    if (node >= words.length) throw new NotDemangled();
    words[node] = kind;
    words[node + 1] = a;
    words[node + 2] = b;
    words[node + 3] = c;
    words[node + 4] = -1;
    this.#end = node + NODE_WORDS;
    return node;
  }

  /** Makes a list of members[from..to). */
  list(members: Int32Array, from: number, to: number, constraint: number): number {
    const start = this.#itemEnd;
    const items = this.items;
    if (start + to - from > items.length) throw new NotDemangled();
    for (let i = from; i < to; i++) items[start + i - from] = members[i];
    this.#itemEnd = start + to - from;
    return this.node(Kind.List, start, to - from, constraint);
  }

  /**
   * Notes in a node that substitutions refer to it, and what was printed for it.
   * @param number 0, or one of the printer's numbers
   */
  setShare(node: number, number: number): void {
    this.words[node + 4] = number;
  }

  /** @returns −1 if no substitution refers to the node */
  share(node: number): number {
    return this.words[node + 4];
  }

  kind(node: number): number {
    return this.words[node];
  }

  a(node: number): number {
    return this.words[node + 1];
  }

  b(node: number): number {
    return this.words[node + 2];
  }

  c(node: number): number {
    return this.words[node + 3];
  }

  /** @param list a List node */
  count(list: number): number {
    return this.words[list + 2];
  }

  /** @param index less than {@link count} */
  item(list: number, index: number): number {
    return this.items[this.words[list + 1] + index];
  }
}
