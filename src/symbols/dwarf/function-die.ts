import type { ByteView } from '../../bytes/byte-view.ts';
import { PerfconvError } from '../../errors.ts';
import { type Abbreviations, IS_UNREADABLE } from './abbreviations.ts';
import * as dw from './dwarf-constants.ts';
import { FormReader, type UnitFormat } from './forms.ts';
import { type TextPlace, textPlace } from './string-reader.ts';

export const ORIGIN_NONE = 0;
/** A DIE of the same unit, by its distance from the unit's start. */
export const ORIGIN_IN_UNIT = 1;
/** A DIE of the same file's `.debug_info`. */
export const ORIGIN_IN_INFO = 2;
/** A DIE of the supplementary file's. */
const ORIGIN_IN_SUPPLEMENTARY = 3;

/** By DW_AT_…: whether the attribute tells what is wanted of a function. */
const IS_READ = new Uint8Array(dw.DW_AT_ZIG_parent + 1);
for (const name of [
  dw.DW_AT_name,
  dw.DW_AT_linkage_name,
  dw.DW_AT_MIPS_linkage_name,
  dw.DW_AT_decl_file,
  dw.DW_AT_decl_line,
  dw.DW_AT_call_file,
  dw.DW_AT_call_line,
  dw.DW_AT_call_column,
  dw.DW_AT_abstract_origin,
  dw.DW_AT_specification,
  dw.DW_AT_ZIG_parent,
])
  IS_READ[name] = 1;

/**
 * Reads DIEs of functions (DWARF 5, 3.3). There are tens of them for each address, so that no object is made for one: the
 * fields are those of the last one read.
 */
export class FunctionDieReader {
  /** File index; −1 when absent. */
  declFile = -1;
  /** 1-based; 0 when absent. */
  declLine = 0;
  /** Where an inlined function is called: file index, −1 when absent; 1-based line and column, 0 when absent. */
  callFile = -1;
  callLine = 0;
  callColumn = 0;
  hasName = false;
  hasLinkageName = false;
  /**
   * Which DIE says the rest: that of DW_AT_abstract_origin, else of DW_AT_specification, else of DW_AT_ZIG_parent, which alone knows the
   * file. ORIGIN_…
   */
  origin = ORIGIN_NONE;
  originOffset = 0;
  readonly #reader: FormReader;
  readonly #abbreviations: Abbreviations;
  /** The attributes that are names, as indexes of the abbreviations', and where their values stand. */
  #name = 0;
  #nameAt = 0;
  #linkageName = 0;
  #linkageNameAt = 0;

  /** @param view holds a whole unit */
  constructor(view: ByteView, format: UnitFormat, abbreviations: Abbreviations) {
    this.#reader = new FormReader(view, format);
    this.#abbreviations = abbreviations;
  }

  /** Reads the DIE at `dieAt` of the unit. @throws PerfconvError `damaged` */
  read(dieAt: number): void {
    const reader = this.#reader;
    this.declFile = -1;
    this.declLine = 0;
    this.callFile = -1;
    this.callLine = 0;
    this.callColumn = 0;
    this.hasName = false;
    this.hasLinkageName = false;
    this.origin = ORIGIN_NONE;
    const { attributeStarts, names, forms, implicit, formSizes } = this.#abbreviations;
    const row = this.#row(dieAt);
    const end = attributeStarts[row + 1];
    let parentForm = 0;
    let parent = 0;
    // hot
    for (let i = attributeStarts[row]; i < end; i++) {
      const name = names[i];
      const size = formSizes[i];
      if (size >= 0 && IS_READ[name] !== 1) {
        reader.at += size;
        continue;
      }
      const { at } = reader;
      reader.read(forms[i], implicit[i], size);
      switch (name) {
        case dw.DW_AT_name:
          this.hasName = true;
          this.#name = i;
          this.#nameAt = at;
          break;
        case dw.DW_AT_linkage_name:
        case dw.DW_AT_MIPS_linkage_name:
          this.hasLinkageName = true;
          this.#linkageName = i;
          this.#linkageNameAt = at;
          break;
        case dw.DW_AT_decl_file:
          this.declFile = reader.value;
          break;
        case dw.DW_AT_decl_line:
          this.declLine = reader.value;
          break;
        case dw.DW_AT_call_file:
          this.callFile = reader.value;
          break;
        case dw.DW_AT_call_line:
          this.callLine = reader.value;
          break;
        case dw.DW_AT_call_column:
          this.callColumn = reader.value;
          break;
        case dw.DW_AT_abstract_origin:
          this.#setOrigin(reader.form, reader.value);
          break;
        case dw.DW_AT_specification:
          if (this.origin === ORIGIN_NONE) this.#setOrigin(reader.form, reader.value);
          break;
        case dw.DW_AT_ZIG_parent:
          parentForm = reader.form;
          parent = reader.value;
          break;
      }
    }
    if (parentForm !== 0 && this.origin === ORIGIN_NONE) this.#setOrigin(parentForm, parent);
  }

  /** Where DW_AT_name of the last DIE stands. */
  namePlace(): TextPlace | undefined {
    return this.hasName ? this.#placeOf(this.#name, this.#nameAt) : undefined;
  }

  /** Where DW_AT_linkage_name of the last DIE stands, or what there was before DWARF 4. */
  linkageNamePlace(): TextPlace | undefined {
    return this.hasLinkageName ? this.#placeOf(this.#linkageName, this.#linkageNameAt) : undefined;
  }

  #placeOf(attribute: number, at: number): TextPlace | undefined {
    const { forms, implicit, formSizes } = this.#abbreviations;
    this.#reader.at = at;
    this.#reader.read(forms[attribute], implicit[attribute], formSizes[attribute]);
    return textPlace(this.#reader);
  }

  /** Puts the reader at the attributes of a DIE. @returns the row of its abbreviation */
  #row(dieAt: number): number {
    this.#reader.at = dieAt;
    const code = this.#reader.uleb();
    const row = this.#abbreviations.row(code);
    if (row < 0 || (this.#abbreviations.flags[row] & IS_UNREADABLE) !== 0)
      throw new PerfconvError('damaged', `no abbreviation ${code} that can be read`, { record: 'DIE' });
    return row;
  }

  /** Takes a reference; one to a type unit is none, as no function is described there. */
  #setOrigin(form: number, value: number): void {
    this.originOffset = value;
    switch (form) {
      case dw.DW_FORM_ref1:
      case dw.DW_FORM_ref2:
      case dw.DW_FORM_ref4:
      case dw.DW_FORM_ref8:
      case dw.DW_FORM_ref_udata:
        this.origin = ORIGIN_IN_UNIT;
        break;
      case dw.DW_FORM_ref_addr:
        this.origin = ORIGIN_IN_INFO;
        break;
      case dw.DW_FORM_ref_sup4:
      case dw.DW_FORM_ref_sup8:
      case dw.DW_FORM_GNU_ref_alt:
        this.origin = ORIGIN_IN_SUPPLEMENTARY;
        break;
      default:
        this.origin = ORIGIN_NONE;
    }
  }
}
