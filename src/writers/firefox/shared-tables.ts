import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { grown } from '../../base/tables/growable.ts';
import { TreeInterner } from '../../base/tables/tree-interner.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import { baseName, NAMELESS } from '../../profile/names.ts';
import type { Mapping, Profile } from '../../profile/profile.ts';
import { NO_STACK_NAME } from '../frame-tree.ts';
import { categoryOf, subcategoryOf } from './categories.ts';
import { columnOf, lineOf } from './positions.ts';
import { Texts } from './texts.ts';

/** The largest address that the viewer's own columns hold (Int32Array, −1 for none). */
const MAX_ADDRESS = 0x7fffffff;

/** What the tables are made for. */
export interface SharedTablesInput {
  /** By stack of the profile: how many samples it has. */
  readonly samplesOf: Uint32Array;
  /** Whether there are samples without a stack. */
  readonly hasNoStack: boolean;
  /** Whether all addresses of a line are one frame, with the address of the first one, so that there are fewer stacks. */
  readonly mergesAddresses: boolean;
}

/**
 * The tables that all threads share, with only the rows that samples need. What most samples need comes first, so that the numbers that are written most often
 * are the shortest.
 *
 * - A library is a mapping of the profile, once for each name and build id.
 * - A function is a name in a source file and a library; a frame is one of the functions at a location; a stack is a
 *   frame and its caller's stack.
 * - A native symbol is the function that owns the machine code, by its address. Code whose function is unknown has none, since each of its addresses would be a
 *   symbol.
 */
export class SharedTables {
  readonly texts: Texts;
  /** Mappings, by library. */
  readonly libs: Mapping[] = [];
  /** Rows (name, source file + 1, library + 1): a text, an index into the sources, an index into the libraries. */
  readonly funcs = new TupleInterner(3, 1024);
  /** By function: 1-based line of its definition, 0 if unknown. */
  readonly funcLines: number[] = [];
  /** Texts of the names, by source file. */
  readonly sources: number[] = [];
  /** Rows (library, address in it, name). */
  readonly nativeSymbols = new TupleInterner(3, 1024);
  /**
   * By frame: its location (−1 for `(no stack)`), which of its functions it is, and rows of {@link funcs} and {@link
   * nativeSymbols} (−1 for none).
   */
  frameLocation = new Int32Array(1024);
  frameNth = new Int32Array(1024);
  frameFunc = new Int32Array(1024);
  frameNativeSymbol = new Int32Array(1024);
  frameCount = 0;
  /** Stacks, each its caller's stack and a frame. */
  readonly stacks = new TreeInterner();
  readonly #profile: Profile;
  readonly #libOf: Int32Array;
  readonly #libOfName = new Map<string, number>();
  readonly #sourceOf: Int32Array;
  /** By location: where its frames begin in {@link #locationFrames}, −1 until they are asked for. */
  readonly #firstFrame: Int32Array;
  #locationFrames = new Int32Array(1024);
  #locationFrameCount = 0;
  readonly #merger: FrameMerger | undefined;
  readonly #rowOf: Int32Array;
  readonly #pending: number[] = [];
  #noStackRow = -1;

  constructor(profile: Profile, { samplesOf, hasNoStack, mergesAddresses }: SharedTablesInput) {
    this.#profile = profile;
    this.#merger = mergesAddresses ? new FrameMerger() : undefined;
    this.texts = new Texts(profile);
    this.#libOf = new Int32Array(profile.mappings.length).fill(-1);
    this.#sourceOf = new Int32Array(profile.strings.size).fill(-1);
    this.#firstFrame = new Int32Array(profile.locations.size).fill(-1);
    this.#rowOf = new Int32Array(profile.stacks.size).fill(-1);
    if (hasNoStack) this.#addNoStack();
    for (const stack of ascendingOrder(Float64Array.from(samplesOf, (count) => -count))) if (samplesOf[stack] > 0) this.#addStack(stack);
  }

  /** The row of a stack of the profile, −1 for the empty one, in the stack table. */
  rowOf(stack: number): number {
    // hot
    return stack < 0 ? this.#noStackRow : this.#rowOf[stack];
  }

  /** Index into {@link libs} of a location; −1 outside all mappings. */
  libOf(location: number): number {
    const mapping = this.#profile.locations.mapping(location);
    return mapping < 0 ? -1 : this.#libOfMapping(mapping);
  }

  /**
   * A location's address in its library: an offset in the file, or the distance from the start of memory that is not a file's. −1 if there is no library, or
   * the number is too large for the viewer.
   */
  addressOf(location: number): number {
    const { locations, mappings } = this.#profile;
    const mapping = locations.mapping(location);
    if (mapping < 0) return -1;
    const { kind, start } = mappings[mapping];
    const address = locations.address(location) - (kind === 'file' || kind === 'vdso' ? 0 : start);
    return address >= 0 && address <= MAX_ADDRESS ? address : -1;
  }

