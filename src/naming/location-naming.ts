import type { LocationLine } from '../profile/location-table.ts';
import type { Profile } from '../profile/profile.ts';
import type { CodeSymbols, SourceFrame, SourceFunction, SourceLines } from '../symbol-table/code-symbols.ts';
import { DistinctAddresses } from '../symbol-table/distinct-addresses.ts';
import type { SymbolTable } from '../symbol-table/symbol-table.ts';
import { type FunctionName, FunctionNames, type NameStyle } from './function-names.ts';

/**
 * What is read from debug information:
 * - `none`: nothing
 * - `lines`: file and line of the functions that symbols name
 * - `inlines`: also the functions inlined into them
 * - `lines-like-perf`: no inlined functions, but the line of the innermost one, as perf 6.1 prints it (observed)
 */
export type DebugInfoUse = 'none' | 'lines' | 'inlines' | 'lines-like-perf';

/**
 * What is read by default. perf 6.1 shows inlined functions only in callchains that it unwinds by debug information.
 */
export function defaultDebugInfo(compatPerf: boolean): DebugInfoUse {
  return compatPerf ? 'lines' : 'inlines';
}

export interface LocationNamingOptions {
  readonly debugInfo: DebugInfoUse;
  readonly demangle: NameStyle;
  /** Like perf 6.1, which demangles neither the names in perf maps of JITs nor very long names in C++. */
  readonly compatPerf: boolean;
}

type FunctionStarts = NonNullable<CodeSymbols['functionStarts']>;

/** Gives the locations of a profile their functions, files and lines. */
export class LocationNaming {
  readonly #profile: Profile;
  readonly #names: FunctionNames;
  /** Names from perf maps of JITs. */
  readonly #listedNames: FunctionNames;
  /** By linkage name: the files of functions in the current DSO whose description names no file. */
  readonly #fileOf = new Map<string, string>();
  readonly #showsScopes: boolean;
  readonly #readsLines: boolean;
  readonly #showsInlines: boolean;
  readonly #takesInnermostLine: boolean;

  constructor(profile: Profile, { debugInfo, demangle, compatPerf }: LocationNamingOptions) {
    this.#profile = profile;
    this.#names = new FunctionNames(profile.strings, demangle, compatPerf);
    this.#listedNames = compatPerf ? new FunctionNames(profile.strings, 'none') : this.#names;
    this.#showsScopes = !compatPerf;
    this.#readsLines = debugInfo !== 'none';
    this.#showsInlines = debugInfo === 'inlines';
    this.#takesInnermostLine = debugInfo === 'lines-like-perf';
  }

