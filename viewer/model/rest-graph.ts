import type { Graph } from './graph.ts';

/** Stands for children of a node that are too small to be drawn. */
export const REST = -2;
/** The first number of a rest that was asked for; the others are below it. */
const FIRST = REST - 1;

/** Whether a node stands for children of its parent. */
export const isRest = (node: number): boolean => node <= REST;

interface Rest {
  readonly parent: number;
  readonly children: readonly number[];
  readonly weight: number;
  /** Index of the first of them among all children of the parent. */
  readonly from: number;
}

/** A graph in which the smaller children of a node can be looked at as if they were one: they get a node of their own, below the same parent. */
export class RestGraph implements Graph {
  readonly #graph: Graph;
  readonly #rests: Rest[] = [];
  /** By parent and first child. */
  readonly #known = new Map<string, number>();

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /**
   * The node that stands for the children of a node from one on, which are the smallest; the child itself if there is only one.
   * @param from index of a child
   */
  rest(node: number, from: number): number {
    const first = from + (isRest(node) ? this.#rest(node).from : 0);
    const parent = isRest(node) ? this.parent(node) : node;
    const children = this.children(parent).slice(first);
    if (children.length === 1) return children[0];
    const key = `${parent} ${first}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const weight = children.reduce((sum, child) => sum + this.weight(child), 0);
    const made = FIRST - (this.#rests.push({ parent, children, weight, from: first }) - 1);
    this.#known.set(key, made);
    return made;
  }

  /** The node that has to be zoomed so that a node can be seen: for a rest that is all of its parent's children, the parent. */
  zoomFor(node: number): number {
    return this.restFrom(node) === 0 ? this.parent(node) : node;
  }

  /** Index of the first child of its parent that a rest stands for; −1 for any other node. */
  restFrom(node: number): number {
    return isRest(node) ? this.#rest(node).from : -1;
  }

  children(node: number): readonly number[] {
    return isRest(node) ? this.#rest(node).children : this.#graph.children(node);
  }

  parent(node: number): number {
    return isRest(node) ? this.#rest(node).parent : this.#graph.parent(node);
  }

  /** Not for rests. */
  code(node: number): number {
    return this.#graph.code(node);
  }

  weight(node: number): number {
    return isRest(node) ? this.#rest(node).weight : this.#graph.weight(node);
  }

  self(node: number): number | undefined {
    return isRest(node) ? undefined : this.#graph.self(node);
  }

  #rest(node: number): Rest {
    return this.#rests[FIRST - node];
  }
}
