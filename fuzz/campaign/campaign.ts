import { makeInput } from '../mutations/mutate.ts';
import { Random } from '../random.ts';
import type { InputFiles, Seed, SeedKind } from '../seeds/seed.ts';
import { seedsByKind } from '../seeds/seeds.ts';
import { type Plan, planOf } from '../target/plan.ts';

/** One input of a campaign, and its plan. */
export interface Trial {
  readonly kind: SeedKind;
  /** Name of the seed that it was made from. */
  readonly seedName: string;
  readonly files: InputFiles;
  readonly plan: Plan;
}

/** Size of the largest inputs: twice the size for which two seconds are promised, so that quadratic growth shows. */
const MAX_GROWN_BYTES = 2 << 20;

/** How many times longer inputs of a kind take. If several kinds are run, such a kind is chosen that much less often. */
const ONE_IN: Readonly<Partial<Record<SeedKind, number>>> = {
  bombs: 400,
  'long-names': 40,
  forks: 40,
  outputs: 4,
  terminals: 4,
  'full-disk': 400,
  signals: 400,
};

/**
 * Makes the inputs of a run. The same number and index always give the same input, as long as the seeds do not change.
 */
export class Campaign {
  readonly #number: number;
  readonly #seeds: readonly Seed[];
  readonly #byKind: ReadonlyMap<SeedKind, readonly Seed[]>;
  readonly #kinds: readonly SeedKind[];
  readonly #maxBytes: number;

  /**
   * @param number the run's seed
   * @param kinds kinds to mutate; records that are spliced in come from all kinds
   * @param maxBytes largest size of inputs that are grown instead of mutated
   */
  constructor(number: number, seeds: readonly Seed[], kinds: readonly SeedKind[], maxBytes = MAX_GROWN_BYTES) {
    this.#maxBytes = maxBytes;
    this.#number = number;
    this.#seeds = seeds;
    this.#byKind = seedsByKind(seeds);
    this.#kinds = kinds.filter((kind) => this.#byKind.has(kind));
    if (this.#kinds.length === 0) throw new RangeError(`there are no seeds of the kinds ${kinds.join(', ')}`);
  }

  trial(index: number): Trial {
    const random = new Random(this.#number, index);
    const kind = this.#kindFor(random);
    const seed = random.pick(this.#byKind.get(kind) ?? []);
    const { files, unpackedBytes } = makeInput(seed, this.#seeds, random, this.#maxBytes);
    return { kind, seedName: seed.name, files, plan: planOf(kind, random, unpackedBytes) };
  }

  #kindFor(random: Random): SeedKind {
    for (;;) {
      const kind = random.pick(this.#kinds);
      if (this.#kinds.every((one) => one in ONE_IN) || random.oneIn(ONE_IN[kind] ?? 1)) return kind;
    }
  }
}
