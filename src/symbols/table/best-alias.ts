import { demangle } from '../demangle/demangle.ts';

/** As names are demangled in `perf script`, which chooses among them. */
const STYLE = 'no-params';

/**
 * Which of several names of one address perf shows, where nothing else prefers one: the one that demangled has fewer leading underscores, is
 * longer, is earlier in the file. Observed: perf 6.1.
 * @param names as linkers know them, in the order of the file; at least one
 */
export function bestAlias(names: readonly string[]): string {
  let best = names[0];
  let bestShown = demangle(best, STYLE) ?? best;
  for (const name of names.slice(1)) {
    const shown = demangle(name, STYLE) ?? name;
    const underscores = leadingUnderscores(shown) - leadingUnderscores(bestShown);
    if (underscores > 0 || (underscores === 0 && shown.length <= bestShown.length)) continue;
    best = name;
    bestShown = shown;
  }
  return best;
}

function leadingUnderscores(name: string): number {
  return /^_*/.exec(name)?.[0].length ?? 0;
}
