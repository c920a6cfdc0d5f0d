import { ScanState } from '../code/scan-state.ts';

/** How many forward branches are noted whose targets were not reached yet. */
const MAX_BRANCHES = 256;

/** What registers and the frame hold at targets of forward branches, by svma, while code is read from a function's beginning on. */
export class BranchStates {
  readonly #states = new Map<number, ScanState>();
  /** Those that can be reused. */
  readonly #unused: ScanState[] = [];

  /** Notes the state of a branch, unless there is one that leads there already. */
  add(target: number, state: ScanState): void {
    if (this.#states.has(target) || this.#states.size === MAX_BRANCHES) return;
    const kept = this.#unused.pop() ?? new ScanState();
    kept.copyFrom(state);
    this.#states.set(target, kept);
  }

  get(target: number): ScanState | undefined {
    return this.#states.get(target);
  }

  /** The nearest target from one svma on, up to another; −1 if there is none. */
  nearest(from: number, end: number): number {
    let nearest = -1;
    for (const target of this.#states.keys()) if (target >= from && target <= end && (nearest < 0 || target < nearest)) nearest = target;
    return nearest;
  }

  /** To be called once code before a target leads on. The state must not be used any more. */
  remove(target: number): void {
    const state = this.#states.get(target);
    if (state === undefined) return;
    this.#states.delete(target);
    this.#unused.push(state);
  }

  clear(): void {
    for (const state of this.#states.values()) this.#unused.push(state);
    this.#states.clear();
  }
}
