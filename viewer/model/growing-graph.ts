import type { Graph } from './graph.ts';
import { ROOT } from './recording.ts';

/** A graph that may be far larger than the recording: children are made when they are asked for, which is only done for boxes that can be seen. */
export abstract class GrowingGraph implements Graph {
  /** By node. */
  readonly #parents: number[] = [];
  readonly #codes: number[] = [];
  readonly #weights: number[] = [];
  readonly #children = new Map<number, readonly number[]>();

  abstract self(node: number): number | undefined;

  /** The weight of the root. */
  protected abstract readonly whole: number;

  /** Makes the children of a node with {@link add}. Called once for each node. */
  protected abstract grow(node: number): number[];

  children(node: number): readonly number[] {
    let children = this.#children.get(node);
    if (children === undefined) {
      children = this.grow(node).sort((a, b) => this.#weights[b] - this.#weights[a] || a - b);
      this.#children.set(node, children);
    }
    return children;
  }

  parent(node: number): number {
    return node === ROOT ? ROOT : this.#parents[node];
  }

  code(node: number): number {
    return this.#codes[node];
  }

  weight(node: number): number {
    return node === ROOT ? this.whole : this.#weights[node];
  }

  /** Adds a node. @returns its number: they count from 0 */
  protected add(parent: number, code: number, weight: number): number {
    this.#parents.push(parent);
    this.#codes.push(code);
    return this.#weights.push(weight) - 1;
  }
}
