import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { grown } from '../../base/tables/growable.ts';

/**
 * Disjoint ranges, ascending. Each begins at its start, ends where the next one begins, and belongs to an owner; −1 for
 * none.
 */
export interface OwnedRanges {
  readonly rangeStarts: Float64Array;
  readonly rangeOwners: Int32Array;
}

/**
 * Finds which of several overlapping ranges owns each address: the one with the highest index, as if each were painted over those before it.
 * @param starts, ends of each range; empty ones own nothing
 */
export function latestOfEach(starts: Float64Array, ends: Float64Array): OwnedRanges {
  const order = ascendingOrder(starts);
  let rangeStarts = new Float64Array(starts.length + 1);
  let rangeOwners = new Int32Array(starts.length + 1);
  let count = 0;
  const begin = (start: number, owner: number): void => {
    if (count > 0 && rangeOwners[count - 1] === owner) return;
    rangeStarts = grown(rangeStarts, count + 1);
    rangeOwners = grown(rangeOwners, count + 1);
    rangeStarts[count] = start;
    rangeOwners[count++] = owner;
  };
  const begun = new GreatestFirst(starts.length);
  for (let next = 0, address = Number.NEGATIVE_INFINITY; next < order.length || begun.size > 0; ) {
    // hot
    if (begun.size === 0) address = starts[order[next]];
    while (next < order.length && starts[order[next]] <= address) begun.add(order[next++]);
    // A range that has ended is removed when it comes to the top; below the top it does no harm.
    while (begun.size > 0 && ends[begun.greatest] <= address) begun.removeGreatest();
    begin(address, begun.size > 0 ? begun.greatest : -1);
    if (begun.size > 0) address = Math.min(ends[begun.greatest], next < order.length ? starts[order[next]] : Number.POSITIVE_INFINITY);
  }
  return { rangeStarts: rangeStarts.subarray(0, count), rangeOwners: rangeOwners.subarray(0, count) };
}

/** A heap of numbers, the greatest on top. */
class GreatestFirst {
  readonly #numbers: Int32Array;
  size = 0;

  constructor(capacity: number) {
    this.#numbers = new Int32Array(capacity);
  }

  get greatest(): number {
    return this.#numbers[0];
  }

  add(number: number): void {
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#numbers[parent] >= number) break;
      this.#numbers[at] = this.#numbers[parent];
      at = parent;
    }
    this.#numbers[at] = number;
  }

  removeGreatest(): void {
    const last = this.#numbers[--this.size];
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.size) break;
      if (child + 1 < this.size && this.#numbers[child + 1] > this.#numbers[child]) child++;
      if (this.#numbers[child] <= last) break;
      this.#numbers[at] = this.#numbers[child];
      at = child;
    }
    this.#numbers[at] = last;
  }
}
