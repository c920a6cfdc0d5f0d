import { numbersIn } from '../../base/bytes/little-endian.ts';
import * as layout from './abbreviation-layout.ts';

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
  /** The forms' `formSize`. */
  readonly formSizes: Int8Array;
  /** Whether any DIE may have DW_AT_ranges. */
  readonly hasRanges: boolean;
  /** Rows by code, −1 for none; empty if codes are sparse. */
  readonly #dense: Int32Array;
  /** Rows by code if codes are sparse. */
  readonly #sparse: ReadonlyMap<number, number> | undefined;

  /** @param block lies in a buffer of its own */
  constructor(block: Uint8Array) {
    const { buffer } = block;
    const words = numbersIn(Uint32Array, buffer, 0, layout.HEADER_WORDS);
    const rowCount = words[layout.ROW_COUNT];
    const attributeCount = words[layout.ATTRIBUTE_COUNT];
    const codeCount = words[layout.CODE_COUNT];
    this.block = block;
    this.tags = numbersIn(Uint16Array, buffer, words[layout.TAGS], rowCount);
    this.flags = new Uint8Array(buffer, words[layout.FLAGS], rowCount);
    this.attributeStarts = numbersIn(Uint32Array, buffer, words[layout.ATTRIBUTE_STARTS], rowCount + 1);
    this.names = numbersIn(Uint16Array, buffer, words[layout.NAMES], attributeCount);
    this.forms = numbersIn(Uint16Array, buffer, words[layout.FORMS], attributeCount);
    this.implicit = numbersIn(Float64Array, buffer, words[layout.IMPLICIT], attributeCount);
    this.formSizes = new Int8Array(buffer, words[layout.FORM_SIZES], attributeCount);
    this.hasRanges = words[layout.HAS_RANGES] !== 0;
    this.#dense = numbersIn(Int32Array, buffer, words[layout.ROWS], codeCount);
    this.#sparse = codeCount === 0 ? rowsByCode(numbersIn(Float64Array, buffer, words[layout.CODES], rowCount)) : undefined;
  }

  /** The row of an abbreviation code, −1 for none. */
  row(code: number): number {
    if (code < this.#dense.length) return this.#dense[code];
    return this.#sparse?.get(code) ?? -1;
  }
}

function rowsByCode(codes: Float64Array): Map<number, number> {
  const rows = new Map<number, number>();
  // If two rows have the same code, the first one counts.
  for (let row = codes.length - 1; row >= 0; row--) rows.set(codes[row], row);
  return rows;
}
