import { highWord } from '../../base/bytes/addresses.ts';
import type { Mapping } from '../../profile/profile.ts';
import type { FieldBytes } from './field-bytes.ts';
import { FUNCTION, LINE, LOCATION, MAPPING, PROFILE, VALUE_TYPE } from './field-numbers.ts';
import { addressBias, mappingFileName, NONE, type PprofMapping, type PprofTables } from './tables.ts';

/** The largest double that fits an int64 field. */
const MAX_INT64 = 2 ** 63 - 1024;

/** Adds a whole number; nothing for 0, which is the default in proto3. A number beyond int64 becomes the largest value. */
export function putNumber(fields: FieldBytes, field: number, value: number): void {
  fields.number(field, Math.min(value, MAX_INT64));
}

/** Writes an address, given as a signed double: addresses of the upper half, such as a kernel's, are negative. */
function putAddress(fields: FieldBytes, field: number, address: number): void {
  fields.words(field, address >>> 0, highWord(address));
}

/**
 * Writes a ValueType.
 * @param type,unit string indexes
 */
export function putValueType(fields: FieldBytes, field: number, type: number, unit: number): void {
  const start = fields.begin(field);
  fields.number(VALUE_TYPE.type, type);
  fields.number(VALUE_TYPE.unit, unit);
  fields.end(start);
}

/** Writes a Mapping. */
export function putMapping(fields: FieldBytes, id: number, row: PprofMapping, strings: PprofTables['strings']): void {
  const { mapping } = row;
  const start = fields.begin(PROFILE.mapping);
  fields.number(MAPPING.id, id);
  putMemory(fields, MAPPING, mapping);
  fields.number(MAPPING.filename, strings.intern(mappingFileName(mapping)));
  fields.number(MAPPING.buildId, strings.intern(mapping.buildId));
  fields.number(MAPPING.hasFunctions, Number(row.hasFunctions));
  fields.number(MAPPING.hasFilenames, Number(row.hasFilenames));
  fields.number(MAPPING.hasLineNumbers, Number(row.hasLineNumbers));
  fields.number(MAPPING.hasInlineFrames, Number(row.hasInlineFrames));
  fields.end(start);
}

/**
 * Writes memory_start, memory_limit and file_offset of a mapping, chosen so that address − memory_start + file_offset is the offset in the file.
 *
 * Addresses are unsigned here, so the limit of a range that reaches the end of the address space would wrap around to 0, below the start: such a range ends at
 * 2^64 − 1 instead. A range that continues from the upper half of the address space into the lower half starts at 0, so that it contains addresses of both.
 * @param numbers of the fields
 */
export function putMemory(fields: FieldBytes, numbers: Readonly<Record<'memoryStart' | 'memoryLimit' | 'fileOffset', number>>, mapping: Mapping): void {
  const bias = addressBias(mapping);
  const start = mapping.start + bias;
  const limit = mapping.limit + bias;
  const reachesEnd = start < 0 ? limit >= 0 : limit >= 2 ** 64;
  putAddress(fields, numbers.memoryStart, reachesEnd && start < 0 && limit > 0 ? 0 : start);
  putAddress(fields, numbers.memoryLimit, reachesEnd ? LAST_ADDRESS : limit);
  if (mapping.kind === 'file' || mapping.kind === 'vdso') putAddress(fields, numbers.fileOffset, mapping.start);
}

/** 2^64 − 1 as a signed double. */
const LAST_ADDRESS = -1;

/**
 * Writes a Location.
 * @param index row of `tables.locations`
 */
export function putLocation(fields: FieldBytes, tables: PprofTables, index: number): void {
  const { locations, lines } = tables;
  const at = index * locations.arity;
  const start = fields.begin(PROFILE.location);
  fields.number(LOCATION.id, index + 1);
  const mapping = locations.words[at + 2];
  if (mapping !== NONE) fields.number(LOCATION.mappingId, mapping + 1);
  fields.words(LOCATION.address, locations.words[at], locations.words[at + 1]);
  for (let line = locations.words[at + 3]; line !== NONE; line = lines.words[line * lines.arity]) {
    putLine(fields, tables, line);
  }
  fields.end(start);
}

function putLine(fields: FieldBytes, { lines }: PprofTables, index: number): void {
  const at = index * lines.arity;
  const start = fields.begin(LOCATION.line);
  fields.number(LINE.functionId, lines.words[at + 1] + 1);
  fields.number(LINE.line, lines.words[at + 2]);
  fields.number(LINE.column, lines.words[at + 3]);
  fields.end(start);
}

/**
 * Writes a Function.
 * @param index row of `tables.functions`
 */
export function putFunction(fields: FieldBytes, { functions }: PprofTables, index: number): void {
  const start = fields.begin(PROFILE.function);
  fields.number(FUNCTION.id, index + 1);
  fields.number(FUNCTION.name, functions.name(index));
  fields.number(FUNCTION.systemName, functions.systemName(index));
  fields.number(FUNCTION.filename, functions.file(index));
  fields.number(FUNCTION.startLine, functions.startLine(index));
  fields.end(start);
}
