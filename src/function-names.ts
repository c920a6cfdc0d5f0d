import type { StringTable } from './intern/string-table.ts';

/** A name to show, and the linkage name where that is another: string indexes. */
export interface FunctionName {
  readonly name: number;
  readonly systemName: number;
}

/** Makes names to show of names as linkers know them, each once. */
export class FunctionNames {
  readonly #strings: StringTable;
  readonly #demangle: (name: string) => string | undefined;
  readonly #known = new Map<string, FunctionName>();

  /** @param demangle undefined for what is no mangled name */
  constructor(strings: StringTable, demangle: (name: string) => string | undefined) {
    this.#strings = strings;
    this.#demangle = demangle;
  }

  /** @param linkageName as the symbol table or debug information has it */
  of(linkageName: string): FunctionName {
    let known = this.#known.get(linkageName);
    if (known === undefined) {
      const shown = this.#demangle(linkageName);
      const isMangled = shown !== undefined && shown !== linkageName;
      known = { name: this.#strings.intern(isMangled ? shown : linkageName), systemName: isMangled ? this.#strings.intern(linkageName) : 0 };
      this.#known.set(linkageName, known);
    }
    return known;
  }
}
