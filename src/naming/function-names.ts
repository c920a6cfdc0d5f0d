import type { StringTable } from '../base/string-table.ts';
import { type DemangleStyle, demangle } from '../demangle/demangle.ts';

/** A name to show, and the linkage name where it differs (else 0); both are string indexes. */
export interface FunctionName {
  readonly name: number;
  readonly systemName: number;
}

/**
 * Demangles a symbol's name. What follows the mangled name, `@plt` or a version (`@@GLIBCXX_3.4`), is kept.
 * @returns undefined for a name that is not mangled
 */
export function demangleSymbol(symbol: string, style: DemangleStyle): string | undefined {
  const at = symbol.indexOf('@');
  if (at < 0) return demangle(symbol, style);
  const shown = demangle(symbol.slice(0, at), style);
  return shown === undefined ? undefined : shown + symbol.slice(at);
}

/** Turns linkage names into names to show, each name once. */
export class FunctionNames {
  readonly #strings: StringTable;
  readonly #style: DemangleStyle | 'none';
  readonly #known = new Map<string, FunctionName>();

  constructor(strings: StringTable, style: DemangleStyle | 'none') {
    this.#strings = strings;
    this.#style = style;
  }

  /** @param linkageName as it is in the symbol table or debug information */
  of(linkageName: string): FunctionName {
    let known = this.#known.get(linkageName);
    if (known === undefined) {
      const shown = this.#style === 'none' ? undefined : demangleSymbol(linkageName, this.#style);
      const isMangled = shown !== undefined && shown !== linkageName;
      known = { name: this.#strings.intern(isMangled ? shown : linkageName), systemName: isMangled ? this.#strings.intern(linkageName) : 0 };
      this.#known.set(linkageName, known);
    }
    return known;
  }
}
