import { PERF_RECORD_MISC_USER } from '../../perfdata/abi/constants.ts';
import type { ProfileBuilder } from '../../profile/builder.ts';
import { OFF_CPU, TRUNCATED } from '../../profile/names.ts';

/** Variants of the location at no address, by what they stand for: the rest of a stack, and the place where a thread left its CPU. */
const TRUNCATED_VARIANT = 1;
const OFF_CPU_VARIANT = 2;

/** Locations that stand for what is not known of a stack. Each is made when it is first needed. */
export class StandIns {
  readonly #profile: ProfileBuilder;
  readonly #showsCutAsPerf: boolean;
  #truncated = -1;
  #offCpuStack = -1;

  /** @param showsCutAsPerf whether an unwound stack that is cut off ends in address −1, which is what perf makes of a return address that it could not read */
  constructor(profile: ProfileBuilder, showsCutAsPerf: boolean) {
    this.#profile = profile;
    this.#showsCutAsPerf = showsCutAsPerf;
  }

  /** The location of the root of stacks whose rest is not known. */
  truncated(): number {
    if (this.#truncated < 0) {
      this.#truncated = this.#showsCutAsPerf
        ? this.#profile.locations.intern(-1, 0xffffffff, 0xffffffff, PERF_RECORD_MISC_USER, false)
        : this.#standIn(TRUNCATED_VARIANT, TRUNCATED);
    }
    return this.#truncated;
  }

  /** The stack of a thread that left its CPU at a place that is not known. */
  offCpuStack(): number {
    if (this.#offCpuStack < 0) this.#offCpuStack = this.#profile.stacks.intern(-1, this.#standIn(OFF_CPU_VARIANT, OFF_CPU));
    return this.#offCpuStack;
  }

  /** The location of what is at no address, with a function that says what it stands for. */
  #standIn(variant: number, name: string): number {
    const { functions, strings, locations } = this.#profile;
    const location = locations.intern(-1, 0, 0, PERF_RECORD_MISC_USER, false, variant);
    locations.setStandIn(location, functions.intern(strings.intern(name)));
    return location;
  }
}
