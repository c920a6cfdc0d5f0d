import { constantOf, type PrintFmt, parseNumber, type TraceExpression, type ValueName } from './expression.ts';
import type { TraceToken } from './tokens.ts';
import { type BinaryOperator, UNARY, type UnaryOperator } from './word.ts';

/** Masks of memory flags have about 20 levels of parentheses; these limits keep a hostile format from overflowing the stack. */
const MAX_NESTING = 400;
const MAX_OPERATORS = 512;

/** The format cannot be parsed. {@link parsePrintFmt} catches this. */
export class NotUnderstood extends Error {}

export const PRECEDENCE: Readonly<Record<BinaryOperator, number>> = {
  '*': 10,
  '/': 10,
  '%': 10,
  '+': 9,
  '-': 9,
  '<<': 8,
  '>>': 8,
  '<': 7,
  '>': 7,
  '<=': 7,
  '>=': 7,
  '==': 6,
  '!=': 6,
  '&': 5,
  '^': 4,
  '|': 3,
  '&&': 2,
  '||': 1,
};

/** A parser that binds operators by C's rules. A subclass may bind them differently. */
export class PrintFmtParser {
  readonly #tokens: readonly TraceToken[];
  #at = 0;
  #nesting = 0;
  #operators = 0;

  constructor(tokens: readonly TraceToken[]) {
    this.#tokens = tokens;
  }

  parse(): PrintFmt {
    const template = this.#strings();
    const args: TraceExpression[] = [];
    while (this.takes(',')) {
      this.#operators = 0;
      args.push(this.expression());
    }
    if (args.length === 0 && this.token.kind !== 'end') throw new NotUnderstood();
    return { template, args };
  }

  protected get token(): TraceToken {
    return this.#tokens[this.#at];
  }

  /** Whether the current token is this operator. */
  protected is(operator: string): boolean {
    const { token } = this;
    return token.kind === 'operator' && token.text === operator;
  }

  protected takes(operator: string): boolean {
    const isThere = this.is(operator);
    if (isThere) this.#at++;
    return isThere;
  }

  protected expect(operator: string): void {
    if (!this.takes(operator)) throw new NotUnderstood();
  }

