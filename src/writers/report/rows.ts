import { ExactSums } from '../../base/exact-sums.ts';
import { grown } from '../../base/growable.ts';
import { TupleInterner } from '../../base/tuple-interner.ts';
import type { Profile } from '../../profile/profile.ts';
import type { ReportTexts } from './keys.ts';

/** One row of a report's table. */
export interface ReportRow {
  /** One text per key, as an index of the report's strings. */
  readonly texts: readonly number[];
  /** Of the samples that the row is about: with children, also those that only called or were called from there. */
  readonly samples: number;
  readonly period: number;
  /** The exact sum minus its double; 0 up to 2^53. */
  readonly periodRemainder: number;
  /** Of the samples that ended there, in the innermost function; equal to the above without children. */
  readonly selfSamples: number;
  readonly selfPeriod: number;
}

/** Adds samples up by their keys. */
export class ReportRows {
  readonly #profile: Profile;
  readonly #texts: ReportTexts;
  readonly #keyCount: number;
  /** A row's cells as a path from the first key to the last: rows (node before, text, symbol). */
  readonly #nodes = new TupleInterner(3, 1024);
  /** By the path's last node. */
  readonly #periods = new ExactSums();
  /** By the path's last node: samples, self samples, self period. */
  #sums = new Float64Array(4096);
  /** By the path's last node: the last total that was counted there, plus 1. */
  #countedTotal = new Uint32Array(1024);

  constructor(profile: Profile, texts: ReportTexts, keyCount: number) {
    this.#profile = profile;
    this.#texts = texts;
    this.#keyCount = keyCount;
  }

  /** Adds a row of the totals where its stack ends; with children also to every caller, once however often it recurs. */
  add(total: number, withChildren: boolean): void {
    // hot
    const { stacks, totals } = this.#profile;
    const event = totals.event(total);
    const task = totals.task(total);
    const stack = totals.stack(total);
    const leaf = stack < 0 ? -1 : stacks.location(stack);
    const leafNode = this.#nodeOf(event, task, leaf, 0);
    this.#sums[leafNode * 3 + 1] += totals.samples(total);
    this.#sums[leafNode * 3 + 2] += totals.period(total);
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
    this.#sums[node * 3] += totals.samples(total);
    this.#periods.add(node, totals.period(total), totals.periodRemainder(total));
  }

  #nodeOf(event: number, task: number, location: number, nth: number): number {
    let node = -1;
    for (let column = 0; column < this.#keyCount; column++) {
      node = this.#nodes.intern(node, this.#texts.text(column, event, task, location, nth), this.#texts.symbol(column, location, nth));
    }
    if (node >= this.#countedTotal.length) {
      this.#countedTotal = grown(this.#countedTotal, node + 1);
      this.#sums = grown(this.#sums, this.#countedTotal.length * 3);
    }
    return node;
  }

  /** All rows, in no order that means anything. */
  rows(): ReportRow[] {
    const rows: ReportRow[] = [];
    for (let node = 0; node < this.#nodes.size; node++) {
      // Nodes on the way to a last key were never counted.
      if (node >= this.#countedTotal.length || this.#countedTotal[node] === 0) continue;
      const [samples, selfSamples, selfPeriod] = this.#sums.subarray(node * 3, node * 3 + 3);
      const [period, periodRemainder] = [this.#periods.value(node), this.#periods.remainder(node)];
      rows.push({ texts: this.#textsOf(node), samples, period, periodRemainder, selfSamples, selfPeriod });
    }
    return rows;
  }

  #textsOf(node: number): number[] {
    const texts: number[] = [];
    for (let at = node; at >= 0; at = this.#nodes.words[at * 3] | 0) texts.push(this.#nodes.words[at * 3 + 1]);
    return texts.reverse();
  }
}