  /**
   * Names locations by one source of their DSO's symbols. The name of the outermost function is that of the symbol, as linkers and perf show it; its file and
   * line, and the functions inlined into it, come from debug information.
   * @param group the locations, all of one DSO
   * @returns those that no symbol covers
   */
  async nameBy(group: readonly number[], code: CodeSymbols): Promise<readonly number[]> {
    const { table, lines, functionStarts, isPerfMap = false, endsNoFunctionWithCall = false } = code;
    const symbols = this.#findSymbols(group, table, isPerfMap || endsNoFunctionWithCall);
    if (table !== undefined && functionStarts !== undefined) await this.#findTrampolines(group, symbols, table, functionStarts);
    if (table !== undefined) this.#nameBySymbols(group, symbols, table, isPerfMap ? this.#listedNames : this.#names);
    if (lines !== undefined && this.#readsLines) await this.#nameByLines(group, symbols, table, lines);
    return group.filter((_, i) => symbols[i] < 0);
  }

  /** Notes where the functions begin that hold locations without a name. */
  async noteStartsBy(group: readonly number[], code: CodeSymbols): Promise<void> {
    const { locations } = this.#profile;
    const unnamed = group.filter((location) => locations.lineCount(location) === 0 && !locations.isData(location));
    if (code.functionStarts === undefined || unnamed.length === 0) return;
    const { addresses, order, firsts } = new DistinctAddresses(this.#codeAddresses(unnamed));
    const starts = await code.functionStarts(addresses);
    for (let index = 0; index < addresses.length; index++) {
      if (starts[index] < 0) continue;
      for (let nth = firsts[index]; nth < firsts[index + 1]; nth++) locations.setFunctionStart(unnamed[order[nth]], starts[index]);
    }
  }

  /** Looks up the symbol of each location, once. @returns −1 for a location that no symbol covers */
  #findSymbols(group: readonly number[], table: SymbolTable | undefined, prefersStarts: boolean): Int32Array {
    const symbols = new Int32Array(group.length).fill(-1);
    if (table === undefined) return symbols;
    for (let i = 0; i < group.length; i++) symbols[i] = prefersStarts ? this.#findStarting(group[i], table) : this.#findCovering(group[i], table);
    return symbols;
  }

  /** Linux names the padding before a function f `__pfx_f`. Nothing is called there: what seems to return to the start of f was interrupted there. */
  #findCovering(location: number, table: SymbolTable): number {
    const symbol = table.find(this.#codeAddress(location));
    // Nearly all return addresses are in the function that made the call.
    if (symbol < 0 || table.end(symbol) > this.#profile.locations.address(location)) return symbol;
    const start = this.#findStart(location, table);
    return start >= 0 && table.name(symbol) === `__pfx_${table.name(start)}` ? start : symbol;
  }

  /** If a return address is the start of a function of a JIT or Go, there is no call before it: that function runs next, or was interrupted there. */
  #findStarting(location: number, table: SymbolTable): number {
    const symbol = this.#findStart(location, table);
    return symbol >= 0 ? symbol : table.find(this.#codeAddress(location));
  }

  /**
   * Finds functions that are not called but returned to, since their address was put on the stack: signal handlers return to `__restore_rt`. Their unwinding
   * rules begin a byte before them, or they have none. Before any other function may be one without a symbol that ends with a call.
   */
  async #findTrampolines(group: readonly number[], symbols: Int32Array, table: SymbolTable, functionStarts: FunctionStarts): Promise<void> {
    const places: number[] = [];
    for (let i = 0; i < group.length; i++) if (symbols[i] < 0 && this.#findStart(group[i], table) >= 0) places.push(i);
    if (places.length === 0) return;
    const before = places.map((i) => this.#codeAddress(group[i]));
    const { addresses: asked } = new DistinctAddresses(Float64Array.from(before.flatMap((address) => [address - 1, address])));
    const starts = await functionStarts(asked);
    const startOf = new Map(Array.from(asked, (address, i) => [address, starts[i]]));
    for (const [nth, i] of places.entries()) {
      const start = startOf.get(before[nth]) ?? -1;
      if (start < 0 || start !== startOf.get(before[nth] - 1)) symbols[i] = this.#findStart(group[i], table);
    }
  }

  /** The symbol that begins at a location's address; −1 for none. */
  #findStart(location: number, table: SymbolTable): number {
    const address = this.#profile.locations.address(location);
    const symbol = table.find(address);
    return symbol >= 0 && table.start(symbol) === address ? symbol : -1;
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

  /** Gives functions, files and lines to the locations that debug information covers. */
  async #nameByLines(group: readonly number[], symbols: Int32Array, table: SymbolTable | undefined, lines: SourceLines): Promise<void> {
    const { locations } = this.#profile;
    this.#fileOf.clear();
    /** By symbol: the function that debug information describes there. */
    const functionOf = new Map<number, number>();
    const isNamed = new Uint8Array(group.length);
    const { addresses, order, firsts } = new DistinctAddresses(this.#codeAddresses(group, (i) => (symbols[i] < 0 ? undefined : table?.start(symbols[i]))));
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
    // A location without a line is still in the function that has lines elsewhere.
    for (let i = 0; i < group.length; i++) {
      const owner = isNamed[i] === 1 ? undefined : functionOf.get(symbols[i]);
      if (owner !== undefined) locations.setLines(group[i], [withoutLine(owner)], locations.symbolOffset(group[i]));
    }
  }

  /**
   * @param linkageName of the outermost function, from the symbol table; undefined if it has none
   * @returns the outermost function; −1 if none is known
   */
  #setFrames(location: number, frames: readonly SourceFrame[], linkageName: string | undefined, symbolOffset: number): number {
    const outermost = frames.length - 1;
    const lines: LocationLine[] = [];
    for (let nth = this.#showsInlines ? 0 : outermost; nth <= outermost; nth++) {
      const described = frames[nth].function;
      const place = frames[this.#takesInnermostLine ? 0 : nth];
      if (nth === outermost && linkageName !== undefined) lines.push(this.#internLine(this.#names.of(linkageName), linkageName, described, place));
      // A frame without a name is not worth showing for its line alone.
      else if (described !== undefined && (described.linkageName || described.name) !== '') {
        lines.push(this.#internLine(this.#nameOf(described), described.linkageName || described.name, described, place));
      }
    }
    if (lines.length === 0) return -1;
    this.#profile.locations.setLines(location, lines, symbolOffset);
    return lines[lines.length - 1].function;
  }

  /** perf 6.1 shows a function without a linkage name without its scopes. */
  #nameOf(described: SourceFunction): FunctionName {
    return this.#showsScopes ? this.#names.ofDescribed(described) : this.#names.of(described.linkageName || described.name);
  }

  /** Interns a function with its line. @param linkageName or another name that identifies it, @param place has file, line and column */
  #internLine({ name, systemName, isScoped }: FunctionName, linkageName: string, described: SourceFunction | undefined, place: SourceFrame): LocationLine {
    const { strings, functions } = this.#profile;
    const functionFile = strings.intern(this.#fileOfFunction(linkageName, described, place.file));
    // A line without a file must not be shown as one of the function's file.
    const line = place.file === '' && functionFile !== 0 ? 0 : place.line;
    const lineFile = line > 0 ? strings.intern(place.file) : functionFile;
    return {
      function: functions.intern(name, systemName, functionFile, described?.startLine ?? 0, isScoped),
      line,
      column: line > 0 ? place.column : 0,
      file: lineFile === functionFile ? 0 : lineFile,
    };
  }

  /**
   * The file of a function is the one that its description names, even if its code was included from others. A function
   * without a description (assembly), or whose description has no file (observed in Go, for functions that are also
   * inlined), gets the file of its first line.
   */
  #fileOfFunction(linkageName: string, described: SourceFunction | undefined, lineFile: string): string {
    const file = described?.file || this.#fileOf.get(linkageName);
    if (file !== undefined) return file;
    this.#fileOf.set(linkageName, lineFile);
    return lineFile;
  }

  /** {@link #codeAddress} of each of some locations, or where its function begins if that is later: nothing before it was called. */
  #codeAddresses(group: readonly number[], startOf: (nth: number) => number | undefined = () => undefined): Float64Array {
    const addresses = new Float64Array(group.length);
    for (let i = 0; i < group.length; i++) addresses[i] = Math.max(this.#codeAddress(group[i]), startOf(i) ?? 0);
    return addresses;
  }

  /** The address of a location's code: for a return address, one inside the call. */
  #codeAddress(location: number): number {
    const { locations } = this.#profile;
    const address = locations.address(location);
    return locations.isReturnAddress(location) ? address - 1 : address;
  }
}

function withoutLine(func: number): LocationLine {
  return { function: func, line: 0, column: 0, file: 0 };
}