  #addNoStack(): void {
    const func = this.#intern(this.texts.literal(NO_STACK_NAME), -1, -1, 0);
    this.#merger?.frame(this.#profile, -1, 0, func, -1);
    this.#noStackRow = this.stacks.intern(-1, this.#pushFrame(-1, 0, func, -1));
  }

  #addStack(stack: number): void {
    const { locations, stacks } = this.#profile;
    const pending = this.#pending;
    let count = 0;
    let caller = stack;
    while (caller >= 0 && this.#rowOf[caller] < 0) {
      pending[count++] = caller;
      caller = stacks.parent(caller);
    }
    let row = caller < 0 ? -1 : this.#rowOf[caller];
    while (count > 0) {
      const callee = pending[--count];
      const location = stacks.location(callee);
      const first = this.#framesAt(location);
      const end = first + Math.max(1, locations.lineCount(location));
      for (let at = first; at < end; at++) row = this.stacks.intern(row, this.#locationFrames[at]);
      this.#rowOf[callee] = row;
    }
  }

  /** Where a location's frames begin: the first is that of the function that owns the code, and those of inlined functions follow. */
  #framesAt(location: number): number {
    if (this.#firstFrame[location] < 0) {
      this.#firstFrame[location] = this.#locationFrameCount;
      this.#addFrames(location);
    }
    return this.#firstFrame[location];
  }

  #addFrames(location: number): void {
    const { functions, locations } = this.#profile;
    const lib = this.libOf(location);
    const lineCount = locations.lineCount(location);
    if (lineCount === 0) this.#addFrame(location, 0, this.#intern(this.texts.ofAddress(location, lib), -1, lib, 0), -1);
    const symbol = lineCount === 0 ? -1 : this.#nativeSymbolOf(location, lib);
    for (let nth = lineCount - 1; nth >= 0; nth--) {
      const fn = locations.lineFunction(location, nth);
      const func = this.#intern(this.#nameOf(location, nth, lib), this.#sourceOfString(functions.file(fn)), lib, functions.startLine(fn));
      this.#addFrame(location, nth, func, symbol);
    }
  }

  /** Adds a frame of the current location. */
  #addFrame(location: number, nth: number, func: number, symbol: number): void {
    const known = this.#merger?.frame(this.#profile, location, nth, func, symbol) ?? this.frameCount;
    const at = this.#locationFrameCount++;
    this.#locationFrames = grown(this.#locationFrames, at + 1);
    this.#locationFrames[at] = known < this.frameCount ? known : this.#pushFrame(location, nth, func, symbol);
  }

  #pushFrame(location: number, nth: number, func: number, symbol: number): number {
    const frame = this.frameCount++;
    if (frame === this.frameLocation.length) {
      this.frameLocation = grown(this.frameLocation, frame + 1);
      this.frameNth = grown(this.frameNth, frame + 1);
      this.frameFunc = grown(this.frameFunc, frame + 1);
      this.frameNativeSymbol = grown(this.frameNativeSymbol, frame + 1);
    }
    this.frameLocation[frame] = location;
    this.frameNth[frame] = nth;
    this.frameFunc[frame] = func;
    this.frameNativeSymbol[frame] = symbol;
    return frame;
  }

  #intern(name: number, source: number, lib: number, startLine: number): number {
    const func = this.funcs.intern(name, source + 1, lib + 1);
    if (func === this.funcLines.length) this.funcLines.push(startLine);
    else if (this.funcLines[func] === 0) this.funcLines[func] = startLine;
    return func;
  }

  /** A function's name; an empty one is replaced by the address. */
  #nameOf(location: number, nth: number, lib: number): number {
    const { functions, locations } = this.#profile;
    const name = functions.name(locations.lineFunction(location, nth));
    return this.#profile.strings.length(name) === 0 ? this.texts.ofAddress(location, lib) : this.texts.ofString(name);
  }

  #nativeSymbolOf(location: number, lib: number): number {
    const { functions, locations } = this.#profile;
    const name = functions.name(locations.lineFunction(location, locations.lineCount(location) - 1));
    // 0 is the empty string.
    if (name === 0 || locations.isStandIn(location)) return -1;
    const address = this.addressOf(location) - locations.symbolOffset(location);
    if (lib < 0 || this.addressOf(location) < 0 || address < 0) return -1;
    return this.nativeSymbols.intern(lib, address, this.texts.ofString(name));
  }

  #sourceOfString(file: number): number {
    if (file === 0) return -1;
    if (this.#sourceOf[file] < 0) this.#sourceOf[file] = this.sources.push(this.texts.ofString(file)) - 1;
    return this.#sourceOf[file];
  }

  #libOfMapping(index: number): number {
    if (this.#libOf[index] < 0) {
      const mapping = this.#profile.mappings[index];
      const key = JSON.stringify([mapping.name, mapping.buildId]);
      let lib = this.#libOfName.get(key);
      if (lib === undefined) {
        lib = this.libs.push(mapping) - 1;
        this.#libOfName.set(key, lib);
      }
      this.#libOf[index] = lib;
    }
    return this.#libOf[index];
  }
}

/** Gives the same number to frames that differ only in their addresses. */
class FrameMerger {
  readonly #kinds = new TupleInterner(4, 1024);
  /** Rows (kind, line, column). */
  readonly #frames = new TupleInterner(3, 1024);

  /** The frame's number, which is a new one if there was none like it. @param location −1 for `(no stack)` */
  frame(profile: Profile, location: number, nth: number, func: number, symbol: number): number {
    if (location < 0) return this.#frames.intern(this.#kinds.intern(func, symbol, 0, 0), 0, 0);
    const { locations } = profile;
    const depth = locations.lineCount(location) - nth;
    const category = categoryOf(profile, location, nth) * 16 + subcategoryOf(profile, location, nth);
    return this.#frames.intern(this.#kinds.intern(func, symbol, depth, category), lineOf(profile, location, nth), columnOf(profile, location, nth));
  }
}

/** The name of a library; `[unknown]` if it is empty. */
export function libName({ name }: Mapping): string {
  return baseName(name) || NAMELESS;
}
