import type { ByteView } from '../../base/bytes/byte-view.ts';
import { numbersIn } from '../../base/bytes/little-endian.ts';
import type { Abbreviations } from '../encoding/abbreviations.ts';
import type { UnitFormat } from '../encoding/forms.ts';
import type { WasmInstance } from '../encoding/wasm-instance.ts';
import type { UnitAddresses } from '../units/unit-addresses.ts';
import type { SCAN_ALL, SCAN_CODE, SCAN_FUNCTIONS } from '../wasm/contract.ts';

/** How much of a unit a scan reads. */
export type ScanScope = typeof SCAN_CODE | typeof SCAN_FUNCTIONS | typeof SCAN_ALL;

/** What a scan reads. Offsets are within `view`, which holds a whole unit. */
export interface ScannedUnit {
  readonly view: ByteView;
  readonly format: UnitFormat;
  readonly abbreviations: Abbreviations;
  readonly addresses: UnitAddresses;
  /** Where the unit's root DIE is. */
  readonly dieAt: number;
}

/** Which function of a unit covers which of the wanted addresses: if there are several, the one that claims it last. */
export interface FunctionClaims {
  /** By index of the wanted addresses: the innermost function there, as an index of {@link dies}; −1 for none. */
  readonly innermost: Int32Array;
  /** Where the functions' DIEs are in the unit. */
  readonly dies: Uint32Array;
  /** What a function was inlined into; −1 for one that was not inlined. */
  readonly parents: Int32Array;
  /** By index of the wanted addresses: where the last function before it ends, as far as functions have claimed addresses; −Infinity if none does. */
  readonly endsBefore: Float64Array;
  /** For a scan that damage ended: the functions that it was in. What is inlined into them is only partly known. Indexes of {@link dies}, outermost first. */
  readonly unfinished: Int32Array;
  /** Whether parts of the unit that hardly ever have code were left out. */
  readonly hasSkipped: boolean;
}

/**
 * One pass over the DIEs of a unit that finds the functions at wanted addresses, including inlined ones. If several functions claim an address, the last one
 * counts, with its parents if it is inlined, as in llvm-symbolizer.
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
    // Strict DWARF 2 cannot say that code is in several pieces: for a function in two sections, and for one that is inlined in pieces, gcc states the extent of
    // one piece. What is inlined in the other pieces is a child of it nonetheless, and a function's other section has a second DIE somewhere after it, named
    // `__second_sect_of_…`.
    const isPartial = format.version === 2 && !abbreviations.hasRanges;
    this.#wasm.exports.beginFunctions(dieAt, scope, isPartial);
  }

  /** Scans to the end. @throws PerfconvError `damaged` when the unit's DIEs cannot be followed; what was found before is kept */
  async run(): Promise<void> {
    const { addresses } = this.#unit;
    while (!addresses.use(() => this.#wasm.scan())) await addresses.load();
    this.#isOver = true;
  }

  /** What the scan has found so far. */
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
