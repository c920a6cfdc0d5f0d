import { StringTable } from '../../base/tables/string-table.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import { FunctionTable } from '../../profile/function-table.ts';
import { addressText, mappingText, NAMELESS } from '../../profile/names.ts';
import type { Mapping, Profile } from '../../profile/profile.ts';
import type { StackTable } from '../../profile/stack-table.ts';

/** Absent index in a row: no mapping, or no further line. */
export const NONE = 0xffff_ffff;

/** A mapping of the pprof profile. Its id is its index plus 1. */
export interface PprofMapping {
  readonly mapping: Mapping;
  /** What is known about its locations (profile.proto, has_functions …). If nothing is, pprof symbolizes them itself. */
  hasFunctions: boolean;
  hasFilenames: boolean;
  hasLineNumbers: boolean;
  hasInlineFrames: boolean;
  /** Index of its file name as a text here, if that is in brackets, else 0; −1 until it is needed. */
  bracketedName: number;
}

/**
 * The tables of a pprof profile: mappings, locations and functions that samples refer to, without duplicates. Ids are
 * indexes plus 1, since pprof uses 0 for none.
 *
 * - Addresses are run-time addresses. For files and the vdso, they are those of the first process that mapped the file (address + bias).
 * - A return address becomes the address before it. That is inside the call instruction, which profile.proto allows, and therefore in the right function and
 *   line.
 * - An unresolved location gets a function with the name that other formats show, `0x4f2c1 (libfoo.so)`. Without one, pprof shows all addresses of a file
 *   together as `[libfoo.so]`, and as `<unknown>` outside all mappings (observed: pprof of September 2026). Such functions do not set has_functions, so that
 *   pprof still symbolizes the mapping if it finds the binary.
 * - For a function without a known file in a mapping with a name in brackets (`[kernel.kallsyms]`), that name is the file. Where pprof shows files, it would
 *   use it anyway, but in further brackets (`[[kernel.kallsyms]]`; observed, as above). This does not set has_filenames.
 */
export class PprofTables {
  readonly strings = new StringTable();
  readonly mappings: PprofMapping[] = [];
  readonly functions = new FunctionTable();
  /** Rows (low word of the address, high word, index into `mappings` or NONE, index into `lines` or NONE). */
  readonly locations: TupleInterner;
  /**
   * Rows (index of the line that it was inlined into or NONE, function, line number, column). The lines of a location
   * are a linked list, leaf first.
   */
  readonly lines = new TupleInterner(4);
  /** By location of the profile: its id here; 0 for a location that no sample refers to. */
  readonly locationId: Uint32Array;
  readonly #profile: Profile;
  readonly #mappingIndex: Int32Array;
  /** By mapping here, as two words: what to add to its addresses. They are doubles, like the sums. */
  readonly #biasLo: Float64Array;
  readonly #biasHi: Float64Array;
  readonly #functionIndex: Int32Array;
  /** By string of the profile: its index here; −1 until it is needed. */
  readonly #textIndex: Int32Array;
  readonly #mappingTexts: string[] = [];

  /** @param hasMain whether the main binary has a mapping even if it has no sample */
  constructor(profile: Profile, hasMain: boolean) {
    this.#profile = profile;
    this.#mappingIndex = new Int32Array(profile.mappings.length).fill(-1);
    this.#biasLo = new Float64Array(profile.mappings.length);
    this.#biasHi = new Float64Array(profile.mappings.length);
    this.#functionIndex = new Int32Array(profile.functions.size).fill(-1);
    this.#textIndex = new Int32Array(profile.strings.size).fill(-1);
    // mapping[0] is the main binary (profile.proto).
    if (hasMain && profile.mainMapping >= 0) this.#internMapping(profile.mainMapping);
    const isUsed = findUsedLocations(profile);
    this.locations = new TupleInterner(4, isUsed.length);
    this.locationId = new Uint32Array(isUsed.length);
    for (let location = 0; location < isUsed.length; location++) {
      if (isUsed[location] === 1) this.locationId[location] = this.#internLocation(location) + 1;
    }
  }

