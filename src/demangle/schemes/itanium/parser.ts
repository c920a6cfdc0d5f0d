import { CHAR, isDigit, isUpper } from '../chars.ts';
import { MAX_ATTEMPTS, MAX_DEPTH, MAX_NODES, NotDemangled } from './limits.ts';
import { Kind, Tree } from './tree.ts';
import { VOID } from './vocabulary.ts';

/**
 * Productions that are needed by earlier files: names contain types, types contain expressions, and all of them contain names. They are
 * passed in, so that the files of the grammar import each other in one direction only.
 */
export interface Productions {
  readonly encoding: (p: Parser) => number;
  readonly type: (p: Parser) => number;
  readonly templateArguments: (p: Parser) => number;
  readonly templateParameters: (p: Parser) => number;
  readonly expression: (p: Parser) => number;
  readonly literal: (p: Parser) => number;
}

/** How names in the scope of others are read: `unseen` if there was none so far, `new` as in the current ABI, `old` as in earlier ones. */
export type ScopedNames = 'unseen' | 'new' | 'old';

/**
 * What the productions of the grammar share: the position in the mangled name, the tree that is built, the substitutions so far. One parser
 * is reused for all names. Productions are functions of it, by area: parse-encodings, parse-names, parse-types, parse-expressions. Each
 * begins at the first character of what it parses, ends after the last, and returns a node.
 */
export class Parser {
  pos = 0;
  end = 0;
  readonly tree: Tree = new Tree();
  readonly codes: Uint8Array = this.tree.codes;
  /** The name of a constructor in the scope being parsed: the last component seen, which may be the one in a Member; or −1. */
  lastName = -1;
  /** Qualifier bits of the nested name that was parsed last, which are those of the member function that it names. */
  nameQualifiers = 0;
  /** Whether this is inside the type of a conversion operator, where arguments after a template parameter may belong to the operator. */
  inConversion = false;
  /** How names in the scope of others are read: see parseScopedName. */
  scopedNames: ScopedNames = 'unseen';
  readonly #substitutions: Int32Array = new Int32Array(MAX_NODES);
  #substitutionCount = 0;
  /** Members of the lists that are being parsed. */
  readonly #members: Int32Array = new Int32Array(MAX_NODES);
  #memberCount = 0;
  #depth = 0;
  #attempts = 0;
  readonly productions: Productions;

  constructor(productions: Productions) {
    this.productions = productions;
  }

  /**
   * Begins to parse the name that the tree was loaded with.
   * @param scopedNames `old` for the second attempt at a name
   */
  begin(pos: number, scopedNames: ScopedNames = 'unseen'): void {
    this.pos = pos;
    this.end = this.tree.text.length;
    this.tree.clear();
    this.lastName = -1;
    this.nameQualifiers = 0;
    this.inConversion = false;
    this.scopedNames = scopedNames;
    this.#substitutionCount = 0;
    this.#memberCount = 0;
    this.#depth = 0;
    this.#attempts = 0;
  }

  /** @returns code of the character `ahead` characters further, 0 after the end */
  peek(ahead = 0): number {
    return this.codes[this.pos + ahead];
  }

  /** Skips the next character if it is this one. @returns whether it is */
  take(c: number): boolean {
    if (this.codes[this.pos] === c) {
      this.pos++;
      return true;
    }
    return false;
  }

  /** Skips the next character. @throws NotDemangled if it is another one */
  expect(c: number): void {
    if (!this.take(c)) this.fail();
  }

  fail(): never {
    throw new NotDemangled();
  }

  /** To be called by every production that may contain itself, with {@link leave} at its end. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) this.fail();
  }

  leave(): void {
    this.#depth--;
  }

  node(kind: number, a = -1, b = -1, c = -1): number {
    return this.tree.node(kind, a, b, c);
  }

  /** @returns where the members of a new list begin, for {@link endList} */
  beginList(): number {
    return this.#memberCount;
  }

  addMember(node: number): void {
    if (this.#memberCount >= MAX_NODES) this.fail();
    this.#members[this.#memberCount++] = node;
  }

  endList(begin: number, constraint = -1): number {
    const list = this.tree.list(this.#members, begin, this.#memberCount, constraint);
    this.#memberCount = begin;
    return list;
  }

  /** Ends a list of parameter types, of which there must be at least one: a single void stands for none. */
  endParameters(begin: number): number {
    const count = this.#memberCount - begin;
    if (count === 0) this.fail();
    if (count === 1) {
      const only = this.#members[begin];
      if (this.tree.kind(only) === Kind.Builtin && this.tree.a(only) === VOID) this.#memberCount = begin;
    }
    return this.endList(begin);
  }

  /** Makes the node one that S_, S0_ … can refer to. Returns the node. */
  substitutable(node: number): number {
    if (this.#substitutionCount >= MAX_NODES) this.fail();
    this.#substitutions[this.#substitutionCount++] = node;
    return node;
  }

  /** Parses the index and underscore after an S. */
  substitution(): number {
    const index = this.sequenceNumber();
    if (index >= this.#substitutionCount) this.fail();
    const node = this.#substitutions[index];
    this.tree.setShare(node, 0);
    return node;
  }

  /**
   * Tries a production that must be followed by a certain character. If it does not fit, everything is restored except the tree, which keeps
   * its nodes.
   * @returns −1 if it does not fit
   */
  attempt(production: (p: Parser) => number, next: number): number {
    if (++this.#attempts > MAX_ATTEMPTS) this.fail();
    const { pos, lastName, nameQualifiers, inConversion, scopedNames } = this;
    const [substitutionCount, memberCount, depth] = [this.#substitutionCount, this.#memberCount, this.#depth];
    try {
      const node = production(this);
      if (this.peek() === next) return node;
    } catch (error) {
      if (!(error instanceof NotDemangled)) throw error;
    }
    this.pos = pos;
    this.lastName = lastName;
    this.nameQualifiers = nameQualifiers;
    this.inConversion = inConversion;
    this.scopedNames = scopedNames;
    this.#substitutionCount = substitutionCount;
    this.#memberCount = memberCount;
    this.#depth = depth;
    return -1;
  }

  /** `<seq-id>_`: _ is 0, 0_ is 1, Z_ is 36 (base 36). */
  sequenceNumber(): number {
    if (this.take(CHAR._)) return 0;
    let value = 0;
    for (;;) {
      const c = this.peek();
      if (isDigit(c)) value = value * 36 + c - CHAR.zero;
      else if (isUpper(c)) value = value * 36 + c - CHAR.A + 10;
      else break;
      if (value > MAX_NODES) this.fail();
      this.pos++;
    }
    this.expect(CHAR._);
    return value + 1;
  }

  /** `[<number>]_`: _ is 0, 0_ is 1, 12_ is 13. */
  compactNumber(): number {
    if (this.take(CHAR._)) return 0;
    const value = this.number();
    this.expect(CHAR._);
    return value + 1;
  }

  /** At least one digit. Numbers above the length of the name are of no use, and far larger ones fail. */
  number(): number {
    let pos = this.pos;
    let value = 0;
    for (; pos < this.end; pos++) {
      const c = this.codes[pos];
      if (!isDigit(c)) break;
      value = value * 10 + c - CHAR.zero;
      if (value > 0x3ffffff) this.fail();
    }
    if (pos === this.pos) this.fail();
    this.pos = pos;
    return value;
  }

  /** Skips any number of digits. */
  skipDigits(): void {
    while (isDigit(this.peek())) this.pos++;
  }
}
