import type { StringTable } from '../../base/tables/string-table.ts';
import type { Profile } from '../../profile/profile.ts';
import type { SampleTable } from '../../profile/sample-table.ts';
import type { FrameList } from './frame-lists.ts';
import { TextDictionary } from './text-dictionary.ts';

/** DuckDB reads row groups in parallel, and its own have this many rows. */
const MAX_ROWS = 122_880;
/** UTF-16 units of the different names, which become dictionaries: they are in memory when a row group is read or written, and a page has less than 2 GiB. */
const MAX_TEXT = 1 << 24;

/** A column of lists, and its dictionary in the current row group. */
export interface ListValues {
  readonly frames: FrameList;
  readonly dictionary: TextDictionary;
}

/** Divides samples into row groups, and collects the texts of their stacks. */
export class RowGroups {
  readonly #samples: SampleTable;
  readonly #parents: Int32Array;
  readonly #locations: Int32Array;
  readonly #strings: StringTable;
  readonly #files: Uint32Array;
  readonly #maxRows: number;
  /** By stack: the last row group that has it, from 1 on. */
  readonly #seen: Uint32Array;
  #group = 0;
  readonly lists: readonly ListValues[];
  /** The files of leaves in the current row group, whose column has a dictionary, too. Names of threads and the like are short. */
  readonly #leafFiles: TextDictionary;

  /** @param files by location: text of the file of its line; 0 for none */
  constructor({ stacks }: Profile, samples: SampleTable, strings: StringTable, lists: readonly FrameList[], files: Uint32Array, maxRows = MAX_ROWS) {
    this.#samples = samples;
    this.#parents = stacks.columns.parents;
    this.#locations = stacks.columns.locations;
    this.#strings = strings;
    this.#files = files;
    this.#maxRows = maxRows;
    this.#seen = new Uint32Array(stacks.size);
    this.lists = lists.map((frames) => ({ frames, dictionary: new TextDictionary(strings.size) }));
    this.#leafFiles = new TextDictionary(strings.size);
  }

  /** Begins the row group of samples from `start` on, and fills the dictionaries. @returns the row after its last one */
  next(start: number): number {
    const { size, stack: stackOf } = this.#samples;
    this.#group++;
    for (const { dictionary } of this.lists) dictionary.clear();
    this.#leafFiles.clear();
    const end = Math.min(size, start + this.#maxRows);
    let length = 0;
    let row = start;
    for (; row < end && length < MAX_TEXT; row++) {
      // hot
      const leaf = stackOf[row];
      if (leaf >= 0) length += this.#add(this.#leafFiles, this.#files[this.#locations[leaf]]);
      for (let stack = leaf; stack >= 0 && this.#seen[stack] !== this.#group; stack = this.#parents[stack]) {
        this.#seen[stack] = this.#group;
        length += this.#addFrames(this.#locations[stack]);
      }
    }
    return row;
  }

  /** @returns how much text was added */
  #addFrames(location: number): number {
    let length = 0;
    for (const { dictionary, frames } of this.lists) {
      for (let nth = 0; nth < frames.count(location); nth++) length += this.#add(dictionary, frames.text(location, nth));
    }
    return length;
  }

  /** @returns how much text was added: none if there is no text, or if it was there before */
  #add(dictionary: TextDictionary, text: number): number {
    return text > 0 && dictionary.add(text) ? this.#strings.length(text) : 0;
  }
}
