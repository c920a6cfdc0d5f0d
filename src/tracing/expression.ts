import { BINARY, type BinaryOperator, UNARY, type UnaryOperator, type Word, wordOf } from './word.ts';

/** What a directive of a print format shows. */
export type TraceExpression =
  | { readonly kind: 'number'; readonly value: Word }
  | { readonly kind: 'string'; readonly text: string }
  /** An enumerator or macro that the kernel did not resolve. */
  | { readonly kind: 'name'; readonly text: string }
  /** `REC->name` */
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly base: TraceExpression; readonly index: TraceExpression }
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: TraceExpression }
  | { readonly kind: 'binary'; readonly operator: BinaryOperator; readonly left: TraceExpression; readonly right: TraceExpression }
  | { readonly kind: 'ternary'; readonly condition: TraceExpression; readonly then: TraceExpression; readonly otherwise: TraceExpression }
  | { readonly kind: 'cast'; readonly type: string; readonly operand: TraceExpression }
  | { readonly kind: 'flags'; readonly value: TraceExpression; readonly delimiter: string; readonly pairs: readonly ValueName[] }
  | { readonly kind: 'symbolic'; readonly value: TraceExpression; readonly pairs: readonly ValueName[] }
  | { readonly kind: 'hex'; readonly data: TraceExpression; readonly length: TraceExpression; readonly separator: string }
  | { readonly kind: 'array'; readonly data: TraceExpression; readonly count: TraceExpression; readonly elementSize: TraceExpression }
  /** The elements of a field of variable length. */
  | { readonly kind: 'dynamicArray'; readonly name: string; readonly elementSize: TraceExpression }
  /** What is in a field of variable length: its bytes, how many they are, their text, their bits. */
  | { readonly kind: 'dynamic' | 'dynamicLength' | 'dynamicText' | 'bitmask'; readonly name: string };

/** `{ 0x1, "NAME" }` of `__print_flags` and `__print_symbolic`. */
export interface ValueName {
  readonly value: Word;
  readonly name: string;
}

/** A parsed print format. */
export interface PrintFmt {
  /** The string with the directives. */
  readonly template: string;
  readonly args: readonly TraceExpression[];
}

/** Parses digits with suffixes: decimal, octal or hexadecimal; more than 2^64 − 1 becomes 2^64 − 1. */
export function parseNumber(text: string): Word {
  const match = /^(?:0[xX]([0-9a-fA-F]+)|0([0-7]+)|(\d+))/.exec(text);
  if (match === null) return 0;
  const [whole, hex, octal, decimal] = match;
  if (whole.length > 64) return wordOf(-1n);
  const value = hex !== undefined ? BigInt(`0x${hex}`) : octal !== undefined ? BigInt(`0o${octal}`) : BigInt(decimal);
  return value >> 64n === 0n ? wordOf(value) : wordOf(-1n);
}

/** Enumerators that kernels left in their formats. Source: linux/interrupt.h and linux/hrtimer.h, where they count from 0. */
const ENUMERATORS: ReadonlyMap<string, number> = new Map([
  ...['HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED', 'HRTIMER', 'RCU'].map((name, value): [string, number] => [
    `${name}_SOFTIRQ`,
    value,
  ]),
  ['BLOCK_IOPOLL_SOFTIRQ', 5],
  ['HRTIMER_NORESTART', 0],
  ['HRTIMER_RESTART', 1],
]);

const ALL_ONES = wordOf(-1n);

/** The value of a pair. Observed, perf 6.1: a name that is not in {@link ENUMERATORS} counts as −1, and so does anything computed that is negative. */
export function constantOf(expression: TraceExpression): Word {
  if (expression.kind === 'name') return ENUMERATORS.get(expression.text) ?? ALL_ONES;
  if (expression.kind === 'number') return expression.value;
  const value = evaluateConstant(expression);
  return value >= 2n ** 63n ? ALL_ONES : value;
}

function evaluateConstant(expression: TraceExpression): Word {
  switch (expression.kind) {
    case 'number':
      return expression.value;
    case 'unary':
      return UNARY[expression.operator](evaluateConstant(expression.operand));
    case 'binary':
      return BINARY[expression.operator](evaluateConstant(expression.left), evaluateConstant(expression.right));
    case 'ternary':
      return evaluateConstant(evaluateConstant(expression.condition) === 0 ? expression.otherwise : expression.then);
    case 'cast':
      return evaluateConstant(expression.operand);
    default:
      return 0;
  }
}
