import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { StringTable } from '../../base/tables/string-table.ts';
import type { Profile } from '../../profile/profile.ts';
import { everySample } from '../every-sample.ts';
import { FileBytes } from './chunk-writer.ts';
import { COLUMNS } from './columns.ts';
import { FlatWriter } from './flat-writer.ts';
import { dsosOfFrames, functionsOfFrames } from './frame-lists.ts';
import { ListWriter } from './list-writer.ts';
import { type ColumnChunk, fileMetadata, type RowGroup } from './metadata.ts';
import { RowGroups } from './row-groups.ts';
import { flatColumns, type ValuesResult } from './sample-values.ts';
import { TextBytes } from './text-bytes.ts';

export interface ParquetOptions {
  /** The program that writes the file, as `name@version`. */
  readonly exporter: string;
  /** Rows of a row group, for tests. */
  readonly maxRows?: number;
}

export type ParquetResult = Readonly<ValuesResult>;

const MAGIC = new TextEncoder().encode('PAR1');
/** The version of the columns, for readers that want to know. It changes when one is added. */
const SCHEMA_VERSION = '1';

/**
 * Writes a table in Apache Parquet with one row for each sample, in the order of the sample table: see {@link COLUMNS}. It is written from its beginning to its
 * end, row group by row group, and holds the texts of one row group and the page that is being made in memory.
 *
 * Pages of data have version 1, values are plain or in dictionaries, and pages are compressed with gzip: all readers know these.
 *
 * @throws PerfconvError `usage` when the profile was read without its samples; `unsupported` if the engine does not compress; whatever the sink throws
 */
export async function writeParquet(profile: Profile, sink: ByteSink, { exporter, maxRows }: ParquetOptions): Promise<ParquetResult> {
  const samples = everySample(profile, 'Parquet');
  const strings = new StringTable();
  const result: ValuesResult = { clippedPeriods: 0, lostTimes: 0 };
  const functions = functionsOfFrames(profile, strings);
  const { columns: flat, dsos, files } = flatColumns(profile, samples, strings, functions, result);
  const groups = new RowGroups(profile, samples, strings, [functions, dsosOfFrames(profile, functions, dsos)], files, maxRows);
  const texts = new TextBytes(strings);
  const out = new FileBytes(sink);
  const flatWriter = new FlatWriter(out, texts);
  const listWriter = new ListWriter(out, texts, profile, samples);
  const rowGroups: RowGroup[] = [];
  await out.write(MAGIC);
  for (let start = 0; start < samples.size; ) {
    const end = groups.next(start);
    const chunks: ColumnChunk[] = [];
    for (const column of flat) chunks.push(await flatWriter.write(column, start, end));
    for (const [at, column] of LISTS.entries()) chunks.push(await listWriter.write(column, groups.lists[at], start, end));
    rowGroups.push({ rowCount: end - start, chunks });
    start = end;
  }
  await writeFooter(
    out,
    fileMetadata({ columns: Object.values(COLUMNS), rowGroups, keyValues: { 'perfconv.schema': SCHEMA_VERSION }, createdBy: createdBy(exporter) }),
  );
  return result;
}

/** The columns of lists, which come last. */
const LISTS = [COLUMNS.stack, COLUMNS.stackDsos];

async function writeFooter(out: FileBytes, metadata: Uint8Array): Promise<void> {
  await out.write(metadata);
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, metadata.length, true);
  await out.write(new Uint8Array(length.buffer));
  await out.write(MAGIC);
}

/** As the format wants it: `perfconv version 1.0.0`. */
function createdBy(exporter: string): string {
  return exporter.replace('@', ' version ');
}
