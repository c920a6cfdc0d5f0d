import { addressOf } from '../base/addresses.ts';
import type { ByteView } from '../base/byte-view.ts';
import { PerfconvError } from '../base/errors.ts';
import { putNumbers } from '../base/little-endian.ts';
import type { Abbreviations } from './abbreviations.ts';
import { DW_FORM_addrx4 } from './dwarf-constants.ts';
import { formSize, type UnitFormat } from './forms.ts';
import type { SectionWindow } from './section-window.ts';
import {
  type ADDR,
  ENDLESS_INDIRECTION,
  ENDLESS_RANGES,
  NO_ABBREVIATION,
  OVERRUNS_UNIT,
  type RANGES,
  type RNGLISTS,
  TOO_MANY_CLAIMS,
  UNKNOWN_FORM,
  VALUE_OVERRUNS,
  WINDOW_COUNT,
  WINDOW_SIZE_BYTES,
} from './wasm/contract.ts';
import { instantiate } from './wasm/instantiate.ts';
import type { WasmExports } from './wasm/module.ts';

/** WebAssembly can have no more at once. No compiler's units come near. */
const MAX_UNIT_SIZE_BYTES = 1 << 29;
/** An instance with more memory is not kept for the next unit: few need it. */
const MAX_KEPT_SIZE_BYTES = 64 << 20;

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

/** The words for damage that WebAssembly reports by number, with a number that belongs to it. */
const DAMAGE: Readonly<Record<number, (detail: number) => string>> = {
  [OVERRUNS_UNIT]: () => 'a DIE overruns its unit',
  [NO_ABBREVIATION]: (code) => `no abbreviation ${code}`,
  [UNKNOWN_FORM]: (form) => (form === 0 ? 'an attribute of unknown form' : `unknown form 0x${form.toString(16)}`),
  [VALUE_OVERRUNS]: () => 'a value overruns its bytes',
  [ENDLESS_INDIRECTION]: () => 'DW_FORM_indirect without end',
  [TOO_MANY_CLAIMS]: () => 'far too many functions claim its addresses',
  [ENDLESS_RANGES]: () => 'range lists without end',
};

/** Rows of a line table that lie in an instance's memory. */
export interface HeldRows {
  /** They are gone: nothing may refer to the memory any more, which may be large. */
  drop(): void;
}

/**
 * An instance of the WebAssembly module that reads abbreviation tables, DIEs, range lists and line programs: it is fast from the first
 * unit on, and a look-up is mostly over before an engine has made JavaScript as fast. It has one unit at a time; whoever uses it says which
 * one. assembly/README.md has the map of its memory.
 */
export class WasmInstance {
  readonly exports: WasmExports;
  #rows: HeldRows | undefined;
  /** The abbreviation table of the unit that is in memory. */
  #table: Abbreviations | undefined;
  /** What each window shows. */
  readonly #views: unknown[] = new Array(WINDOW_COUNT).fill(undefined);
  /** The unit whose bytes are in memory as long as `dropCount` is this. */
  #placedUnit: ByteView | undefined;
  #placedDrops = -1;
  /** `dropCount` when a window was shown that is longer than its place. */
  #longViewDrops = -1;
  /** What runs is a scan, which is at its `scanPosition()` in the unit. */
  #isScanning = false;
  /** What forms have their sizes in. */
  #format: UnitFormat = { version: 0, addressSize: 8, offsetSize: 4 };
  /** The format that `sizesOfForms` has the sizes of. */
  #sizesFormat: UnitFormat | undefined;

