import type { ByteView } from '../base/byte-view.ts';
import { numbersIn } from '../base/little-endian.ts';
import type { Abbreviations } from './abbreviations.ts';
import type { UnitFormat } from './forms.ts';
import type { UnitAddresses } from './unit-addresses.ts';
import type { SCAN_ALL, SCAN_CODE, SCAN_FUNCTIONS } from './wasm/contract.ts';
import type { WasmInstance } from './wasm-instance.ts';

/** How much of a unit a scan reads. */
export type ScanScope = typeof SCAN_CODE | typeof SCAN_FUNCTIONS | typeof SCAN_ALL;

/** What a scan reads. Offsets are within `view`, which holds a whole unit. */
export interface ScannedUnit {
  readonly view: ByteView;
  readonly format: UnitFormat;
  readonly abbreviations: Abbreviations;
  readonly addresses: UnitAddresses;
  /** Where the unit's own DIE is. */
  readonly dieAt: number;
}

/** Which function of a unit holds which of the wanted addresses: of several the one that claims it last. */
export interface FunctionClaims {
  /** By index of the wanted addresses: the innermost function there as an index of {@link dies}, −1 for none. */
  readonly innermost: Int32Array;
  /** Where the functions' DIEs are in the unit. */
  readonly dies: Uint32Array;
  /** What a function was inlined into, −1 for a function of its own. */
  readonly parents: Int32Array;
  /** By index of the wanted addresses: where the last function ends before it, −Infinity when none does. As far as functions have claimed. */
  readonly endsBefore: Float64Array;
  /** Of a scan that damage ended, the functions that it was in: what is inlined into them is known in part. Indexes of {@link dies}, outermost first. */
  readonly unfinished: Int32Array;
  /** Whether parts of the unit were left out where code hardly ever is. */
  readonly hasSkipped: boolean;
}

/**
 * One pass over the DIEs of a unit that finds the functions at wanted addresses, inlined ones too.
 * Of several functions at an address the last one counts, and of an inlined one its parents: as llvm-symbolizer has it.
 */
export class FunctionScan {
  readonly #unit: ScannedUnit;
  readonly #wasm: WasmInstance;
  readonly #wanted: Float64Array;
  #isOver = false;

  /** @param wanted ascending */
  constructor(unit: ScannedUnit, wanted: Float64Array, scope: ScanScope) {
    const { view, format, abbreviations, addresses, dieAt } = unit;
    this.#unit = unit;
    this.#wanted = wanted;
    this.#wasm = addresses.wasm;
    this.#wasm.setScan(view, abbreviations, wanted);
    // Strict DWARF 2 cannot say that code lies in several pieces: of a function in two sections, and of one that is inlined in pieces,
    // gcc states the extent of one piece. What is inlined in the others is under it nonetheless, and a function's other section has
    // a second DIE somewhere after it, named `__second_sect_of_…`.
    const isPartial = format.version === 2 && !abbreviations.hasRanges;
    this.#wasm.exports.beginFunctions(dieAt, scope, isPartial);
  }

  /** Scans to the end. @throws PerfconvError `damaged` when the unit's DIEs cannot be followed; what was found before stays */
  async run(): Promise<void> {
    const { addresses } = this.#unit;
    while (!addresses.use(() => this.#wasm.scan())) await addresses.load();
    this.#isOver = true;
  }

  /** What it has found so far. */
  found(): FunctionClaims {
    const { memory, innermost, dies, parents, endsBefore, functionCount, open, openCount, hasSkipped } = this.#wasm.exports;
    const { buffer } = memory;
    const { length } = this.#wanted;
    const count = functionCount.value;
    const ends = numbersIn(Float64Array, buffer, endsBefore.value, length).slice();
    for (let i = 1; i < length; i++) if (ends[i] < ends[i - 1]) ends[i] = ends[i - 1];
    return {
      innermost: numbersIn(Int32Array, buffer, innermost.value, length).slice(),
      dies: numbersIn(Uint32Array, buffer, dies.value, count).slice(),
      parents: numbersIn(Int32Array, buffer, parents.value, count).slice(),
      endsBefore: ends,
      unfinished: numbersIn(Int32Array, buffer, open.value, this.#isOver ? 0 : openCount.value).slice(),
      hasSkipped: hasSkipped.value !== 0,
    };
  }
}
