import { CHAR } from '../chars.ts';
import { MAX_DEPTH, MAX_OUTPUT, MAX_PRINTED_NODES, NotDemangled } from './limits.ts';
import { CHILD_FIELDS, FIRST_EXPRESSION, FIRST_TYPE, Kind, type Tree } from './tree.ts';

/** What is left out of a name. */
export interface PrintOptions {
  /** Whether standard abbreviations are templates with all their arguments: `std::basic_string<char, …>` for `std::string`. */
  readonly spellOutStd: boolean;
  readonly templateArguments: boolean;
  /** Whether functions that something is local to have their parameters. */
  readonly enclosingParameters: boolean;
}

/** Prints a node of the kind. */
export type PrintNode = (pr: Printer, node: number, kind: number) => void;

/** Printing functions by area of the grammar. They are passed in because areas contain each other. */
export interface Printing {
  readonly name: PrintNode;
  readonly typeLeft: PrintNode;
  readonly typeRight: PrintNode;
  readonly expression: PrintNode;
  readonly operand: (pr: Printer, node: number) => void;
}

const NO_TEXTS: string[] = [];
/** How many bits `last`, an ASCII character, takes in the share numbers of nodes. */
const LAST_BITS = 7;

/**
 * What the printing functions share: the text so far, and what template parameters currently stand for. One is made for each name: the
 * engine's garbage collector has to track every new string that is put into an old object. Printing is spread over print-names, print-types
 * and print-expressions. A type is printed in two parts, to the left and right of a declared name; most have no right part.
 */
export class Printer {
  out = '';
  /**
   * The angle bracket that `out` ends in, if template arguments may follow or end there; else 0. Reading it from `out` would make the engine
   * build a string that it has only noted as a concatenation.
   */
  last = 0;
  /** How often a template parameter was looked up: what is printed without that is the same everywhere. */
  lookups = 0;
  /** The arguments that template parameters stand for: a list, or −1. */
  templateArguments = -1;
  /** Which member of the packs is being printed, or −1 outside an expansion. */
  packIndex = -1;
  /** Whether this is inside a lambda's parameters, where a template parameter is one of its own. */
  inLambda = false;
  /** Declared template parameters of that lambda: a list, or −1. */
  lambdaParameters = -1;
  readonly tree: Tree;
  readonly options: PrintOptions;
  readonly printing: Printing;
  readonly #keepsScopes: boolean;
  #depth = 0;
  #printed = 0;
  /** By template parameter that is referred to: what {@link templateArguments} was when it was first printed. */
  #scopes: Map<number, number> | undefined;
  /** What shared nodes were printed as. Their share numbers consist of the index here, from 1 on, and their `last`. Many names need none. */
  #sharedTexts: string[] = NO_TEXTS;

  /** @param keepsScopes see {@link enterReference} */
  constructor(tree: Tree, options: PrintOptions, printing: Printing, keepsScopes: boolean) {
    this.tree = tree;
    this.options = options;
    this.printing = printing;
    this.#keepsScopes = keepsScopes;
  }

  /** @param last the angle bracket that the text ends in, if template arguments may end or begin after it */
  append(text: string, last = 0): void {
    this.out += text;
    this.last = last;
  }

  /** Appends a range of the mangled name. */
  appendRange(start: number, end: number): void {
    this.out += this.tree.text.substring(start, end);
    this.last = 0;
  }

  fail(): never {
    throw new NotDemangled();
  }

