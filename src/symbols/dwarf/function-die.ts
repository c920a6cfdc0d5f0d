import type { Abbreviations } from './abbreviations.ts';
import * as dw from './dwarf-constants.ts';
import type { FormReader } from './forms.ts';
import { type TextPlace, textPlace } from './string-reader.ts';
import { readAttributes } from './unit-root.ts';

/** What a DIE refers to: one of its unit, by its distance from the unit's start; one of its file's `.debug_info`; one of the supplementary file's. */
export interface DieReference {
  readonly kind: 'unit' | 'info' | 'supplementary';
  readonly offset: number;
}

/** What the DIE of a function says about it (DWARF 5, 3.3). */
export interface FunctionDie {
  readonly name: TextPlace | undefined;
  readonly linkageName: TextPlace | undefined;
  /** File index; −1 when absent. */
  readonly declFile: number;
  /** 0 when absent. */
  readonly declLine: number;
  /** Where an inlined function is called: file index, −1 when absent; 1-based line and column, 0 when absent. */
  readonly callFile: number;
  readonly callLine: number;
  readonly callColumn: number;
  /** The DIE that says the rest: DW_AT_abstract_origin, or else DW_AT_specification. */
  readonly origin: DieReference | undefined;
}

/** Reads the DIE at which `reader` stands. @throws PerfconvError `damaged` */
export function readFunctionDie(abbreviations: Abbreviations, reader: FormReader): FunctionDie {
  const die = {
    name: undefined as TextPlace | undefined,
    linkageName: undefined as TextPlace | undefined,
    declFile: -1,
    declLine: 0,
    callFile: -1,
    callLine: 0,
    callColumn: 0,
    origin: undefined as DieReference | undefined,
  };
  readAttributes(abbreviations, reader, (name) => {
    const { value } = reader;
    switch (name) {
      case dw.DW_AT_name:
        die.name = textPlace(reader);
        break;
      case dw.DW_AT_linkage_name:
      case dw.DW_AT_MIPS_linkage_name:
        die.linkageName = textPlace(reader);
        break;
      case dw.DW_AT_decl_file:
        die.declFile = value;
        break;
      case dw.DW_AT_decl_line:
        die.declLine = value;
        break;
      case dw.DW_AT_call_file:
        die.callFile = value;
        break;
      case dw.DW_AT_call_line:
        die.callLine = value;
        break;
      case dw.DW_AT_call_column:
        die.callColumn = value;
        break;
      case dw.DW_AT_abstract_origin:
        die.origin = reference(reader);
        break;
      case dw.DW_AT_specification:
        die.origin ??= reference(reader);
        break;
    }
  });
  return die;
}

/** The reference that `reader` has just read, or undefined: for one to a type unit (no function is described there), or no reference. */
function reference({ form, value: offset }: FormReader): DieReference | undefined {
  switch (form) {
    case dw.DW_FORM_ref1:
    case dw.DW_FORM_ref2:
    case dw.DW_FORM_ref4:
    case dw.DW_FORM_ref8:
    case dw.DW_FORM_ref_udata:
      return { kind: 'unit', offset };
    case dw.DW_FORM_ref_addr:
      return { kind: 'info', offset };
    case dw.DW_FORM_ref_sup4:
    case dw.DW_FORM_ref_sup8:
    case dw.DW_FORM_GNU_ref_alt:
      return { kind: 'supplementary', offset };
    default:
      return undefined;
  }
}
