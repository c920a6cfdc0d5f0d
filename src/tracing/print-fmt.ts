import type { PrintFmt, TraceExpression } from './expression.ts';
import { NotUnderstood, PRECEDENCE, PrintFmtParser } from './print-fmt-parser.ts';
import { tokenizePrintFmt } from './tokens.ts';
import type { BinaryOperator, UnaryOperator } from './word.ts';

/**
 * Reads a print format: `"vector=%u %s", REC->vec, __print_symbolic(REC->reason, { 1, "one" })`.
 *
 * Observed, perf 6.1: if something cannot be parsed (`sizeof`, `&`, `*` before an operand, unknown functions, operators between the arguments of `__print_hex`
 * and `__print_array`), the payload is shown field by field. Whatever follows an argument and is not a comma ends the list.
 * @param compatPerf know no functions but those of perf 6.1, and bind operators as it does, not as in C: see {@link PerfPrintFmtParser}
 * @returns undefined if it cannot be parsed
 */
export function parsePrintFmt(text: string, compatPerf = false): PrintFmt | undefined {
  const tokens = tokenizePrintFmt(text);
  if (tokens === undefined) return undefined;
  const parser = compatPerf ? new PerfPrintFmtParser(tokens) : new PrintFmtParser(tokens);
  try {
    return parser.parse();
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined;
    throw error;
  }
}

/**
 * Binds operators as perf 6.1 does, which is not how the kernel's compiler does: `10 - 2 - 3` is 11, `flags & (1 | 2)` is `(flags & 1) | 2`, and in
 * `a ? 1 : b ? 2 : 3`, the whole first choice is the condition of the second.
 * Observed, perf 6.1:
 * - an operator that binds more weakly than the one before takes everything since the beginning (of the innermost chain) as its left side, any other only the
 *   right side of the one before;
 * - a right side in parentheses is torn apart if its operator binds more weakly than the one before it;
 * - after `:` comes one operand.
 */
class PerfPrintFmtParser extends PrintFmtParser {
  protected override expression(): TraceExpression {
    return this.nested(() => {
      let node = this.operand();
      while (this.#hasOperator()) node = this.#operation(node);
      return node;
    });
  }

  protected override newerCall(): never {
    throw new NotUnderstood();
  }

  /** What follows a sign belongs to it. */
  protected override unary(operator: UnaryOperator, operand: TraceExpression): TraceExpression {
    const node = super.unary(operator, operand);
    return this.binaryOperator() === undefined ? node : this.#operation(node);
  }

  #hasOperator(): boolean {
    return this.is('?') || this.binaryOperator() !== undefined;
  }

  #operation(left: TraceExpression): TraceExpression {
    if (this.is('?')) {
      this.advance();
      const then = this.expression();
      this.expect(':');
      return { kind: 'ternary', condition: left, then, otherwise: this.operand() };
    }
    const operator = this.binaryOperator();
    if (operator === undefined) throw new NotUnderstood();
    this.advance();
    const right = this.operand();
    const torn = tear(operator, left, right);
    const node = torn ?? { kind: 'binary', operator, left, right };
    if (!this.#hasOperator()) return node;
    const next = this.binaryOperator();
    if (next === undefined || PRECEDENCE[next] < bindingOf(node)) return this.#operation(node);
    if (node.kind === 'ternary') return { ...node, condition: this.#operation(node.condition) };
    return torn === undefined ? { ...node, right: this.#operation(right) } : { ...node, left: this.#operation(node.left) };
  }
}

type Operation = Extract<TraceExpression, { kind: 'binary' | 'ternary' }>;

/** `2 * (3 + 4)` as `(2 * 3) + 4`. @returns undefined if the right side binds strongly enough */
function tear(operator: BinaryOperator, left: TraceExpression, right: TraceExpression): Operation | undefined {
  const binds = PRECEDENCE[operator];
  if (right.kind === 'binary' && PRECEDENCE[right.operator] < binds) {
    return { ...right, left: { kind: 'binary', operator, left, right: right.left } };
  }
  if (right.kind === 'ternary') return { ...right, condition: { kind: 'binary', operator, left, right: right.condition } };
  // A sign counts as a difference without a left side.
  if (right.kind === 'unary' && right.operator === '-' && PRECEDENCE['-'] < binds) {
    const nothing: TraceExpression = { kind: 'binary', operator, left, right: { kind: 'number', value: 0 } };
    return { kind: 'binary', operator: '-', left: nothing, right: right.operand };
  }
  return undefined;
}

function bindingOf(node: Operation): number {
  return node.kind === 'binary' ? PRECEDENCE[node.operator] : 0;
}
