import type { StringTable } from '../base/tables/string-table.ts';
import { demangleName } from '../demangle/demangle-name.ts';
import { demangleRustLegacy } from '../demangle/schemes/rust/rust-legacy.ts';
import type { DemangleStyle } from '../demangle/schemes/style.ts';
import { simplifySourceName } from '../demangle/source-names.ts';
import type { SourceFunction } from '../symbol-table/code-symbols.ts';
import { withoutCloneSuffixes } from './clone-suffixes.ts';
import { scopedName } from './scoped-name.ts';

/** A name to show, and what it was made from if that differs (else 0): see `FunctionTable.intern`. Both are string indexes. */
export interface FunctionName {
  readonly name: number;
  readonly systemName: number;
  /** Whether `systemName` is the name in the source without its scopes, since there is no linkage name. */
  readonly isScoped: boolean;
}

/** What follows the name of the function that a PLT stub calls. */
const PLT_SUFFIX = '@plt';

/** perf does not demangle longer names in C++, since libiberty refuses them (observed, 6.1). Those in Rust may have any length. */
const LONGEST_DEMANGLED_BY_PERF = 1024;

/**
 * Demangles a symbol's name. What follows the mangled name is kept: `@plt`, or a version (`@@GLIBCXX_3.4`), except in the style `no-params`: perf leaves versions
 * out of demangled names (observed, 6.1). In the style `simple`, names that are not mangled lose the suffixes of clones (`.part.0`), as mangled ones do.
 * @param likePerf leave long names in C++ mangled, and show parameters of lambdas in templates as perf does
 * @returns undefined for a name that stays as it is
 */
export function demangleSymbol(symbol: string, style: DemangleStyle, likePerf = false): string | undefined {
  const at = symbol.indexOf('@');
  const linkageName = at < 0 ? symbol : symbol.slice(0, at);
  if (likePerf && isTooLongForPerf(linkageName)) return undefined;
  const shown = demangleName(linkageName, style, likePerf) ?? (style === 'simple' ? withoutCloneSuffixes(linkageName) : linkageName);
  if (shown === linkageName) return undefined;
  const suffix = symbol.slice(linkageName.length);
  return style === 'no-params' && suffix !== PLT_SUFFIX ? shown : shown + suffix;
}

function isTooLongForPerf(linkageName: string): boolean {
  return linkageName.length > LONGEST_DEMANGLED_BY_PERF && linkageName.startsWith('_Z') && demangleRustLegacy(linkageName, 'full') === undefined;
}

/**
 * How names are shown. `none`: as in symbol tables or debug information. Else in a style of {@link demangle}; names without a linkage name have their scopes.
 * `later`: like `full`, but mangled names stay as they are until the profile gets others (`withSimpleNames`, `withoutParameters`).
 */
export type NameStyle = DemangleStyle | 'none' | 'later';

/**
 * How many characters scopes may add to all names together: in a hostile file, all names can share scopes with long names. Real programs have a thousandth of
 * that.
 */
const MAX_SCOPED_CHARACTERS = 1 << 26;

/** Turns names in symbol tables and debug information into names to show, each once. */
export class FunctionNames {
  readonly #strings: StringTable;
  readonly #style: NameStyle;
  readonly #likePerf: boolean;
  readonly #known = new Map<string, FunctionName>();
  readonly #scoped = new Map<SourceFunction, FunctionName>();
  #scopedCharactersLeft = MAX_SCOPED_CHARACTERS;

  /** @param likePerf demangle only what perf demangles, and as it does */
  constructor(strings: StringTable, style: NameStyle, likePerf = false) {
    this.#strings = strings;
    this.#style = style;
    this.#likePerf = likePerf;
  }

  /** @param linkageName as it is in the symbol table or debug information */
  of(linkageName: string): FunctionName {
    let known = this.#known.get(linkageName);
    if (known === undefined) {
      const shown = this.#style === 'none' || this.#style === 'later' ? undefined : demangleSymbol(linkageName, this.#style, this.#likePerf);
      const isMangled = shown !== undefined && shown !== linkageName;
      known = { name: this.#strings.intern(isMangled ? shown : linkageName), systemName: isMangled ? this.#strings.intern(linkageName) : 0, isScoped: false };
      this.#known.set(linkageName, known);
    }
    return known;
  }

  /** The name of a function that debug information describes. */
  ofDescribed(described: SourceFunction): FunctionName {
    if (described.linkageName !== '' || described.scope === undefined || this.#style === 'none') return this.of(described.linkageName || described.name);
    let known = this.#scoped.get(described);
    if (known === undefined) {
      const { name } = described;
      const shown = this.#scopedCharactersLeft > 0 ? scopedName(described, this.#style === 'later' ? 'full' : this.#style) : name;
      this.#scopedCharactersLeft -= shown.length - name.length;
      const isScoped = shown !== name || simplifySourceName(name) !== name;
      known = { name: this.#strings.intern(shown), systemName: isScoped ? this.#strings.intern(name) : 0, isScoped };
      this.#scoped.set(described, known);
    }
    return known;
  }
}