  /** @throws PerfconvError as {@link instantiate} does */
  constructor() {
    this.exports = instantiate({
      addressOf,
      damaged: (what, detail) => {
        throw this.#damage(what, detail);
      },
      formSize: (form) => formSize(form, this.#format),
      rowOf: (code) => this.#table?.row(code) ?? -1,
    });
  }

  /** Whether it has so much memory that it is better given back to the engine. */
  get isLarge(): boolean {
    return this.exports.memory.buffer.byteLength > MAX_KEPT_SIZE_BYTES;
  }

  /** Forgets what is in memory: it belongs to another file from here on. */
  reset(): void {
    this.setRows(undefined);
    this.#table = undefined;
    this.#placedUnit = undefined;
    this.#views.fill(undefined);
  }

  /** Sets whose rows are in memory; those before are dropped. */
  setRows(rows: HeldRows | undefined): void {
    this.#rows?.drop();
    this.#rows = rows;
  }

  /** Sets the format of the units whose abbreviation table is parsed. */
  setSizesOfForms(format: UnitFormat): void {
    this.#format = format;
    const known = this.#sizesFormat;
    if (known?.version === format.version && known.addressSize === format.addressSize && known.offsetSize === format.offsetSize) return;
    const sizes = new Int8Array(this.exports.memory.buffer, this.exports.sizesOfForms.value);
    for (let form = 0; form <= DW_FORM_addrx4; form++) sizes[form] = formSize(form, format);
    this.#sizesFormat = format;
  }

  /** Sets whose addresses are read. */
  setUnit(format: UnitFormat, { lowPc, addrBase, rnglistsBase, rangesBase }: AddressBases, hasCodeAtZero: boolean, isLittleEndian: boolean): void {
    const { version, addressSize, offsetSize } = format;
    this.#format = format;
    this.exports.setUnitFormat(version, addressSize, offsetSize, isLittleEndian, hasCodeAtZero, lowPc, addrBase, rnglistsBase, rangesBase);
  }

  /** Has a window show what that of a section does. */
  showWindow(number: WindowNumber, { view, start, section }: SectionWindow): void {
    const { exports } = this;
    const isLong = view.length > WINDOW_SIZE_BYTES;
    if (this.#views[number] === view && !(isLong && this.#longViewDrops !== exports.dropCount.value)) return;
    this.put(exports.placeWindow(number, view.length), view.bytes);
    exports.setWindow(number, start, view.length, section.sizeBytes);
    this.#views[number] = view;
    if (isLong) this.#longViewDrops = exports.dropCount.value;
  }

  /**
   * Puts a unit's bytes, its table and the wanted addresses into memory, as far as they are not there.
   * @param wanted addresses, or other numbers that are searched for
   * @throws PerfconvError `damaged` for a unit of an impossible size
   */
  setScan(view: ByteView, abbreviations: Abbreviations, wanted: Float64Array): void {
    const { bytes } = view;
    if (bytes.length > MAX_UNIT_SIZE_BYTES) throw new PerfconvError('damaged', `a unit of ${bytes.length} bytes`, { record: '.debug_info' });
    const { exports } = this;
    if (this.#table !== abbreviations) this.#setTable(abbreviations);
    if (this.#placedUnit !== view || this.#placedDrops !== exports.dropCount.value) {
      this.#placedUnit = undefined;
      this.put(exports.placeUnit(bytes.length), bytes);
      this.#placedUnit = view;
      this.#placedDrops = exports.dropCount.value;
    }
    const place = exports.placeWanted(wanted.length);
    putNumbers(exports.memory.buffer, place, wanted);
  }

  /** Units that share a table follow one another. */
  #setTable(abbreviations: Abbreviations): void {
    const { exports } = this;
    const { block } = abbreviations;
    this.#table = undefined;
    // A larger table needs the place of the rows, too.
    if (block.length > exports.tableCapacity.value) this.setRows(undefined);
    this.put(exports.placeTable(block.length), block);
    exports.setTable();
    this.#table = abbreviations;
  }

  /** Goes on with the scan. @returns false when addresses are missing */
  scan(): boolean {
    return this.#scanning(() => this.exports.scan() !== 0);
  }

  /** Walks to the wanted DIEs of the unit whose own one is at `dieAt`. */
  findScopes(dieAt: number, format: UnitFormat): void {
    this.#format = format;
    this.#scanning(() => this.exports.findScopes(dieAt));
  }

  #scanning<T>(run: () => T): T {
    this.#isScanning = true;
    try {
      return run();
    } finally {
      this.#isScanning = false;
    }
  }

  /** Copies bytes to a place in memory. */
  put(place: number, bytes: Uint8Array): void {
    new Uint8Array(this.exports.memory.buffer, place).set(bytes);
  }

  #damage(what: number, detail: number): PerfconvError {
    const text = DAMAGE[what](detail);
    if (!this.#isScanning) return new PerfconvError('damaged', text, { record: 'range list' });
    return new PerfconvError('damaged', `${text}, ${this.exports.scanPosition()} bytes into the unit`, { record: 'DIE' });
  }
}

/** The one that nobody has on loan: look-ups mostly come one after the other. */
let idle: WasmInstance | undefined;

/**
 * An instance on loan. A look-up has one for itself: it waits for bytes of files between two steps, and other look-ups may go on meanwhile.
 * It is taken when it is first needed.
 */
export class WasmLoan {
  #wasm: WasmInstance | undefined;

  /** Has it to itself until {@link end}. @throws PerfconvError as {@link instantiate} does */
  get wasm(): WasmInstance {
    this.#wasm ??= take();
    return this.#wasm;
  }

  /** For what leaves nothing behind in memory: an instance is not kept for it. */
  use<T>(run: (wasm: WasmInstance) => T): T {
    if (this.#wasm !== undefined) return run(this.#wasm);
    const wasm = take();
    try {
      return run(wasm);
    } finally {
      giveBack(wasm);
    }
  }

  /** Nothing that is in memory is needed any more; what follows does not need as much. */
  beginUnit(): void {
    if (this.#wasm?.isLarge) this.end();
  }

  end(): void {
    if (this.#wasm !== undefined) giveBack(this.#wasm);
    this.#wasm = undefined;
  }
}

function take(): WasmInstance {
  const wasm = idle ?? new WasmInstance();
  idle = undefined;
  return wasm;
}

function giveBack(wasm: WasmInstance): void {
  wasm.reset();
  if (!wasm.isLarge) idle = wasm;
}
