import type { Column, ValueType } from './columns.ts';
import { ThriftBytes } from './thrift-bytes.ts';

/* Messages of Parquet. Source of names and numbers: apache/parquet-format, parquet.thrift. */

const TYPE = { INT32: 1, INT64: 2, BYTE_ARRAY: 6 } as const;
const REPETITION = { REQUIRED: 0, OPTIONAL: 1, REPEATED: 2 } as const;
const CONVERTED_TYPE = { UTF8: 0, LIST: 3, UINT_64: 14 } as const;
/** Fields of the unions LogicalType and TimeUnit. */
const LOGICAL_TYPE = { STRING: 1, LIST: 3, TIMESTAMP: 8, INTEGER: 10 } as const;
const NANOS = 3;
const PAGE_TYPE = { DATA_PAGE: 0, DICTIONARY_PAGE: 2 } as const;
const GZIP = 2;

export const ENCODING = { PLAIN: 0, RLE: 3, RLE_DICTIONARY: 8 } as const;

/** The encoding of the values of a page. */
export type ValueEncoding = typeof ENCODING.PLAIN | typeof ENCODING.RLE_DICTIONARY;

const PHYSICAL_TYPE: Readonly<Record<ValueType, number>> = {
  int32: TYPE.INT32,
  int64: TYPE.INT64,
  uint64: TYPE.INT64,
  timestamp: TYPE.INT64,
  text: TYPE.BYTE_ARRAY,
};

/** What is known of a column's values in a row group; `min` and `max`, as PLAIN encodes them without a length, are absent if unknown. */
export interface Statistics {
  readonly nullCount: number;
  readonly min?: Uint8Array;
  readonly max?: Uint8Array;
}

/** The values of one column in one row group. Sizes include the headers of pages; offsets are from the beginning of the file. */
export interface ColumnChunk {
  readonly column: Column;
  readonly encoding: ValueEncoding;
  /** Absent values and, for an empty list, one value count. */
  readonly valueCount: number;
  readonly uncompressedBytes: number;
  readonly compressedBytes: number;
  /** undefined without a dictionary. */
  readonly dictionaryOffset: number | undefined;
  readonly dataOffset: number;
  /** undefined for lists. */
  readonly statistics: Statistics | undefined;
}

export interface RowGroup {
  readonly rowCount: number;
  /** In the order of the schema. */
  readonly chunks: readonly ColumnChunk[];
}

