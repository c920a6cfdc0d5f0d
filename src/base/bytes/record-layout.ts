import type { ByteView } from './byte-view.ts';

/** struct perf_event_header: type, misc, size. */
export const RECORD_HEADER_BYTES = 8;

/**
 * A field of fixed size that is one number. A `u64` becomes a bigint, all others a number; `int64` is a signed 64-bit one that is small by nature (a pid, a
 * CPU).
 */
export type Scalar = 'u8' | 'u16' | 'u32' | 'i32' | 'u64' | 'int64' | 'f64';

export interface TextField {
  readonly kind: 'text';
  /** Undefined if it goes on to the end of the record. */
  readonly sizeBytes: number | undefined;
}

export interface BytesField {
  readonly kind: 'bytes';
  readonly sizeBytes: number | undefined;
}

export interface Padding {
  readonly kind: 'padding';
  readonly sizeBytes: number;
}

export interface ListField<Element extends Fields | Scalar> {
  readonly kind: 'list';
  readonly element: Element;
  /** Type of the count before the elements; undefined if there are as many as fit into the record. */
  readonly count: Scalar | undefined;
}

export type Field = Scalar | TextField | BytesField | Padding | ListField<Fields | Scalar>;

/** The fields of a record after its header, in order. */
export interface Fields {
  readonly [name: string]: Field;
}

type ScalarValue<S extends Scalar> = S extends 'u64' ? bigint : number;

type ValueOf<F> = F extends Scalar
  ? ScalarValue<F>
  : F extends TextField
    ? string
    : F extends BytesField
      ? Uint8Array
      : F extends ListField<infer Element>
        ? readonly (Element extends Fields ? ValuesOf<Element> : Element extends Scalar ? ScalarValue<Element> : never)[]
        : never;

/** The values of a record with these fields. */
export type ValuesOf<F extends Fields> = { readonly [Name in keyof F as F[Name] extends Padding ? never : Name]: ValueOf<F[Name]> };

/** The values of a record with this layout. */
export type ValuesIn<Layout> = Layout extends RecordLayout<infer F> ? ValuesOf<F> : never;

/** UTF-8 up to a NUL: in a field of fixed size, or in the rest of the record. */
export function text(sizeBytes?: number): TextField {
  return { kind: 'text', sizeBytes };
}

/** Bytes as they are: a fixed number, or the rest of the record. */
export function bytes(sizeBytes?: number): BytesField {
  return { kind: 'bytes', sizeBytes };
}

/** Unused bytes. */
export function padding(sizeBytes: number): Padding {
  return { kind: 'padding', sizeBytes };
}

/** A count, then that many elements. */
export function list<const Element extends Fields | Scalar>(count: Scalar, element: Element): ListField<Element> {
  return { kind: 'list', element, count };
}

/** As many elements as are left in the record. */
export function rest<const Element extends Fields | Scalar>(element: Element): ListField<Element> {
  return { kind: 'list', element, count: undefined };
}

const SCALAR_BYTES: Readonly<Record<Scalar, number>> = { u8: 1, u16: 2, u32: 4, i32: 4, u64: 8, int64: 8, f64: 8 };

/**
 * A record's fields, declared once: code that needs all of them as plain values calls {@link read}; code that needs some of them, and fast, uses their
 * {@link at offsets}.
 *
 * ```ts
 * const COMM = new RecordLayout({ pid: 'i32', tid: 'i32', comm: text() });
 * COMM.read(view, at, end); // { pid: 1, tid: 1, comm: 'init' }
 * view.i32(at + COMM.at.tid);
 * ```
 */
export class RecordLayout<const F extends Fields> {
  /** Offsets of the fields from the start of the record's header; NaN after the first field of variable size. */
  readonly at: { readonly [Name in keyof F]: number };
  /** Bytes that a record must have, header included. */
  readonly minBytes: number;
  readonly #plan: readonly PlannedField[];

  constructor(fields: F) {
    this.#plan = planOf(fields);
    const offsets: Record<string, number> = {};
    let at = RECORD_HEADER_BYTES;
    this.minBytes = at;
    for (const [name, field] of Object.entries(fields)) {
      offsets[name] = at;
      this.minBytes += minSizeOf(field);
      at += fixedSizeOf(field) ?? Number.NaN;
    }
    this.at = offsets as { readonly [Name in keyof F]: number };
  }

