import type { ByteView } from '../../bytes/byte-view.ts';
import type { Abbreviations } from './abbreviations.ts';
import * as dw from './dwarf-constants.ts';
import { FormReader, type UnitFormat } from './forms.ts';
import type { UnitAddresses } from './unit-addresses.ts';

/** Reads where the code of a unit's functions lies (DWARF 5, 2.17). No object is made per function: the fields are those of the last one read. */
export class FunctionExtent {
  /** The code, when it is one range: from `low` up to `high`, which may be no live range; {@link hasList} tells of a list. */
  low = 0;
  high = 0;
  /** Whether the ranges are those that {@link UnitAddresses} last read. */
  hasList = false;
  readonly #view: ByteView;
  readonly #format: UnitFormat;
  readonly #abbreviations: Abbreviations;
  readonly #addresses: UnitAddresses;
  readonly #reader: FormReader;

  constructor(view: ByteView, format: UnitFormat, abbreviations: Abbreviations, addresses: UnitAddresses) {
    this.#view = view;
    this.#format = format;
    this.#abbreviations = abbreviations;
    this.#addresses = addresses;
    this.#reader = new FormReader(view, format);
  }

  /** Whether there is no address at all in it. */
  get isEmpty(): boolean {
    return this.hasList ? this.#addresses.count === 0 : !(this.low < this.high);
  }

  /**
   * Reads the extent of a DIE.
   * @param row of its abbreviation, @param attributesAt where its attributes start in the unit
   * @returns false when addresses are missing
   * @throws PerfconvError `damaged`
   */
  read(row: number, attributesAt: number): boolean {
    const { lowPcs, highPcs, highPcSizes, rangeLists } = this.#abbreviations;
    const view = this.#view;
    const lowAt = lowPcs[row];
    const highAt = highPcs[row];
    if (lowAt >= 0 && highAt >= 0 && attributesAt + Math.max(lowAt, highAt) + 8 <= view.length) {
      this.low = this.#format.addressSize === 8 ? view.i64(attributesAt + lowAt) : view.u32(attributesAt + lowAt);
      this.high = this.low + (highPcSizes[row] === 8 ? view.u64(attributesAt + highAt) : view.u32(attributesAt + highAt));
      this.hasList = false;
      return true;
    }
    const listAt = rangeLists[row];
    const { offsetSize } = this.#format;
    if (listAt < 0 || attributesAt + listAt + offsetSize > view.length) return this.#readAttributes(row, attributesAt);
    this.hasList = true;
    return this.#addresses.readRanges(dw.DW_FORM_sec_offset, offsetSize === 8 ? view.u64(attributesAt + listAt) : view.u32(attributesAt + listAt));
  }

  #readAttributes(row: number, attributesAt: number): boolean {
    const { attributeStarts, names, forms, implicit, formSizes } = this.#abbreviations;
    const addresses = this.#addresses;
    const reader = this.#reader;
    reader.at = attributesAt;
    let low = Number.NaN;
    let high = Number.NaN;
    let isHighDistance = false;
    this.hasList = false;
    for (let i = attributeStarts[row]; i < attributeStarts[row + 1]; i++) {
      reader.read(forms[i], implicit[i], formSizes[i]);
      const name = names[i];
      if (name === dw.DW_AT_low_pc) low = addresses.addressOf(reader.form, reader.value);
      else if (name === dw.DW_AT_high_pc) {
        isHighDistance = !isAddressForm(reader.form);
        high = isHighDistance ? reader.value : addresses.addressOf(reader.form, reader.value);
      } else if (name === dw.DW_AT_ranges) {
        this.hasList = true;
        // A low_pc beside it is where the function is entered.
        return addresses.readRanges(reader.form, reader.value);
      }
      if (addresses.missing !== undefined) return false;
    }
    this.low = low;
    this.high = isHighDistance ? low + high : high;
    return true;
  }
}

/** Whether a DW_AT_high_pc of this form is an address; of others, it is the distance from DW_AT_low_pc (DWARF 4, 2.17.2). */
export function isAddressForm(form: number): boolean {
  return (
    form === dw.DW_FORM_addr || form === dw.DW_FORM_addrx || form === dw.DW_FORM_GNU_addr_index || (form >= dw.DW_FORM_addrx1 && form <= dw.DW_FORM_addrx4)
  );
}
