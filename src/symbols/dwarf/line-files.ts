import type { LineHeader } from './line-header.ts';
import { joinSourcePath } from './line-path.ts';
import type { LineNameText } from './line-strings.ts';

/** What a line table needs to know of the unit that names it in DW_AT_stmt_list. */
export interface LineTableUnit {
  /** DW_AT_name; empty when unknown. */
  readonly name: string;
  /** DW_AT_comp_dir; empty when unknown. */
  readonly compDir: string;
  /** DW_AT_str_offsets_base; absent where the unit has none. */
  readonly strOffsetsBase?: number;
}

/** The files of a line table as paths, each made when it is first asked for. */
export class LineFiles {
  readonly #header: LineHeader;
  readonly #textOf: LineNameText;
  readonly #unit: LineTableUnit;
  readonly #directories: (string | undefined)[] = [];
  readonly #paths: (string | undefined)[] = [];

  constructor(header: LineHeader, textOf: LineNameText, unit: LineTableUnit) {
    this.#header = header;
    this.#textOf = textOf;
    this.#unit = unit;
  }

  /** How many indexes there are: files are added while the program runs. */
  get size(): number {
    return this.#header.files.places.length;
  }

  /** The path of a file; empty when there is none of that index. */
  path(index: number): string {
    if (!(index < this.size)) return '';
    this.#paths[index] ??= this.#join(index);
    return this.#paths[index];
  }

  #join(index: number): string {
    const { version, files } = this.#header;
    if (version < 5 && index === 0) return joinSourcePath(this.#unit.compDir, this.#unit.name);
    const name = this.#textOf(files, index);
    return name === '' ? '' : joinSourcePath(this.#directory(files.directories[index]), name);
  }

  /** A directory's path: what is relative is so to the unit's. */
  #directory(index: number): string {
    if (!(index < this.#header.directories.places.length)) return this.#unit.compDir;
    this.#directories[index] ??= joinSourcePath(this.#base(), this.#textOf(this.#header.directories, index));
    return this.#directories[index];
  }

  #base(): string {
    const { version, directories } = this.#header;
    // From version 5 on the first directory is the unit's, should the unit itself not say it.
    return this.#unit.compDir === '' && version >= 5 ? this.#textOf(directories, 0) : this.#unit.compDir;
  }
}
