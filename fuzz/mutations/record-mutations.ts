import { type Anatomy, anatomyOf, type Field, type RecordSpan } from '../anatomy/anatomy.ts';
import type { Random } from '../random.ts';
import { EDGE_NUMBERS, type Mutation, replaced } from './byte-mutations.ts';

/** Record types in use: the kernel's, the perf tool's, Google's and simpleperf's. */
const RECORD_TYPES: readonly number[] = [
  ...Array.from({ length: 23 }, (_, i) => i),
  ...Array.from({ length: 24 }, (_, i) => 64 + i),
  ...Array.from({ length: 8 }, (_, i) => 32768 + i),
];
const MAX_COPIES = 40;
const ATTR_WORDS = [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120];

type AnatomyMutation = (bytes: Uint8Array, anatomy: Anatomy, random: Random) => Uint8Array;

/** Changes a size, count, offset or mask. */
const attackField: AnatomyMutation = (bytes, { view, fields }, random) => {
  if (fields.length === 0) return bytes;
  const field = random.pick(fields);
  view.set(field.offset, field.sizeBytes, lie(field, view.get(field.offset, field.sizeBytes), bytes.length, random, fields, view));
  return bytes;
};

/** A number that is likely to do harm in place of `value`. */
export function lie(field: Field, value: bigint, length: number, random: Random, fields: readonly Field[], view: Anatomy['view']): bigint {
  const rest = BigInt(length - field.offset);
  switch (random.below(7)) {
    case 0:
      return random.pick(EDGE_NUMBERS);
    case 1:
      return value + random.pick([1n, -1n, 8n, -8n, 4n, -4n]);
    case 2:
      return random.pick([rest, rest + 1n, rest - 1n, rest / 8n, BigInt(length), BigInt(length) + 1n, BigInt(field.offset)]);
    case 3:
      return random.pick([value * 2n, value * 8n, value / 2n, -value, ~value]);
    case 4:
      return value ^ (1n << BigInt(random.below(field.sizeBytes * 8)));
    case 5: {
      const other = random.pick(fields);
      return view.get(other.offset, other.sizeBytes);
    }
    default:
      return BigInt(random.below(random.oneIn(2) ? 256 : 0x1_0000_0000)) << BigInt(random.oneIn(3) ? random.below(64) : 0);
  }
}

/** Flips bits of an attr, which decide what samples hold and how they are read. */
const attackAttr: AnatomyMutation = (bytes, { view, attrs }, random) => {
  if (attrs.length === 0) return bytes;
  const at = random.pick(attrs) + random.pick(ATTR_WORDS);
  for (let count = random.between(1, 3); count > 0; count--) view.set(at, 8, view.u64(at) ^ (1n << BigInt(random.below(random.oneIn(4) ? 64 : 32))));
  return bytes;
};

const swapType: AnatomyMutation = (bytes, { view, records }, random) => {
  if (records.length === 0) return bytes;
  const { offset } = random.pick(records);
  if (random.oneIn(3)) view.set(offset + 4, 2, BigInt(random.oneIn(2) ? random.below(0x1_0000) : 1 << random.below(16)));
  else view.set(offset, 4, BigInt(random.pick(RECORD_TYPES)));
  return bytes;
};

const removeRecords: AnatomyMutation = (bytes, anatomy, random) => {
  const [from, to] = someRecords(anatomy, random);
  return from === undefined ? bytes : spliced(bytes, anatomy, from.offset, endOf(to), new Uint8Array(), random);
};

const repeatRecords: AnatomyMutation = (bytes, anatomy, random) => {
  const [from, to] = someRecords(anatomy, random);
  if (from === undefined) return bytes;
  const part = bytes.slice(from.offset, endOf(to));
  const copies = new Uint8Array(part.length * (random.oneIn(4) ? random.between(2, MAX_COPIES) : 1));
  for (let at = 0; at < copies.length; at += part.length) copies.set(part, at);
  const target = random.pick(anatomy.records).offset;
  return spliced(bytes, anatomy, target, target, copies, random);
};

