import { addressOf } from '../base/addresses.ts';
import { PerfconvError } from '../base/errors.ts';
import type { Abbreviations } from './abbreviations.ts';
import { formSize, type UnitFormat } from './forms.ts';
import type { SectionWindow } from './section-window.ts';
import { CODE } from './wasm/function-scan-code.ts';
import { instantiate, type WasmGlobal, type WasmMemory } from './wasm/instantiate.ts';

/** WebAssembly can have no more at once. No compiler's units come near. */
const MAX_UNIT_SIZE_BYTES = 1 << 29;
/** Memory that is kept for the next unit: few need more. */
const MAX_KEPT_SIZE_BYTES = 64 << 20;

/** Windows by their number. */
export const RANGES = 0;
export const RNGLISTS = 1;
export const ADDR = 2;
export type WindowNumber = typeof RANGES | typeof RNGLISTS | typeof ADDR;

/** Where a unit's parts of the sections with addresses start. */
export interface AddressBases {
  /** What offsets in range lists count from: the unit's DW_AT_low_pc, or 0. */
  readonly lowPc: number;
  readonly addrBase: number;
  readonly rnglistsBase: number;
  /** DW_AT_GNU_ranges_base of a split unit; 0 for others. */
  readonly rangesBase: number;
}

/** Exports of assembly/function-scan.ts, which says what they are. Places are byte offsets in the memory. */
interface Exports {
  readonly memory: WasmMemory;
  readonly hasSkipped: WasmGlobal;
  readonly dies: WasmGlobal;
  readonly parents: WasmGlobal;
  readonly innermost: WasmGlobal;
  readonly endsBefore: WasmGlobal;
  readonly functionCount: WasmGlobal;
  readonly open: WasmGlobal;
  readonly openCount: WasmGlobal;
  readonly rangeStarts: WasmGlobal;
  readonly rangeEnds: WasmGlobal;
  readonly rangeCount: WasmGlobal;
  readonly missing: WasmGlobal;
  readonly missingOffset: WasmGlobal;
  readonly missingSizeBytes: WasmGlobal;
  readonly entriesLeft: WasmGlobal;
  reserveUnit(sizeBytes: number): number;
  reserveTable(sizeBytes: number): number;
  reserveWanted(count: number): number;
  reserveWindow(window: WindowNumber, sizeBytes: number): number;
  setWindow(window: WindowNumber, start: number, length: number, sectionSizeBytes: number): void;
  setTable(): void;
  setUnit(
    version: number,
    addressSize: number,
    offsetSize: number,
    isLittleEndian: boolean,
    hasCodeAtZero: boolean,
    lowPc: number,
    addrBase: number,
    rnglistsBase: number,
    rangesBase: number,
  ): void;
  begin(dieAt: number, scope: number, isPartial: boolean): void;
  scan(): number;
  position(): number;
  addressOf(form: number, value: number): number;
  readRanges(form: number, value: number): number;
}

/**
 * What goes over DIEs and range lists, in WebAssembly: it is fast from the first unit on, and a look-up is mostly over before an
 * engine has made JavaScript as fast. It has one unit at a time; whoever uses it says which one.
 */
export class UnitMachine {
  /** Of an instance that {@link setScan} may replace. */
  exports: Exports;
  /** Whether what runs is in the unit, at its `position()`. */
  #isScanning = false;
  #format: UnitFormat = { version: 0, addressSize: 8, offsetSize: 4 };
  #table: Abbreviations | undefined;
  /** What each window shows. */
  readonly #views: unknown[] = [undefined, undefined, undefined];

  constructor() {
    this.exports = this.#instance();
  }

  #instance(): Exports {
    return instantiate<Exports>(CODE, {
      addressOf,
      damaged: (what, detail) => {
        throw this.#damage(what, detail);
      },
      formSize: (form) => formSize(form, this.#format),
      rowOf: (code) => this.#table?.row(code) ?? -1,
    });
  }

  /** Tells whose addresses are read. */
  setUnit(format: UnitFormat, { lowPc, addrBase, rnglistsBase, rangesBase }: AddressBases, hasCodeAtZero: boolean, isLittleEndian: boolean): void {
    const { version, addressSize, offsetSize } = format;
    this.#format = format;
    this.exports.setUnit(version, addressSize, offsetSize, isLittleEndian, hasCodeAtZero, lowPc, addrBase, rnglistsBase, rangesBase);
  }

  /** Has a window show what that of a section does. */
  showWindow(number: WindowNumber, { view, start, section }: SectionWindow): void {
    if (this.#views[number] === view) return;
    const { exports } = this;
    this.#put(exports.reserveWindow(number, view.length), view.bytes);
    exports.setWindow(number, start, view.length, section.sizeBytes);
    this.#views[number] = view;
  }

  /** Gives it a unit's bytes, its table and the wanted addresses. @throws PerfconvError `damaged` for a unit of an impossible size */
  setScan(bytes: Uint8Array, abbreviations: Abbreviations, wanted: Float64Array): void {
    if (bytes.length > MAX_UNIT_SIZE_BYTES) throw new PerfconvError('damaged', `a unit of ${bytes.length} bytes`, { record: '.debug_info' });
    if (this.exports.memory.buffer.byteLength > MAX_KEPT_SIZE_BYTES) {
      this.exports = this.#instance();
      this.#table = undefined;
      this.#views.fill(undefined);
    }
    const { exports } = this;
    this.#put(exports.reserveUnit(bytes.length), bytes);
    if (this.#table !== abbreviations) {
      this.#put(exports.reserveTable(abbreviations.block.length), abbreviations.block);
      exports.setTable();
      this.#table = abbreviations;
    }
    const place = exports.reserveWanted(wanted.length);
    new Float64Array(exports.memory.buffer, place).set(wanted);
  }

  /** Goes on with the scan. @returns false when addresses are missing */
  scan(): boolean {
    this.#isScanning = true;
    try {
      return this.exports.scan() !== 0;
    } finally {
      this.#isScanning = false;
    }
  }

  #put(place: number, bytes: Uint8Array): void {
    new Uint8Array(this.exports.memory.buffer, place).set(bytes);
  }

  /** @param what a number of assembly/damage.ts */
  #damage(what: number, detail: number): PerfconvError {
    const texts = [
      'a DIE overruns its unit',
      `no abbreviation ${detail}`,
      detail === 0 ? 'an attribute of unknown form' : `unknown form 0x${detail.toString(16)}`,
      'a value overruns its bytes',
      'DW_FORM_indirect without end',
      'far too many functions claim its addresses',
      'range lists without end',
    ];
    if (!this.#isScanning) return new PerfconvError('damaged', texts[what], { record: 'range list' });
    return new PerfconvError('damaged', `${texts[what]}, ${this.exports.position()} bytes into the unit`, { record: 'DIE' });
  }
}
