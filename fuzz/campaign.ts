import { makeInput } from './mutate.ts';
import { type Plan, planOf } from './plan.ts';
import { Random } from './random.ts';
import type { InputFiles, Seed, SeedKind } from './seed.ts';
import { seedsByKind } from './seeds.ts';

/** One input of a campaign, and what is to be done with it. */
export interface Trial {
  readonly kind: SeedKind;
  /** Name of the recording that it was made of. */
  readonly seedName: string;
  readonly files: InputFiles;
  readonly plan: Plan;
}

/** What the largest inputs have: twice the size for which two seconds are promised, so that what grows with its square shows. */
const MAX_GROWN_BYTES = 2 << 20;

/** Kinds whose inputs take many times as long as others: in a run of several kinds, of as many times that one is chosen only one is kept. */
const ONE_IN: Readonly<Partial<Record<SeedKind, number>>> = { bombs: 400, 'long-names': 40, forks: 40, outputs: 4, terminals: 4 };

/** Makes the inputs of a run. The same number and index give the same input, as long as the seeds are the same. */
export class Campaign {
  readonly #number: number;
  readonly #seeds: readonly Seed[];
  readonly #byKind: ReadonlyMap<SeedKind, readonly Seed[]>;
  readonly #kinds: readonly SeedKind[];
  readonly #maxBytes: number;

  /**
   * @param number the run's seed
   * @param kinds which kinds to mutate; what is spliced in comes from all
   * @param maxBytes of inputs that are grown rather than mutated
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
