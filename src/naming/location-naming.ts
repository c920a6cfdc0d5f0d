import type { DemangleStyle } from '../demangle/demangle.ts';
import type { Profile } from '../profile/profile.ts';
import type { LocationLine } from '../profile/tables.ts';
import type { CodeSymbols, SourceFrame, SourceFunction, SourceLines } from '../symbol-table/code-symbols.ts';
import { DistinctAddresses } from '../symbol-table/distinct-addresses.ts';
import type { SymbolTable } from '../symbol-table/symbol-table.ts';
import { FunctionNames } from './function-names.ts';

/**
 * What is read from debug information:
 * - `none`: nothing
 * - `lines`: file and line of the functions that symbols name
 * - `inlines`: the functions inlined into them, too
 * - `lines-like-perf`: without inlined functions, but with the line of the innermost of them, as perf 6.1 prints it (observed)
 */
export type DebugInfoUse = 'none' | 'lines' | 'inlines' | 'lines-like-perf';

/** What is read by default: perf 6.1 shows inlined functions in callchains of debug information only. */
export function defaultDebugInfo(compatPerf: boolean): DebugInfoUse {
  return compatPerf ? 'lines' : 'inlines';
}

export interface LocationNamingOptions {
  readonly debugInfo: DebugInfoUse;
  /** How mangled names are shown; `none`: as they are. */
  readonly demangle: DemangleStyle | 'none';
  /** As perf 6.1 does, which does not demangle what JITs list themselves. */
  readonly compatPerf: boolean;
}

/** Writes functions, files and lines into a profile's locations. */
export class LocationNaming {
  readonly #profile: Profile;
  readonly #names: FunctionNames;
  /** Of what JITs list themselves. */
  readonly #listedNames: FunctionNames;
  /** By linkage name, of a DSO's functions that no description gives a file. */
  readonly #fileOf = new Map<string, string>();
  readonly #readsLines: boolean;
  readonly #showsInlines: boolean;
  readonly #takesInnermostLine: boolean;

  constructor(profile: Profile, { debugInfo, demangle, compatPerf }: LocationNamingOptions) {
    this.#profile = profile;
    this.#names = new FunctionNames(profile.strings, demangle);
    this.#listedNames = compatPerf ? new FunctionNames(profile.strings, 'none') : this.#names;
    this.#readsLines = debugInfo !== 'none';
    this.#showsInlines = debugInfo === 'inlines';
    this.#takesInnermostLine = debugInfo === 'lines-like-perf';
  }

  /**
   * Names locations by what is known of their DSO's code: the outermost function is the symbol's, whose name linkers and perf
   * know it by; its file and line, and what was inlined into it, come from debug information.
   * @param group the locations, all of one DSO
   * @returns those that no symbol covers
   */
  async byCode(group: readonly number[], { table, lines, isPerfMap = false }: CodeSymbols): Promise<readonly number[]> {
    const symbols = this.#findSymbols(group, table, isPerfMap);
    if (table !== undefined) this.#nameBySymbols(group, symbols, table, isPerfMap ? this.#listedNames : this.#names);
    if (lines !== undefined && this.#readsLines) await this.#nameByLines(group, symbols, table, lines);
    return group.filter((_, i) => symbols[i] < 0);
  }

  /** The symbol of each location, looked up here alone; −1 where none covers it. */
  #findSymbols(group: readonly number[], table: SymbolTable | undefined, isPerfMap: boolean): Int32Array {
    const symbols = new Int32Array(group.length).fill(-1);
    if (table === undefined) return symbols;
    for (let i = 0; i < group.length; i++) symbols[i] = isPerfMap ? this.#findListed(group[i], table) : table.find(this.#codeAddress(group[i]));
    return symbols;
  }

  /** A JIT that puts a function's start on the stack has it run next: no call comes before it. */
  #findListed(location: number, table: SymbolTable): number {
    const address = this.#profile.locations.address(location);
    const symbol = table.find(address);
    return symbol >= 0 && table.start(symbol) === address ? symbol : table.find(this.#codeAddress(location));
  }

