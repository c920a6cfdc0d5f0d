import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import { ChunkWriter, type FileBytes } from './chunk-writer.ts';
import type { Column } from './columns.ts';
import { GrowingBytes } from './growing-bytes.ts';
import type { ColumnChunk } from './metadata.ts';
import { indexWidth, LevelRuns, putIndexes } from './page-bytes.ts';
import type { ListValues } from './row-groups.ts';
import type { TextBytes } from './text-bytes.ts';

/** A page ends with the row that has this many frames. */
const PAGE_FRAMES = 1 << 18;

/* Repetition levels: whether a value is the first one of a row. */
const NEXT_ROW = 0;
const SAME_ROW = 1;

/* Definition levels of lists that are always there: an empty one; an element, or NULL where elements may be that; an element where these may be NULL. */
const EMPTY = 0;
const IN_LIST = 1;
const NOT_NULL = 2;

/** Writes columns with a list for each row: a text for each frame of the sample's stack, leaf first. */
export class ListWriter {
  readonly #out: FileBytes;
  readonly #texts: TextBytes;
  readonly #profile: Profile;
  readonly #samples: SampleTable;
  readonly #page = new GrowingBytes();
  readonly #repetition = new LevelRuns();
  readonly #definition = new LevelRuns();
  readonly #packed = new GrowingBytes();

  constructor(out: FileBytes, texts: TextBytes, profile: Profile, samples: SampleTable) {
    this.#out = out;
    this.#texts = texts;
    this.#profile = profile;
    this.#samples = samples;
  }

  /** Writes the column for samples `start` to `end`. @param values with the dictionary of their row group */
  async write(column: Column, values: ListValues, start: number, end: number): Promise<ColumnChunk> {
    const { texts } = values.dictionary;
    const writer = new ChunkWriter(this.#out, column);
    if (texts.length > 0) {
      this.#page.clear();
      for (const text of texts) this.#page.sized(this.#texts.get(text));
      await writer.dictionary(this.#page.collected, texts.length);
    }
    for (let row = start; row < end; ) row = await this.#writePage(writer, column, values, row, end);
    return writer.end();
  }

  /** @returns the row after the last one of the page */
  async #writePage(writer: ChunkWriter, { isOptional }: Column, { dictionary, frames }: ListValues, start: number, end: number): Promise<number> {
    const { locations, parents } = this.#profile.stacks.columns;
    const { stack: stackOf } = this.#samples;
    const [repetition, definition, packed] = [this.#repetition, this.#definition, this.#packed];
    const width = indexWidth(dictionary.texts.length);
    const present = isOptional ? NOT_NULL : IN_LIST;
    for (const part of [repetition, definition, packed]) part.clear();
    let values = 0;
    let indexes = 0;
    let row = start;
    for (; row < end && values < PAGE_FRAMES; row++) {
      let depth = 0;
      for (let stack = stackOf[row]; stack >= 0; stack = parents[stack]) {
        // hot
        const location = locations[stack];
        const count = frames.count(location);
        for (let nth = 0; nth < count; nth++) {
          const text = frames.text(location, nth);
          if (text > 0) {
            packed.number(dictionary.placeOf(text), width);
            indexes++;
            definition.add(present, 1);
          } else {
            definition.add(IN_LIST, 1);
          }
        }
        depth += count;
      }
      if (depth === 0) definition.add(EMPTY, 1);
      repetition.add(NEXT_ROW, 1);
      repetition.add(SAME_ROW, Math.max(depth - 1, 0));
      values += Math.max(depth, 1);
    }
    const page = this.#page;
    page.clear();
    page.sized(repetition.end());
    page.sized(definition.end());
    if (dictionary.texts.length > 0) putIndexes(page, packed.collected, indexes, width);
    await writer.data(page.collected, values);
    return row;
  }
}
