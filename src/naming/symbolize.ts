import type { Profile } from '../profile/profile.ts';
import type { SessionResult } from '../session/session.ts';
import { SymbolSearch } from '../symbolizer/search/search-log.ts';
import { type CodeSourceOptions, CodeSources, isKernelImage } from './code-sources.ts';
import { LocationNaming, type LocationNamingOptions } from './location-naming.ts';
import type { PayloadTexts } from './payload-texts.ts';

/** How locations are named. */
export interface NamingOptions extends LocationNamingOptions, CodeSourceOptions {
  readonly compatPerf: boolean;
}

/**
 * Names the functions at all locations of a profile, and those that payloads hold addresses of: each DSO's symbols are read once, each location is
 * looked up once.
 * @param payloads of tracepoints; undefined where none are shown
 * @returns where was looked for the symbols of which mapping
 */
export async function symbolizeLocations(
  profile: Profile,
  session: SessionResult,
  options: NamingOptions,
  payloads?: PayloadTexts,
): Promise<ReadonlyMap<number, SymbolSearch>> {
  const searches = new Map<number, SymbolSearch>();
  const sources = new CodeSources(session, options);
  const locations = new LocationNaming(profile, options);
  const groups = groupByMapping(profile);
  for (const index of kernelFirst(session)) {
    let left = groups[index] ?? [];
    const isDone = (): boolean => left.length === 0 && payloads?.wants(index) !== true;
    if (isDone()) continue;
    const search = new SymbolSearch();
    searches.set(index, search);
    const mapping = profile.mappings[index];
    for await (const code of sources.of(index, { lines: options.debugInfo !== 'none' && left.length > 0, search })) {
      mapping.hasSymbols = true;
      left = await locations.byCode(left, code);
      if (code.table !== undefined) payloads?.nameBy(index, code.table);
      if (isDone()) break;
    }
    // That of the very file that was mapped is surer than the recorded one.
    if (search.mappedBuildId !== undefined) mapping.buildId = search.mappedBuildId;
  }
  return searches;
}

/** Indexes of all DSOs, kernels first: in this order outputs list their functions. */
function kernelFirst({ dsos }: SessionResult): number[] {
  const indexes = [...dsos.keys()];
  return [...indexes.filter((i) => isKernelImage(dsos[i])), ...indexes.filter((i) => !isKernelImage(dsos[i]))];
}

/** Locations of each mapping; a hole for a mapping that no location lies in. */
function groupByMapping({ locations, mappings }: Profile): (readonly number[] | undefined)[] {
  const groups = new Array<number[] | undefined>(mappings.length).fill(undefined);
  for (let location = 0; location < locations.size; location++) {
    const mapping = locations.mapping(location);
    if (mapping < 0) continue;
    const group = groups[mapping];
    if (group === undefined) groups[mapping] = [location];
    else group.push(location);
  }
  return groups;
}
