/** Types below this have a place in an array: all of the kernel's and of perf's. */
const COMMON_TYPES = 128;

/** How many records of each type the file holds. */
export class RecordCounts {
  readonly #common = new Float64Array(COMMON_TYPES);
  readonly #others = new Map<number, number>();

  /** @param count of records that are added */
  add(type: number, count = 1): void {
    // hot
    if (type < COMMON_TYPES) this.#common[type] += count;
    else this.#others.set(type, (this.#others.get(type) ?? 0) + count);
  }

  /** Adds the counts of another recording. */
  addAll(other: RecordCounts): void {
    for (const [type, count] of other.entries()) this.add(type, count);
  }

  get(type: number): number {
    return type < COMMON_TYPES ? this.#common[type] : (this.#others.get(type) ?? 0);
  }

  /** Types that occur and their counts, by ascending type. */
  entries(): readonly (readonly [type: number, count: number])[] {
    const common = [...this.#common.entries()].filter(([, count]) => count > 0);
    return [...common, ...[...this.#others].sort(([a], [b]) => a - b)];
  }

  get total(): number {
    return this.entries().reduce((sum, [, count]) => sum + count, 0);
  }
}
