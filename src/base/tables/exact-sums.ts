import { grown } from './growable.ts';

/**
 * The rounding error of a sum of two doubles: the exact sum is `(a + b) + lostInSum(a, b)`, whichever of the two is larger.
 * Source: Knuth, The Art of Computer Programming 2, 4.2.2, theorem B.
 */
export function lostInSum(a: number, b: number): number {
  const sum = a + b;
  const rounded = sum - a;
  return a - (sum - rounded) + (b - rounded);
}

/** A column of remainders: exact values minus the doubles that stand for them. It takes no memory until it has one. */
export class Remainders {
  #column = new Float64Array(0);

  add(index: number, remainder: number): void {
    if (remainder === 0) return;
    this.#column = grown(this.#column, index + 1);
    this.#column[index] += remainder;
  }

  /** 0 if none was added. */
  at(index: number): number {
    return index < this.#column.length ? this.#column[index] : 0;
  }
}

/**
 * A column of exact sums of whole numbers: doubles, and for the few sums beyond 2^53 the accumulated rounding error. The
 * exact sum is {@link value} + {@link remainder}, both of them whole numbers.
 */
export class ExactSums {
  #values = new Float64Array(256);
  readonly #remainders = new Remainders();

  /** @param remainder the exact number minus `value` */
  add(index: number, value: number, remainder = 0): void {
    // hot
    if (index >= this.#values.length) this.#values = grown(this.#values, index + 1);
    const before = this.#values[index];
    const sum = before + value;
    this.#values[index] = sum;
    if (sum > Number.MAX_SAFE_INTEGER) this.#remainders.add(index, lostInSum(before, value) + remainder);
  }

  /** 0 if nothing was added. */
  value(index: number): number {
    return index < this.#values.length ? this.#values[index] : 0;
  }

  /** 0 up to 2^53. */
  remainder(index: number): number {
    return this.#remainders.at(index);
  }
}
