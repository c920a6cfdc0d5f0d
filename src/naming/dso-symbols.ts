import type { MappingKind, Profile } from '../profile/profile.ts';
import type { SearchedPlace, SymbolSearch } from '../symbolizer/inputs/search-log.ts';

/** How much of one DSO's code has names, and why not more. */
export interface DsoSymbols {
  /** As recorded. */
  readonly name: string;
  readonly kind: MappingKind;
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** Samples of all events whose leaf is in the DSO, and how many of those leaves have no name. */
  readonly samples: number;
  readonly unnamedSamples: number;
  /** Samples in the whole profile. */
  readonly allSamples: number;
  /** The DSO's addresses in stacks and branches: all, those with a function, those with a line (undefined if lines were not looked for). */
  readonly locations: number;
  readonly namedLocations: number;
  readonly lineLocations: number | undefined;
  /** Where its symbols were looked for, in that order; empty if the recording itself has them, and for DSOs without files. */
  readonly places: readonly SearchedPlace[];
  /** Whether servers are asked for what is not found, if there are any. */
  readonly mayAskServers: boolean;
}

/**
 * Counts what has names and lines in each DSO that has addresses in stacks or branches. The DSOs with the most samples
 * come first.
 * @param searches by mapping
 * @param hasLines whether files and lines were looked for
 */
export function summarizeDsos(profile: Profile, searches: ReadonlyMap<number, SymbolSearch>, hasLines: boolean): DsoSymbols[] {
  const { mappings, locations, totals, stacks } = profile;
  const zeros = (): number[] => new Array(mappings.length).fill(0);
  const [samples, unnamedSamples, all, named, withLine] = [zeros(), zeros(), zeros(), zeros(), zeros()];
  let allSamples = 0;
  for (let row = 0; row < totals.size; row++) {
    allSamples += totals.samples(row);
    const leaf = totals.stack(row) < 0 ? -1 : stacks.location(totals.stack(row));
    const mapping = leaf < 0 ? -1 : locations.mapping(leaf);
    if (mapping < 0) continue;
    samples[mapping] += totals.samples(row);
    if (locations.lineCount(leaf) === 0) unnamedSamples[mapping] += totals.samples(row);
  }
  for (let location = 0; location < locations.size; location++) {
    const mapping = locations.mapping(location);
    if (mapping < 0 || locations.isData(location)) continue;
    const lineCount = locations.lineCount(location);
    all[mapping]++;
    if (lineCount > 0) named[mapping]++;
    if (lineCount > 0 && locations.lineNumber(location, lineCount - 1) > 0) withLine[mapping]++;
  }
  const dsos = mappings.map(
    ({ name, kind, buildId }, mapping): DsoSymbols => ({
      name,
      kind,
      buildId,
      samples: samples[mapping],
      unnamedSamples: unnamedSamples[mapping],
      allSamples,
      locations: all[mapping],
      namedLocations: named[mapping],
      lineLocations: hasLines && searches.get(mapping)?.isWithoutLines !== true ? withLine[mapping] : undefined,
      places: searches.get(mapping)?.places ?? [],
      mayAskServers: searches.get(mapping)?.mayAskServers ?? true,
    }),
  );
  return dsos.filter((dso) => dso.locations > 0).sort((a, b) => b.samples - a.samples || b.locations - a.locations);
}
