import { firstAbove } from '../base/tables/first-above.ts';

/** How many units may claim one address. Sane units do not overlap. */
const MAX_CLAIMS = 4;
/** How many visits each address may take on average, beyond the spare ones: hostile files can have millions of ranges over everything. */
const MAX_VISITS_PER_ADDRESS = 256;
const FREE_VISITS = 1 << 22;

/** Collects which units say that they cover which wanted addresses. */
export class AddressClaims {
  /** Ascending. */
  readonly addresses: Float64Array;
  readonly #units: Float64Array;
  readonly #counts: Uint8Array;
  #visitsLeft: number;

  constructor(addresses: Float64Array) {
    this.addresses = addresses;
    this.#units = new Float64Array(addresses.length * MAX_CLAIMS);
    this.#counts = new Uint8Array(addresses.length);
    this.#visitsLeft = addresses.length * MAX_VISITS_PER_ADDRESS + FREE_VISITS;
  }

  /** Notes that `unit` claims addresses from `start` up to `end`. */
  claim(unit: number, start: number, end: number): void {
    const { addresses } = this;
    let first = firstAbove(addresses, start, 0, addresses.length);
    while (first > 0 && addresses[first - 1] === start) first--;
    for (; first < addresses.length && addresses[first] < end; first++) {
      if (--this.#visitsLeft < 0) return;
      const count = this.#counts[first];
      const at = first * MAX_CLAIMS + count;
      if (count === MAX_CLAIMS || (count > 0 && this.#units[at - 1] === unit)) continue;
      this.#units[at] = unit;
      this.#counts[first]++;
    }
  }

  /** By unit, ascending: indexes of the addresses that it claims, ascending. */
  byUnit(): Map<number, number[]> {
    const indexes = new Map<number, number[]>();
    for (let i = 0; i < this.addresses.length; i++) {
      for (let claim = 0; claim < this.#counts[i]; claim++) {
        const unit = this.#units[i * MAX_CLAIMS + claim];
        const known = indexes.get(unit);
        if (known === undefined) indexes.set(unit, [i]);
        else known.push(i);
      }
    }
    return new Map([...indexes].sort(([a], [b]) => a - b));
  }
}
