import { grown } from '../../base/tables/growable.ts';

/** Further rows are not remembered, but read again. */
const MAX_RANGES = 1 << 20;
/** The same for the rows of one FDE, which are searched one by one. Functions have some ten. */
const MAX_RANGES_OF_FDE = 64;

/** Which addresses have which rule, as far as rows of FDEs were read: most addresses are in a row that an earlier one was in. */
export class RuleRanges {
  /** By FDE: its last range + 1. */
  #last = new Int32Array();
  /** By FDE: how many ranges it has. */
  #counts = new Uint8Array();
  /** By range: the FDE's range before it + 1; 0 for none. */
  #before = new Int32Array();
  #rules = new Int32Array();
  #starts = new Float64Array();
  #ends = new Float64Array();
  #count = 0;

  /**
   * The rule of an svma; undefined if no row that holds it was read.
   * @param fde number of the FDE in which it is looked for
   */
  find(fde: number, svma: number): number | undefined {
    // hot
    if (fde < 0 || fde >= this.#last.length) return undefined;
    for (let range = this.#last[fde] - 1; range >= 0; range = this.#before[range] - 1) {
      if (svma >= this.#starts[range] && svma < this.#ends[range]) return this.#rules[range];
    }
    return undefined;
  }

  /** Keeps the rule of the addresses from `start` on, up to before `end`. */
  add(fde: number, start: number, end: number, rule: number): void {
    if (start >= end || this.#count >= MAX_RANGES) return;
    this.#counts = grown(this.#counts, fde + 1);
    if (this.#counts[fde] === MAX_RANGES_OF_FDE) return;
    this.#counts[fde]++;
    const range = this.#count++;
    this.#last = grown(this.#last, fde + 1);
    this.#before = grown(this.#before, range + 1);
    this.#rules = grown(this.#rules, range + 1);
    this.#starts = grown(this.#starts, range + 1);
    this.#ends = grown(this.#ends, range + 1);
    this.#before[range] = this.#last[fde];
    this.#rules[range] = rule;
    this.#starts[range] = start;
    this.#ends[range] = end;
    this.#last[fde] = range + 1;
  }

  /** Forgets all of them. */
  clear(): void {
    this.#last.fill(0);
    this.#counts.fill(0);
    this.#count = 0;
  }
}
