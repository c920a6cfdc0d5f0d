/** One field of a tracepoint's payload. */
export interface TraceField {
  readonly name: string;
  /** The declaration without the name: `unsigned long`, `char[16]`, `__data_loc char[]`. */
  readonly type: string;
  /** Bytes from the start of the payload. */
  readonly offset: number;
  readonly size: number;
  readonly isSigned: boolean;
  readonly isArray: boolean;
  /** Size of one element in bytes if it is an array; else that of the field. */
  readonly elementSize: number;
  readonly isPointer: boolean;
  /** Whether it is a `long`, which has the size of a register and is shown in hex if no text says how. */
  readonly isLong: boolean;
  /** If the field is a u32 of offset and length (high half): what the offset is relative to. */
  readonly location: TraceFieldLocation;
}

/**
 * - `inline`: the value itself
 * - `payload` (`__data_loc`): offset from the start of the payload
 * - `field` (`__rel_loc`): offset from the end of the field itself
 */
export type TraceFieldLocation = 'inline' | 'payload' | 'field';

/** What the kernel says about one tracepoint. */
export interface TraceFormat {
  readonly system: string;
  readonly name: string;
  /** The `common_type` of its payloads, and `config` of its attr. */
  readonly id: number;
  /** All fields in the order of their declaration, those that every tracepoint has (`common_…`) first. */
  readonly fields: readonly TraceField[];
  /** How many of the fields are common to all tracepoints. */
  readonly commonCount: number;
  /** A C string literal and the expressions that its directives show; empty if there is none. */
  readonly printFmt: string;
}

/** No tracepoint has more; a hostile text could have millions. */
const MAX_FIELDS = 4096;
/** Longer lines are not looked at: some patterns take quadratic time. */
const MAX_LINE = 4096;

const FIELD_LINE = /^\s*field(?: special)?:(.*);\s*offset:(\d{1,9});\s*size:(\d{1,9});(?:\s*signed:(-?\d);)?/;

/**
 * Reads a tracepoint's `format` file: `name:`, `ID:`, one line per field and, up to the end, `print fmt:`.
 * Source: the kernel's documentation, trace/events.rst, Event formats.
 * @returns undefined when the text holds no id
 */
export function parseTraceFormat(system: string, text: string): TraceFormat | undefined {
  const printAt = /^print fmt:/m.exec(text)?.index ?? text.length;
  const head = text.slice(0, printAt);
  const id = /^ID:\s*(\d{1,9})\s*$/m.exec(head)?.[1];
  if (id === undefined) return undefined;
  const name = /^name:[ \t]*(\S+)/m.exec(head)?.[1] ?? '';
  const fields: TraceField[] = [];
  let commonCount = 0;
  let isCommon = true;
  for (const line of head.slice(Math.max(0, head.search(/^format:/m))).split('\n')) {
    if (line.trim() === '' && fields.length > 0 && isCommon) {
      // The common fields end at the first empty line.
      isCommon = false;
      commonCount = fields.length;
    }
    const field = parseField(line);
    if (field !== undefined && fields.length < MAX_FIELDS) fields.push(field);
  }
  return { system, name, id: Number(id), fields, commonCount, printFmt: text.slice(printAt + 'print fmt:'.length).trim() };
}

/** One line: `field:DECLARATION; offset:N; size:N; signed:N;` (kernels before 2.6.33 leave `signed` out). */
function parseField(line: string): TraceField | undefined {
  const match = line.length > MAX_LINE ? null : FIELD_LINE.exec(line);
  if (match === null) return undefined;
  const declaration = match[1].trim();
  const offset = Number(match[2]);
  const size = Number(match[3]);
  const isSigned = match[4] !== undefined && match[4] !== '0';
  const { type, name, length } = splitDeclaration(declaration);
  const location: TraceFieldLocation = type.startsWith('__data_loc') ? 'payload' : type.startsWith('__rel_loc') ? 'field' : 'inline';
  const isArray = location !== 'inline' || length !== undefined;
  const count = length === undefined ? Number.NaN : Number(length);
  return {
    name,
    type: length === undefined ? type : `${type}[${length}]`,
    offset,
    size,
    isSigned,
    isArray,
    elementSize: !isArray ? size : location === 'inline' && count > 0 && Number.isInteger(size / count) ? size / count : elementSizeOf(type),
    isPointer: type.includes('*'),
    isLong: /\blong\b/.test(type),
    location,
  };
}

/** `char comm[16]` is of type `char`, named `comm`, of length 16; `__data_loc char[] name` has the brackets in its type. */
function splitDeclaration(declaration: string): { type: string; name: string; length: string | undefined } {
  let rest = declaration;
  let length: string | undefined;
  if (rest.endsWith(']')) {
    const open = rest.lastIndexOf('[');
    if (open >= 0) {
      length = rest.slice(open + 1, -1).trim();
      rest = rest.slice(0, open).trimEnd();
    }
  }
  const nameAt = startOfLastName(rest);
  return nameAt < 0 ? { type: rest, name: '', length } : { type: rest.slice(0, nameAt).trim(), name: rest.slice(nameAt), length };
}

/** Where the name at the end of a text starts; −1 for none. */
function startOfLastName(text: string): number {
  let wordAt = text.length;
  while (wordAt > 0 && /\w/.test(text[wordAt - 1])) wordAt--;
  const digits = text.slice(wordAt).search(/\D/);
  return digits < 0 ? -1 : wordAt + digits;
}

const ELEMENT_SIZES: readonly (readonly [RegExp, number])[] = [
  [/\blong\s+long\b/, 8],
  [/\*|\blong\b/, 8],
  [/\bshort\b|[us](?:int)?16|\b__[bl]e16\b/, 2],
  [/\bchar\b|[us](?:int)?8|\bbool\b/, 1],
  [/[us](?:int)?64|\b__[bl]e64\b|\bsize_t\b|\bsector_t\b|\bdma_addr_t\b|\bphys_addr_t\b/, 8],
];

function elementSizeOf(type: string): number {
  for (const [pattern, size] of ELEMENT_SIZES) if (pattern.test(type)) return size;
  return 4;
}
