import { TupleInterner } from '../base/tables/tuple-interner.ts';

/**
 * Functions, each once: rows are unique in (name, systemName, file, startLine). All text is string indexes.
 */
export class FunctionTable {
  #rows = new TupleInterner(4, 256);
  #scoped = new Set<number>();
  /** Names that replace those of the rows. */
  #names: Uint32Array | undefined;

  get size(): number {
    return this.#rows.size;
  }

  /**
   * @param name string index of the name to show (demangled if that was asked for)
   * @param systemName string index of the linkage name if it differs from `name`, else 0 (empty); for a scoped name, see `isScoped`
   * @param file string index of the source file, 0 (empty) when unknown
   * @param startLine 1-based line of the definition, 0 when unknown
   * @param isScoped whether there is no linkage name: `name` was composed from the scopes in debug information, and `systemName` is the function's name without
   * them
   */
  intern(name: number, systemName = 0, file = 0, startLine = 0, isScoped = false): number {
    const row = this.#rows.intern(name, systemName, file, startLine);
    if (isScoped) this.#scoped.add(row);
    return row;
  }

  isScoped(index: number): boolean {
    return this.#scoped.has(index);
  }

  /** The same functions under other names. What is added to either table from then on is in both. @param names by function: string indexes */
  withNames(names: Uint32Array): FunctionTable {
    const renamed = new FunctionTable();
    renamed.#rows = this.#rows;
    renamed.#scoped = this.#scoped;
    renamed.#names = names;
    return renamed;
  }

  name(index: number): number {
    return this.#names !== undefined && index < this.#names.length ? this.#names[index] : this.#rows.words[index * 4];
  }

  systemName(index: number): number {
    const { words } = this.#rows;
    const systemName = words[index * 4 + 1];
    // A name that was the linkage name remains so after it was replaced.
    return systemName !== 0 || this.name(index) === words[index * 4] ? systemName : words[index * 4];
  }

  file(index: number): number {
    return this.#rows.words[index * 4 + 2];
  }

  startLine(index: number): number {
    return this.#rows.words[index * 4 + 3];
  }
}
