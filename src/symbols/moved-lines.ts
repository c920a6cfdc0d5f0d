import { ascendingOrder } from '../intern/ascending-order.ts';
import type { SourceFrame, SourceLines } from './code-symbols.ts';

/** Debug information that is asked by other addresses than its own. */
export class MovedLines implements SourceLines {
  readonly #lines: SourceLines;
  readonly #toSvma: (address: number) => number;

  /** @param toSvma from an address that is asked for to the one in the debug information; NaN where there is none */
  constructor(lines: SourceLines, toSvma: (address: number) => number) {
    this.#lines = lines;
    this.#toSvma = toSvma;
  }

  async lookup(addresses: Float64Array, visit: (index: number, frames: readonly SourceFrame[]) => void): Promise<void> {
    const known = Uint32Array.from(addresses.keys()).filter((index) => !Number.isNaN(this.#toSvma(addresses[index])));
    const svmas = Float64Array.from(known, (index) => this.#toSvma(addresses[index]));
    const order = ascendingOrder(svmas);
    const asked: number[] = [];
    /** Indexes of `addresses`, for each of `asked`: two addresses may be one place. */
    const askers: number[][] = [];
    for (const at of order) {
      if (asked.at(-1) === svmas[at]) askers[askers.length - 1].push(known[at]);
      else {
        asked.push(svmas[at]);
        askers.push([known[at]]);
      }
    }
    await this.#lines.lookup(Float64Array.from(asked), (index, frames) => {
      for (const asker of askers[index]) visit(asker, frames);
    });
  }
}