/** Makes a record longer or shorter and updates its size, so that the next record is found, but the fields of this one do not fit. */
const resizeRecord: AnatomyMutation = (bytes, anatomy, random) => {
  const { view, records } = anatomy;
  if (records.length === 0) return bytes;
  const record = random.pick(records);
  const size = view.u16(record.offset + 6);
  const newSize = random.oneIn(3) ? Math.min(0xffff, size + random.pick([1, 4, 8, 64, 4096])) : random.between(8, Math.max(8, size));
  view.set(record.offset + 6, 2, BigInt(newSize));
  const end = Math.min(bytes.length, record.offset + Math.min(size, newSize));
  return spliced(bytes, anatomy, end, Math.min(bytes.length, record.offset + size), new Uint8Array(Math.max(0, newSize - size)), random);
};

/** Cuts a file off at the boundary of a record, or near one. */
const cutAtRecord: AnatomyMutation = (bytes, { records }, random) => {
  if (records.length === 0) return bytes;
  return bytes.slice(0, Math.max(0, random.pick(records).offset + random.pick([0, 0, 1, 4, 7, 8, 12, 16, -1])));
};

const MUTATIONS: readonly AnatomyMutation[] = [
  attackField,
  attackField,
  attackField,
  attackField,
  attackAttr,
  swapType,
  removeRecords,
  repeatRecords,
  resizeRecord,
  cutAtRecord,
];

/** Mutations of records, sizes and counts. */
export const RECORD_MUTATIONS: readonly Mutation[] = MUTATIONS.map((mutate) => (bytes, random) => mutate(bytes, anatomyOf(bytes), random));

/** Inserts records of another recording. */
export function insertRecords(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const anatomy = anatomyOf(bytes);
  const donor = anatomyOf(other);
  const [from, to] = someRecords(donor, random);
  if (from === undefined || anatomy.records.length === 0) return bytes;
  const target = random.pick(anatomy.records).offset;
  return spliced(bytes, anatomy, target, target, other.slice(from.offset, endOf(to)), random);
}

/** Joins the beginning of one file and the end of another. */
export function spliceFiles(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const place = random.below(bytes.length + 1);
  const start = random.oneIn(2) ? Math.min(place, other.length) : random.below(other.length + 1);
  return replaced(bytes, place, bytes.length, other.subarray(start));
}

/**
 * A copy of a file without some of its records, given by the index of the first and the one after the last. The header
 * is updated.
 */
export function withoutRecords(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const copy = bytes.slice();
  const anatomy = anatomyOf(copy);
  const first = anatomy.records[from];
  const last = anatomy.records[Math.min(to, anatomy.records.length) - 1];
  return first === undefined || last === undefined ? copy : replacedData(copy, anatomy, first.offset, endOf(last), new Uint8Array());
}

function someRecords({ records }: Anatomy, random: Random): [RecordSpan, RecordSpan] | [undefined, undefined] {
  if (records.length === 0) return [undefined, undefined];
  const first = random.below(records.length);
  return [records[first], records[Math.min(records.length - 1, first + (random.oneIn(3) ? random.below(16) : 0))]];
}

function endOf(record: RecordSpan): number {
  return record.offset + record.sizeBytes;
}

/** Replaces bytes of the data section. Mostly updates the header, so that what follows is still found. */
function spliced(bytes: Uint8Array, anatomy: Anatomy, start: number, end: number, by: Uint8Array, random: Random): Uint8Array {
  return random.oneIn(5) ? replaced(bytes, start, end, by) : replacedData(bytes, anatomy, start, end, by);
}

/** Replaces bytes of the data section and updates the header. */
function replacedData(
  bytes: Uint8Array,
  { view, form, dataEnd, dataSizeAt, sectionOffsetsAt }: Anatomy,
  start: number,
  end: number,
  by: Uint8Array,
): Uint8Array {
  const growth = BigInt(by.length - (end - start));
  if (form === 'file' && start <= dataEnd) {
    for (const at of [dataSizeAt, ...sectionOffsetsAt]) view.set(at, 8, view.u64(at) + growth);
  }
  return replaced(bytes, start, end, by);
}
