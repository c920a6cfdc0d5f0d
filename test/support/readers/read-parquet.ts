import { gunzipSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';

const PIECE_ROWS = 20_000;

/** A row of perfconv's table of samples. */
export interface ParquetRow {
  readonly input: string | null;
  readonly time_ns: bigint | null;
  /** Nanoseconds since 1970. */
  readonly wall_time: bigint | null;
  readonly event: string | null;
  readonly period: bigint;
  readonly unit: string;
  readonly off_cpu: string | null;
  readonly cpu: number | null;
  readonly pid: number | null;
  readonly tid: number | null;
  readonly process: string | null;
  readonly comm: string | null;
  readonly ip: bigint | null;
  readonly function: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly dso: string | null;
  readonly build_id: string | null;
  readonly address: bigint | null;
  readonly cpumode: string | null;
  /** Leaf first. */
  readonly stack: readonly string[];
  readonly stack_dsos: readonly (string | null)[];
}

/** Reads a file as hyparquet does, which shares no code with the writer. @throws an Error if the file is not well-formed */
export async function readParquet(bytes: Uint8Array): Promise<ParquetRow[]> {
  const rows: ParquetRow[] = [];
  for await (const piece of readParquetPieces(bytes)) for (const row of piece) rows.push(row);
  return rows;
}

/** Some columns of the same, some rows at a time: a million whole rows would take a gigabyte. */
export async function* readParquetPieces<Column extends keyof ParquetRow>(
  bytes: Uint8Array,
  columns?: readonly Column[],
): AsyncGenerator<Pick<ParquetRow, Column>[]> {
  const file = arrayBufferOf(bytes);
  const metadata = parquetMetadata(file);
  const rowCount = Number(metadata.num_rows);
  for (let rowStart = 0; rowStart < rowCount; rowStart += PIECE_ROWS) {
    yield (await parquetReadObjects({
      file,
      metadata,
      ...(columns !== undefined && { columns: [...columns] }),
      rowStart,
      rowEnd: Math.min(rowStart + PIECE_ROWS, rowCount),
      compressors: { GZIP: (input) => new Uint8Array(gunzipSync(input)) },
      parsers: { timestampFromNanoseconds: (nanos) => nanos, stringFromBytes: (text) => new TextDecoder('utf-8', { fatal: true }).decode(text) },
    })) as Pick<ParquetRow, Column>[];
  }
}

/** The footer of a file. */
export function readParquetMetadata(bytes: Uint8Array): ReturnType<typeof parquetMetadata> {
  return parquetMetadata(arrayBufferOf(bytes));
}

/** The columns with their types, then the rows, as lines of JSON; 64-bit numbers are in quotes, and columns without a value are left out. */
export async function parquetText(bytes: Uint8Array): Promise<string> {
  const rows = await readParquet(bytes);
  const schema = readParquetMetadata(bytes).schema.map(({ name, type = '', converted_type = '', logical_type, repetition_type = '' }) =>
    ['#', name, type, converted_type, JSON.stringify(logical_type) ?? '', repetition_type].filter((word) => word !== '').join(' '),
  );
  const lines = rows.map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)), plainNumber));
  return `${[...schema, ...lines].join('\n')}\n`;
}

function plainNumber(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function arrayBufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
