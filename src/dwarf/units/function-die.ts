import type { ByteView } from '../../base/bytes/byte-view.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import { IS_UNREADABLE } from '../encoding/abbreviation-layout.ts';
import type { Abbreviations } from '../encoding/abbreviations.ts';
import * as dw from '../encoding/dwarf-constants.ts';
import { FormReader } from '../encoding/forms.ts';
import type { UnitHeader } from './unit-header.ts';

export const ORIGIN_NONE = 0;
/** A DIE of the same file. */
export const ORIGIN_IN_FILE = 1;
/** A DIE of the supplementary file. */
export const ORIGIN_IN_SUPPLEMENTARY = 2;

/** By DW_AT_…: whether the attribute says something that is wanted about a function. */
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
  dw.DW_AT_signature,
  dw.DW_AT_ZIG_parent,
])
  IS_READ[name] = 1;

/**
 * Reads DIEs of functions (DWARF 5, 3.3), and of what functions are declared in. Each address needs tens of them, so no objects are made: the fields are those
 * of the DIE last read.
 */
export class FunctionDieReader {
  /** DW_TAG_… */
  tag = 0;
  /** Where in the unit it is. */
  dieAt = 0;
  /** File index; −1 when absent. */
  declFile = -1;
  /** 1-based; 0 when absent. */
  declLine = 0;
  /** Where an inlined function is called: file index, −1 when absent; 1-based line and column, 0 when absent. */
  callFile = -1;
  callLine = 0;
  callColumn = 0;
  /** Its names: the form, 0 when absent, and {@link FormReader.textAt}. */
  nameForm = 0;
  nameAt = 0;
  linkageNameForm = 0;
  linkageNameAt = 0;
  /**
   * ORIGIN_…: in which file the DIE is that says the rest. That is the DIE of DW_AT_abstract_origin, else of DW_AT_specification, else of DW_AT_ZIG_parent,
   * which is the only one to know the file.
   */
  origin = ORIGIN_NONE;
  /** Offset in `.debug_info`. */
  originOffset = 0;
  /** Where in the unit the signature of the type unit that describes the type is; −1 if it has none. */
  signatureAt = -1;
  readonly #reader: FormReader;
  readonly #unitOffset: number;
  readonly #abbreviations: Abbreviations;

  /** @param view holds a whole unit */
  constructor(view: ByteView, header: UnitHeader, abbreviations: Abbreviations) {
    this.#reader = new FormReader(view, header);
    this.#unitOffset = header.offset;
    this.#abbreviations = abbreviations;
  }

  /** Reads the DIE at `dieAt` of the unit. @throws PerfconvError `damaged` */
  read(dieAt: number): void {
    const reader = this.#reader;
    this.dieAt = dieAt;
    this.declFile = -1;
    this.declLine = 0;
    this.callFile = -1;
    this.callLine = 0;
    this.callColumn = 0;
    this.nameForm = 0;
    this.linkageNameForm = 0;
    this.origin = ORIGIN_NONE;
    this.signatureAt = -1;
    const { attributeStarts, names, forms, implicit, formSizes } = this.#abbreviations;
    const row = this.#row(dieAt);
    this.tag = this.#abbreviations.tags[row];
    const end = attributeStarts[row + 1];
    let { at } = reader;
    let parentForm = 0;
    let parent = 0;
    // hot
    for (let i = attributeStarts[row]; i < end; i++) {
      const name = names[i];
      const size = formSizes[i];
      if (size >= 0 && IS_READ[name] !== 1) {
        at += size;
        continue;
      }
      reader.at = at;
      reader.read(forms[i], implicit[i], size);
      at = reader.at;
      switch (name) {
        case dw.DW_AT_name:
          this.nameForm = reader.form;
          this.nameAt = reader.textAt;
          break;
        case dw.DW_AT_linkage_name:
        case dw.DW_AT_MIPS_linkage_name:
          this.linkageNameForm = reader.form;
          this.linkageNameAt = reader.textAt;
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
        case dw.DW_AT_signature:
          if (reader.form === dw.DW_FORM_ref_sig8) this.signatureAt = reader.valueAt;
          break;
        case dw.DW_AT_ZIG_parent:
          parentForm = reader.form;
          parent = reader.value;
          break;
      }
    }
    if (parentForm !== 0 && this.origin === ORIGIN_NONE) this.#setOrigin(parentForm, parent);
  }

  /** Puts the reader at the attributes of a DIE. @returns the row of its abbreviation */
  #row(dieAt: number): number {
    this.#reader.at = dieAt;
    const code = this.#reader.uleb();
    const row = this.#abbreviations.row(code);
    if (row < 0 || (this.#abbreviations.flags[row] & IS_UNREADABLE) !== 0)
      throw new PerfconvError('damaged', `no readable abbreviation ${code}`, { record: 'DIE' });
    return row;
  }

  /** Takes a reference. One to a type unit does not count, because no function is described there. */
  #setOrigin(form: number, value: number): void {
    this.originOffset = value;
    switch (form) {
      case dw.DW_FORM_ref1:
      case dw.DW_FORM_ref2:
      case dw.DW_FORM_ref4:
      case dw.DW_FORM_ref8:
      case dw.DW_FORM_ref_udata:
        this.origin = ORIGIN_IN_FILE;
        this.originOffset = this.#unitOffset + value;
        break;
      case dw.DW_FORM_ref_addr:
        this.origin = ORIGIN_IN_FILE;
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