  #internLocation(location: number): number {
    // hot
    const { locations } = this.#profile;
    const mapping = locations.mapping(location);
    const index = mapping < 0 ? -1 : this.#internMapping(mapping);
    let lo = locations.addressLo(location) + (index < 0 ? 0 : this.#biasLo[index]);
    let hi = (locations.addressHi(location) + (index < 0 ? 0 : this.#biasHi[index]) + Math.floor(lo / 0x1_0000_0000)) >>> 0;
    lo >>>= 0;
    // There is no address before 0, and some callchains end with 0.
    if (locations.isReturnAddress(location) && (lo !== 0 || hi !== 0)) {
      if (lo === 0) hi--;
      lo--;
    }
    return this.locations.intern(lo >>> 0, hi >>> 0, index, this.#internLines(location, index < 0 ? undefined : this.mappings[index]));
  }

  #internLines(location: number, mapping: PprofMapping | undefined): number {
    // hot
    const { functions, locations } = this.#profile;
    const count = locations.lineCount(location);
    if (count === 0) {
      const name = this.strings.internJoined(addressText(this.#profile, location), this.#textOfMapping(locations.mapping(location)));
      return this.lines.intern(NONE, this.functions.intern(name, 0, this.#bracketedName(mapping)));
    }
    // If pprof finds the binary and this program did not, pprof's names are better than stand-ins. For a binary without symbols, it would make empty names.
    const known = locations.isStandIn(location) && !mapping?.mapping.wasFound ? undefined : mapping;
    let line = NONE;
    for (let nth = count - 1; nth >= 0; nth--) {
      const lineFile = locations.lineFile(location, nth);
      const lineNumber = locations.lineNumber(location, nth);
      const profileFunction = locations.lineFunction(location, nth);
      const hasFile = lineFile !== 0 || functions.file(profileFunction) !== 0;
      const func = this.#internFunction(profileFunction, lineFile, hasFile ? 0 : this.#bracketedName(mapping));
      line = this.lines.intern(line, func, lineNumber, locations.lineColumn(location, nth));
      if (known === undefined) continue;
      known.hasFunctions = true;
      if (hasFile) known.hasFilenames = true;
      if (lineNumber !== 0) known.hasLineNumbers = true;
      if (count > 1) known.hasInlineFrames = true;
    }
    return line;
  }

  /** The file for functions without one: the mapping's name if that is in brackets; 0 for other mappings. */
  #bracketedName(mapping: PprofMapping | undefined): number {
    if (mapping === undefined) return 0;
    if (mapping.bracketedName < 0) {
      const name = mappingFileName(mapping.mapping);
      mapping.bracketedName = name.startsWith('[') ? this.strings.intern(name) : 0;
    }
    return mapping.bracketedName;
  }

  /** The text that follows addresses in a mapping; made once per mapping. */
  #textOfMapping(mapping: number): string {
    if (mapping < 0) return '';
    this.#mappingTexts[mapping] ??= mappingText(this.#profile, mapping);
    return this.#mappingTexts[mapping];
  }

  /**
   * Index of a function here.
   * @param lineFile source file of the line, if it is not the function's. Lines have no file in pprof, so such a line
   * gets a function of the same name in that file.
   * @param otherFile index of a text here, for a function and a line without a file; 0 for none
   */
  #internFunction(func: number, lineFile: number, otherFile: number): number {
    // hot
    const isPlain = lineFile === 0 && otherFile === 0;
    if (isPlain && this.#functionIndex[func] >= 0) return this.#functionIndex[func];
    const { functions } = this.#profile;
    const name = this.#text(functions.name(func)) || this.strings.intern(NAMELESS);
    // pprof demangles linkage names itself when asked to (-symbolize=demangle=full), so anything that is not one is left out.
    const systemName = functions.isScoped(func) ? 0 : this.#text(functions.systemName(func));
    if (lineFile !== 0) return this.functions.intern(name, systemName, this.#text(lineFile), 0);
    if (otherFile !== 0) return this.functions.intern(name, systemName, otherFile, functions.startLine(func));
    const index = this.functions.intern(name, systemName, this.#text(functions.file(func)), functions.startLine(func));
    this.#functionIndex[func] = index;
    return index;
  }

  /** Index here of a string of the profile. */
  #text(index: number): number {
    const known = this.#textIndex[index];
    if (known >= 0) return known;
    const added = this.strings.intern(this.#profile.strings.get(index));
    this.#textIndex[index] = added;
    return added;
  }

  #internMapping(mapping: number): number {
    const known = this.#mappingIndex[mapping];
    if (known >= 0) return known;
    const index = this.mappings.push({
      mapping: this.#profile.mappings[mapping],
      hasFunctions: false,
      hasFilenames: false,
      hasLineNumbers: false,
      hasInlineFrames: false,
      bracketedName: -1,
    });
    const bias = addressBias(this.#profile.mappings[mapping]);
    this.#biasLo[index - 1] = bias >>> 0;
    this.#biasHi[index - 1] = Math.floor(bias / 0x1_0000_0000);
    this.#mappingIndex[mapping] = index - 1;
    return index - 1;
  }
}

/**
 * The file name of a mapping. The kernel is always `[kernel.kallsyms]`: pprof looks for no binary if the name is in brackets, but would try to symbolize a
 * kernel itself if the name ended in `_text`, as the recorded one may.
 */
export function mappingFileName({ kind, name }: Mapping): string {
  return kind === 'kernel' ? '[kernel.kallsyms]' : name || NAMELESS;
}

/** The number to add to addresses of a mapping to get those of the first process that mapped it. */
export function addressBias(mapping: Mapping): number {
  return mapping.kind === 'file' || mapping.kind === 'vdso' ? mapping.bias : 0;
}

/** By location: 1 if it is part of a sample's stack. */
function findUsedLocations({ totals, stacks, locations }: Profile): Uint8Array {
  const isUsedStack = new Uint8Array(stacks.size);
  for (let row = 0; row < totals.size; row++) {
    // hot
    const stack = totals.stack(row);
    if (stack >= 0) isUsedStack[stack] = 1;
  }
  const isUsed = new Uint8Array(locations.size);
  noteLocations(isUsedStack, stacks.columns, isUsed);
  return isUsed;
}

/** Notes the locations of stacks and of all their callers. A parent's index is smaller than its children's, so one walk from the end reaches all. */
function noteLocations(isUsedStack: Uint8Array, { parents, locations }: StackTable['columns'], isUsed: Uint8Array): void {
  // hot
  for (let stack = isUsedStack.length - 1; stack >= 0; stack--) {
    if (isUsedStack[stack] === 0) continue;
    isUsed[locations[stack]] = 1;
    const parent = parents[stack];
    if (parent >= 0) isUsedStack[parent] = 1;
  }
}
