import { firstAbove } from '../base/tables/first-above.ts';
import { grown } from '../base/tables/growable.ts';
import type { GoTable } from './go-table.ts';

/** Counts the steps of decoding: functions may share their tables, but only a hostile file has so many long ones that reading never ends. */
export class StepBudget {
  #left: number;
  readonly #table: GoTable;

  constructor(table: GoTable, steps: number) {
    this.#table = table;
    this.#left = steps;
  }

  /** @throws PerfconvError `damaged` when tables overlap beyond reason */
  spend(): void {
    if (--this.#left < 0) throw this.#table.damaged('tables of positions overlap');
  }
}

/**
 * Values of a function by address, stored as pairs of differences: of the value, and of the address up to which it holds.
 * @see Go's source, runtime/symtab.go, `step`
 */
export class ValueTable {
  /** Where the next number is. */
  #at = 0;
  #count = 0;
  #ends: Float64Array = new Float64Array(64);
  #values: Int32Array = new Int32Array(64);
  readonly #table: GoTable;
  readonly #budget: StepBudget;

  constructor(table: GoTable, budget: StepBudget) {
    this.#table = table;
    this.#budget = budget;
  }

  /**
   * Reads the values of another function.
   * @param offset in the table's bytes; 0 for none
   * @param sizeBytes of the function: what is after it is not read
   */
  decode(offset: number, sizeBytes: number): void {
    this.#count = 0;
    if (offset === 0) return;
    this.#at = offset;
    let value = -1;
    let end = 0;
    while (end < sizeBytes) {
      // hot
      this.#budget.spend();
      const difference = this.#varint();
      if (difference === 0 && end > 0) return;
      value = (value + ((difference & 1) !== 0 ? ~(difference >>> 1) : difference >>> 1)) | 0;
      end += this.#varint() * this.#table.quantum;
      const index = this.#count++;
      this.#ends = grown(this.#ends, index + 1);
      this.#values = grown(this.#values, index + 1);
      this.#ends[index] = end;
      this.#values[index] = value;
    }
  }

  /** The value at a distance from the function's start, in bytes; −1 if there is none. */
  at(distance: number): number {
    const index = firstAbove(this.#ends, distance, 0, this.#count);
    return index < this.#count ? this.#values[index] : -1;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#table.u8(this.#at++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value >>> 0;
  }
}
