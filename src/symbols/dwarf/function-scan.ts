import type { ByteView } from '../../bytes/byte-view.ts';
import { PerfconvError } from '../../errors.ts';
import { grown } from '../../intern/growable.ts';
import { type Abbreviations, HAS_CHILDREN, IS_CODELESS, IS_FUNCTION, IS_INLINED, IS_UNREADABLE } from './abbreviations.ts';
import * as dw from './dwarf-constants.ts';
import { FormReader, SIZE_BLOCK, SIZE_BLOCK1, SIZE_BLOCK2, SIZE_BLOCK4, SIZE_INDIRECT, SIZE_STRING, SIZE_ULEB, type UnitFormat } from './forms.ts';
import type { UnitAddresses } from './unit-addresses.ts';

/** Inlined functions in one another, as many as are told; compilers stop far earlier. */
const MAX_INLINE_DEPTH = 200;
/** How many functions may claim each address, on average, and beyond one for each byte of the unit. */
const MAX_CLAIMS_PER_ADDRESS = 1000;

/** What a scan goes over. Offsets are within `view`, which holds a whole unit. */
export interface ScannedUnit {
  readonly view: ByteView;
  readonly format: UnitFormat;
  readonly abbreviations: Abbreviations;
  readonly addresses: UnitAddresses;
  /** Where the unit's own DIE stands. */
  readonly dieAt: number;
}

/**
 * One pass over the DIEs of a unit that finds the functions at wanted addresses, inlined ones too. No object is made per DIE.
 * Of several functions at an address the last one counts, and of an inlined one its parents: as llvm-symbolizer has it.
 */
export class FunctionScan {
  /** By index of the wanted addresses: the innermost function there as an index of {@link dies}, −1 for none. */
  readonly innermost: Int32Array;
  /** Where the functions' DIEs stand. */
  dies = new Uint32Array(16);
  /** What a function was inlined into, −1 for a function of its own. */
  parents = new Int32Array(16);
  /**
   * By index of the wanted addresses: where the last function ends before it, −Infinity when none does. Only of functions
   * that were come upon.
   */
  readonly endsBefore: Float64Array;
  /** Whether it left out parts of the unit where code hardly ever is. */
  hasSkipped = false;
  readonly #unit: ScannedUnit;
  readonly #wanted: Float64Array;
  readonly #isThorough: boolean;
  readonly #reader: FormReader;
  #count = 0;
  #at: number;
  #depth = 0;
  #claimsLeft: number;
  /** Functions around the current DIE that hold wanted addresses, outermost first, and how deep they stand. */
  readonly #open = new Int32Array(MAX_INLINE_DEPTH);
  readonly #openDepths = new Int32Array(MAX_INLINE_DEPTH);
  #openCount = 0;
  /** Depth of a function without wanted addresses that is within an open one: under it, inlined ones are not looked at. −1 for none. */
  #quietDepth = -1;
  /** The extent of the DIE last read, when it is one range; #hasList tells of a list, in the unit's addresses. */
  #low = 0;
  #high = 0;
  #hasList = false;

  /**
   * @param wanted ascending
   * @param isThorough whether to look also where code hardly ever is: in types, and in functions that hold no wanted address,
   * as functions of gcc's Fortran and C in one another do
   */
  constructor(unit: ScannedUnit, wanted: Float64Array, isThorough: boolean) {
    this.#unit = unit;
    this.#wanted = wanted;
    this.#isThorough = isThorough;
    this.#at = unit.dieAt;
    this.#reader = new FormReader(unit.view, unit.format);
    this.innermost = new Int32Array(wanted.length).fill(-1);
    this.endsBefore = new Float64Array(wanted.length).fill(Number.NEGATIVE_INFINITY);
    this.#claimsLeft = wanted.length * MAX_CLAIMS_PER_ADDRESS + unit.view.length;
  }

