import type { ByteView } from '../base/bytes/byte-view.ts';
import { addressStyleOf } from './addresses.ts';
import { formatInteger, formatText, parseTemplate, type TemplatePiece, widthOf } from './directives.ts';
import { arrayText, bitmaskText, compileRange, compileWord, dynamicArrayText, findField, flagNames, hexBytes, type WordOf } from './evaluate.ts';
import type { TraceExpression } from './expression.ts';
import { compileFieldList } from './field-list.ts';
import type { TraceFormat } from './format.ts';
import { TracePayload } from './payload.ts';
import { parsePrintFmt } from './print-fmt.ts';
import type { TracingData } from './tracing-data.ts';
import type { Word } from './word.ts';

/** Shows a payload as text. @param at offset of its first byte @param size how many bytes it has; what comes after them is not read */
export type TracePrinter = (view: ByteView, at: number, size: number) => string;

/** Names the kernel function that an address is in, with the offset from its start; undefined if there is none. */
export type ResolveSymbol = (address: Word) => { readonly name: string; readonly offset: number } | undefined;

export interface TracePrinterOptions {
  /** Names addresses for `%pS` and `%ps`; without it, they are shown as they are. */
  readonly resolve?: ResolveSymbol;
  /** Compute as perf 6.1 does even where that is wrong, so that the two can be compared. False by default. */
  readonly compatPerf?: boolean;
}

/** A payload of 64 KiB in hex takes less; a hostile format could show it thousands of times. */
const MAX_TEXT = 1 << 18;

type PointerPiece = Extract<TemplatePiece, { kind: 'pointer' }>;

/** What a part of the text shows; `width` and `precision` are those of the directive, −1 if there are none. */
type Part = (payload: TracePayload) => string;
type TextOf = (payload: TracePayload, width: number, precision: number) => string;

/**
 * Compiles a tracepoint's print format into a function that shows payloads as `perf script` does. For a format that cannot be parsed, it shows
 * `[FAILED TO PARSE]` and the fields one by one, as `perf script` does. The text ends after {@link MAX_TEXT} characters.
 *
 * Source: observed, perf 6.1, with formats of this kernel and made-up ones.
 */
export function compileTracePrinter(format: TraceFormat, tracingData: TracingData, options: TracePrinterOptions = {}): TracePrinter {
  const payload = new TracePayload();
  const show = new PrinterCompiler(format, tracingData, options).compile();
  return (view, at, size) => {
    payload.set(view, at, size);
    return show(payload);
  };
}

class PrinterCompiler {
  readonly #format: TraceFormat;
  readonly #data: TracingData;
  readonly #resolve: ResolveSymbol;
  readonly #compatPerf: boolean;

  constructor(format: TraceFormat, data: TracingData, { resolve = () => undefined, compatPerf = false }: TracePrinterOptions) {
    this.#format = format;
    this.#data = data;
    this.#resolve = resolve;
    this.#compatPerf = compatPerf;
  }

