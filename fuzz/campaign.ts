import { mutate } from './mutate.ts';
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

/** Makes the inputs of a run. The same number and index give the same input, as long as the seeds are the same. */
export class Campaign {
  readonly #number: number;
  readonly #seeds: readonly Seed[];
  readonly #byKind: ReadonlyMap<SeedKind, readonly Seed[]>;
  readonly #kinds: readonly SeedKind[];

  /**
   * @param number the run's seed
   * @param kinds which kinds to mutate; what is spliced in comes from all
   */
  constructor(number: number, seeds: readonly Seed[], kinds: readonly SeedKind[]) {
    this.#number = number;
    this.#seeds = seeds;
    this.#byKind = seedsByKind(seeds);
    this.#kinds = kinds.filter((kind) => this.#byKind.has(kind));
    if (this.#kinds.length === 0) throw new RangeError(`there are no seeds of the kinds ${kinds.join(', ')}`);
  }

  trial(index: number): Trial {
    const random = new Random(this.#number, index);
    const kind = random.pick(this.#kinds);
    const seed = random.pick(this.#byKind.get(kind) ?? []);
    const files = mutate(seed, this.#seeds, random);
    return { kind, seedName: seed.name, files, plan: planOf(kind, random) };
  }
}
