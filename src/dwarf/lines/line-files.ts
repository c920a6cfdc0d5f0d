import type { LineHeader } from './line-header.ts';
import { isAbsolutePath, joinSourcePath } from './line-path.ts';
import type { LineNameText } from './line-strings.ts';

/** What a line table needs to know about the unit that refers to it with DW_AT_stmt_list. */
export interface LineTableUnit {
  /** DW_AT_name; empty when unknown. */
  readonly name: string;
  /** DW_AT_comp_dir; empty when unknown. */
  readonly compDir: string;
  /** DW_AT_str_offsets_base; absent if the unit has none. */
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

  /** The path of a file; empty if there is none with that index. */
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

  /** A directory's path. A relative one is relative to the unit's directory. */
  #directory(index: number): string {
    const { directories } = this.#header;
    const { compDir } = this.#unit;
    const unitDirectory = this.#unitDirectory();
    if (!(index < directories.places.length)) return moreComplete(compDir, unitDirectory);
    this.#directories[index] ??=
      index === 0 ? moreComplete(unitDirectory, compDir) : joinSourcePath(moreComplete(compDir, unitDirectory), this.#textOf(directories, index));
    return this.#directories[index];
  }

  /** The unit's directory according to the table; empty before version 5, which leaves it to DW_AT_comp_dir. */
  #unitDirectory(): string {
    const { version, directories } = this.#header;
    return version >= 5 ? joinSourcePath(this.#textOf(directories, 0)) : '';
  }
}

/**
 * Chooses between two spellings of one directory. From version 5 on, directory 0 is not below DW_AT_comp_dir but is that directory once more (DWARF 5, 6.2.4),
 * so the two are never joined. One may be missing, or be relative when the other is not.
 * @param preferred taken if neither is more complete than the other
 */
function moreComplete(preferred: string, other: string): string {
  const isLessComplete = preferred === '' || (isAbsolutePath(other) && !isAbsolutePath(preferred));
  return isLessComplete ? other : preferred;
}
