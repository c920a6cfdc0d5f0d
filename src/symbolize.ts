import { RunTimeKernelCode } from './bpf-code.ts';
import { EmbeddedSymbolTables } from './embedded-symbols.ts';
import { jitDumpSymbols } from './jit-symbols.ts';
import { type FunctionTable, LocationNaming, type LocationNamingOptions } from './location-naming.ts';
import type { Profile } from './profile/profile.ts';
import type { Dso } from './session/dsos.ts';
import type { SessionResult } from './session/session.ts';
import { isGuestImage } from './symbols/kernel/kernel-identity.ts';
import { SymbolSearch } from './symbols/search/search-log.ts';
import type { CodeObject, Symbolizer } from './symbols/symbolizer.ts';

/** How locations are named. */
export interface NamingOptions extends LocationNamingOptions {
  /** Undefined: nothing but the recording itself is asked. */
  readonly symbolizer: Symbolizer | undefined;
  /** As perf 6.1 does, which does not know symbols that the recording itself holds. */
  readonly compatPerf: boolean;
}

/**
 * Names the functions at all locations of a profile: each binary's symbols are read once, each location looked up once.
 *
 * What the recording itself holds is asked first: it was read from the very files that ran, while those of the same names
 * here are often others (an Android device's), and it has what the recording machine alone could know (JIT code, Java
 * methods). Files are asked for the addresses that are left, since the device's own binaries may be stripped of their symbols.
 * @returns where was looked for the symbols of which mapping
 */
export async function symbolizeLocations(profile: Profile, session: SessionResult, options: NamingOptions): Promise<ReadonlyMap<number, SymbolSearch>> {
  const { symbolizer, compatPerf } = options;
  const { mappings } = profile;
  const naming = new LocationNaming(profile, options);
  const byMapping = groupByMapping(profile);
  const hasModules = (kind: Dso['kind']): boolean =>
    session.dsos.some((dso, mapping) => dso.kind === kind && !dso.isOneFunction && byMapping[mapping] !== undefined);
  const isAskedForModules = (dso: Dso): boolean => isKernelImage(dso) && hasModules(dso.kind === 'kernel' ? 'module' : 'guest');
  const embedded = new EmbeddedSymbolTables(session);
  const runTimeCode = new RunTimeKernelCode(session.features.bpfPrograms ?? []);
  const searches = new Map<number, SymbolSearch>();
  for (const mapping of kernelFirst(session)) {
    const dso = session.dsos[mapping];
    let left = byMapping[mapping] ?? [];
    const nameBy = (symbols: FunctionTable): void => {
      mappings[mapping].hasSymbols = true;
      left = naming.bySymbols(left, symbols);
    };
    if (left.length > 0 && dso.isOneFunction) {
      mappings[mapping].hasSymbols = true;
      await naming.byCode(left, runTimeCode.codeOf(dso));
      continue;
    }
    const own = left.length === 0 || compatPerf ? [] : embedded.tablesOf(mapping);
    for (const table of own) nameBy(dso.kind === 'module' ? withoutModule(table) : table);
    const dump = left.length === 0 ? undefined : session.jitDumps.get(mapping);
    if (dump !== undefined) {
      const search = new SymbolSearch();
      search.use(dump.name, 'symbols');
      searches.set(mapping, search);
      mappings[mapping].hasSymbols = true;
      await naming.byCode(left, jitDumpSymbols(dump));
      continue;
    }
    // Modules need the kernel to be asked for, though no sample may lie in it.
    if (symbolizer === undefined || (left.length === 0 && !isAskedForModules(dso))) continue;
    const search = new SymbolSearch();
    if (left.length > 0) searches.set(mapping, search);
    const code = await symbolizer.symbolsFor(codeObject(dso, session), { lines: options.debugInfo !== 'none' && left.length > 0, search });
    if (code === undefined) continue;
    mappings[mapping].hasSymbols = true;
    try {
      await naming.byCode(left, code);
    } finally {
      await code.close?.();
    }
  }
  return searches;
}

function codeObject(dso: Dso, { features }: SessionResult): CodeObject {
  const { name, longName, kind, buildId, start, codeStart, pid, referenceSymbol, referenceAddress } = dso;
  return {
    name,
    kind,
    buildId,
    // What a virtual machine runs is not recorded.
    osRelease: kind === 'guest' ? '' : (features.osrelease ?? ''),
    ...(kind === 'module' && { longName, start }),
    ...(kind === 'guest' && { pid, start }),
    ...(kind === 'file' && { pid, codeStart, mapFile: mapFileOf(dso) }),
    ...(referenceSymbol !== '' && { referenceSymbol, referenceAddress }),
  };
}

/** What is at hand of a map is where its code began, and where the last one of its maps ended: mostly that is the same one. */
function mapFileOf({ codeStart, limit, bias }: Dso): string {
  return Number.isFinite(codeStart) ? `${(codeStart + bias).toString(16)}-${(limit + bias).toString(16)}` : '';
}

/** simpleperf writes `name [module]` for a module's function that it found in kallsyms. */
function withoutModule(symbols: FunctionTable): FunctionTable {
  return { find: (address) => symbols.find(address), start: (index) => symbols.start(index), name: (index) => symbols.name(index).replace(/ \[[^\]]*\]$/, '') };
}

function isKernelImage({ kind, name }: Dso): boolean {
  return kind === 'kernel' || (kind === 'guest' && isGuestImage(name));
}

/** Indexes of all DSOs, kernels first: which kernel it was decides whose module symbols are the right ones. */
function kernelFirst({ dsos }: SessionResult): number[] {
  const indexes = [...dsos.keys()];
  return [...indexes.filter((i) => isKernelImage(dsos[i])), ...indexes.filter((i) => !isKernelImage(dsos[i]))];
}

/** Locations of each mapping; a hole for a mapping that no location lies in. */
function groupByMapping({ locations, mappings }: Profile): (number[] | undefined)[] {
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
