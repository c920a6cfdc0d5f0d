import type { JitDump } from '../jitdump/jitdump.ts';
import type { Profile } from '../profile/profile.ts';
import type { Dso } from '../session/dsos.ts';
import type { SessionResult } from '../session/session.ts';
import type { CodeSymbols } from '../symbol-table/code-symbols.ts';
import { isGuestImage } from '../symbolizer/kernel/kernel-identity.ts';
import type { CodeObject } from '../symbolizer/code-object.ts';
import type { RecordingSymbols } from '../symbolizer/recording-symbols.ts';
import { SymbolSearch } from '../symbolizer/search/search-log.ts';
import { RunTimeKernelCode } from './bpf-code.ts';
import { EmbeddedSymbolTables } from './embedded-symbols.ts';
import { jitDumpSymbols } from './jit-symbols.ts';
import { type FunctionTable, LocationNaming, type LocationNamingOptions } from './location-naming.ts';

/** How locations are named. */
export interface NamingOptions extends LocationNamingOptions {
  /** Undefined: nothing but the recording itself is asked. */
  readonly symbols: RecordingSymbols | undefined;
  /** As perf 6.1 does, which does not know symbols that the recording itself holds, either. */
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
  const naming = new MappingNaming(profile, session, options);
  for (const mapping of kernelFirst(session)) await naming.name(mapping);
  return naming.searches;
}

/** Names the locations of one mapping after the other: whatever knows them is asked in turn for those that are left. */
class MappingNaming {
  /** Where was looked for the symbols of which mapping. */
  readonly searches = new Map<number, SymbolSearch>();
  readonly #profile: Profile;
  readonly #session: SessionResult;
  readonly #options: NamingOptions;
  readonly #locations: LocationNaming;
  readonly #byMapping: readonly (readonly number[] | undefined)[];
  readonly #embedded: EmbeddedSymbolTables;
  readonly #runTimeCode: RunTimeKernelCode;
  /** Kinds of the DSOs that locations lie in and that are more than one function: a recording can name any number of kernels. */
  readonly #kinds: ReadonlySet<Dso['kind']>;

  constructor(profile: Profile, session: SessionResult, options: NamingOptions) {
    this.#profile = profile;
    this.#session = session;
    this.#options = options;
    this.#locations = new LocationNaming(profile, options);
    this.#byMapping = groupByMapping(profile);
    this.#embedded = new EmbeddedSymbolTables(session);
    this.#runTimeCode = new RunTimeKernelCode(session.features.bpfPrograms ?? []);
    this.#kinds = new Set(
      session.dsos.filter(({ isOneFunction }, mapping) => !isOneFunction && this.#byMapping[mapping] !== undefined).map(({ kind }) => kind),
    );
  }

  async name(mapping: number): Promise<void> {
    const dso = this.#session.dsos[mapping];
    const group = this.#byMapping[mapping] ?? [];
    if (group.length > 0 && dso.isOneFunction) return this.#byCode(mapping, group, this.#runTimeCode.codeOf(dso));
    const left = this.#byEmbeddedSymbols(mapping, group);
    const dump = this.#session.jitDumps.get(mapping);
    if (left.length > 0 && dump !== undefined) return this.#byJitDump(mapping, left, dump);
    if (left.length > 0 || this.#isAskedForModules(dso)) return this.#byFiles(mapping, left);
  }

  /** @returns the locations that the recording's own symbols leave */
  #byEmbeddedSymbols(mapping: number, group: readonly number[]): readonly number[] {
    if (group.length === 0 || this.#options.compatPerf) return group;
    const isModule = this.#session.dsos[mapping].kind === 'module';
    let left = group;
    for (const table of this.#embedded.tablesOf(mapping)) {
      this.#profile.mappings[mapping].hasSymbols = true;
      left = this.#locations.bySymbols(left, isModule ? withoutModule(table) : table);
    }
    return left;
  }

  async #byJitDump(mapping: number, group: readonly number[], dump: JitDump): Promise<void> {
    const search = new SymbolSearch();
    search.use(dump.name, 'symbols');
    this.searches.set(mapping, search);
    await this.#byCode(mapping, group, jitDumpSymbols(dump));
  }

  async #byFiles(mapping: number, group: readonly number[]): Promise<void> {
    const { symbols, debugInfo } = this.#options;
    if (symbols === undefined) return;
    const search = new SymbolSearch();
    if (group.length > 0) this.searches.set(mapping, search);
    const dso = this.#session.dsos[mapping];
    const refused = dso.kind === 'anon' ? this.#session.refusedJitDumps.get(dso.name) : undefined;
    if (refused !== undefined) search.note(refused.name, 'refused', refused.refusal);
    const object = codeObject(dso, this.#session);
    const code = await symbols.symbolsFor(object, { lines: debugInfo !== 'none' && group.length > 0, search });
    if (search.mappedBuildId !== undefined) this.#profile.mappings[mapping].buildId = search.mappedBuildId;
    if (code === undefined) return;
    try {
      await this.#byCode(mapping, group, code);
    } finally {
      await code.close?.();
    }
  }

  async #byCode(mapping: number, group: readonly number[], code: CodeSymbols): Promise<void> {
    this.#profile.mappings[mapping].hasSymbols = true;
    await this.#locations.byCode(group, code);
  }

  /** Modules need the kernel to be asked for, though no sample may lie in it. */
  #isAskedForModules(dso: Dso): boolean {
    return isKernelImage(dso) && this.#kinds.has(dso.kind === 'kernel' ? 'module' : 'guest');
  }
}

function codeObject(dso: Dso, { features }: SessionResult): CodeObject {
  const { name, longName, kind, buildId, fileIdentity, sharesName, start, codeStart, pid, referenceSymbol, referenceAddress } = dso;
  return {
    name,
    kind,
    buildId,
    // What a virtual machine runs is not recorded.
    osRelease: kind === 'guest' ? '' : (features.osrelease ?? ''),
    ...(kind === 'module' && { longName, start }),
    ...(kind === 'guest' && { pid, start }),
    ...(kind === 'file' && { pid, codeStart, mapFile: mapFileOf(dso), fileIdentity, sharesName }),
    ...(referenceSymbol !== '' && { referenceSymbol, referenceAddress }),
  };
}

/** What is at hand of a map is where its code began, and where the last one of its maps ended: mostly that is the same one. */
function mapFileOf({ codeStart, limit, bias }: Dso): string {
  return Number.isFinite(codeStart) ? `${(codeStart + bias).toString(16)}-${(limit + bias).toString(16)}` : '';
}

/** simpleperf writes `name [module]` for a module's function that it found in kallsyms. */
function withoutModule(symbols: FunctionTable): FunctionTable {
  const nameOf = (index: number): string => {
    const name = symbols.name(index);
    if (!name.endsWith(']')) return name;
    const open = name.indexOf(' [', name.lastIndexOf(']', name.length - 2) + 1);
    return open < 0 ? name : name.slice(0, open);
  };
  return { find: (address) => symbols.find(address), start: (index) => symbols.start(index), name: nameOf };
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
