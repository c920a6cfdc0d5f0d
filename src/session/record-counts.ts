/** How many records of each type the file holds. */
export class RecordCounts {
  readonly #common = new Float64Array(128);
  readonly #others = new Map<number, number>();

  add(type: number): void {
    // hot
    if (type < 128) this.#common[type]++;
    else this.#others.set(type, (this.#others.get(type) ?? 0) + 1);
  }

  /** Adds the counts of another recording. */
  addAll(other: RecordCounts): void {
    for (const [type, count] of other.entries()) {
      if (type < 128) this.#common[type] += count;
      else this.#others.set(type, (this.#others.get(type) ?? 0) + count);
    }
  }

  get(type: number): number {
    return type < 128 ? this.#common[type] : (this.#others.get(type) ?? 0);
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
