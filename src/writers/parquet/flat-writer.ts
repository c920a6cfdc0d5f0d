import { ChunkValues, Value } from './chunk-values.ts';
import { ChunkWriter, type FileBytes } from './chunk-writer.ts';
import { GrowingBytes } from './growing-bytes.ts';
import type { ColumnChunk } from './metadata.ts';
import { indexWidth, LevelRuns, putIndexes } from './page-bytes.ts';
import type { FlatColumn } from './sample-values.ts';
import type { TextBytes } from './text-bytes.ts';

/** Writes columns with one value a row. A row group of them is a single page, of up to a megabyte. */
export class FlatWriter {
  readonly #out: FileBytes;
  readonly #texts: TextBytes;
  readonly #value = new Value();
  readonly #levels = new LevelRuns();
  readonly #page = new GrowingBytes();
  readonly #packed = new GrowingBytes();
  /** By value that is there: its place among the different values. */
  #places = new Uint32Array(0);

  constructor(out: FileBytes, texts: TextBytes) {
    this.#out = out;
    this.#texts = texts;
  }

  /** Writes the column for samples `start` to `end`. */
  async write({ column, read }: FlatColumn, start: number, end: number): Promise<ColumnChunk> {
    const values = new ChunkValues(column.type, this.#texts);
    const count = this.#read(read, values, start, end);
    const page = this.#page;
    const writer = new ChunkWriter(this.#out, column);
    const hasDictionary = values.size > 0 && !values.isTooVaried(count);
    if (hasDictionary) {
      page.clear();
      for (let place = 0; place < values.size; place++) values.put(page, place);
      await writer.dictionary(page.collected, values.size);
    }
    page.clear();
    if (column.isOptional) page.sized(this.#levels.end());
    if (hasDictionary) this.#putIndexes(count, indexWidth(values.size));
    else for (let i = 0; i < count; i++) values.put(page, this.#places[i]);
    await writer.data(page.collected, end - start);
    return writer.end(values.statistics(end - start - count));
  }

  /** Collects the values of the column, and the levels that say which are there. @returns how many are */
  #read(read: FlatColumn['read'], values: ChunkValues, start: number, end: number): number {
    if (this.#places.length < end - start) this.#places = new Uint32Array(end - start);
    const places = this.#places;
    const levels = this.#levels;
    const value = this.#value;
    levels.clear();
    let count = 0;
    for (let row = start; row < end; row++) {
      // hot
      value.hi = 0;
      if (read(row, value)) {
        places[count++] = values.intern(value);
        levels.add(1, 1);
      } else {
        levels.add(0, 1);
      }
    }
    return count;
  }

  #putIndexes(count: number, width: number): void {
    const packed = this.#packed;
    packed.clear();
    for (let i = 0; i < count; i++) packed.number(this.#places[i], width);
    putIndexes(this.#page, packed.collected, count, width);
  }
}
