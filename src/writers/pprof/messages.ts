import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { highWord } from '../../base/addresses.ts';
import { FUNCTION, LINE, LOCATION, MAPPING, PROFILE, VALUE_TYPE } from './field-numbers.ts';
import { addressBias, mappingFileName, NONE, type PprofMapping, type PprofTables } from './tables.ts';

/** The largest double that fits an int64 field. */
const MAX_INT64 = 2 ** 63 - 1024;

/** Writes a count as a varint, without a BigInt up to 32 bits. A sum beyond int64 becomes the largest value. */
export function putCount(writer: BinaryWriter, count: number): void {
  if (count <= 0xffff_ffff) writer.uint32(count);
  else writer.int64(Math.min(count, MAX_INT64));
}

/** Writes a field of a whole number; none for 0, which is the default in proto3. */
export function putNumber(writer: BinaryWriter, field: number, value: number): void {
  if (value !== 0) putCount(writer.tag(field, WireType.Varint), value);
}

/** Writes a field of 64 bits, given as two words. */
function putWords(writer: BinaryWriter, field: number, lo: number, hi: number): void {
  if (hi === 0) putNumber(writer, field, lo);
  else writer.tag(field, WireType.Varint).uint64((BigInt(hi) << 32n) | BigInt(lo));
}

/** Writes a field of an address, given as a signed double: addresses of the upper half, as of kernels, are negative. */
function putAddress(writer: BinaryWriter, field: number, address: number): void {
  putWords(writer, field, address >>> 0, highWord(address));
}

function putFlag(writer: BinaryWriter, field: number, flag: boolean): void {
  if (flag) writer.tag(field, WireType.Varint).bool(true);
}

/**
 * Writes a ValueType.
 * @param type,unit string indexes
 */
export function putValueType(writer: BinaryWriter, field: number, type: number, unit: number): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  putNumber(writer, VALUE_TYPE.type, type);
  putNumber(writer, VALUE_TYPE.unit, unit);
  writer.join();
}

/**
 * Writes a Mapping. memory_start and file_offset are chosen so that address − memory_start + file_offset is the offset
 * in the file.
 */
export function putMapping(writer: BinaryWriter, id: number, row: PprofMapping, strings: PprofTables['strings']): void {
  const { mapping } = row;
  const bias = addressBias(mapping);
  const isInFile = mapping.kind === 'file' || mapping.kind === 'vdso';
  writer.tag(PROFILE.mapping, WireType.LengthDelimited).fork();
  putNumber(writer, MAPPING.id, id);
  putMemoryRange(writer, mapping.start + bias, mapping.limit + bias);
  if (isInFile) putAddress(writer, MAPPING.fileOffset, mapping.start);
  putNumber(writer, MAPPING.filename, strings.intern(mappingFileName(mapping)));
  putNumber(writer, MAPPING.buildId, strings.intern(mapping.buildId));
  putFlag(writer, MAPPING.hasFunctions, row.hasFunctions);
  putFlag(writer, MAPPING.hasFilenames, row.hasFilenames);
  putFlag(writer, MAPPING.hasLineNumbers, row.hasLineNumbers);
  putFlag(writer, MAPPING.hasInlineFrames, row.hasInlineFrames);
  writer.join();
}

/**
 * Writes memory_start and memory_limit. In pprof addresses are unsigned, so the limit of a range that reaches the end
 * of the address space would wrap around to 0, below the start: such a range ends at 2^64 − 1 instead. One that goes on
 * from the upper half of the address space into the lower starts at 0, so that it holds addresses of both.
 * @param start,limit signed doubles
 */
function putMemoryRange(writer: BinaryWriter, start: number, limit: number): void {
  const reachesEnd = start < 0 ? limit >= 0 : limit >= 2 ** 64;
  putAddress(writer, MAPPING.memoryStart, reachesEnd && start < 0 && limit > 0 ? 0 : start);
  putAddress(writer, MAPPING.memoryLimit, reachesEnd ? LAST_ADDRESS : limit);
}

/** 2^64 − 1 as a signed double. */
const LAST_ADDRESS = -1;

/**
 * Writes a Location.
 * @param index row of `tables.locations`
 * @returns number of its lines
 */
export function putLocation(writer: BinaryWriter, tables: PprofTables, index: number): number {
  const { locations, lines } = tables;
  const at = index * locations.arity;
  writer.tag(PROFILE.location, WireType.LengthDelimited).fork();
  putNumber(writer, LOCATION.id, index + 1);
  const mapping = locations.words[at + 2];
  if (mapping !== NONE) putNumber(writer, LOCATION.mappingId, mapping + 1);
  putWords(writer, LOCATION.address, locations.words[at], locations.words[at + 1]);
  let lineCount = 0;
  for (let line = locations.words[at + 3]; line !== NONE; line = lines.words[line * lines.arity]) {
    putLine(writer, tables, line);
    lineCount++;
  }
  writer.join();
  return lineCount;
}

function putLine(writer: BinaryWriter, { lines }: PprofTables, index: number): void {
  const at = index * lines.arity;
  writer.tag(LOCATION.line, WireType.LengthDelimited).fork();
  putNumber(writer, LINE.functionId, lines.words[at + 1] + 1);
  putNumber(writer, LINE.line, lines.words[at + 2]);
  putNumber(writer, LINE.column, lines.words[at + 3]);
  writer.join();
}

/**
 * Writes a Function.
 * @param index row of `tables.functions`
 */
export function putFunction(writer: BinaryWriter, { functions }: PprofTables, index: number): void {
  writer.tag(PROFILE.function, WireType.LengthDelimited).fork();
  putNumber(writer, FUNCTION.id, index + 1);
  putNumber(writer, FUNCTION.name, functions.name(index));
  putNumber(writer, FUNCTION.systemName, functions.systemName(index));
  putNumber(writer, FUNCTION.filename, functions.file(index));
  putNumber(writer, FUNCTION.startLine, functions.startLine(index));
  writer.join();
}
