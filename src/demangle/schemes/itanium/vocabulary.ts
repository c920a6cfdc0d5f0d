import { CHAR, isLower } from '../chars.ts';

// The vocabulary of the Itanium C++ ABI's encodings, in the spelling of GNU's demangler. Source: Itanium C++ ABI, 5.1.

/** How a literal of a type is written. */
export const LiteralStyle = { Cast: 0, Plain: 1, Bool: 2, Float: 3, Void: 4 } as const;

export interface BuiltinType {
  readonly name: string;
  readonly literal: number;
  /** What follows the digits of a literal. */
  readonly suffix: string;
}

const type = (name: string, literal: number = LiteralStyle.Cast, suffix = ''): BuiltinType => ({ name, literal, suffix });

/** Codes of one letter. Those after a D follow below. */
const BY_LETTER: Readonly<Record<string, BuiltinType>> = {
  v: type('void', LiteralStyle.Void),
  w: type('wchar_t'),
  b: type('bool', LiteralStyle.Bool),
  c: type('char'),
  a: type('signed char'),
  h: type('unsigned char'),
  s: type('short'),
  t: type('unsigned short'),
  i: type('int', LiteralStyle.Plain),
  j: type('unsigned int', LiteralStyle.Plain, 'u'),
  l: type('long', LiteralStyle.Plain, 'l'),
  m: type('unsigned long', LiteralStyle.Plain, 'ul'),
  x: type('long long', LiteralStyle.Plain, 'll'),
  y: type('unsigned long long', LiteralStyle.Plain, 'ull'),
  n: type('__int128'),
  o: type('unsigned __int128'),
  f: type('float', LiteralStyle.Float),
  d: type('double', LiteralStyle.Float),
  e: type('long double', LiteralStyle.Float),
  g: type('__float128', LiteralStyle.Float),
  z: type('...'),
};

const AFTER_D: Readonly<Record<string, BuiltinType>> = {
  a: type('auto'),
  c: type('decltype(auto)'),
  d: type('decimal64'),
  e: type('decimal128'),
  f: type('decimal32'),
  h: type('half', LiteralStyle.Float),
  i: type('char32_t'),
  n: type('decltype(nullptr)'),
  s: type('char16_t'),
  u: type('char8_t'),
};

/** Sizes of fixed-point types, by the letters of the integer types that they correspond to. The spelling is LLVM's, because GNU's demangler has none. */
const FIXED_POINT_SIZES: Readonly<Record<string, string>> = { s: 'short ', t: 'unsigned short ', i: '', j: 'unsigned ', l: 'long ', m: 'unsigned long ' };
const FIXED_POINT_TYPES = ['', '_Sat '].flatMap((saturated) =>
  ['_Accum', '_Fract'].flatMap((kind) => Object.values(FIXED_POINT_SIZES).map((size) => type(`${saturated}${size}${kind}`))),
);

export const BUILTIN_TYPES: readonly BuiltinType[] = [
  ...Object.values(BY_LETTER),
  ...Object.values(AFTER_D),
  type('std::bfloat16_t', LiteralStyle.Float),
  ...FIXED_POINT_TYPES,
];
export const BFLOAT16: number = BUILTIN_TYPES.findIndex(({ name }) => name === 'std::bfloat16_t');
export const VOID: number = BUILTIN_TYPES.findIndex(({ name }) => name === 'void');
export const NULLPTR: number = BUILTIN_TYPES.findIndex(({ name }) => name === 'decltype(nullptr)');

function indexByLetter(codes: Readonly<Record<string, BuiltinType>>): Int8Array {
  const indexes = new Int8Array(128).fill(-1);
  for (const [letter, builtin] of Object.entries(codes)) indexes[letter.charCodeAt(0)] = BUILTIN_TYPES.indexOf(builtin);
  return indexes;
}

/** By character code below 128: index in {@link BUILTIN_TYPES}, or −1. */
export const BUILTIN_BY_LETTER: Int8Array = indexByLetter(BY_LETTER);
/** The same for the letter after a D. */
export const BUILTIN_AFTER_D: Int8Array = indexByLetter(AFTER_D);

/** @param letter that of the integer type of the same size @returns index in {@link BUILTIN_TYPES}, or −1 */
export function findFixedPoint(letter: number, isFraction: boolean, isSaturated: boolean): number {
  const sizes = Object.keys(FIXED_POINT_SIZES);
  const size = sizes.indexOf(String.fromCharCode(letter));
  return size < 0 ? -1 : BUILTIN_TYPES.length - FIXED_POINT_TYPES.length + (Number(isSaturated) * 2 + Number(isFraction)) * sizes.length + size;
}

/** How a code of two letters is used in expressions. In names, it stands for an operator function. */
export const OperatorUse = {
  Unary: 0,
  Prefix: 1,
  Binary: 2,
  Conditional: 3,
  Call: 4,
  NamedCast: 5,
  New: 6,
  TypeOperand: 7,
  Delete: 8,
  Member: 9,
  Index: 10,
} as const;

export interface Operator {
  readonly code: string;
  readonly text: string;
  readonly use: number;
}

const { Unary, Prefix, Binary, Conditional, Call, NamedCast, New, TypeOperand, Delete, Member, Index } = OperatorUse;
const operator = (code: string, text: string, use: number): Operator => ({ code, text, use });

