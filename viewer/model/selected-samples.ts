import { CallGraph } from './call-graph.ts';
import { CallTree } from './call-tree.ts';
import { CalleeGraph } from './callee-graph.ts';
import { CallerGraph } from './caller-graph.ts';
import { type FunctionWeights, functionWeights, outermostNodes } from './function-weights.ts';
import type { Graph } from './graph.ts';
import type { Recording } from './recording.ts';
import { type Selection, selfWeights, totalWeights } from './selection.ts';
import type { Direction } from './view.ts';

/** The samples of a selection, added up. */
export interface SelectedSamples {
  /** By node of the recording. */
  readonly self: Float64Array;
  readonly tree: CallTree;
  readonly functions: FunctionWeights;
}

export function selectSamples(recording: Recording, selection: Selection): SelectedSamples {
  const self = selfWeights(recording, selection);
  const tree = new CallTree(recording, totalWeights(recording, self));
  return { self, tree, functions: functionWeights(tree, self) };
}

/** @param focused index of the function that is shown alone, with what it calls or what calls it; −1 for all stacks */
export function graphOf({ self, tree }: SelectedSamples, direction: Direction, focused: number): Graph {
  if (focused < 0) return direction === 'calls' ? new CallGraph(tree, self) : new CallerGraph(tree.recording, self);
  const { outermost } = outermostNodes(tree, focused);
  if (direction === 'calls') return new CalleeGraph(tree, self, outermost, 2 * focused);
  const weights = new Float64Array(self.length);
  for (const node of outermost) weights[node] = tree.total[node];
  return new CallerGraph(tree.recording, weights);
}
