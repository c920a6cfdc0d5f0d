import { ScanState } from '../code/scan-state.ts';
import { VisitedPlaces } from '../code/visited-places.ts';

/** How many branches are noted, to follow their targets later. */
const MAX_BRANCHES = 64;

/** The ways through a function's code that are still to be followed, with the state in which each begins, and the instructions that were followed already. */
export class CodeWays {
  readonly #visited: VisitedPlaces;
  /** Of branches, in the order in which they are followed. */
  readonly #targets = new Float64Array(MAX_BRANCHES);
  readonly #states: ScanState[] = [];
  #branchCount = 0;
  #next = 0;
  /** The svma where the way begins that is followed last; −1 for none. */
  #postponed = -1;
  readonly #postponedState = new ScanState();
  #isLast = false;

  /** @param maxInstructions how many instructions are followed at most: a power of two */
  constructor(maxInstructions: number) {
    this.#visited = new VisitedPlaces(maxInstructions);
  }

  /** Forgets all ways. */
  clear(): void {
    this.#visited.clear();
    this.#branchCount = 0;
    this.#next = 0;
    this.#postponed = -1;
    this.#isLast = false;
  }

  /** Whether there was a branch to code that had not been followed. */
  get hasBranches(): boolean {
    return this.#branchCount > 0;
  }

  /** Whether the way that is followed is the one that was postponed. */
  get isLast(): boolean {
    return this.#isLast;
  }

  /** Notes that the instruction at an svma is followed. @returns whether it is for the first time */
  visit(svma: number): boolean {
    if (this.#visited.has(svma)) return false;
    this.#visited.add(svma);
    return true;
  }

  /** Leaves the target of a branch for later, unless it was followed already or there are too many. */
  addBranch(target: number, state: ScanState): void {
    const at = this.#branchCount;
    if (at === MAX_BRANCHES || this.#visited.has(target)) return;
    this.#targets[at] = target;
    if (at === this.#states.length) this.#states.push(new ScanState());
    this.#states[at].copyFrom(state);
    this.#branchCount++;
  }

  /** Leaves a way for the end. Only the first one is kept. */
  postpone(svma: number, state: ScanState): void {
    if (this.#postponed >= 0) return;
    this.#postponed = svma;
    this.#postponedState.copyFrom(state);
  }

  /**
   * Goes on to the next way: the targets of branches in the order in which they were met, then the way that was postponed.
   * @param state set to the one in which the way begins
   * @param withPostponed whether that one is still to be followed
   * @returns the svma where it begins; −1 if there is none
   */
  next(state: ScanState, withPostponed: boolean): number {
    if (this.#next < this.#branchCount) {
      state.copyFrom(this.#states[this.#next]);
      return this.#targets[this.#next++];
    }
    if (this.#postponed < 0 || this.#isLast || !withPostponed) return -1;
    this.#isLast = true;
    state.copyFrom(this.#postponedState);
    return this.#postponed;
  }
}
