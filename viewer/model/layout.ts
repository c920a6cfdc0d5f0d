import { type Graph, pathTo } from './graph.ts';
import { ROOT } from './recording.ts';
import { REST, type RestGraph } from './rest-graph.ts';

/** A row of boxes, by their left edges. */
export interface Row {
  /** ROOT; a node; REST for the smallest children of `parent`. */
  readonly nodes: readonly number[];
  readonly parents: readonly number[];
  /** Edges, from 0 to 1. */
  readonly left: readonly number[];
  readonly right: readonly number[];
}

/**
 * Lays out what can be seen when a node has the whole width: one row for the root and for each of its callers, one for itself, and one for each depth below it.
 * @param smallest the width of the smallest box that is worth drawing
 */
export function layOut(graph: Graph, zoomed: number, smallest: number): Row[] {
  const path = zoomed === ROOT ? [] : pathTo(graph, zoomed, ROOT);
  const rows = [ROOT, ...path].map((node): Row => ({ nodes: [node], parents: [node === ROOT ? ROOT : graph.parent(node)], left: [0], right: [1] }));
  const whole = graph.weight(zoomed);
  for (let row = rows[rows.length - 1]; whole > 0; ) {
    const next = rowBelow(graph, row, whole, smallest);
    if (next.nodes.length === 0) break;
    rows.push(next);
    row = next;
  }
  return rows;
}

function rowBelow(graph: Graph, { left, nodes }: Row, whole: number, smallest: number): Row {
  const below = { nodes: [] as number[], parents: [] as number[], left: [] as number[], right: [] as number[] };
  const add = (node: number, parent: number, from: number, to: number): void => {
    below.nodes.push(node);
    below.parents.push(parent);
    below.left.push(from);
    below.right.push(to);
  };
  for (const [at, parent] of nodes.entries()) {
    if (parent === REST) continue;
    let edge = left[at];
    let rest = 0;
    for (const child of graph.children(parent)) {
      const width = graph.weight(child) / whole;
      if (width < smallest) {
        rest += width;
        continue;
      }
      add(child, parent, edge, edge + width);
      edge += width;
    }
    if (rest > 0) add(REST, parent, edge, edge + rest);
  }
  return below;
}

/** The node of a box: for one of REST, the one that stands for these children. */
export function nodeOf(graph: RestGraph, { nodes, parents }: Row, at: number): number {
  return nodes[at] === REST ? graph.rest(parents[at], at - parents.indexOf(parents[at])) : nodes[at];
}

/** Index of the box of a row at a place between 0 and 1; −1 if there is none. */
export function boxAt({ left, right }: Row, place: number): number {
  let low = 0;
  let high = left.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (left[middle] <= place) low = middle + 1;
    else high = middle;
  }
  return low > 0 && place < right[low - 1] ? low - 1 : -1;
}