  /** Counts work and, with {@link leave}, how deeply it is nested. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH || ++this.#printed > MAX_PRINTED_NODES || this.out.length > MAX_OUTPUT) this.fail();
  }

  leave(): void {
    this.#depth--;
  }

  /** Counts work that does not nest. */
  countWork(): void {
    if (++this.#printed > MAX_PRINTED_NODES) this.fail();
  }

  /** Prints a whole node. */
  // hot
  print(node: number): void {
    const kind = this.tree.kind(node);
    this.enter();
    if (kind < FIRST_TYPE) this.printing.name(this, node, kind);
    else if (kind >= FIRST_EXPRESSION) this.printing.expression(this, node, kind);
    else {
      this.printing.typeLeft(this, node, kind);
      if (kind !== Kind.Builtin) this.printing.typeRight(this, node, kind);
    }
    this.leave();
  }

  printLeft(node: number): void {
    const kind = this.tree.kind(node);
    this.enter();
    if (kind < FIRST_TYPE) this.printing.name(this, node, kind);
    else if (kind >= FIRST_EXPRESSION) this.printing.expression(this, node, kind);
    else this.printing.typeLeft(this, node, kind);
    this.leave();
  }

  printRight(node: number): void {
    const kind = this.tree.kind(node);
    if (kind <= FIRST_TYPE || kind >= FIRST_EXPRESSION) return;
    this.enter();
    this.printing.typeRight(this, node, kind);
    this.leave();
  }

  /** Prints the members of a list, separated by commas. No commas precede empty packs, which print as nothing, at the end. */
  // hot
  printList(list: number): void {
    const tree = this.tree;
    const count = tree.count(list);
    let kept = this.out;
    for (let i = 0; i < count; i++) {
      if (i > 0) this.append(', ');
      const length = this.out.length;
      this.print(tree.item(list, i));
      if (this.out.length !== length) kept = this.out;
    }
    // `last` stays the comma's space: GNU's demangler writes `>>` after an empty pack, `> >` elsewhere.
    this.out = kept;
  }

  /** @returns what a TemplateParam node stands for here, or a member of that if it is a pack that is being expanded; −1 for nothing */
  resolve(param: number): number {
    const tree = this.tree;
    const args = this.templateArguments;
    const index = tree.a(param);
    this.lookups++;
    if (args < 0 || index >= tree.count(args)) this.fail();
    const argument = tree.item(args, index);
    if (this.packIndex < 0 || tree.kind(argument) !== Kind.ArgumentPack) return argument;
    const members = tree.a(argument);
    return this.packIndex < tree.count(members) ? tree.item(members, this.packIndex) : -1;
  }

  /** Finds the first pack among what the template parameters in a node stand for. @returns its list, or −1 */
  findPack(node: number): number {
    this.lookups++;
    if (node < 0 || this.inLambda) return -1;
    this.enter();
    const pack = this.#findPackIn(node);
    this.leave();
    return pack;
  }

  #findPackIn(node: number): number {
    const tree = this.tree;
    const kind = tree.kind(node);
    if (kind === Kind.TemplateParam) {
      const args = this.templateArguments;
      const index = tree.a(node);
      if (args < 0 || index >= tree.count(args)) return -1;
      const argument = tree.item(args, index);
      return tree.kind(argument) === Kind.ArgumentPack ? tree.a(argument) : -1;
    }
    if (kind === Kind.List) {
      for (let i = 0; i < tree.count(node); i++) {
        const pack = this.findPack(tree.item(node, i));
        if (pack >= 0) return pack;
      }
      return -1;
    }
    const fields = CHILD_FIELDS[kind];
    let pack = -1;
    if ((fields & 1) !== 0) pack = this.findPack(tree.a(node));
    if (pack < 0 && (fields & 2) !== 0) pack = this.findPack(tree.b(node));
    if (pack < 0 && (fields & 4) !== 0) pack = this.findPack(tree.c(node));
    return pack;
  }

  /**
   * Sets the template arguments for a reference. They are those of where it is, unless GNU's demangler is imitated: for that, a template parameter that a
   * substitution repeats under a reference stands for what it stood for the first time, also in another template (observed, binutils 2.40).
   * @returns what {@link templateArguments} has to be set to after it
   */
  enterReference(referred: number): number {
    const outer = this.templateArguments;
    if (!this.#keepsScopes || this.inLambda || this.tree.kind(referred) !== Kind.TemplateParam) return outer;
    this.#scopes ??= new Map();
    const first = this.#scopes.get(referred);
    if (first === undefined) this.#scopes.set(referred, outer);
    else this.templateArguments = first;
    return outer;
  }

  /** Prints an operand of an operator, in parentheses if it needs them. */
  printOperand(node: number): void {
    this.printing.operand(this, node);
  }

  /** Prints template arguments in angle brackets. Like GNU's demangler, it keeps these from becoming << and >>. */
  printTemplateArguments(list: number): void {
    this.append(this.last === CHAR['<'] ? ' <' : '<');
    this.printList(list);
    this.append(this.last === CHAR['>'] ? ' >' : '>', CHAR['>']);
  }

  /**
   * Prints a name that substitutions refer to: once, and then a copy of that, unless it depends on template parameters.
   * @param node has a share number, see Tree.setShare
   */
  printShared(node: number, printOnce: (pr: Printer, node: number) => void): void {
    const copy = this.tree.share(node);
    if (copy > 0) {
      if (this.out.length > MAX_OUTPUT) this.fail();
      this.out += this.#sharedTexts[copy >> LAST_BITS];
      this.last = copy & ((1 << LAST_BITS) - 1);
      return;
    }
    const before = this.out;
    const lookups = this.lookups;
    this.out = '';
    printOnce(this, node);
    const text = this.out;
    this.out = before + text;
    if (this.lookups !== lookups) return;
    if (this.#sharedTexts === NO_TEXTS) this.#sharedTexts = [''];
    this.tree.setShare(node, (this.#sharedTexts.length << LAST_BITS) | this.last);
    this.#sharedTexts.push(text);
  }
}
