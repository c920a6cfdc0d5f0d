import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { StackTable } from '../../profile/stack-table.ts';
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
  readonly #samples: SampleTable;
  readonly #lists: ListPage;
  readonly #page = new GrowingBytes();

  constructor(out: FileBytes, texts: TextBytes, profile: Profile, samples: SampleTable) {
    this.#out = out;
    this.#texts = texts;
    this.#samples = samples;
    this.#lists = new ListPage(profile.stacks);
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
    for (let row = start; row < end; ) {
      row = this.#fillPage(values, column.isOptional, row, end);
      this.#page.clear();
      this.#lists.putInto(this.#page, texts.length);
      await writer.data(this.#page.collected, this.#lists.size);
    }
    return writer.end();
  }

  /** @returns the row after the last one of the page */
  #fillPage(values: ListValues, isOptional: boolean, start: number, end: number): number {
    const lists = this.#lists;
    const { stack: stackOf } = this.#samples;
    const width = indexWidth(values.dictionary.texts.length);
    lists.clear();
    let row = start;
    // hot
    for (; row < end && lists.size < PAGE_FRAMES; row++) lists.add(stackOf[row], values, isOptional ? NOT_NULL : IN_LIST, width);
    return row;
  }
}

/** The lists of a page: their levels, and the places of their texts in the dictionary. */
class ListPage {
  /** How many elements there are; an empty list counts as one. */
  size = 0;
  readonly #parents: Int32Array;
  readonly #locations: Int32Array;
  readonly #repetition = new LevelRuns();
  readonly #definition = new LevelRuns();
  readonly #places = new GrowingBytes();
  #placeCount = 0;

  constructor({ columns }: StackTable) {
    this.#parents = columns.parents;
    this.#locations = columns.locations;
  }

  clear(): void {
    for (const part of [this.#repetition, this.#definition, this.#places]) part.clear();
    this.size = 0;
    this.#placeCount = 0;
  }

  /** Adds the list of a stack, −1 for none. @param present the definition level of elements that are not NULL @param width bytes of a place */
  add(leaf: number, { dictionary, frames }: ListValues, present: number, width: number): void {
    const definition = this.#definition;
    let length = 0;
    for (let stack = leaf; stack >= 0; stack = this.#parents[stack]) {
      // hot
      const location = this.#locations[stack];
      const count = frames.count(location);
      for (let nth = 0; nth < count; nth++) {
        const text = frames.text(location, nth);
        if (text > 0) {
          this.#places.number(dictionary.placeOf(text), width);
          this.#placeCount++;
          definition.add(present, 1);
        } else {
          definition.add(IN_LIST, 1);
        }
      }
      length += count;
    }
    if (length === 0) definition.add(EMPTY, 1);
    this.#repetition.add(NEXT_ROW, 1);
    this.#repetition.add(SAME_ROW, Math.max(length - 1, 0));
    this.size += Math.max(length, 1);
  }

  putInto(page: GrowingBytes, dictionarySize: number): void {
    page.sized(this.#repetition.end());
    page.sized(this.#definition.end());
    if (dictionarySize > 0) putIndexes(page, this.#places.collected, this.#placeCount, indexWidth(dictionarySize));
  }
}
