/**
 * A graph of boxes, from the root down: what is called in a tree of calls, callers in a tree of callers. Nodes are numbers; the root is ROOT, which has no code.
 */
export interface Graph {
  /** The heaviest first. */
  children(node: number): readonly number[];
  /** ROOT for the outermost boxes and for the root itself. */
  parent(node: number): number;
  code(node: number): number;
  /** Of all samples that the box stands for. */
  weight(node: number): number;
  /** Of those of them whose leaf it is; undefined in trees of callers. Not for the root. */
  self(node: number): number | undefined;
}

/** The nodes from below the root to a node, which is the last one; none for the root. */
export function pathTo(graph: Graph, node: number, root: number): number[] {
  const path: number[] = [];
  for (let at = node; at !== root; at = graph.parent(at)) path.push(at);
  return path.reverse();
}
