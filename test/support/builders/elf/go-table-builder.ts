import { ByteFields } from '../byte-fields.ts';

/** A value that holds up to a distance from the function's start, in bytes. */
export type ValueUpTo = readonly [end: number, value: number];

export interface PlannedGoFunction {
  readonly name: string;
  /** Its distance from the first function; an address before Go 1.18. */
  readonly start: number;
  readonly startLine?: number;
  /** Bytes between stack pointer and return address. */
  readonly frameSizes?: readonly ValueUpTo[];
  readonly files?: readonly ValueUpTo[];
  readonly lines?: readonly ValueUpTo[];
  readonly inlineIndexes?: readonly ValueUpTo[];
  /** Offset of its inlined calls. */
  readonly inlineTree?: number;
}

export interface GoTablePlan {
  /** The first release 1.x of Go that wrote tables like this. */
  readonly version: 2 | 16 | 18 | 20;
  readonly littleEndian?: boolean;
  readonly pointerSize?: 4 | 8;
  readonly quantum?: number;
  readonly textStart?: number;
  readonly fileNames?: readonly string[];
  readonly functions: readonly PlannedGoFunction[];
  /** Where the last function ends, counted like starts. */
  readonly end: number;
  /** Names that only inlined functions have. */
  readonly otherNames?: readonly string[];
}

export interface BuiltGoTable {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The offset of a name among the names: 0 for the first. */
  nameOffset(name: string): number;
  /** Where the names are. */
  readonly namesAt: number;
}

/** The size of a function's record before Go 1.16, without its address. */
const OLD_RECORD_SIZE_BYTES = 36;

const MAGIC = { 2: 0xfffffffb, 16: 0xfffffffa, 18: 0xfffffff0, 20: 0xfffffff1 } as const;

/** Builds a table of Go's functions from the layouts in Go's source (runtime/symtab.go), independently of the reader. */
export function buildGoTable(plan: GoTablePlan): BuiltGoTable {
  const { version, littleEndian = true, pointerSize = 8, quantum = 1, textStart = 0, fileNames = [], functions, end, otherNames = [] } = plan;
  const fields = (): ByteFields => new ByteFields(littleEndian);
  const names = textsOf([...functions.map(({ name }) => name), ...otherNames]);
  const files = textsOf(fileNames);
  const units = fields().u32(...fileNames.map((name) => files.offsets.get(name)!));
  const values = fields().bytes(0);
  const isRelative = version >= 18;
  const fieldSize = isRelative ? 4 : pointerSize;
  const headerSize = 8 + pointerSize * (version === 2 ? 1 : version === 16 ? 7 : 8);
  const namesAt = version === 2 ? headerSize + (2 * functions.length + 1) * fieldSize + 4 : headerSize;
  const listSize = (2 * functions.length + 1) * fieldSize;
  // Before Go 1.16, records, names and values count from the beginning of the table, and no record has inlined calls here.
  const recordBase = version === 2 ? namesAt + names.bytes.length : listSize;
  const nameBase = version === 2 ? namesAt : 0;
  const valueBase = version === 2 ? recordBase + functions.length * (pointerSize + OLD_RECORD_SIZE_BYTES) : 0;
  const valuesOf = (list: readonly ValueUpTo[] | undefined): number => {
    if (list === undefined) return 0;
    const at = values.length;
    let before: ValueUpTo = [0, -1];
    for (const one of list) {
      const difference = one[1] - before[1];
      values.uleb(difference < 0 ? 2 * ~difference + 1 : 2 * difference, (one[0] - before[0]) / quantum);
      before = one;
    }
    values.bytes(0);
    return valueBase + at;
  };
  const records = fields();
  const list = fields();
  for (const { name, start, startLine = 0, frameSizes, files: fileValues, lines, inlineIndexes, inlineTree } of functions) {
    list.uint(start, fieldSize).uint(recordBase + records.length, fieldSize);
    records.uint(start, isRelative ? 4 : pointerSize).u32(nameBase + names.offsets.get(name)!, 0, 0, valuesOf(frameSizes));
    records.u32(valuesOf(fileValues), valuesOf(lines), inlineTree === undefined ? 0 : 3, 0);
    if (version === 20) records.u32(startLine);
    records.bytes(0, 0, 0, inlineTree === undefined ? 0 : 4);
    if (inlineTree !== undefined) records.u32(0, 0, valuesOf(inlineIndexes), 0xffffffff, 0xffffffff, 0xffffffff, inlineTree);
  }
  list.uint(end, fieldSize);
  const header = fields().u32(MAGIC[version]).bytes(0, 0, quantum, pointerSize).uint(functions.length, pointerSize);
  const nameOffset = (name: string): number => names.offsets.get(name)!;
  if (version === 2) return { bytes: header.put(list.done()).u32(0).put(names.bytes).put(records.done()).put(values.done()).done(), nameOffset, namesAt };
  const unitsAt = namesAt + names.bytes.length;
  const filesAt = unitsAt + units.length;
  const valuesAt = filesAt + files.bytes.length;
  const recordsAt = valuesAt + values.length;
  header.uint(fileNames.length, pointerSize);
  if (isRelative) header.uint(textStart, pointerSize);
  for (const at of [namesAt, unitsAt, filesAt, valuesAt, recordsAt]) header.uint(at, pointerSize);
  const bytes = header.put(names.bytes).put(units.done()).put(files.bytes).put(values.done()).put(list.done()).put(records.done()).done();
  return { bytes, nameOffset, namesAt };
}

function textsOf(texts: readonly string[]): { bytes: Uint8Array; offsets: Map<string, number> } {
  const bytes = new ByteFields();
  const offsets = new Map<string, number>();
  for (const text of texts) {
    offsets.set(text, bytes.length);
    bytes.text(text);
  }
  return { bytes: bytes.done(), offsets };
}
