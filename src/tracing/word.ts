/**
 * An unsigned 64-bit word of a tracepoint: a number up to 2^53 − 1, a bigint above. Every value has only one form, so that `===` compares values.
 *
 * Observed: perf 6.1 computes with such words throughout. Fields of less than 8 bytes are not sign-extended, whatever
 * they are declared to be; comparisons, quotients and right shifts are unsigned.
 */
export type Word = number | bigint;

const TWO_32 = 0x1_0000_0000;

/** The word that is congruent to `value` modulo 2^64. */
export function wordOf(value: bigint): Word {
  const wrapped = BigInt.asUintN(64, value);
  return wrapped <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(wrapped) : wrapped;
}

/** The word of two 32-bit halves. */
export function wordOfHalves(lo: number, hi: number): Word {
  return hi < 0x20_0000 ? hi * TWO_32 + lo : (BigInt(hi) << 32n) | BigInt(lo);
}

/** The low bits of a word as a signed number. */
export function signedOf(word: Word, bits: number): bigint {
  return BigInt.asIntN(bits, BigInt(word));
}

/** The low bits of a word. */
export function truncateWord(word: Word, bits: number): Word {
  if (bits >= 64) return word;
  if (typeof word === 'number') return word % 2 ** bits;
  return Number(BigInt.asUintN(bits, word));
}

export type BinaryOperator = '*' | '/' | '%' | '+' | '-' | '<<' | '>>' | '<' | '>' | '<=' | '>=' | '==' | '!=' | '&' | '^' | '|' | '&&' | '||';
export type UnaryOperator = '-' | '+' | '~' | '!';

type Binary = (left: Word, right: Word) => Word;

/** Division by zero, for which a signal kills perf 6.1, gives 0. `&&` and `||` do not short-circuit here. */
export const BINARY: Readonly<Record<BinaryOperator, Binary>> = {
  '*': (left, right) =>
    smallOr(
      left,
      right,
      (a, b) => a * b,
      (a, b) => a * b,
    ),
  '/': (left, right) =>
    right === 0
      ? 0
      : smallOr(
          left,
          right,
          (a, b) => Math.floor(a / b),
          (a, b) => a / b,
        ),
  '%': (left, right) =>
    right === 0
      ? 0
      : smallOr(
          left,
          right,
          (a, b) => a % b,
          (a, b) => a % b,
        ),
  '+': (left, right) =>
    smallOr(
      left,
      right,
      (a, b) => a + b,
      (a, b) => a + b,
    ),
  '-': (left, right) =>
    smallOr(
      left,
      right,
      (a, b) => a - b,
      (a, b) => a - b,
    ),
  // A shift by 64 or more is undefined in C; processors take the count modulo 64.
  '<<': (left, right) => wordOf(BigInt(left) << BigInt(truncateWord(right, 6))),
  '>>': (left, right) => shiftRight(left, Number(truncateWord(right, 6))),
  '<': (left, right) => (left < right ? 1 : 0),
  '>': (left, right) => (left > right ? 1 : 0),
  '<=': (left, right) => (left <= right ? 1 : 0),
  '>=': (left, right) => (left >= right ? 1 : 0),
  '==': (left, right) => (left === right ? 1 : 0),
  '!=': (left, right) => (left === right ? 0 : 1),
  '&': (left, right) =>
    bitwise(
      left,
      right,
      (a, b) => a & b,
      (a, b) => a & b,
    ),
  '^': (left, right) =>
    bitwise(
      left,
      right,
      (a, b) => a ^ b,
      (a, b) => a ^ b,
    ),
  '|': (left, right) =>
    bitwise(
      left,
      right,
      (a, b) => a | b,
      (a, b) => a | b,
    ),
  '&&': (left, right) => (left !== 0 && right !== 0 ? 1 : 0),
  '||': (left, right) => (left !== 0 || right !== 0 ? 1 : 0),
};

export const UNARY: Readonly<Record<UnaryOperator, (operand: Word) => Word>> = {
  '-': (operand) => (operand === 0 ? 0 : wordOf(-BigInt(operand))),
  '+': (operand) => operand,
  '~': (operand) => wordOf(~BigInt(operand)),
  '!': (operand) => (operand === 0 ? 1 : 0),
};

/** An operation on numbers if they and the result are exact, else on bigints. */
function smallOr(left: Word, right: Word, small: (a: number, b: number) => number, big: (a: bigint, b: bigint) => bigint): Word {
  if (typeof left === 'number' && typeof right === 'number') {
    const result = small(left, right);
    if (result >= 0 && result <= Number.MAX_SAFE_INTEGER) return result;
  }
  return wordOf(big(BigInt(left), BigInt(right)));
}

function bitwise(left: Word, right: Word, small: (a: number, b: number) => number, big: (a: bigint, b: bigint) => bigint): Word {
  if (typeof left === 'number' && typeof right === 'number' && left < TWO_32 && right < TWO_32) return small(left, right) >>> 0;
  return wordOf(big(BigInt(left), BigInt(right)));
}

function shiftRight(left: Word, count: number): Word {
  return typeof left === 'number' ? Math.floor(left / 2 ** count) : wordOf(left >> BigInt(count));
}
