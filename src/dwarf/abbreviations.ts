import type { ByteView } from '../base/byte-view.ts';
import { PerfconvError } from '../base/errors.ts';
import * as layout from './abbreviation-layout.ts';
import { DW_FORM_addrx4 } from './dwarf-constants.ts';
import { formSize, type UnitFormat } from './forms.ts';
import { CODE } from './wasm/abbreviation-table-code.ts';
import { instantiate, type WasmGlobal, type WasmMemory } from './wasm/instantiate.ts';

/** An abbreviation table, for units of one format: rows 0, 1, 2 … in the table's order. */
export class Abbreviations {
  /** The whole table, laid out as `abbreviation-layout.ts` says. */
  readonly block: Uint8Array;
  /** DW_TAG_… by row. */
  readonly tags: Uint16Array;
  /** HAS_CHILDREN, IS_… by row. */
  readonly flags: Uint8Array;
  /** Attributes of row `i` are `attributeStarts[i]` up to `attributeStarts[i + 1]`. */
  readonly attributeStarts: Uint32Array;
  readonly names: Uint16Array;
  readonly forms: Uint16Array;
  /** Values of DW_FORM_implicit_const. */
  readonly implicit: Float64Array;
  /** What `formSize` says of the forms. */
  readonly formSizes: Int8Array;
  /** Whether any DIE may have DW_AT_ranges. */
  readonly hasRanges: boolean;
  /** Rows by code, −1 for none; empty when codes are sparse. */
  readonly #dense: Int32Array;
  /** By code, when they are. */
  readonly #sparse: ReadonlyMap<number, number> | undefined;

  /** @param block lies in a buffer of its own */
  constructor(block: Uint8Array) {
    const { buffer } = block;
    const words = new Uint32Array(buffer, 0, layout.HEADER_WORDS);
    const rowCount = words[layout.ROW_COUNT];
    const attributeCount = words[layout.ATTRIBUTE_COUNT];
    const codeCount = words[layout.CODE_COUNT];
    this.block = block;
    this.tags = new Uint16Array(buffer, words[layout.TAGS], rowCount);
    this.flags = new Uint8Array(buffer, words[layout.FLAGS], rowCount);
    this.attributeStarts = new Uint32Array(buffer, words[layout.ATTRIBUTE_STARTS], rowCount + 1);
    this.names = new Uint16Array(buffer, words[layout.NAMES], attributeCount);
    this.forms = new Uint16Array(buffer, words[layout.FORMS], attributeCount);
    this.implicit = new Float64Array(buffer, words[layout.IMPLICIT], attributeCount);
    this.formSizes = new Int8Array(buffer, words[layout.FORM_SIZES], attributeCount);
    this.hasRanges = words[layout.HAS_RANGES] !== 0;
    this.#dense = new Int32Array(buffer, words[layout.ROWS], codeCount);
    this.#sparse = codeCount === 0 ? rowsByCode(new Float64Array(buffer, words[layout.CODES], rowCount)) : undefined;
  }

  /** The row of an abbreviation code, −1 for none. */
  row(code: number): number {
    if (code < this.#dense.length) return this.#dense[code];
    return this.#sparse?.get(code) ?? -1;
  }
}

function rowsByCode(codes: Float64Array): Map<number, number> {
  const rows = new Map<number, number>();
  // The first of two with one code counts.
  for (let row = codes.length - 1; row >= 0; row--) rows.set(codes[row], row);
  return rows;
}

/** Exports of assembly/abbreviation-table.ts, which says what they are. */
interface Exports {
  readonly memory: WasmMemory;
  readonly sizesOfForms: WasmGlobal;
  readonly block: WasmGlobal;
  readonly blockSizeBytes: WasmGlobal;
  readonly tableSizeBytes: WasmGlobal;
  reserve(sizeBytes: number): number;
  parse(isAll: boolean, onlyCode: number): number;
}

/** Bytes of a table so large that the memory for it is not kept. */
const MAX_KEPT_SIZE_BYTES = 1 << 20;

/** Parses abbreviation tables, in WebAssembly: gcc writes one for each unit. */
export class AbbreviationParser {
  #exports: Exports | undefined;
  #format: UnitFormat = { version: 0, addressSize: 8, offsetSize: 4 };

  /**
   * Reads a table (DWARF 5, 7.5.3), up to its end or, where it has none, the section's.
   * @param view starts with the table
   * @param isAll whether the view reaches to the section's end
   * @param onlyCode stops after the abbreviation of that code; 0 for none
   * @returns the table and its size in bytes; undefined when the view ends inside it
   * @throws PerfconvError `damaged` when it is cut, or far too long
   */
  parse(view: ByteView, format: UnitFormat, isAll: boolean, onlyCode = 0): { table: Abbreviations; sizeBytes: number } | undefined {
    const exports = this.#exportsFor(format);
    // Before anything can fail.
    if (view.length > MAX_KEPT_SIZE_BYTES) this.#exports = undefined;
    const place = exports.reserve(view.length);
    new Uint8Array(exports.memory.buffer, place).set(view.bytes);
    const result = exports.parse(isAll, onlyCode);
    if (result === layout.IS_ENDLESS)
      throw new PerfconvError('damaged', `a table of ${layout.MAX_ABBREVIATIONS} abbreviations and more`, { record: '.debug_abbrev' });
    if (result === layout.IS_CUT) {
      if (isAll) throw new PerfconvError('damaged', 'the table is cut', { record: '.debug_abbrev' });
      return undefined;
    }
    const { memory, block, blockSizeBytes, tableSizeBytes } = exports;
    const table = new Abbreviations(new Uint8Array(memory.buffer, block.value, blockSizeBytes.value).slice());
    return { table, sizeBytes: tableSizeBytes.value };
  }

  #exportsFor(format: UnitFormat): Exports {
    const { version, addressSize, offsetSize } = this.#format;
    const isNew = this.#exports === undefined;
    this.#exports ??= instantiate<Exports>(CODE, { formSize: (form) => formSize(form, this.#format) });
    if (isNew || version !== format.version || addressSize !== format.addressSize || offsetSize !== format.offsetSize) {
      this.#format = format;
      const sizes = new Int8Array(this.#exports.memory.buffer, this.#exports.sizesOfForms.value);
      for (let form = 0; form <= DW_FORM_addrx4; form++) sizes[form] = formSize(form, format);
    }
    return this.#exports;
  }
}
