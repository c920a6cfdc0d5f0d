import { KeyedPairs } from '../../base/tables/keyed-pairs.ts';
import { TupleInterner } from '../../base/tables/tuple-interner.ts';
import type { ProfileBuilder } from '../../profile/builder.ts';
import type { AddressSpace } from '../processes/address-space.ts';
import type { Kernels } from '../processes/kernels.ts';
import type { SessionThread, TaskTable } from '../processes/tasks.ts';
import type { RecordRow } from '../rows/record-row.ts';
import type { FrameResolver } from './frames.ts';

const TUPLE_BYTES = 20;

/**
 * The totals that samples count for, by their callchains: a chain usually comes again in the same surroundings, which are the event, the task and what is
 * mapped.
 */
export class ChainTotals {
  readonly #tasks: TaskTable;
  readonly #kernels: Kernels;
  readonly #frames: FrameResolver;
  readonly #profile: ProfileBuilder;
  /** Numbers for (event, task, state of the address space); then totals, by chain + 1 and such a number. */
  readonly #surroundings = new TupleInterner(3);
  #totals = new KeyedPairs();
  #kernelGeneration = -1;

  constructor(tasks: TaskTable, kernels: Kernels, frames: FrameResolver, profile: ProfileBuilder) {
    this.#tasks = tasks;
    this.#kernels = kernels;
    this.#frames = frames;
    this.#profile = profile;
  }

  /** Bytes of the table of surroundings; those of the totals are counted where these are. */
  get heldBytes(): number {
    return this.#surroundings.size * TUPLE_BYTES;
  }

  /**
   * The total of a sample whose chain was seen before in the same surroundings; −1 if it was not.
   * @param threadIndex of `thread`, the sample's
   * @param space what is mapped in its process
   */
  find({ event, chain }: RecordRow, threadIndex: number, { last }: SessionThread, space: AddressSpace): number {
    // hot
    if (last.event !== event || last.generation !== space.generation) {
      last.event = event;
      last.generation = space.generation;
      last.surroundings = this.#surroundings.intern(event, this.#tasks.taskOf(threadIndex), space.generation);
    }
    if (this.#kernels.generation !== this.#kernelGeneration) {
      this.#kernelGeneration = this.#kernels.generation;
      this.#totals = new KeyedPairs();
    }
    return this.#totals.find(chain + 1, last.surroundings);
  }

  /** The same for a sample for which {@link find} has just found none: finds its stack. */
  add({ event, chain }: RecordRow, threadIndex: number, { last }: SessionThread, space: AddressSpace): number {
    const stack = chain < 0 ? -1 : this.#frames.stackOf(chain, space);
    const total = this.#profile.totals.intern(event, this.#tasks.taskOf(threadIndex), stack);
    this.#totals.set(chain + 1, last.surroundings, total);
    return total;
  }
}
