import { ExactSums } from '../../base/tables/exact-sums.ts';
import { grown } from '../../base/tables/growable.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import type { Profile } from '../../profile/profile.ts';
import type { ReportTexts } from './keys.ts';

/** One row of a report's table. */
export interface ReportRow {
  /** One text per key, as an index into the report's strings. */
  readonly texts: readonly number[];
  /** Samples taken there; with children, also those taken in what it called. */
  readonly samples: number;
  /** Sum of the periods of these samples. */
  readonly period: number;
  /** The exact sum of the periods minus `period`; 0 up to 2^53. */
  readonly periodRemainder: number;
  /** Samples taken there, in the innermost function; the same as `samples` without children. */
  readonly selfSamples: number;
  readonly selfPeriod: number;
  readonly selfPeriodRemainder: number;
}

/** Adds up samples by their keys. */
export class ReportRows {
  readonly #profile: Profile;
  readonly #texts: ReportTexts;
  readonly #keyCount: number;
  /**
   * The cells of a row as a path from the first key to the last: rows (node of the previous key, text, symbol). The
   * last node of the path stands for the row.
   */
  readonly #nodes = new TupleInterner(3, 1024);
  /** By last node. */
  readonly #periods = new ExactSums();
  readonly #selfPeriods = new ExactSums();
  /** By last node: samples, self samples. */
  #sums = new Float64Array(2048);
  /** By last node: the last total that was counted there, plus 1. Keeps recursion from counting a total twice. */
  #countedTotal = new Uint32Array(1024);

  constructor(profile: Profile, texts: ReportTexts, keyCount: number) {
    this.#profile = profile;
    this.#texts = texts;
    this.#keyCount = keyCount;
  }

  /** Counts a total for the leaf of its stack; with children, also for each caller, once however often it recurs. */
  add(total: number, withChildren: boolean): void {
    // hot
    const { stacks, totals } = this.#profile;
    const event = totals.event(total);
    const task = totals.task(total);
    const stack = totals.stack(total);
    const leaf = stack < 0 ? -1 : stacks.location(stack);
    const leafNode = this.#nodeOf(event, task, leaf, 0);
    this.#sums[leafNode * 2 + 1] += totals.samples(total);
    this.#selfPeriods.add(leafNode, totals.period(total), totals.periodRemainder(total));
    this.#count(leafNode, total);
    if (!withChildren) return;
    for (let at = stack; at >= 0; at = stacks.parent(at)) {
      const location = stacks.location(at);
      const frameCount = this.#texts.frames.count(location);
      for (let nth = 0; nth < frameCount; nth++) this.#count(this.#nodeOf(event, task, location, nth), total);
    }
  }

  #count(node: number, total: number): void {
    if (this.#countedTotal[node] === total + 1) return;
    this.#countedTotal[node] = total + 1;
    const { totals } = this.#profile;
    this.#sums[node * 2] += totals.samples(total);
    this.#periods.add(node, totals.period(total), totals.periodRemainder(total));
  }

  #nodeOf(event: number, task: number, location: number, nth: number): number {
    let node = -1;
    for (let column = 0; column < this.#keyCount; column++) {
      node = this.#nodes.intern(node, this.#texts.text(column, event, task, location, nth), this.#texts.symbol(column, location, nth));
    }
    if (node >= this.#countedTotal.length) {
      this.#countedTotal = grown(this.#countedTotal, node + 1);
      this.#sums = grown(this.#sums, this.#countedTotal.length * 2);
    }
    return node;
  }

  /** All rows, in no particular order. */
  rows(): ReportRow[] {
    const rows: ReportRow[] = [];
    for (let node = 0; node < this.#nodes.size; node++) {
      // Nodes inside a path were never counted.
      if (node >= this.#countedTotal.length || this.#countedTotal[node] === 0) continue;
      const [samples, selfSamples] = this.#sums.subarray(node * 2, node * 2 + 2);
      const [period, periodRemainder] = [this.#periods.value(node), this.#periods.remainder(node)];
      const [selfPeriod, selfPeriodRemainder] = [this.#selfPeriods.value(node), this.#selfPeriods.remainder(node)];
      rows.push({ texts: this.#textsOf(node), samples, period, periodRemainder, selfSamples, selfPeriod, selfPeriodRemainder });
    }
    return rows;
  }

  #textsOf(node: number): number[] {
    const texts: number[] = [];
    for (let at = node; at >= 0; at = this.#nodes.words[at * 3] | 0) texts.push(this.#nodes.words[at * 3 + 1]);
    return texts.reverse();
  }
}