export interface FileMetadata {
  readonly columns: readonly Column[];
  readonly rowGroups: readonly RowGroup[];
  readonly keyValues: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/** A PageHeader. */
export function dictionaryPageHeader(valueCount: number, uncompressedBytes: number, compressedBytes: number): Uint8Array {
  const out = new ThriftBytes();
  out.int32(1, PAGE_TYPE.DICTIONARY_PAGE);
  out.int32(2, uncompressedBytes);
  out.int32(3, compressedBytes);
  out.struct(7, () => {
    out.int32(1, valueCount);
    out.int32(2, ENCODING.PLAIN);
  });
  return out.end();
}

/** A PageHeader. */
export function dataPageHeader(valueCount: number, encoding: ValueEncoding, uncompressedBytes: number, compressedBytes: number): Uint8Array {
  const out = new ThriftBytes();
  out.int32(1, PAGE_TYPE.DATA_PAGE);
  out.int32(2, uncompressedBytes);
  out.int32(3, compressedBytes);
  out.struct(5, () => {
    out.int32(1, valueCount);
    out.int32(2, encoding);
    out.int32(3, ENCODING.RLE);
    out.int32(4, ENCODING.RLE);
  });
  return out.end();
}

/** A FileMetaData. */
export function fileMetadata({ columns, rowGroups, keyValues, createdBy }: FileMetadata): Uint8Array {
  const out = new ThriftBytes();
  out.int32(1, 2);
  out.structs(2, schemaElements(columns), (write) => write(out));
  out.int64(
    3,
    rowGroups.reduce((sum, { rowCount }) => sum + rowCount, 0),
  );
  out.structs(4, rowGroups, (group) => putRowGroup(out, group));
  out.structs(5, Object.entries(keyValues), ([key, value]) => {
    out.text(1, key);
    out.text(2, value);
  });
  out.text(6, createdBy);
  // All columns are in the order that their type defines. Without this, readers must not use minima and maxima.
  out.structs(7, columns, () => out.struct(1, () => {}));
  return out.end();
}

type PutElement = (out: ThriftBytes) => void;

/** The SchemaElements: the tree of columns, parents first. */
function schemaElements(columns: readonly Column[]): PutElement[] {
  const root: PutElement = (out) => {
    out.text(4, 'schema');
    out.int32(5, columns.length);
  };
  return [root, ...columns.flatMap((column) => (column.isList ? listElements(column) : [leafElement(column.name, column)]))];
}

/** Source of the three levels: parquet-format, LogicalTypes.md, "Lists". */
function listElements(column: Column): PutElement[] {
  return [
    (out) => {
      out.int32(3, REPETITION.REQUIRED);
      out.text(4, column.name);
      out.int32(5, 1);
      out.int32(6, CONVERTED_TYPE.LIST);
      out.struct(10, () => out.struct(LOGICAL_TYPE.LIST, () => {}));
    },
    (out) => {
      out.int32(3, REPETITION.REPEATED);
      out.text(4, 'list');
      out.int32(5, 1);
    },
    leafElement('element', column),
  ];
}

function leafElement(name: string, { type, isOptional }: Column): PutElement {
  return (out) => {
    out.int32(1, PHYSICAL_TYPE[type]);
    out.int32(3, isOptional ? REPETITION.OPTIONAL : REPETITION.REQUIRED);
    out.text(4, name);
    if (type === 'text') out.int32(6, CONVERTED_TYPE.UTF8);
    if (type === 'uint64') out.int32(6, CONVERTED_TYPE.UINT_64);
    if (type !== 'int32' && type !== 'int64') out.struct(10, () => putLogicalType(out, type));
  };
}

function putLogicalType(out: ThriftBytes, type: 'text' | 'timestamp' | 'uint64'): void {
  if (type === 'text') {
    out.struct(LOGICAL_TYPE.STRING, () => {});
  } else if (type === 'timestamp') {
    out.struct(LOGICAL_TYPE.TIMESTAMP, () => {
      // isAdjustedToUTC
      out.bool(1, true);
      out.struct(2, () => out.struct(NANOS, () => {}));
    });
  } else {
    out.struct(LOGICAL_TYPE.INTEGER, () => {
      out.int8(1, 64);
      // isSigned
      out.bool(2, false);
    });
  }
}

function putRowGroup(out: ThriftBytes, { chunks, rowCount }: RowGroup): void {
  const sum = (size: (chunk: ColumnChunk) => number): number => chunks.reduce((total, chunk) => total + size(chunk), 0);
  out.structs(1, chunks, (chunk) => {
    // file_offset is deprecated: the metadata is only in the footer.
    out.int64(2, 0);
    out.struct(3, () => putColumnMetadata(out, chunk));
  });
  out.int64(
    2,
    sum(({ uncompressedBytes }) => uncompressedBytes),
  );
  out.int64(3, rowCount);
  out.int64(5, chunks[0].dictionaryOffset ?? chunks[0].dataOffset);
  out.int64(
    6,
    sum(({ compressedBytes }) => compressedBytes),
  );
}

function putColumnMetadata(out: ThriftBytes, chunk: ColumnChunk): void {
  const { column, dictionaryOffset, encoding, statistics } = chunk;
  out.int32(1, PHYSICAL_TYPE[column.type]);
  out.int32s(2, dictionaryOffset === undefined ? [encoding, ENCODING.RLE] : [ENCODING.PLAIN, encoding, ENCODING.RLE]);
  out.texts(3, column.isList ? [column.name, 'list', 'element'] : [column.name]);
  out.int32(4, GZIP);
  out.int64(5, chunk.valueCount);
  out.int64(6, chunk.uncompressedBytes);
  out.int64(7, chunk.compressedBytes);
  out.int64(9, chunk.dataOffset);
  if (dictionaryOffset !== undefined) out.int64(11, dictionaryOffset);
  if (statistics === undefined) return;
  out.struct(12, () => {
    out.int64(3, statistics.nullCount);
    if (statistics.max !== undefined) out.binary(5, statistics.max);
    if (statistics.min !== undefined) out.binary(6, statistics.min);
  });
}
