import type { Profile } from './profile/profile.ts';
import type { Dso } from './session/dsos.ts';
import type { SessionResult } from './session/session.ts';
import type { SymbolTable } from './symbols/symbol-table.ts';
import type { Symbolizer } from './symbols/symbolizer.ts';

/** Names the functions at all locations of a profile: each binary's symbols are read once, each location looked up once. */
export async function symbolizeLocations(profile: Profile, session: SessionResult, symbolizer: Symbolizer): Promise<void> {
  const { locations, functions, strings, mappings } = profile;
  const byMapping = groupByMapping(profile);
  const hasModules = session.dsos.some((dso, mapping) => dso.kind === 'module' && !dso.isOneFunction && byMapping[mapping] !== undefined);
  for (const mapping of kernelFirst(session)) {
    const dso = session.dsos[mapping];
    const group = byMapping[mapping] ?? [];
    // Modules need the kernel to be asked for, though no sample may lie in it.
    if (group.length === 0 && !(dso.kind === 'kernel' && hasModules)) continue;
    const symbols: Symbols | undefined = dso.isOneFunction
      ? oneFunction(dso)
      : await symbolizer.symbolsFor({
          name: dso.name,
          kind: dso.kind,
          buildId: dso.buildId,
          osRelease: session.features.osrelease ?? '',
          ...(dso.referenceSymbol !== '' && { referenceSymbol: dso.referenceSymbol, referenceAddress: dso.referenceAddress }),
        });
    if (symbols === undefined) continue;
    mappings[mapping].hasSymbols = true;
    const functionOfSymbol = new Map<number, number>();
    for (const location of group) {
      const address = locations.address(location);
      const symbol = symbols.find(locations.isReturnAddress(location) ? address - 1 : address);
      if (symbol < 0) continue;
      let func = functionOfSymbol.get(symbol);
      if (func === undefined) {
        func = functions.intern(strings.intern(symbols.name(symbol)));
        functionOfSymbol.set(symbol, func);
      }
      locations.setLines(location, [func], [0], [0], address - symbols.start(symbol));
    }
  }
}

/** What a symbol table offers, as far as it is needed here. */
type Symbols = Pick<SymbolTable, 'find' | 'name' | 'start'>;

/** The symbols of run-time kernel code: the recording names it itself. */
function oneFunction({ name, start, limit }: Dso): Symbols {
  return { find: (address) => (address >= start && address < limit ? 0 : -1), name: () => name, start: () => start };
}

/** Indexes of all DSOs, kernels first: which kernel it was decides whose module symbols are the right ones. */
function kernelFirst({ dsos }: SessionResult): number[] {
  const indexes = [...dsos.keys()];
  return [...indexes.filter((i) => dsos[i].kind === 'kernel'), ...indexes.filter((i) => dsos[i].kind !== 'kernel')];
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