  /** Scans to the end. @throws PerfconvError `damaged` when the unit's DIEs cannot be followed; what was found before stays */
  async run(): Promise<void> {
    while (!this.#scan()) await this.#unit.addresses.load();
    const ends = this.endsBefore;
    for (let i = 1; i < ends.length; i++) if (ends[i] < ends[i - 1]) ends[i] = ends[i - 1];
  }

  /** @returns false when addresses are missing: it goes on from there when called again */
  #scan(): boolean {
    const { view, abbreviations, format } = this.#unit;
    const { bytes } = view;
    const { dense, flags, sizes, skips, skipStarts, siblingBacks } = abbreviations;
    const end = bytes.length;
    const isThorough = this.#isThorough;
    let at = this.#at;
    let depth = this.#depth;
    // hot
    while (at < end) {
      const dieAt = at;
      let code = bytes[at++];
      if (code > 0x7f) {
        // Nearly all take two bytes at most.
        code = (code & 0x7f) | ((bytes[at] & 0x7f) << 7);
        if (bytes[at++] > 0x7f) {
          for (let shift = 14; at < end; shift += 7) {
            const byte = bytes[at++];
            if (shift < 49) code += (byte & 0x7f) * 2 ** shift;
            if (byte < 0x80) break;
          }
        }
      }
      if (code === 0) {
        if (--depth <= 0) break;
        if (this.#quietDepth === depth) this.#quietDepth = -1;
        if (this.#openCount > 0 && this.#openDepths[this.#openCount - 1] === depth) this.#openCount--;
        continue;
      }
      const row = code < dense.length ? dense[code] : abbreviations.row(code);
      if (row < 0) throw this.#damaged(`no abbreviation ${code}`, dieAt);
      const flag = flags[row];
      let isHit = false;
      let isSkippable = (flag & IS_CODELESS) !== 0;
      if ((flag & (IS_FUNCTION | IS_INLINED)) !== 0) {
        const isFunction = (flag & IS_FUNCTION) !== 0;
        if (isFunction || (this.#openCount > 0 && this.#quietDepth < this.#openDepths[this.#openCount - 1])) {
          if (!this.#readExtent(row, at)) {
            this.#at = dieAt;
            this.#depth = depth;
            return false;
          }
          isHit = this.#claim(dieAt, isFunction);
          if (!isHit && !isFunction && this.#isEmpty()) {
            // gcc's strict DWARF 2 cannot say that code lies in several places: what is inlined further has its own.
            this.#add(dieAt, false);
            this.#claimsLeft--;
            isHit = true;
          }
          if (this.#claimsLeft < 0) throw this.#damaged('far too many functions claim its addresses', dieAt);
        }
        isSkippable = !isHit;
      }

      const size = sizes[row];
      if (size >= 0) at += size;
      else {
        if ((flag & IS_UNREADABLE) !== 0) throw this.#damaged('an attribute of unknown form', dieAt);
        const skipsEnd = skipStarts[row + 1];
        for (let i = skipStarts[row]; i < skipsEnd; i++) {
          const skip = skips[i];
          if (skip >= 0) at += skip;
          else if (skip === SIZE_ULEB) while (bytes[at++] > 0x7f);
          else if (skip === SIZE_BLOCK && bytes[at] < 0x80) at += 1 + bytes[at];
          else at = skipSized(view, at, skip, format, this.#reader);
        }
      }
      if ((flag & HAS_CHILDREN) === 0) {
        if (depth === 0) break;
        continue;
      }
      if (isSkippable && !isThorough && siblingBacks[row] > 0 && at <= end) {
        const sibling = view.u32(at - siblingBacks[row]);
        if (sibling >= at && sibling < end) {
          at = sibling;
          this.hasSkipped = true;
          continue;
        }
      }
      if ((flag & (IS_FUNCTION | IS_INLINED)) !== 0) {
        if (isHit && this.#openCount < MAX_INLINE_DEPTH) {
          this.#open[this.#openCount] = this.#count - 1;
          this.#openDepths[this.#openCount++] = depth;
        } else if (this.#openCount > 0 && this.#quietDepth < this.#openDepths[this.#openCount - 1]) this.#quietDepth = depth;
      }
      depth++;
    }
    if (at > end) throw this.#damaged('a DIE overruns its unit', at);
    this.#at = end;
    return true;
  }

  /** Whether the extent last read holds no address at all. */
  #isEmpty(): boolean {
    return this.#hasList ? this.#unit.addresses.count === 0 : !(this.#low < this.#high);
  }

  /** Gives the function with the extent last read all wanted addresses in it. @returns whether there are any */
  #claim(dieAt: number, isFunction: boolean): boolean {
    const known = this.#count;
    if (this.#hasList) {
      const { starts, ends, count } = this.#unit.addresses;
      this.#claimsLeft -= count;
      for (let i = 0; i < count; i++) this.#claimRange(starts[i], ends[i], dieAt, isFunction);
    } else if (this.#unit.addresses.isLive(this.#low, this.#high)) this.#claimRange(this.#low, this.#high, dieAt, isFunction);
    return this.#count > known;
  }

  #claimRange(low: number, high: number, dieAt: number, isFunction: boolean): void {
    const wanted = this.#wanted;
    const { length } = wanted;
    if (length === 0 || wanted[length - 1] < low) return;
    let first = 0;
    for (let last = length; first < last; ) {
      const middle = (first + last) >>> 1;
      if (wanted[middle] < low) first = middle + 1;
      else last = middle;
    }
    if (wanted[first] < high) {
      // A function has one entry, however many ranges.
      const isNew = this.#count === 0 || this.dies[this.#count - 1] !== dieAt;
      const index = isNew ? this.#add(dieAt, isFunction) : this.#count - 1;
      for (; first < length && wanted[first] < high; first++) {
        this.innermost[first] = index;
        this.#claimsLeft--;
      }
    }
    if (first < length && this.endsBefore[first] < high) this.endsBefore[first] = high;
  }

  #add(dieAt: number, isFunction: boolean): number {
    const index = this.#count++;
    if (index >= this.dies.length) {
      this.dies = grown(this.dies, index + 1);
      this.parents = grown(this.parents, index + 1);
    }
    this.dies[index] = dieAt;
    this.parents[index] = isFunction || this.#openCount === 0 ? -1 : this.#open[this.#openCount - 1];
    return index;
  }

  /** Reads where a function's code lies. @returns false when addresses are missing */
  #readExtent(row: number, attributesAt: number): boolean {
    const { abbreviations, addresses, view, format } = this.#unit;
    const lowAt = abbreviations.lowPcs[row];
    const highAt = abbreviations.highPcs[row];
    if (lowAt >= 0 && highAt >= 0 && attributesAt + Math.max(lowAt, highAt) + 8 <= view.length) {
      this.#low = format.addressSize === 8 ? view.i64(attributesAt + lowAt) : view.u32(attributesAt + lowAt);
      this.#high = this.#low + (abbreviations.highPcSizes[row] === 8 ? view.u64(attributesAt + highAt) : view.u32(attributesAt + highAt));
      this.#hasList = false;
      return true;
    }
    const { attributeStarts, names, forms, implicit } = abbreviations;
    const reader = this.#reader;
    reader.at = attributesAt;
    let low = Number.NaN;
    let high = Number.NaN;
    let isHighDistance = false;
    this.#hasList = false;
    for (let i = attributeStarts[row]; i < attributeStarts[row + 1]; i++) {
      reader.read(forms[i], implicit[i]);
      const name = names[i];
      if (name === dw.DW_AT_low_pc) low = addresses.addressOf(reader.form, reader.value);
      else if (name === dw.DW_AT_high_pc) {
        isHighDistance = !isAddressForm(reader.form);
        high = isHighDistance ? reader.value : addresses.addressOf(reader.form, reader.value);
      } else if (name === dw.DW_AT_ranges) {
        this.#hasList = true;
        if (!addresses.readRanges(reader.form, reader.value)) return false;
        // A low_pc beside it is where the function is entered.
        return true;
      }
      if (addresses.missing !== undefined) return false;
    }
    this.#low = low;
    this.#high = isHighDistance ? low + high : high;
    return true;
  }

  #damaged(what: string, at: number): PerfconvError {
    return new PerfconvError('damaged', `${what}, ${at} bytes into the unit`, { record: 'DIE' });
  }
}

/** Whether a DW_AT_high_pc of this form is an address; of others, it is the distance from DW_AT_low_pc (DWARF 4, 2.17.2). */
export function isAddressForm(form: number): boolean {
  return (
    form === dw.DW_FORM_addr || form === dw.DW_FORM_addrx || form === dw.DW_FORM_GNU_addr_index || (form >= dw.DW_FORM_addrx1 && form <= dw.DW_FORM_addrx4)
  );
}

/** Where a value ends that says its size itself. */
function skipSized(view: ByteView, at: number, size: number, format: UnitFormat, reader: FormReader): number {
  reader.at = at;
  switch (size) {
    case SIZE_STRING: {
      const nul = view.bytes.indexOf(0, at);
      return nul < 0 ? view.length + 1 : nul + 1;
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
      reader.read(dw.DW_FORM_indirect, 0);
      return reader.at;
    default:
      throw new PerfconvError('damaged', `no way over a form, in DWARF ${format.version}`, { record: 'DIE' });
  }
}
