import { EmbeddedSymbolTables } from './embedded-symbols.ts';
import type { Profile } from './profile/profile.ts';
import type { Dso } from './session/dsos.ts';
import type { SessionResult } from './session/session.ts';
import type { SymbolTable } from './symbols/symbol-table.ts';
import type { Symbolizer } from './symbols/symbolizer.ts';

/**
 * Names the functions at all locations of a profile: each binary's symbols are read once, each location looked up once.
 *
 * What the recording itself holds is asked first: it was read from the very files that ran, while those of the same names
 * here are often others (an Android device's), and it has what the recording machine alone could know (JIT code, Java
 * methods). Files are asked for the addresses that are left, since the device's own binaries may be stripped of their symbols.
 * @param symbolizer undefined: nothing else is asked
 * @param ignoresEmbedded treat the recording's own symbols as perf does, which does not know them
 */
export async function symbolizeLocations(
  profile: Profile,
  session: SessionResult,
  symbolizer: Symbolizer | undefined,
  ignoresEmbedded: boolean,
): Promise<void> {
  const { mappings } = profile;
  const byMapping = groupByMapping(profile);
  const hasModules = session.dsos.some((dso, mapping) => dso.kind === 'module' && !dso.isOneFunction && byMapping[mapping] !== undefined);
  const embedded = new EmbeddedSymbolTables(session);
  for (const mapping of kernelFirst(session)) {
    const dso = session.dsos[mapping];
    let left = byMapping[mapping] ?? [];
    const nameBy = (symbols: Symbols): void => {
      mappings[mapping].hasSymbols = true;
      left = nameLocations(profile, left, symbols);
    };
    if (left.length > 0 && dso.isOneFunction) {
      nameBy(oneFunction(dso));
      continue;
    }
    const own = left.length === 0 || ignoresEmbedded ? [] : embedded.tablesOf(mapping);
    for (const table of own) nameBy(dso.kind === 'module' ? withoutModule(table) : table);
    // Modules need the kernel to be asked for, though no sample may lie in it.
    if (symbolizer === undefined || (left.length === 0 && !(dso.kind === 'kernel' && hasModules))) continue;
    const symbols = await symbolizer.symbolsFor({
      name: dso.name,
      kind: dso.kind,
      buildId: dso.buildId,
      osRelease: session.features.osrelease ?? '',
      ...(dso.referenceSymbol !== '' && { referenceSymbol: dso.referenceSymbol, referenceAddress: dso.referenceAddress }),
      isNamed: own.length > 0,
    });
    if (symbols !== undefined) nameBy(symbols);
  }
}

/** Names what the symbols cover. @returns the locations that they do not */
function nameLocations({ locations, functions, strings }: Profile, group: readonly number[], symbols: Symbols): number[] {
  const functionOfSymbol = new Map<number, number>();
  const left: number[] = [];
  for (const location of group) {
    const address = locations.address(location);
    const symbol = symbols.find(locations.isReturnAddress(location) ? address - 1 : address);
    if (symbol < 0) {
      left.push(location);
      continue;
    }
    let func = functionOfSymbol.get(symbol);
    if (func === undefined) {
      func = functions.intern(strings.intern(symbols.name(symbol)));
      functionOfSymbol.set(symbol, func);
    }
    locations.setLines(location, [func], [0], [0], address - symbols.start(symbol));
  }
  return left;
}

/** What a symbol table offers, as far as it is needed here. */
type Symbols = Pick<SymbolTable, 'find' | 'name' | 'start'>;

/** simpleperf writes `name [module]` for a module's function that it found in kallsyms. */
function withoutModule(symbols: Symbols): Symbols {
  return { find: (address) => symbols.find(address), start: (index) => symbols.start(index), name: (index) => symbols.name(index).replace(/ \[[^\]]*\]$/, '') };
}

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
