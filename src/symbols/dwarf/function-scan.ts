import type { ByteView } from '../../bytes/byte-view.ts';
import { PerfconvError } from '../../errors.ts';
import { type Abbreviations, HAS_CHILDREN, IS_CODELESS, IS_FUNCTION, IS_INLINED, IS_SUBPROGRAM, IS_UNREADABLE } from './abbreviations.ts';
import * as dw from './dwarf-constants.ts';
import { FormReader, SIZE_BLOCK, SIZE_BLOCK1, SIZE_BLOCK2, SIZE_BLOCK4, SIZE_INDIRECT, SIZE_STRING, SIZE_ULEB, type UnitFormat } from './forms.ts';
import { FunctionClaims } from './function-claims.ts';
import { FunctionExtent } from './function-extent.ts';
import type { UnitAddresses } from './unit-addresses.ts';

/** Inlined functions in one another, as many as are told; compilers stop far earlier. */
const MAX_INLINE_DEPTH = 200;

/** How much of a unit a scan goes over. Functions without wanted addresses, abstract instances and types are left out. */
export const SCAN_CODE = 0;
/** All functions, with the types in them, which may be local classes with code of their own; no other types. */
export const SCAN_FUNCTIONS = 1;
/** All, as gcc's Fortran and C may have functions in one another. */
export const SCAN_ALL = 2;
export type ScanScope = typeof SCAN_CODE | typeof SCAN_FUNCTIONS | typeof SCAN_ALL;

/** What a scan goes over. Offsets are within `view`, which holds a whole unit. */
export interface ScannedUnit {
  readonly view: ByteView;
  readonly format: UnitFormat;
  readonly abbreviations: Abbreviations;
  readonly addresses: UnitAddresses;
  /** Where the unit's own DIE stands. */
  readonly dieAt: number;
}

/** What came of one DIE. */
const GO_ON = 0;
const IS_END = 1;
const LACKS_ADDRESSES = 2;

/** What a function is to the wanted addresses. */
const HOLDS_NONE = 0;
const HOLDS_SOME = 1;
const IS_UNKNOWN = 2;

/**
 * One pass over the DIEs of a unit that finds the functions at wanted addresses, inlined ones too. No object is made per DIE.
 * Of several functions at an address the last one counts, and of an inlined one its parents: as llvm-symbolizer has it.
 *
 * The loop calls a function for each DIE, and has no other loop in it: engines compile a long loop anew from each place where it
 * gets hot, and most recordings are over before a large one is compiled a third time.
 */
export class FunctionScan {
  readonly found: FunctionClaims;
  /** Whether it left out parts of the unit where code hardly ever is. */
  hasSkipped = false;
  readonly #unit: ScannedUnit;
  readonly #bytes: Uint8Array;
  readonly #scope: ScanScope;
  readonly #reader: FormReader;
  readonly #extent: FunctionExtent;
  #at: number;
  #depth = 0;
  /** Functions around the current DIE that hold wanted addresses, outermost first, and how deep they stand. */
  readonly #open = new Int32Array(MAX_INLINE_DEPTH);
  readonly #openDepths = new Int32Array(MAX_INLINE_DEPTH);
  #openCount = 0;
  /** Depth of a function without wanted addresses that is within an open one: under it, inlined ones are not looked at. −1 for none. */
  #quietDepth = -1;
  /** Depth of the outermost subprogram around the current DIE, −1 for none. */
  #functionDepth = -1;
  /**
   * Whether functions may have code that is not in their extents. Strict DWARF 2 cannot say that code lies in several pieces: of a
   * function in two sections, and of one that is inlined in pieces, gcc tells the extent of one piece. What is inlined in the others
   * stands under it nonetheless, and a function's other section has a second DIE somewhere behind it, named `__second_sect_of_…`.
   */
  readonly #isPartial: boolean;

  /** @param wanted ascending */
  constructor(unit: ScannedUnit, wanted: Float64Array, scope: ScanScope) {
    const { view, format, abbreviations, addresses, dieAt } = unit;
    this.#unit = unit;
    this.#bytes = view.bytes;
    this.#scope = scope;
    this.#at = dieAt;
    this.#reader = new FormReader(view, format);
    this.#extent = new FunctionExtent(view, format, abbreviations, addresses);
    this.#isPartial = format.version === 2 && !abbreviations.hasRanges;
    this.found = new FunctionClaims(wanted, view.length);
    this.found.keepsInlined = this.#isPartial;
  }

