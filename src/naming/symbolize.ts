import type { Profile } from '../profile/profile.ts';
import type { SessionResult } from '../session/session.ts';
import { SymbolSearch } from '../symbolizer/inputs/search-log.ts';
import { type CodeSourceOptions, CodeSources, isKernelImage } from './code-sources.ts';
import { LocationNaming, type LocationNamingOptions } from './location-naming.ts';
import type { PayloadTexts } from './payload-texts.ts';

/** How locations are named. */
export interface NamingOptions extends LocationNamingOptions, CodeSourceOptions {
  readonly compatPerf: boolean;
  /** Awaited before symbols are looked for; throws to give up. */
  readonly checkpoint?: () => Promise<void>;
}

/**
 * Names the functions at all locations of a profile and at the addresses in payloads. Each source of a DSO's symbols is
 * read once, and asked for the locations that the sources before it left.
 * @param payloads of tracepoints; undefined if none are shown
 * @returns by mapping: where its symbols were looked for
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
    await options.checkpoint?.();
    const search = new SymbolSearch();
    searches.set(index, search);
    const mapping = profile.mappings[index];
    const hasCode = left.some((location) => !profile.locations.isData(location));
    for await (const code of sources.of(index, { lines: options.debugInfo !== 'none' && hasCode, search })) {
      await options.checkpoint?.();
      if (code.table !== undefined || code.lines !== undefined) mapping.hasSymbols = true;
      left = await locations.nameBy(left, code);
      await locations.noteStartsBy(left, code);
      if (code.table !== undefined) payloads?.nameBy(index, code.table);
      if (isDone()) break;
    }
    if (search.places.some(({ outcome, holds }) => outcome === 'fits' && holds.code)) mapping.wasFound = true;
    // The build id of the file that is still mapped is more certain than the recorded one.
    if (search.mappedBuildId !== undefined) mapping.buildId = search.mappedBuildId;
  }
  return searches;
}

/** Indexes of all DSOs, kernels first. Outputs list functions in this order. */
function kernelFirst({ dsos }: SessionResult): number[] {
  const indexes = [...dsos.keys()];
  return [...indexes.filter((i) => isKernelImage(dsos[i])), ...indexes.filter((i) => !isKernelImage(dsos[i]))];
}

/** The locations of each mapping; undefined for a mapping without locations. */
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
