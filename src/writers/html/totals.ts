import { ascendingOrder } from '../../base/tables/ascending-order.ts';
import { ExactSums } from '../../base/tables/exact-sums.ts';
import { PairInterner } from '../../base/tables/pair-interner.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import type { Profile } from '../../profile/profile.ts';
import type { PageTree } from './page-tree.ts';

/** The samples of one event in one thread. */
export interface TotalGroup {
  readonly event: number;
  readonly thread: number;
  /** Rows of {@link PageTotalTable}, by ascending node. */
  readonly rows: readonly number[];
}

/** Samples added up by event, thread and node of the page's tree. */
export class PageTotalTable {
  /** Rows (group, node). */
  readonly #rows: TupleInterner;
  readonly #samples = new ExactSums();
  readonly #periods = new ExactSums();
  readonly #groups = new PairInterner();

  constructor({ tasks, totals }: Profile, tree: PageTree) {
    this.#rows = new TupleInterner(2, Math.max(16, totals.size));
    for (let total = 0; total < totals.size; total++) {
      // hot
      const group = this.#groups.intern(totals.event(total), tasks[totals.task(total)].thread);
      const row = this.#rows.intern(group, tree.nodeOf(totals.stack(total)));
      this.#samples.add(row, totals.samples(total));
      this.#periods.add(row, totals.period(total), totals.periodRemainder(total));
    }
  }

  /** In order of first appearance. */
  groups(): TotalGroup[] {
    const rowsOf: number[][] = Array.from({ length: this.#groups.size }, () => []);
    for (const row of ascendingOrder(Float64Array.from({ length: this.#rows.size }, (_, index) => this.node(index)))) {
      rowsOf[this.#rows.words[row * 2]].push(row);
    }
    return rowsOf.map((rows, group) => ({ event: this.#groups.first[group], thread: this.#groups.second[group], rows }));
  }

  node(row: number): number {
    return this.#rows.words[row * 2 + 1];
  }

  samples(row: number): number {
    return this.#samples.value(row);
  }

  period(row: number): number {
    return this.#periods.value(row);
  }

  /** The exact sum of the periods minus {@link period}. */
  periodRemainder(row: number): number {
    return this.#periods.remainder(row);
  }
}