  /** Scans to the end. @throws PerfconvError `damaged` when the unit's DIEs cannot be followed; what was found before stays */
  async run(): Promise<void> {
    while (!this.#scan()) await this.#unit.addresses.load();
  }

  /** @returns false when addresses are missing: it goes on from there when called again */
  #scan(): boolean {
    const end = this.#bytes.length;
    let result = GO_ON;
    // hot
    while (result === GO_ON && this.#at < end) {
      result = this.#visit(this.#at);
      if (result === GO_ON) this.#at = this.#skipLeaves(this.#at);
    }
    if (this.#at > end) throw this.#damaged('a DIE overruns its unit', this.#at);
    return result !== LACKS_ADDRESSES;
  }

  /** Where the next DIE stands that may be of interest. */
  #skipLeaves(from: number): number {
    const bytes = this.#bytes;
    const { leafSizes } = this.#unit.abbreviations;
    // Of two bytes at most, and what stands behind the end does not matter.
    const last = bytes.length - 2;
    let at = from;
    // hot
    while (at <= last) {
      const byte = bytes[at];
      const code = byte < 0x80 ? byte : (byte & 0x7f) | (bytes[at + 1] << 7);
      const size = code < leafSizes.length ? leafSizes[code] : 0;
      // Codes may be padded.
      if (size === 0 || (byte >= 0x80 && code < 0x80)) break;
      at += size;
    }
    return at;
  }

  #visit(dieAt: number): number {
    let code = this.#bytes[dieAt];
    let at = dieAt + 1;
    if (code > 0x7f) {
      this.#reader.at = dieAt;
      code = this.#reader.uleb();
      at = this.#reader.at;
    }
    if (code === 0) {
      this.#at = at;
      return this.#leave();
    }
    const { abbreviations } = this.#unit;
    const row = abbreviations.row(code);
    if (row < 0) throw this.#damaged(`no abbreviation ${code}`, dieAt);
    const flag = abbreviations.flags[row];
    const isOfInterest = (flag & (IS_FUNCTION | IS_INLINED)) !== 0;
    const holds = isOfInterest ? this.#claim(row, dieAt, at, (flag & IS_FUNCTION) !== 0) : HOLDS_NONE;
    if (holds === IS_UNKNOWN) return LACKS_ADDRESSES;

