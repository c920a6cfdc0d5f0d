import { addressOf } from '../../base/bytes/addresses.ts';
import type { ByteView } from '../../base/bytes/byte-view.ts';
import { putNumbers } from '../../base/bytes/little-endian.ts';
import { PerfconvError } from '../../base/problems/errors.ts';
import type { SectionWindow } from '../sections/section-window.ts';
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
} from '../wasm/contract.ts';
import { instantiate } from '../wasm/instantiate.ts';
import type { WasmExports } from '../wasm/module.ts';
import type { Abbreviations } from './abbreviations.ts';
import { DW_FORM_addrx4 } from './dwarf-constants.ts';
import { formSize, type UnitFormat } from './forms.ts';

/** WebAssembly can hold no larger one. No compiler's units come near this. */
const MAX_UNIT_SIZE_BYTES = 1 << 29;
/** An instance with more memory is not kept for the next unit: few need it. */
const MAX_KEPT_SIZE_BYTES = 64 << 20;

export type WindowNumber = typeof RANGES | typeof RNGLISTS | typeof ADDR;

/** Where a unit's contributions to the sections with addresses start. */
export interface AddressBases {
  /** What offsets in range lists count from: the unit's DW_AT_low_pc, or 0. */
  readonly lowPc: number;
  readonly addrBase: number;
  readonly rnglistsBase: number;
  /** DW_AT_GNU_ranges_base of a split unit; 0 for others. */
  readonly rangesBase: number;
}

/** The messages for damage that WebAssembly reports by number, together with a detail. */
const DAMAGE: Readonly<Record<number, (detail: number) => string>> = {
  [OVERRUNS_UNIT]: () => 'a DIE overruns its unit',
  [NO_ABBREVIATION]: (code) => `no abbreviation ${code}`,
  [UNKNOWN_FORM]: (form) => (form === 0 ? 'an attribute of unknown form' : `unknown form 0x${form.toString(16)}`),
  [VALUE_OVERRUNS]: () => 'a value overruns its bytes',
  [ENDLESS_INDIRECTION]: () => 'endless DW_FORM_indirect',
  [TOO_MANY_CLAIMS]: () => 'far too many functions claim its addresses',
  [ENDLESS_RANGES]: () => 'endless range lists',
};

/** Rows of a line table that are in an instance's memory. */
export interface HeldRows {
  /** The rows are gone: nothing may refer to the memory any more, which may be large. */
  drop(): void;
}

/**
 * An instance of the WebAssembly module that reads abbreviation tables, DIEs, range lists and line programs. WebAssembly is fast from the first unit on, while
 * most look-ups are over before an engine has made JavaScript as fast. An instance holds one unit at a time, and its user says which. assembly/README.md has
 * the map of its memory.
 */
export class WasmInstance {
  readonly exports: WasmExports;
  #rows: HeldRows | undefined;
  /** The abbreviation table of the unit that is in memory. */
  #table: Abbreviations | undefined;
  /** What each window shows. */
  readonly #views: unknown[] = new Array(WINDOW_COUNT).fill(undefined);
  /** The unit whose bytes are in memory, as long as `dropCount` is `#placedDrops`. */
  #placedUnit: ByteView | undefined;
  #placedDrops = -1;
  /** `dropCount` when a window was shown that is longer than its reserved place. */
  #longViewDrops = -1;
  /** Whether a scan is running, which is at `scanPosition()` in the unit. */
  #isScanning = false;
  /** The format that the sizes of forms depend on. */
  #format: UnitFormat = { version: 0, addressSize: 8, offsetSize: 4 };
  /** The format that the sizes in `sizesOfForms` are for. */
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

  /** Whether it has so much memory that this should be given back to the engine. */
  get isLarge(): boolean {
    return this.exports.memory.buffer.byteLength > MAX_KEPT_SIZE_BYTES;
  }

  /** Forgets what is in memory: from now on, the instance is used for another file. */
  reset(): void {
    this.setRows(undefined);
    this.#table = undefined;
    this.#placedUnit = undefined;
    this.#views.fill(undefined);
  }

  /** Sets whose rows are in memory. The previous ones are dropped. */
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

  /** Sets the unit whose addresses are read. */
  setUnit(format: UnitFormat, { lowPc, addrBase, rnglistsBase, rangesBase }: AddressBases, hasCodeAtZero: boolean, isLittleEndian: boolean): void {
    const { version, addressSize, offsetSize } = format;
    this.#format = format;
    this.exports.setUnitFormat(version, addressSize, offsetSize, isLittleEndian, hasCodeAtZero, lowPc, addrBase, rnglistsBase, rangesBase);
  }

  /** Makes a window of the instance show the bytes of a section's window. */
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
   * Puts a unit's bytes, its abbreviation table and the wanted addresses into memory, unless they are already there.
   * @param wanted addresses, or other numbers that are searched for
   * @throws PerfconvError `damaged` for a unit of an impossible size
   */
  setScan(view: ByteView, abbreviations: Abbreviations, wanted: Float64Array): void {
    const { bytes } = view;
    if (bytes.length > MAX_UNIT_SIZE_BYTES) throw new PerfconvError('damaged', `a unit of ${bytes.length} bytes is too large`, { record: '.debug_info' });
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

  /** To be called only if the table changes: units that share one follow one another. */
  #setTable(abbreviations: Abbreviations): void {
    const { exports } = this;
    const { block } = abbreviations;
    this.#table = undefined;
    // A larger table also takes the place of the rows.
    if (block.length > exports.tableCapacity.value) this.setRows(undefined);
    this.put(exports.placeTable(block.length), block);
    exports.setTable();
    this.#table = abbreviations;
  }

  /** Continues the scan. @returns false if addresses have to be loaded first */
  scan(): boolean {
    return this.#scanning(() => this.exports.scan() !== 0);
  }

  /** Walks to the wanted DIEs of the unit whose root DIE is at `dieAt`. */
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

/** The instance that nobody has on loan: look-ups usually come one after the other. */
let idle: WasmInstance | undefined;

/**
 * An instance on loan. Each look-up has its own: between two steps it waits for bytes of files, and other look-ups may run meanwhile. The instance is taken
 * when it is first needed.
 */
export class WasmLoan {
  #wasm: WasmInstance | undefined;

  /** The instance, which is on loan until {@link end}. */
  get wasm(): WasmInstance {
    this.#wasm ??= take();
    return this.#wasm;
  }

  /** For work that leaves nothing behind in memory: it does not keep an instance on loan. */
  use<T>(run: (wasm: WasmInstance) => T): T {
    if (this.#wasm !== undefined) return run(this.#wasm);
    const wasm = take();
    try {
      return run(wasm);
    } finally {
      giveBack(wasm);
    }
  }

  /** Says that nothing in memory is needed any more. A large instance is given back: what follows probably needs less. */
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