  #name(): string {
    const { kind, text } = this.token;
    if (kind !== 'name') throw new NotUnderstood();
    this.#at++;
    return text;
  }

  /** One string, or several in a row. */
  #strings(): string {
    if (this.token.kind !== 'string') throw new NotUnderstood();
    let text = '';
    for (; this.token.kind === 'string'; this.#at++) text += this.token.text;
    return text;
  }

  /** Operands, the operators between them, and choices. */
  protected expression(): TraceExpression {
    return this.nested(() => {
      const condition = this.#binary(1);
      if (!this.is('?')) return condition;
      this.advance();
      const then = this.expression();
      this.expect(':');
      return { kind: 'ternary', condition, then, otherwise: this.expression() };
    });
  }

  /** Reads something that may contain itself. @throws NotUnderstood if it is nested too deeply */
  protected nested<T>(read: () => T): T {
    if (++this.#nesting > MAX_NESTING) throw new NotUnderstood();
    const result = read();
    this.#nesting--;
    return result;
  }

  #binary(minimum: number): TraceExpression {
    let left = this.operand();
    for (;;) {
      const operator = this.binaryOperator();
      if (operator === undefined || PRECEDENCE[operator] < minimum) return left;
      this.advance();
      left = { kind: 'binary', operator, left, right: this.#binary(PRECEDENCE[operator] + 1) };
    }
  }

  /** The binary operator that comes next, if one does. @throws NotUnderstood if it is one that no expression has */
  protected binaryOperator(): BinaryOperator | undefined {
    const { kind, text } = this.token;
    if (kind !== 'operator') return undefined;
    if (Object.hasOwn(PRECEDENCE, text)) return text as BinaryOperator;
    if (!ENDINGS.has(text)) throw new NotUnderstood();
    return undefined;
  }

  /** Steps past an operator. */
  protected advance(): void {
    this.countOperator();
    this.#at++;
  }

  private countOperator(): void {
    if (++this.#operators > MAX_OPERATORS) throw new NotUnderstood();
  }

  /** What is between operators. */
  protected operand(): TraceExpression {
    return this.nested(() => {
      let operand = this.#primary();
      while (this.takes('[')) {
        this.countOperator();
        operand = { kind: 'index', base: operand, index: this.operand() };
        this.expect(']');
      }
      return operand;
    });
  }

  #primary(): TraceExpression {
    const { kind, text } = this.token;
    if (kind === 'string') return { kind: 'string', text: this.#strings() };
    this.#at++;
    if (kind === 'number') return { kind, value: parseNumber(text) };
    if (kind === 'name') return this.#named(text);
    if (kind === 'operator' && Object.hasOwn(UNARY, text)) return this.unary(text as UnaryOperator, this.operand());
    if (kind !== 'operator' || text !== '(') throw new NotUnderstood();
    const type = this.#castType();
    if (type !== undefined) return { kind: 'cast', type, operand: this.operand() };
    const inner = this.expression();
    this.expect(')');
    return inner;
  }

  protected unary(operator: UnaryOperator, operand: TraceExpression): TraceExpression {
    return { kind: 'unary', operator, operand };
  }

  /** Reads a type and the parenthesis after it, if that is what comes next: several names, names and stars, or one name followed by an operand. */
  #castType(): string | undefined {
    let at = this.#at;
    const words: string[] = [];
    for (; ; at++) {
      const { kind, text } = this.#tokens[at];
      if (kind !== 'name' && !(kind === 'operator' && text === '*' && words.length > 0)) break;
      words.push(text);
    }
    const closing = this.#tokens[at];
    if (words.length === 0 || words[0] === 'REC' || closing.kind !== 'operator' || closing.text !== ')') return undefined;
    const next = this.#tokens[at + 1];
    const isFollowed = next.kind === 'name' || next.kind === 'number' || next.kind === 'string' || (next.kind === 'operator' && next.text === '(');
    if (words.length === 1 && !isFollowed) return undefined;
    this.#at = at + 1;
    return words.join(' ');
  }

  #named(name: string): TraceExpression {
    if (name === 'REC') {
      this.expect('->');
      return { kind: 'field', name: this.#name() };
    }
    if (!this.takes('(')) return { kind: 'name', text: name };
    const call = this.#call(name);
    this.expect(')');
    return call;
  }

  #call(name: string): TraceExpression {
    switch (name) {
      case '__print_flags': {
        const value = this.expression();
        this.expect(',');
        const delimiter = this.token.kind === 'name' ? this.#name() : this.#strings();
        this.expect(',');
        return { kind: 'flags', value, delimiter, pairs: this.#pairs() };
      }
      case '__print_symbolic': {
        const value = this.expression();
        this.expect(',');
        return { kind: 'symbolic', value, pairs: this.#pairs() };
      }
      case '__print_hex':
      case '__print_hex_str': {
        const data = this.operand();
        this.expect(',');
        return { kind: 'hex', data, length: this.operand(), separator: name === '__print_hex' ? ' ' : '' };
      }
      case '__print_array': {
        const data = this.operand();
        this.expect(',');
        const count = this.operand();
        this.expect(',');
        return { kind: 'array', data, count, elementSize: this.operand() };
      }
      case '__get_str':
      case '__get_rel_str':
        return { kind: 'dynamicText', name: this.#name() };
      case '__get_bitmask':
      case '__get_rel_bitmask':
        return { kind: 'bitmask', name: this.#name() };
      case '__get_dynamic_array':
      case '__get_rel_dynamic_array':
        return { kind: 'dynamic', name: this.#name() };
      case '__get_dynamic_array_len':
      case '__get_rel_dynamic_array_len':
        return { kind: 'dynamicLength', name: this.#name() };
      case '__builtin_expect': {
        const value = this.expression();
        this.expect(',');
        this.expression();
        return value;
      }
      default:
        return this.newerCall(name);
    }
  }

  /** A call of a function that perf 6.1 does not know. */
  protected newerCall(name: string): TraceExpression {
    if (name !== '__print_dynamic_array') throw new NotUnderstood();
    const field = this.#name();
    this.expect(',');
    return { kind: 'dynamicArray', name: field, elementSize: this.operand() };
  }

  /** `{ 0x1, "A" }, { 0x2, "B" }`; a comma may end the list. */
  #pairs(): ValueName[] {
    const pairs: ValueName[] = [];
    while (this.takes('{')) {
      this.#operators = 0;
      const value = constantOf(this.expression());
      this.expect(',');
      pairs.push({ value, name: nameOf(this.operand()) });
      this.expect('}');
      if (!this.takes(',')) break;
    }
    if (pairs.length === 0) throw new NotUnderstood();
    return pairs;
  }
}

/** The name of a pair: a string; `NULL` and `((void *)0)`, with which some kernels end their lists, are kept as they are. */
function nameOf(expression: TraceExpression): string {
  switch (expression.kind) {
    case 'string':
    case 'name':
      return expression.text;
    case 'number':
      return String(expression.value);
    case 'cast':
      return nameOf(expression.operand);
    default:
      throw new NotUnderstood();
  }
}

/** Operators that end an expression; all others are unknown. */
const ENDINGS: ReadonlySet<string> = new Set([',', ')', ']', '}', '?', ':', '(', '{', '[']);