    const size = abbreviations.sizes[row];
    at = size >= 0 ? at + size : this.#skipAttributes(row, at);
    this.#at = at;
    if ((flag & HAS_CHILDREN) === 0) return this.#depth === 0 ? IS_END : GO_ON;
    if (((flag & IS_CODELESS) !== 0 || (isOfInterest && holds === HOLDS_NONE)) && this.#skipChildren(row, flag)) return GO_ON;
    if (isOfInterest) this.#enter(holds);
    if ((flag & IS_SUBPROGRAM) !== 0 && this.#functionDepth < 0) this.#functionDepth = this.#depth;
    this.#depth++;
    return GO_ON;
  }

  /** Ends a list of children. */
  #leave(): number {
    const depth = --this.#depth;
    if (this.#quietDepth === depth) this.#quietDepth = -1;
    if (this.#functionDepth === depth) this.#functionDepth = -1;
    if (this.#openCount > 0 && this.#openDepths[this.#openCount - 1] === depth) this.#openCount--;
    return depth <= 0 ? IS_END : GO_ON;
  }

  /** Notes a function whose children follow. */
  #enter(holds: number): void {
    if (holds === HOLDS_SOME && this.#openCount < MAX_INLINE_DEPTH) {
      this.#open[this.#openCount] = this.found.count - 1;
      this.#openDepths[this.#openCount++] = this.#depth;
    } else if (this.#isLoud) this.#quietDepth = this.#depth;
  }

  /** Whether functions that are inlined here hold wanted addresses, if any. */
  get #isLoud(): boolean {
    return this.#openCount > 0 && this.#quietDepth < this.#openDepths[this.#openCount - 1];
  }

  /** Gives a function the wanted addresses that it holds. */
  #claim(row: number, dieAt: number, attributesAt: number, isFunction: boolean): number {
    if (!isFunction && !this.#isLoud) return HOLDS_NONE;
    const extent = this.#extent;
    if (!extent.read(row, attributesAt)) return IS_UNKNOWN;
    const { found } = this;
    const known = found.count;
    const parent = isFunction || this.#openCount === 0 ? -1 : this.#open[this.#openCount - 1];
    if (extent.hasList) this.#claimList(dieAt, parent);
    else if (this.#unit.addresses.isLive(extent.low, extent.high)) found.claim(extent.low, extent.high, dieAt, parent);
    if (found.count === known && (isFunction ? this.#isPartial && !extent.isEmpty : this.#isPartial || extent.isEmpty)) found.add(dieAt, parent);
    if (found.areTooMany) throw this.#damaged('far too many functions claim its addresses', dieAt);
    return found.count > known ? HOLDS_SOME : HOLDS_NONE;
  }

  #claimList(dieAt: number, parent: number): void {
    const { starts, ends, count } = this.#unit.addresses;
    for (let i = 0; i < count; i++) this.found.claim(starts[i], ends[i], dieAt, parent);
  }

  /** Goes on behind the children of the DIE whose attributes end here, if that is told and the scope leaves them out. */
  #skipChildren(row: number, flag: number): boolean {
    // Of the types that are left out when functions are not, none is in a function.
    const isLeftOut = this.#scope === SCAN_CODE || (this.#scope === SCAN_FUNCTIONS && (flag & IS_SUBPROGRAM) === 0 && this.#functionDepth < 0);
    const back = this.#unit.abbreviations.siblingBacks[row];
    if (!isLeftOut || back === 0 || this.#at > this.#bytes.length) return false;
    const sibling = this.#unit.view.u32(this.#at - back);
    if (sibling < this.#at || sibling >= this.#bytes.length) return false;
    this.#at = sibling;
    this.hasSkipped = true;
    return true;
  }

  /** Where attributes end that are not of fixed size. */
  #skipAttributes(row: number, from: number): number {
    const { flags, skips, skipStarts } = this.#unit.abbreviations;
    if ((flags[row] & IS_UNREADABLE) !== 0) throw this.#damaged('an attribute of unknown form', from);
    const bytes = this.#bytes;
    const end = skipStarts[row + 1];
    let at = from;
    for (let i = skipStarts[row]; i < end; i++) {
      const skip = skips[i];
      if (skip >= 0) at += skip;
      else if ((skip === SIZE_ULEB || skip === SIZE_BLOCK) && bytes[at] < 0x80) at += skip === SIZE_ULEB ? 1 : 1 + bytes[at];
      else at = this.#skipSized(at, skip);
    }
    return at;
  }

  /** Where a value ends that says its size itself. */
  #skipSized(at: number, size: number): number {
    const reader = this.#reader;
    reader.at = at;
    switch (size) {
      case SIZE_ULEB:
        reader.uleb();
        return reader.at;
      case SIZE_STRING: {
        const nul = this.#bytes.indexOf(0, at);
        return nul < 0 ? this.#bytes.length + 1 : nul + 1;
      }
      case SIZE_BLOCK1:
        return at + 1 + reader.fixed(1);
      case SIZE_BLOCK2:
        return at + 2 + reader.fixed(2);
      case SIZE_BLOCK4:
        return at + 4 + reader.fixed(4);
      case SIZE_BLOCK: {
        const length = reader.uleb();
        return reader.at + length;
      }
      case SIZE_INDIRECT:
        reader.read(dw.DW_FORM_indirect, 0, SIZE_INDIRECT);
        return reader.at;
      default:
        throw new PerfconvError('damaged', `no way over a form, in DWARF ${this.#unit.format.version}`, { record: 'DIE' });
    }
  }

  #damaged(what: string, at: number): PerfconvError {
    return new PerfconvError('damaged', `${what}, ${at} bytes into the unit`, { record: 'DIE' });
  }
}