  /**
   * Reads a record's fields.
   * @param at offset of its header
   * @param end just after its own fields
   * @returns what is wrong, as the end of a sentence, if they do not fit
   */
  read(view: ByteView, at: number, end: number): ValuesOf<F> | string {
    if (end - at < this.minBytes) return fieldsOverrun(this.minBytes, end - at);
    const values: Record<string, unknown> = {};
    const stop = readFields(this.#plan, view, at + RECORD_HEADER_BYTES, end, values);
    return typeof stop === 'string' ? `${stop} record of ${end - at} bytes` : (values as ValuesOf<F>);
  }
}

/** What is reported about a record that is too small for its fields: both sizes include the header. */
export function fieldsOverrun(needed: number, size: number): string {
  return `fields of ${needed} bytes overrun record of ${size} bytes`;
}

/** A field whose sizes have been computed. */
interface PlannedField {
  readonly name: string;
  readonly field: Exclude<Field, ListField<Fields | Scalar>> | PlannedList;
  readonly minBytes: number;
  /** −1 if it depends on the record. */
  readonly fixedBytes: number;
}

interface PlannedList {
  readonly kind: 'list';
  readonly count: Scalar | undefined;
  readonly element: Scalar | readonly PlannedField[];
  readonly elementBytes: number;
}

function planOf(fields: Fields): PlannedField[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    field: typeof field === 'object' && field.kind === 'list' ? planOfList(field) : field,
    minBytes: minSizeOf(field),
    fixedBytes: fixedSizeOf(field) ?? -1,
  }));
}

/** Elements are of fixed size. */
function planOfList({ element, count }: ListField<Fields | Scalar>): PlannedList {
  if (typeof element === 'string') return { kind: 'list', count, element, elementBytes: SCALAR_BYTES[element] };
  const plan = planOf(element);
  return { kind: 'list', count, element: plan, elementBytes: plan.reduce((sum, { minBytes }) => sum + minBytes, 0) };
}

/** Reads fields into `target`. @returns offset after the fields, or what overruns the end */
function readFields(plan: readonly PlannedField[], view: ByteView, start: number, end: number, target: Record<string, unknown>): number | string {
  let at = start;
  for (const { name, field, minBytes, fixedBytes } of plan) {
    if (at + minBytes > end) return `${name} overruns`;
    if (typeof field === 'string') {
      target[name] = readScalar(field, view, at);
    } else if (field.kind === 'text') {
      target[name] = view.text(at, fixedBytes < 0 ? end : at + fixedBytes);
    } else if (field.kind === 'bytes') {
      target[name] = view.bytes.slice(at, fixedBytes < 0 ? end : at + fixedBytes);
    } else if (field.kind === 'list') {
      const stop = readList(name, field, view, at, end, target);
      if (typeof stop === 'string') return stop;
      at = stop;
      continue;
    }
    at = fixedBytes < 0 ? end : at + fixedBytes;
  }
  return at;
}

function readList(name: string, list: PlannedList, view: ByteView, start: number, end: number, target: Record<string, unknown>): number | string {
  const { element, count, elementBytes } = list;
  let at = start + (count === undefined ? 0 : SCALAR_BYTES[count]);
  const length = count === undefined ? Math.floor((end - at) / elementBytes) : Number(readScalar(count, view, start));
  // The count comes from the file and may be anything; doubles do not wrap.
  if (at + length * elementBytes > end) return `${name} of ${length} entries overruns`;
  const values: unknown[] = [];
  for (let i = 0; i < length; i++, at += elementBytes) {
    if (typeof element === 'string') {
      values.push(readScalar(element, view, at));
      continue;
    }
    const one: Record<string, unknown> = {};
    readFields(element, view, at, at + elementBytes, one);
    values.push(one);
  }
  target[name] = values;
  return at;
}

function readScalar(type: Scalar, view: ByteView, at: number): number | bigint {
  switch (type) {
    case 'u8':
      return view.u8(at);
    case 'u16':
      return view.u16(at);
    case 'u32':
      return view.u32(at);
    case 'i32':
      return view.i32(at);
    case 'u64':
      return view.big(at);
    case 'int64':
      // Not read as an address, since some of these are moved.
      return Number(BigInt.asIntN(64, view.big(at)));
    case 'f64':
      return view.f64(at);
  }
}

/** Size in bytes; undefined if it depends on the record. */
function fixedSizeOf(field: Field): number | undefined {
  if (typeof field === 'string') return SCALAR_BYTES[field];
  return field.kind === 'list' ? undefined : field.sizeBytes;
}

function minSizeOf(field: Field): number {
  if (typeof field === 'object' && field.kind === 'list') return field.count === undefined ? 0 : SCALAR_BYTES[field.count];
  return fixedSizeOf(field) ?? 0;
}