  compile(): Part {
    const printFmt = parsePrintFmt(this.#format.printFmt, this.#compatPerf);
    const parts = printFmt === undefined ? undefined : this.#parts(printFmt.template, printFmt.args);
    if (parts === undefined) {
      const fields = compileFieldList(this.#format);
      return (payload) => `[FAILED TO PARSE]${fields(payload)}`;
    }
    return (payload) => {
      let text = '';
      for (const part of parts) {
        text += part(payload);
        if (text.length > MAX_TEXT) return text.slice(0, MAX_TEXT);
      }
      return text;
    };
  }

  /** One part per piece of the template; undefined if there are too few arguments. */
  #parts(template: string, args: readonly TraceExpression[]): Part[] | undefined {
    const parts: Part[] = [];
    let next = 0;
    const takeWord = (): WordOf | undefined => (next < args.length ? compileWord(args[next++], this.#format) : undefined);
    for (const piece of parseTemplate(template, this.#data.longSize === 4 ? 32 : 64, this.#compatPerf)) {
      if (piece.kind === 'text') {
        const { text } = piece;
        parts.push(() => text);
        continue;
      }
      const width = piece.width === '*' ? takeWord() : constant(piece.width);
      const precision = piece.precision === '*' ? takeWord() : constant(piece.precision);
      if (width === undefined || precision === undefined || next === args.length) return undefined;
      const show = this.#directive(piece, args[next++]);
      // Constants are −1 for none; values given as arguments are words.
      const widthIn = piece.width === '*' ? (payload: TracePayload) => widthOf(width(payload)) : (width as () => number);
      const precisionIn = piece.precision === '*' ? (payload: TracePayload) => widthOf(precision(payload)) : (precision as () => number);
      parts.push((payload) => show(payload, widthIn(payload), precisionIn(payload)));
    }
    return parts;
  }

  #directive(piece: Exclude<TemplatePiece, { kind: 'text' }>, arg: TraceExpression): TextOf {
    if (piece.kind === 'string') return this.#text(arg, piece.left);
    if (piece.kind === 'pointer') return this.#pointer(piece, arg);
    const word = compileWord(arg, this.#format);
    return (payload, width, precision) => formatInteger(word(payload), piece, width, precision);
  }

  /** What `%s` shows. Only plain texts and names are padded; lists of bytes and unnamed values are not. */
  #text(arg: TraceExpression, left: boolean): TextOf {
    const format = this.#format;
    switch (arg.kind) {
      case 'string':
      case 'name':
        return (_, width, precision) => formatText(arg.text, left, width, precision);
      case 'number':
        return (_, width, precision) => formatText(String(arg.value), left, width, precision);
      case 'field':
        return this.#fieldText(arg.name, left);
      case 'dynamicText': {
        const field = findField(format, arg.name);
        if (field === undefined) return () => '';
        return (payload, width, precision) => formatText(payload.text(payload.rangeOf(field)), left, width, precision);
      }
      case 'flags': {
        const word = compileWord(arg.value, format);
        const { pairs, delimiter } = arg;
        return (payload, width, precision) => flagNames(word(payload), pairs, delimiter, (name) => formatText(name, left, width, precision));
      }
      case 'symbolic': {
        const word = compileWord(arg.value, format);
        // If several pairs have one value, the first counts.
        const names = new Map(arg.pairs.toReversed().map(({ value, name }) => [value, name]));
        return (payload, width, precision) => {
          const value = word(payload);
          const name = names.get(value);
          return name === undefined ? `0x${value.toString(16)}` : formatText(name, left, width, precision);
        };
      }
      case 'ternary': {
        const condition = compileWord(arg.condition, format);
        const then = this.#text(arg.then, left);
        const otherwise = this.#text(arg.otherwise, left);
        return (payload, width, precision) => (condition(payload) === 0 ? otherwise : then)(payload, width, precision);
      }
      case 'hex': {
        const range = compileRange(arg.data, format);
        const length = compileWord(arg.length, format);
        return (payload) => {
          const { start, length: most } = range(payload);
          return hexBytes(payload.bytes({ start, length: countOf(length(payload), most) }), arg.separator);
        };
      }
      case 'array': {
        const range = compileRange(arg.data, format);
        const count = compileWord(arg.count, format);
        const elementSize = compileWord(arg.elementSize, format);
        return (payload) => arrayText(payload, range(payload), countOf(count(payload), payload.size), countOf(elementSize(payload), payload.size));
      }
      case 'dynamicArray': {
        const field = findField(format, arg.name);
        if (field === undefined) return () => '';
        const elementSize = compileWord(arg.elementSize, format);
        return (payload) => dynamicArrayText(payload, payload.rangeOf(field), countOf(elementSize(payload), payload.size));
      }
      case 'bitmask': {
        const field = findField(format, arg.name);
        if (field === undefined) return () => '';
        const longBytes = this.#data.longSize;
        return (payload) => bitmaskText(payload.bytes(payload.rangeOf(field)), payload.littleEndian, longBytes);
      }
      default:
        return () => '';
    }
  }

  /** A field of a pointer's size is an address: that of a string that the kernel listed (printk formats), or else shown in hex. */
  #fieldText(name: string, left: boolean): TextOf {
    const field = findField(this.#format, name);
    if (field === undefined) return () => '';
    const { offset, size } = field;
    if (!field.isArray && size === this.#data.longSize) {
      const { printkFormats } = this.#data;
      return (payload) => {
        const address = payload.word(offset, size);
        return printkFormats.get(address) ?? address.toString(16);
      };
    }
    return (payload, width, precision) => formatText(payload.text(payload.clip(offset, size)), left, width, precision);
  }

  /** `%pS` and the like name functions, `%pI4` and the like show a field's bytes; the rest show an address in hex. */
  #pointer(piece: PointerPiece, arg: TraceExpression): TextOf {
    const { letters } = piece;
    const style = addressStyleOf(letters);
    if (style !== undefined) {
      const rest = letters.slice(style.length);
      if (arg.kind !== 'field') return () => `ARG TYPE NOT FIELD BUT ${KIND_NUMBERS[arg.kind]}${rest}`;
      const field = findField(this.#format, arg.name);
      if (field === undefined) return () => rest;
      return (payload) => style.show(payload, payload.rangeOf(field)) + rest;
    }
    if (letters.startsWith('h')) return this.#bytes(piece, arg);
    const word = compileWord(arg, this.#format);
    const letter = letters[0];
    const withOffset = letter === 'F' || letter === 'S';
    if (!withOffset && letter !== 'f' && letter !== 's') return (payload) => addressText(word(payload)) + letters;
    const rest = letters.slice(1);
    return (payload) => {
      const address = word(payload);
      const symbol = this.#resolve(address);
      if (symbol === undefined) return `0x${address.toString(16)}${rest}`;
      return `${symbol.name}${withOffset ? `+0x${symbol.offset.toString(16)}` : ''}${rest}`;
    };
  }

  /**
   * `%*ph` shows the first bytes of a field: as many as its width says, or one. Observed: perf 6.1 knows only `*` as a width, and no fields but those of
   * `__get_dynamic_array`; perf 7.0 knows them all.
   */
  #bytes({ letters, width: givenWidth }: PointerPiece, arg: TraceExpression): TextOf {
    if (this.#compatPerf && arg.kind !== 'dynamic') return () => `ARG TYPE NOT FIELD BUT ${KIND_NUMBERS[arg.kind]}`;
    const field = arg.kind === 'field' || arg.kind === 'dynamic' ? findField(this.#format, arg.name) : undefined;
    const knowsWidth = givenWidth === '*' || !this.#compatPerf;
    const separator = BYTE_SEPARATORS.get(letters[1]);
    const rest = letters.slice(separator === undefined ? 1 : 2);
    if (field === undefined) return () => rest;
    return (payload, width) => {
      const { start, length } = payload.rangeOf(field);
      const shown = Math.min(length, MAX_BYTES_SHOWN, width < 0 || !knowsWidth ? 1 : width);
      return hexBytes(payload.bytes({ start, length: shown }), separator ?? ' ') + rest;
    };
  }
}

/** By the letter after `%*ph`: what stands between bytes. Source: the kernel's documentation, "How to get printk format specifiers right". */
const BYTE_SEPARATORS: ReadonlyMap<string, string> = new Map([
  ['C', ':'],
  ['D', '-'],
  ['N', ''],
]);

/** Source: as for {@link BYTE_SEPARATORS}. */
const MAX_BYTES_SHOWN = 64;

/** The number by which perf 6.1 names the kind of an argument that should have been a field. Observed. */
const KIND_NUMBERS: Readonly<Record<TraceExpression['kind'], number>> = {
  number: 1,
  string: 1,
  name: 1,
  field: 2,
  flags: 3,
  symbolic: 4,
  hex: 5,
  array: 6,
  cast: 7,
  dynamicText: 8,
  dynamic: 10,
  dynamicArray: 10,
  index: 11,
  unary: 11,
  binary: 11,
  ternary: 11,
  bitmask: 13,
  dynamicLength: 14,
};

function constant(value: number | '*'): () => number {
  return () => (value === '*' ? -1 : value);
}

function addressText(address: Word): string {
  return address === 0 ? '(nil)' : `0x${address.toString(16)}`;
}

/** A count from a word, at most `most`. */
function countOf(word: Word, most: number): number {
  return typeof word === 'number' && word < most ? word : most;
}