  /** Gives each location the function of its symbol, without file and line. */
  #nameBySymbols(group: readonly number[], symbols: Int32Array, table: SymbolTable, names: FunctionNames): void {
    const { locations, functions } = this.#profile;
    const linesOfSymbol = new Map<number, readonly LocationLine[]>();
    for (let i = 0; i < group.length; i++) {
      const symbol = symbols[i];
      if (symbol < 0) continue;
      let lines = linesOfSymbol.get(symbol);
      if (lines === undefined) {
        const { name, systemName } = names.of(table.name(symbol));
        lines = [withoutLine(functions.intern(name, systemName))];
        linesOfSymbol.set(symbol, lines);
      }
      locations.setLines(group[i], lines, locations.address(group[i]) - table.start(symbol));
    }
  }

  /** Gives the locations that debug information knows its functions, files and lines. */
  async #nameByLines(group: readonly number[], symbols: Int32Array, table: SymbolTable | undefined, lines: SourceLines): Promise<void> {
    const { locations } = this.#profile;
    this.#fileOf.clear();
    /** By symbol the function that debug information knows it by. */
    const functionOf = new Map<number, number>();
    const isNamed = new Uint8Array(group.length);
    const { addresses, order, firsts } = new DistinctAddresses(Float64Array.from(group, (location) => this.#codeAddress(location)));
    await lines.lookup(addresses, (index, frames) => {
      const symbol = symbols[order[firsts[index]]];
      const linkageName = symbol < 0 ? undefined : table?.name(symbol);
      for (let nth = firsts[index]; nth < firsts[index + 1]; nth++) {
        const location = group[order[nth]];
        const owner = this.#setFrames(location, frames, linkageName, symbol < 0 ? 0 : locations.symbolOffset(location));
        if (symbol < 0 || owner < 0) continue;
        isNamed[order[nth]] = 1;
        if (!functionOf.has(symbol)) functionOf.set(symbol, owner);
      }
    });
    // Where no line is known in a function that has lines elsewhere, it is still the same function.
    for (let i = 0; i < group.length; i++) {
      const owner = isNamed[i] === 1 ? undefined : functionOf.get(symbols[i]);
      if (owner !== undefined) locations.setLines(group[i], [withoutLine(owner)], locations.symbolOffset(group[i]));
    }
  }

  /**
   * @param linkageName of the outermost function by the symbol table; undefined where that has none
   * @returns the outermost function, −1 when none is known
   */
  #setFrames(location: number, frames: readonly SourceFrame[], linkageName: string | undefined, symbolOffset: number): number {
    const outermost = frames.length - 1;
    const lines: LocationLine[] = [];
    for (let nth = this.#showsInlines ? 0 : outermost; nth <= outermost; nth++) {
      const described = frames[nth].function;
      const name = (nth === outermost ? linkageName : undefined) ?? (described?.linkageName || described?.name);
      // A line whose function nobody knows is not worth a frame without a name.
      if (name) lines.push(this.#internLine(name, described, frames[this.#takesInnermostLine ? 0 : nth]));
    }
    if (lines.length === 0) return -1;
    this.#profile.locations.setLines(location, lines, symbolOffset);
    return lines[lines.length - 1].function;
  }

  /** A function and its line. @param place where that is */
  #internLine(linkageName: string, described: SourceFunction | undefined, place: SourceFrame): LocationLine {
    const { strings, functions } = this.#profile;
    const { name, systemName } = this.#names.of(linkageName);
    const functionFile = strings.intern(this.#fileOfFunction(linkageName, described, place.file));
    // A line of nobody knows which file is none of the function's.
    const line = place.file === '' && functionFile !== 0 ? 0 : place.line;
    const lineFile = line > 0 ? strings.intern(place.file) : functionFile;
    return {
      function: functions.intern(name, systemName, functionFile, described?.startLine ?? 0),
      line,
      column: line > 0 ? place.column : 0,
      file: lineFile === functionFile ? 0 : lineFile,
    };
  }

  /**
   * A function is in the file that its description names, whatever was included into it; one that nothing describes (assembly), or only
   * without a file (Observed: Go, functions that are inlined elsewhere, too), in that of the first of its lines met.
   */
  #fileOfFunction(linkageName: string, described: SourceFunction | undefined, lineFile: string): string {
    const file = described?.file || this.#fileOf.get(linkageName);
    if (file !== undefined) return file;
    this.#fileOf.set(linkageName, lineFile);
    return lineFile;
  }

  /** Where the code of a location stands: before the address that a call returns to. */
  #codeAddress(location: number): number {
    const { locations } = this.#profile;
    const address = locations.address(location);
    return locations.isReturnAddress(location) ? address - 1 : address;
  }
}

function withoutLine(func: number): LocationLine {
  return { function: func, line: 0, column: 0, file: 0 };
}
