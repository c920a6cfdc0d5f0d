import { ascendingOrder } from '../base/ascending-order.ts';
import type { SourceFrame, SourceLines } from '../symbol-table/code-symbols.ts';

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
    /** What is asked for and has an svma: the index in `addresses`, and the svma. */
    const known = new Uint32Array(addresses.length);
    const svmas = new Float64Array(addresses.length);
    let knownCount = 0;
    for (let i = 0; i < addresses.length; i++) {
      const svma = this.#toSvma(addresses[i]);
      if (Number.isNaN(svma)) continue;
      known[knownCount] = i;
      svmas[knownCount++] = svma;
    }
    const order = ascendingOrder(svmas.subarray(0, knownCount));
    const asked = new Float64Array(knownCount);
    /** Where in `order` those start that ask for the same svma: two addresses may be one place. */
    const firsts = new Uint32Array(knownCount + 1);
    let count = 0;
    for (let nth = 0; nth < knownCount; nth++) {
      const svma = svmas[order[nth]];
      if (count > 0 && asked[count - 1] === svma) continue;
      firsts[count] = nth;
      asked[count++] = svma;
    }
    firsts[count] = knownCount;
    await this.#lines.lookup(asked.subarray(0, count), (index, frames) => {
      for (let nth = firsts[index]; nth < firsts[index + 1]; nth++) visit(known[order[nth]], frames);
    });
  }
}