export const OPERATORS: readonly Operator[] = [
  operator('aN', '&=', Binary),
  operator('aS', '=', Binary),
  operator('aa', '&&', Binary),
  operator('ad', '&', Unary),
  operator('an', '&', Binary),
  operator('at', 'alignof', TypeOperand),
  operator('aw', 'co_await', Unary),
  operator('az', 'alignof', Unary),
  operator('cc', 'const_cast', NamedCast),
  operator('cl', '()', Call),
  operator('cm', ',', Binary),
  operator('co', '~', Unary),
  operator('dV', '/=', Binary),
  operator('da', 'delete[]', Delete),
  operator('dc', 'dynamic_cast', NamedCast),
  operator('de', '*', Unary),
  operator('dl', 'delete', Delete),
  operator('ds', '.*', Binary),
  operator('dt', '.', Member),
  operator('dv', '/', Binary),
  operator('eO', '^=', Binary),
  operator('eo', '^', Binary),
  operator('eq', '==', Binary),
  operator('ge', '>=', Binary),
  operator('gt', '>', Binary),
  operator('ix', '[]', Index),
  operator('lS', '<<=', Binary),
  operator('le', '<=', Binary),
  operator('ls', '<<', Binary),
  operator('lt', '<', Binary),
  operator('mI', '-=', Binary),
  operator('mL', '*=', Binary),
  operator('mi', '-', Binary),
  operator('ml', '*', Binary),
  operator('mm', '--', Prefix),
  operator('na', 'new[]', New),
  operator('ne', '!=', Binary),
  operator('ng', '-', Unary),
  operator('nt', '!', Unary),
  operator('nw', 'new', New),
  operator('nx', 'noexcept', Unary),
  operator('oR', '|=', Binary),
  operator('oo', '||', Binary),
  operator('or', '|', Binary),
  operator('pL', '+=', Binary),
  operator('pl', '+', Binary),
  operator('pm', '->*', Binary),
  operator('pp', '++', Prefix),
  operator('ps', '+', Unary),
  operator('pt', '->', Member),
  operator('qu', '?', Conditional),
  operator('rM', '%=', Binary),
  operator('rS', '>>=', Binary),
  operator('rc', 'reinterpret_cast', NamedCast),
  operator('rm', '%', Binary),
  operator('rs', '>>', Binary),
  operator('sc', 'static_cast', NamedCast),
  operator('ss', '<=>', Binary),
  operator('st', 'sizeof', TypeOperand),
  operator('sz', 'sizeof', Unary),
  operator('te', 'typeid', TypeOperand),
  operator('ti', 'typeid', Unary),
  operator('tw', 'throw', Unary),
];

/** How many codes there are from A to z, and from a to z. */
const ANY_LETTERS = CHAR.z - CHAR.A + 1;
const LOWER_LETTERS = CHAR.z - CHAR.a + 1;

/** Index of a code's entry in the table by two letters: the first is lower case, the second is any. */
function codeIndex(first: number, second: number): number {
  return (first - CHAR.a) * ANY_LETTERS + (second - CHAR.A);
}

const OPERATOR_BY_CODE: Int8Array = (() => {
  const indexes = new Int8Array(LOWER_LETTERS * ANY_LETTERS).fill(-1);
  OPERATORS.forEach(({ code }, index) => {
    indexes[codeIndex(code.charCodeAt(0), code.charCodeAt(1))] = index;
  });
  return indexes;
})();

/** @returns index in {@link OPERATORS}, or −1 */
export function findOperator(first: number, second: number): number {
  return isLower(first) && second >= CHAR.A && second <= CHAR.z ? OPERATOR_BY_CODE[codeIndex(first, second)] : -1;
}

export interface StdAbbreviation {
  readonly short: string;
  readonly full: string;
  /** The name of its constructors; empty for the namespace. */
  readonly last: string;
}

const traits = 'std::char_traits<char>';

/** By the letter after the S. */
export const STD_ABBREVIATIONS: ReadonlyMap<number, StdAbbreviation> = new Map(
  Object.entries({
    t: { short: 'std', full: 'std', last: '' },
    a: { short: 'std::allocator', full: 'std::allocator', last: 'allocator' },
    b: { short: 'std::basic_string', full: 'std::basic_string', last: 'basic_string' },
    s: { short: 'std::string', full: `std::basic_string<char, ${traits}, std::allocator<char> >`, last: 'basic_string' },
    i: { short: 'std::istream', full: `std::basic_istream<char, ${traits} >`, last: 'basic_istream' },
    o: { short: 'std::ostream', full: `std::basic_ostream<char, ${traits} >`, last: 'basic_ostream' },
    d: { short: 'std::iostream', full: `std::basic_iostream<char, ${traits} >`, last: 'basic_iostream' },
  }).map(([letter, abbreviation]) => [letter.charCodeAt(0), abbreviation]),
);

/** What is printed before a special name's object, by the letters that the name begins with. */
export const SPECIAL_NAMES = {
  TV: 'vtable for ',
  TT: 'VTT for ',
  TI: 'typeinfo for ',
  TS: 'typeinfo name for ',
  TF: 'typeinfo fn for ',
  TJ: 'java Class for ',
  TH: 'TLS init function for ',
  TW: 'TLS wrapper function for ',
  TA: 'template parameter object for ',
  Th: 'non-virtual thunk to ',
  Tv: 'virtual thunk to ',
  Tc: 'covariant return thunk to ',
  GV: 'guard variable for ',
  GA: 'hidden alias for ',
  GTt: 'transaction clone for ',
  GTn: 'non-transaction clone for ',
  GI: 'initializer for module ',
  GR: 'reference temporary for ',
} as const;

export const SPECIAL_TEXTS: readonly string[] = Object.values(SPECIAL_NAMES);

export function specialIndex(letters: keyof typeof SPECIAL_NAMES): number {
  return SPECIAL_TEXTS.indexOf(SPECIAL_NAMES[letters]);
}

/** By the letter after the T. */
export const ELABORATED: readonly string[] = ['struct ', 'union ', 'enum '];
