import type { MappingKind, Profile } from '../profile/profile.ts';
import type { SearchedPlace, SymbolSearch } from '../symbolizer/search/search-log.ts';

/** What is known of the names of one DSO's code, and why not more. */
export interface DsoSymbols {
  /** As recorded. */
  readonly name: string;
  readonly kind: MappingKind;
  /** Lower-case hex; empty when unknown. */
  readonly buildId: string;
  /** Samples whose leaf lies in it, of all events, and those of them whose leaf has no name. */
  readonly samples: number;
  readonly unnamedSamples: number;
  /** Samples in the whole profile. */
  readonly allSamples: number;
  /** Addresses of it in the profile: all, those with a function, those with a line; undefined where lines were not looked for. */
  readonly locations: number;
  readonly namedLocations: number;
  readonly lineLocations: number | undefined;
  /** Where was looked for its symbols, in that order; empty where the recording has them, and for what has no files. */
  readonly places: readonly SearchedPlace[];
}

/**
 * Sums up what is known of each DSO that has addresses in the profile, those with the most samples first.
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
    if (mapping < 0) continue;
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
    }),
  );
  return dsos.filter((dso) => dso.locations > 0).sort((a, b) => b.samples - a.samples || b.locations - a.locations);
}
