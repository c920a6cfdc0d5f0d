import type { TraceExpression, ValueName } from './expression.ts';
import type { TraceField, TraceFormat } from './format.ts';
import type { ByteRange, TracePayload } from './payload.ts';
import { BINARY, truncateWord, UNARY, type Word } from './word.ts';

export type WordOf = (payload: TracePayload) => Word;

/** Field of a format by name. */
export function findField(format: TraceFormat, name: string): TraceField | undefined {
  return format.fields.find((field) => field.name === name);
}

/**
 * Compiles an expression into a function that returns its number. What has none (texts, names, missing fields) is 0. Observed, perf 6.1: an array is the number
 * that its first bytes form, up to eight.
 */
export function compileWord(expression: TraceExpression, format: TraceFormat): WordOf {
  switch (expression.kind) {
    case 'number': {
      const { value } = expression;
      return () => value;
    }
    case 'field': {
      const field = findField(format, expression.name);
      if (field === undefined) return zero;
      const { offset } = field;
      const size = wordSizeOf(field);
      return (payload) => payload.word(offset, size);
    }
    case 'index':
      return compileIndex(expression.base, expression.index, format);
    case 'unary': {
      const operation = UNARY[expression.operator];
      const operand = compileWord(expression.operand, format);
      return (payload) => operation(operand(payload));
    }
    case 'binary': {
      const operation = BINARY[expression.operator];
      const left = compileWord(expression.left, format);
      const right = compileWord(expression.right, format);
      if (expression.operator === '&&') return (payload) => (left(payload) !== 0 && right(payload) !== 0 ? 1 : 0);
      if (expression.operator === '||') return (payload) => (left(payload) !== 0 || right(payload) !== 0 ? 1 : 0);
      return (payload) => operation(left(payload), right(payload));
    }
    case 'ternary': {
      const condition = compileWord(expression.condition, format);
      const then = compileWord(expression.then, format);
      const otherwise = compileWord(expression.otherwise, format);
      return (payload) => (condition(payload) === 0 ? otherwise(payload) : then(payload));
    }
    case 'cast': {
      const operand = compileWord(expression.operand, format);
      const bits = CAST_BITS.get(expression.type);
      return bits === undefined ? operand : (payload) => truncateWord(operand(payload), bits);
    }
    case 'dynamicLength': {
      const field = findField(format, expression.name);
      return field === undefined ? zero : (payload) => payload.rangeOf(field).length;
    }
    default:
      return zero;
  }
}

const zero: WordOf = () => 0;

/** Observed, perf 6.1: casts to other types, including `long` and `__u8`, change nothing; nothing is sign-extended. */
const CAST_BITS: ReadonlyMap<string, number> = new Map([
  ['char', 8],
  ['unsigned char', 8],
  ['u8', 8],
  ['s8', 8],
  ['short', 16],
  ['unsigned short', 16],
  ['u16', 16],
  ['s16', 16],
  ['int', 32],
  ['unsigned int', 32],
  ['u32', 32],
  ['s32', 32],
]);

function wordSizeOf(field: TraceField): number {
  const { size } = field;
  if (size >= 8) return 8;
  return size >= 4 ? 4 : size >= 2 ? 2 : size;
}

/** `REC->array[n]`: elements have the size that the field says. */
function compileIndex(base: TraceExpression, index: TraceExpression, format: TraceFormat): WordOf {
  const field = base.kind === 'field' ? findField(format, base.name) : undefined;
  if (field === undefined) return zero;
  const at = compileWord(index, format);
  const { offset, elementSize } = field;
  return (payload) => {
    const nth = at(payload);
    return typeof nth === 'number' && nth < payload.size ? payload.word(offset + nth * elementSize, elementSize) : 0;
  };
}

/** The bytes that an argument of `__print_hex` or a similar function stands for. */
export function compileRange(expression: TraceExpression, format: TraceFormat): (payload: TracePayload) => ByteRange {
  if (expression.kind !== 'field' && expression.kind !== 'dynamic') return () => ({ start: 0, length: 0 });
  const field = findField(format, expression.name);
  if (field === undefined) return () => ({ start: 0, length: 0 });
  // How many are shown is a separate argument, so that only the payload limits them here.
  return (payload) => payload.clip(expression.kind === 'field' ? field.offset : payload.rangeOf(field).start, payload.size);
}

/**
 * The names of the flags that are set, with a delimiter between them, and last what no flag covers, in hex. Observed, perf 6.1: values of 2^63 and above, which
 * include unresolved names, do not count as flags; the first of them that is reached when no set flag is left is shown by its name, and ends the list.
 */
export function flagNames(value: Word, pairs: readonly ValueName[], delimiter: string, showName: (name: string) => string): string {
  let rest = value;
  let text = '';
  for (const pair of pairs) {
    if (pair.value >= SIGN_BIT) {
      if (rest === 0) return text + showName(pair.name);
    } else if (pair.value !== 0 && BINARY['&'](rest, pair.value) === pair.value) {
      text += (text === '' ? '' : delimiter) + showName(pair.name);
      rest = BINARY['-'](rest, pair.value);
    }
  }
  return rest === 0 ? text : `${text}${text === '' ? '' : delimiter}0x${rest.toString(16)}`;
}

const SIGN_BIT = 2n ** 63n;

const HEX_DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Bytes in hex, two digits each. */
export function hexBytes(bytes: Uint8Array, separator: string): string {
  return Array.from(bytes, (byte) => HEX_DIGITS[byte]).join(separator);
}

/** Elements of an array in decimal, unsigned, with blanks between them. Observed: perf 6.1. */
export function arrayText(payload: TracePayload, { start, length }: ByteRange, count: number, elementSize: number): string {
  if (elementSize !== 1 && elementSize !== 2 && elementSize !== 4 && elementSize !== 8) {
    return Array.from(payload.bytes({ start, length: Math.min(count, length) }), (byte, nth) =>
      nth === 0 ? `BAD SIZE:${elementSize} 0x${byte.toString(16)}` : String(byte),
    ).join(' ');
  }
  const shown = Math.min(count, Math.floor(length / elementSize));
  return Array.from({ length: shown }, (_, nth) => String(payload.word(start + nth * elementSize, elementSize))).join(' ');
}

/** Elements in hex, as the kernel's traces show those of `__print_dynamic_array`. Observed: perf 7.0. */
export function dynamicArrayText(payload: TracePayload, { start, length }: ByteRange, elementSize: number): string {
  const count = elementSize === 0 ? 0 : Math.floor(length / elementSize);
  const elements = Array.from({ length: count }, (_, nth) => `0x${payload.word(start + nth * elementSize, elementSize).toString(16)}`);
  return `{${elements.join(',')}}`;
}

/** A bit mask, the highest bits first, eight digits to a group. */
export function bitmaskText(bytes: Uint8Array, littleEndian: boolean, longBytes: number): string {
  let text = '';
  for (let significance = bytes.length - 1; significance >= 0; significance--) {
    // A mask is an array of longs, so that in big endian only the bytes of each long go from the highest down.
    const at = littleEndian ? significance : significance - (significance % longBytes) + longBytes - 1 - (significance % longBytes);
    text += HEX_DIGITS[bytes[at] ?? 0] + (significance > 0 && significance % 4 === 0 ? ',' : '');
  }
  return text;
}
