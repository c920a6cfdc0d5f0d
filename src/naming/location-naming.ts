import { ascendingOrder } from '../base/ascending-order.ts';
import type { DemangleStyle } from '../demangle/demangle.ts';
import type { Profile } from '../profile/profile.ts';
import type { LocationLine } from '../profile/tables.ts';
import type { CodeSymbols, SourceFrame, SourceFunction } from '../symbol-table/code-symbols.ts';
import type { SymbolTable } from '../symbol-table/symbol-table.ts';
import { FunctionNames } from './function-names.ts';

/** What a symbol table offers, as far as it is needed here. */
export type FunctionTable = Pick<SymbolTable, 'find' | 'name' | 'start'>;

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
  readonly #takesLines: boolean;
  readonly #showsInlines: boolean;
  readonly #takesInnermostLine: boolean;

  constructor(profile: Profile, { debugInfo, demangle, compatPerf }: LocationNamingOptions) {
    this.#profile = profile;
    this.#names = new FunctionNames(profile.strings, demangle);
    this.#listedNames = compatPerf ? new FunctionNames(profile.strings, 'none') : this.#names;
    this.#takesLines = debugInfo !== 'none';
    this.#showsInlines = debugInfo === 'inlines';
    this.#takesInnermostLine = debugInfo === 'lines-like-perf';
  }

  /** Names what the symbols cover, without files and lines. @returns the locations that they do not */
  bySymbols(group: readonly number[], symbols: FunctionTable, isPerfMap = false): number[] {
    const { locations, functions } = this.#profile;
    const linesOfSymbol = new Map<number, readonly LocationLine[]>();
    const left: number[] = [];
    for (const location of group) {
      const symbol = isPerfMap ? this.#findListed(location, symbols) : symbols.find(this.#codeAddress(location));
      if (symbol < 0) {
        left.push(location);
        continue;
      }
      let lines = linesOfSymbol.get(symbol);
      if (lines === undefined) {
        const { name, systemName } = (isPerfMap ? this.#listedNames : this.#names).of(symbols.name(symbol));
        lines = [withoutLine(functions.intern(name, systemName))];
        linesOfSymbol.set(symbol, lines);
      }
      locations.setLines(location, lines, locations.address(location) - symbols.start(symbol));
    }
    return left;
  }

  /**
   * Names locations by all that is known of their DSO's code: the outermost function is the symbol's, whose name linkers and perf
   * know it by; its file and line, and what was inlined into it, come from debug information.
   */
  async byCode(group: readonly number[], { table, lines, isPerfMap }: CodeSymbols): Promise<void> {
    if (table !== undefined) this.bySymbols(group, table, isPerfMap);
    if (lines === undefined || !this.#takesLines) return;
    this.#fileOf.clear();
    /** The functions that own code, by their symbols. */
    const owners = new Map<number, number>();
    const hasLines = new Set<number>();
    const byAddress = Float64Array.from(group, (location) => this.#codeAddress(location));
    const order = ascendingOrder(byAddress);
    const addresses = new Float64Array(group.length);
    /** For each address its first location, as an index into `order`. */
    const firsts = new Uint32Array(group.length + 1);
    let count = 0;
    order.forEach((at, i) => {
      if (count > 0 && addresses[count - 1] === byAddress[at]) return;
      firsts[count] = i;
      addresses[count++] = byAddress[at];
    });
    firsts[count] = group.length;
    // Addresses come in order, so that those of a symbol, whose name may be long, follow each other.
    let lastSymbol = -1;
    let linkageName: string | undefined;
    await lines.lookup(addresses.subarray(0, count), (index, frames) => {
      const symbol = table?.find(addresses[index]) ?? -1;
      if (symbol !== lastSymbol) linkageName = table !== undefined && symbol >= 0 ? table.name(symbol) : undefined;
      lastSymbol = symbol;
      for (let i = firsts[index]; i < firsts[index + 1]; i++) {
        const location = group[order[i]];
        const offset = table !== undefined && symbol >= 0 ? this.#profile.locations.address(location) - table.start(symbol) : 0;
        const owner = this.#setFrames(location, frames, linkageName, offset);
        if (symbol < 0 || owner < 0) continue;
        hasLines.add(location);
        if (!owners.has(symbol)) owners.set(symbol, owner);
      }
    });
    if (table !== undefined && hasLines.size < group.length) this.#shareOwners(group, table, owners, hasLines);
  }

  /** A JIT that puts a function's start on the stack has it run next: no call stands before it. */
  #findListed(location: number, symbols: FunctionTable): number {
    const address = this.#profile.locations.address(location);
    const symbol = symbols.find(address);
    return symbol >= 0 && symbols.start(symbol) === address ? symbol : symbols.find(this.#codeAddress(location));
  }

  /** Where no line is known in a function that has lines elsewhere, it is still the same function. */
  #shareOwners(group: readonly number[], table: FunctionTable, owners: ReadonlyMap<number, number>, hasLines: ReadonlySet<number>): void {
    const { locations } = this.#profile;
    for (const location of group) {
      if (hasLines.has(location)) continue;
      const symbol = table.find(this.#codeAddress(location));
      const owner = symbol < 0 ? undefined : owners.get(symbol);
      if (owner !== undefined) locations.setLines(location, [withoutLine(owner)], locations.symbolOffset(location));
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
