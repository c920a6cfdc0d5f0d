import { StringTable } from '../../base/tables/string-table.ts';
import { TreeInterner } from '../../base/tables/tree-interner.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import type { FunctionTable } from '../../profile/function-table.ts';
import { addressText, isMadeAtRunTime, mappingText, NAMELESS, OFF_CPU, TRUNCATED } from '../../profile/names.ts';
import type { Profile } from '../../profile/profile.ts';
import { noteDefinitionLine } from '../definition-line.ts';
import { NO_STACK_NAME } from '../frame-tree.ts';
import { isKernelCode } from '../kernel-code.ts';
import { CODE_KINDS, type CodeKind } from './page-data.ts';

const INLINED = 1;

/** A function of the page: unique by its names, file, binary and kind. */
export interface PageFunction {
  /** Indexes into {@link PageTree.strings}; 0 is the empty text. */
  readonly name: number;
  readonly fullName: number;
  readonly file: number;
  readonly binary: number;
  /** Index into CODE_KINDS. */
  readonly kind: number;
  line: number;
}

/** What stands for an address, or for no stack, has no more than a name and a binary. */
const NO_TEXTS = { fullName: 0, file: 0, binary: 0, line: 0 };

function kindIndex(kind: CodeKind): number {
  return CODE_KINDS.indexOf(kind);
}

/**
 * The call tree of the page: all addresses of a function share its node, but a function that was inlined has another one than where it was called. A caller's
 * index is smaller than those of what it calls.
 */
export class PageTree {
  readonly strings = new StringTable();
  readonly functions: PageFunction[] = [];
  readonly #profile: Profile;
  readonly #shownFunctions: FunctionTable;
  readonly #nodes = new TreeInterner();
  readonly #nodeOfStack: Int32Array;
  /** The node of stack −1, once it was asked for. */
  #nodeWithoutStack: number | undefined;
  /** The functions: rows (name, full name, file, binary and kind). */
  readonly #rows = new TupleInterner(4, 1024);
  /** By function, mapping and kind of the profile, the function of the page: many locations have the same. */
  readonly #known = new TupleInterner(3, 1024);
  readonly #functionOfKnown: number[] = [];

  /** @param shownFunctions the profile's functions under the names that are shown; the profile's own are the full ones */
  constructor(profile: Profile, shownFunctions: FunctionTable) {
    this.#profile = profile;
    this.#shownFunctions = shownFunctions;
    const { stacks } = profile;
    const { first, codes } = this.#codesOfLocations();
    this.#nodeOfStack = new Int32Array(stacks.size);
    for (let stack = 0; stack < stacks.size; stack++) {
      // hot
      const parent = stacks.parent(stack);
      let node = parent < 0 ? -1 : this.#nodeOfStack[parent];
      const location = stacks.location(stack);
      for (let at = first[location]; at < first[location + 1]; at++) node = this.#nodes.intern(node, codes[at]);
      this.#nodeOfStack[stack] = node;
    }
  }

  /** Number of nodes. */
  get size(): number {
    return this.#nodes.size;
  }

  /** The caller's node; −1 for an outermost frame. */
  caller(node: number): number {
    return this.#nodes.parents[node];
  }

  /** Index of the node's function times 2, plus 1 if it was inlined. */
  code(node: number): number {
    return this.#nodes.labels[node];
  }

  /** The node of a stack of the profile. Stack −1 has one, too, so that its weight is not lost. */
  nodeOf(stack: number): number {
    if (stack >= 0) return this.#nodeOfStack[stack];
    this.#nodeWithoutStack ??= this.#nodes.intern(-1, 2 * this.#intern({ ...NO_TEXTS, name: this.strings.intern(NO_STACK_NAME), kind: kindIndex('mark') }));
    return this.#nodeWithoutStack;
  }

  /** The codes of the locations in stacks, one after the other, outermost function first, and where those of each location begin. */
  #codesOfLocations(): { first: Uint32Array; codes: Int32Array } {
    const { locations, stacks } = this.#profile;
    // Locations that others replace are in no stack.
    const isUsed = new Uint8Array(locations.size);
    for (let stack = 0; stack < stacks.size; stack++) isUsed[stacks.location(stack)] = 1;
    const first = new Uint32Array(locations.size + 1);
    for (let location = 0; location < locations.size; location++) first[location + 1] = first[location] + Math.max(1, locations.lineCount(location));
    const codes = new Int32Array(first[locations.size]);
    for (let location = 0; location < locations.size; location++) {
      if (isUsed[location] === 0) continue;
      const count = locations.lineCount(location);
      let at = first[location];
      if (count === 0) codes[at] = 2 * this.#unresolved(location);
      for (let nth = count - 1; nth >= 0; nth--) codes[at++] = 2 * this.#functionAt(location, nth) + (nth < count - 1 ? INLINED : 0);
    }
    return { first, codes };
  }

  #functionAt(location: number, nth: number): number {
    const { functions, locations, strings } = this.#profile;
    const fn = locations.lineFunction(location, nth);
    if (functions.name(fn) === 0) return this.#unresolved(location);
    const kind = kindIndex(this.#kindOf(location, nth));
    const row = this.#known.intern(fn, locations.mapping(location), kind);
    if (row === this.#functionOfKnown.length) {
      const fullName = this.strings.intern(strings.get(functions.name(fn)));
      const name = this.strings.intern(strings.get(this.#shownFunctions.name(fn))) || fullName;
      const file = this.strings.intern(strings.get(functions.file(fn)));
      const names = { name, fullName: name === fullName ? 0 : fullName };
      this.#functionOfKnown.push(this.#intern({ ...names, file, binary: this.#binaryOf(location), kind, line: functions.startLine(fn) }));
    }
    const index = this.#functionOfKnown[row];
    noteDefinitionLine(this.functions[index], this.#profile, location, nth);
    return index;
  }

  /** The function that stands for an address without one. */
  #unresolved(location: number): number {
    const name = this.strings.internJoined(addressText(this.#profile, location), mappingText(this.#profile, this.#profile.locations.mapping(location)));
    const kind = kindIndex(isKernelCode(this.#profile, location) ? 'kernel' : 'unknown');
    return this.#intern({ ...NO_TEXTS, name, binary: this.#binaryOf(location), kind });
  }

  /** Index of a function, which is added if it is new. */
  #intern(one: PageFunction): number {
    const index = this.#rows.intern(one.name, one.fullName, one.file, one.binary * CODE_KINDS.length + one.kind);
    if (index === this.functions.length) this.functions.push(one);
    return index;
  }

  #binaryOf(location: number): number {
    const { locations, mappings } = this.#profile;
    const mapping = locations.mapping(location);
    return mapping < 0 ? 0 : this.strings.intern(mappings[mapping].name || NAMELESS);
  }

  #kindOf(location: number, nth: number): CodeKind {
    const { functions, locations, mappings, strings } = this.#profile;
    if (isKernelCode(this.#profile, location)) return 'kernel';
    const mapping = locations.mapping(location);
    if (mapping < 0) {
      const name = strings.get(functions.name(locations.lineFunction(location, nth)));
      return name === TRUNCATED || name === OFF_CPU ? 'mark' : 'unknown';
    }
    if (locations.isStandIn(location)) return 'unknown';
    return isMadeAtRunTime(mappings[mapping]) ? 'jit' : 'user';
  }
}
