import { numbersIn } from '../../base/bytes/little-endian.ts';
import * as dw from '../encoding/dwarf-constants.ts';
import type { Unit } from '../units/dwarf-file.ts';

/** The DIEs around some DIEs of a unit. */
export interface DieScopes {
  /** By index of the wanted DIEs: the innermost DIE around it, as an index of {@link dies}; −1 if that is the unit's root, or unknown. */
  readonly innermost: Int32Array;
  /** Where the surrounding DIEs are in the unit. Outer ones come before those in them. */
  readonly dies: Uint32Array;
  /** By index of {@link dies}: the innermost DIE around it, in the same way. */
  readonly parents: Int32Array;
}

/**
 * Languages whose functions have names with the scopes that they are declared in. In others there are no scopes (C), or they are written
 * differently.
 */
const SCOPED_LANGUAGES: ReadonlySet<number> = new Set([
  dw.DW_LANG_C_plus_plus,
  dw.DW_LANG_ObjC_plus_plus,
  dw.DW_LANG_C_plus_plus_11,
  dw.DW_LANG_Rust,
  dw.DW_LANG_C_plus_plus_14,
  dw.DW_LANG_C_plus_plus_17,
  dw.DW_LANG_C_plus_plus_20,
  dw.DW_LANG_C_plus_plus_23,
]);

/** Whether functions of a unit may be declared in scopes that belong to their names. dwz's partial units do not state their language. */
export function hasScopes({ root: { language, tag } }: Unit): boolean {
  return SCOPED_LANGUAGES.has(language) || (language < 0 && tag === dw.DW_TAG_partial_unit);
}

/**
 * Finds the DIEs around others. No DIE says which one it is in, so this walks all up to the last wanted one.
 * @param wanted where they are in the unit, ascending, without repetitions
 * @throws PerfconvError `damaged` when the unit's DIEs cannot be followed
 */
export function findDieScopes({ file, view, header, abbreviations, dieAt }: Unit, wanted: Float64Array): DieScopes {
  const { wasm } = file.loan;
  const { exports } = wasm;
  wasm.setScan(view, abbreviations, wanted);
  exports.beginClaims(view.length, false);
  wasm.findScopes(dieAt, header);
  const { memory, innermost, dies, parents, functionCount } = exports;
  const count = functionCount.value;
  return {
    innermost: numbersIn(Int32Array, memory.buffer, innermost.value, wanted.length).slice(),
    dies: numbersIn(Uint32Array, memory.buffer, dies.value, count).slice(),
    parents: numbersIn(Int32Array, memory.buffer, parents.value, count).slice(),
  };
}
