import { demangle } from '../demangle/demangle.ts';
import { MAX_OUTPUT } from '../demangle/schemes/itanium/limits.ts';

/** How `perf script` demangles names to choose among them. */
const STYLE = 'no-params';
/**
 * How many characters may be demangled to choose names. All aliases of Node's binary have 1.5 million; only a hostile
 * file has more.
 */
const MAX_DEMANGLED = 1 << 25;

/** Chooses among the names of an address, for one symbol table. */
export class AliasChoice {
  #left = MAX_DEMANGLED;

  /**
   * Which of several names of one address perf shows if nothing else decides: the one with fewer leading underscores when demangled; else
   * the longer one; else the one that comes first in the file. Observed: perf 6.1.
   * @param names linkage names in the order of the file; at least one
   */
  best(names: readonly string[]): string {
    let best = names[0];
    let bestShown = this.#shown(best);
    for (const name of names.slice(1)) {
      const shown = this.#shown(name);
      const underscores = leadingUnderscores(shown) - leadingUnderscores(bestShown);
      if (underscores > 0 || (underscores === 0 && shown.length <= bestShown.length)) continue;
      best = name;
      bestShown = shown;
    }
    return best;
  }

  #shown(name: string): string {
    if (this.#left <= 0 || !/^(?:_{1,2}[ZRG]|caml[A-Z]|L[^;]+;)/.test(name)) return name;
    const shown = demangle(name, STYLE);
    // A name that exceeds the demangler's limits may cost as much as the longest one.
    this.#left -= shown?.length ?? MAX_OUTPUT;
    return shown ?? name;
  }
}

function leadingUnderscores(name: string): number {
  return /^_*/.exec(name)?.[0].length ?? 0;
}
