import { BufferSink, type ByteSink } from '../../base/streams/byte-sink.ts';
import { WebCompressor } from '../../base/streams/web-compressor.ts';
import type { Column } from './columns.ts';
import { type ColumnChunk, dataPageHeader, dictionaryPageHeader, ENCODING, type Statistics, type ValueEncoding } from './metadata.ts';

/** Counts what was written, since offsets are part of the metadata. Nothing is written twice or out of order, so that the target may be a pipe. */
export class FileBytes {
  offset = 0;
  readonly #target: ByteSink;

  constructor(target: ByteSink) {
    this.#target = target;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#target.write(bytes);
    this.offset += bytes.length;
  }
}

/** Writes the pages of one column in one row group: the dictionary if it has one, then values. */
export class ChunkWriter {
  readonly #out: FileBytes;
  readonly #column: Column;
  #encoding: ValueEncoding = ENCODING.PLAIN;
  #valueCount = 0;
  #uncompressedBytes = 0;
  readonly #start: number;
  #dictionaryOffset: number | undefined;
  #dataOffset = -1;

  constructor(out: FileBytes, column: Column) {
    this.#out = out;
    this.#column = column;
    this.#start = out.offset;
  }

  /** @param values in PLAIN */
  async dictionary(values: Uint8Array, count: number): Promise<void> {
    this.#encoding = ENCODING.RLE_DICTIONARY;
    this.#dictionaryOffset = this.#out.offset;
    await this.#page(values, (size, compressedSize) => dictionaryPageHeader(count, size, compressedSize));
  }

  /** @param page levels, and values in RLE_DICTIONARY if there is a dictionary, else in PLAIN @param count see {@link ColumnChunk.valueCount} */
  async data(page: Uint8Array, count: number): Promise<void> {
    if (this.#dataOffset < 0) this.#dataOffset = this.#out.offset;
    this.#valueCount += count;
    await this.#page(page, (size, compressedSize) => dataPageHeader(count, this.#encoding, size, compressedSize));
  }

  end(statistics?: Statistics): ColumnChunk {
    return {
      column: this.#column,
      encoding: this.#encoding,
      valueCount: this.#valueCount,
      uncompressedBytes: this.#uncompressedBytes,
      compressedBytes: this.#out.offset - this.#start,
      dictionaryOffset: this.#dictionaryOffset,
      dataOffset: this.#dataOffset,
      statistics,
    };
  }

  async #page(bytes: Uint8Array, headerOf: (size: number, compressedSize: number) => Uint8Array): Promise<void> {
    const compressed = await gzipped(bytes);
    const header = headerOf(bytes.length, compressed.length);
    await this.#out.write(header);
    await this.#out.write(compressed);
    this.#uncompressedBytes += header.length + bytes.length;
  }
}

async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const sink = new BufferSink();
  const compressor = new WebCompressor(sink, 'gzip', ', which the pages of Parquet need');
  await compressor.write(bytes);
  await compressor.end();
  return sink.bytes();
}
