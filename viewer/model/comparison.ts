import type { FunctionWeights } from './function-weights.ts';
import type { Graph } from './graph.ts';
import type { Grouping } from './grouping.ts';
import { type Recording, ROOT } from './recording.ts';
import { isRest } from './rest-graph.ts';
import type { SelectedSamples } from './selected-samples.ts';
import type { Selection } from './selection.ts';

/** Indexes of the recordings that can be compared: those that have samples of an event; none if that is only one. */
export function comparableInputs({ inputs, processes, threads, totals }: Recording, event: number): readonly number[] {
  const found = new Set<number>();
  for (const one of totals) if (one.event === event) found.add(processes[threads[one.thread].process].input);
  return found.size > 1 ? [...inputs.keys()].filter((input) => found.has(input)) : [];
}

/** Whether the samples that are shown can be compared with a recording: they are all of another one, and no group has the name of one. */
export function canCompare(recording: Recording, base: number, { event, scope }: Pick<Selection, 'event' | 'scope'>, grouping: Grouping): boolean {
  if (scope.of !== 'input' || scope.index === base || !isComparable(grouping)) return false;
  const inputs = comparableInputs(recording, event);
  return inputs.includes(base) && inputs.includes(scope.index);
}

/** Whether the groups of several recordings have the same names. */
export function isComparable(grouping: Grouping): boolean {
  return grouping === 'none' || grouping === 'name';
}

/**
 * What is shown, compared with another recording, the base. What is compared are shares: a box has as large a share of all samples shown as it has of them, and
 * the box of the same functions in the base's graph has one of the base's samples.
 */
export class Comparison {
  /** By function: weights in the base. */
  readonly functions: FunctionWeights;
  /** Of all samples of the base. */
  readonly whole: number;
  readonly #graph: Graph;
  readonly #base: Graph;
  /** By node of the graph: the node of the base's graph below the same boxes; undefined if there is none. */
  readonly #partners = new Map<number, number | undefined>([[ROOT, ROOT]]);
  /** By node of the base's graph: its children by their codes. */
  readonly #children = new Map<number, ReadonlyMap<number, number>>();

  /** @param graph what is shown @param base the same graph of the base's samples */
  constructor(graph: Graph, { functions, tree }: SelectedSamples, base: Graph) {
    this.functions = functions;
    this.whole = tree.whole;
    this.#graph = graph;
    this.#base = base;
  }

  /** The weight of a box in the base; 0 if it has no such box. */
  weight(node: number): number {
    if (isRest(node)) return this.#graph.children(node).reduce((sum, child) => sum + this.weight(child), 0);
    const partner = this.#partnerOf(node);
    return partner === undefined ? 0 : this.#base.weight(partner);
  }

  #partnerOf(wanted: number): number | undefined {
    const path: number[] = [];
    let node = wanted;
    for (; !this.#partners.has(node); node = this.#graph.parent(node)) path.push(node);
    let partner = this.#partners.get(node);
    for (const below of path.reverse()) {
      partner = partner === undefined ? undefined : this.#childrenOf(partner).get(this.#graph.code(below));
      this.#partners.set(below, partner);
    }
    return partner;
  }

  #childrenOf(node: number): ReadonlyMap<number, number> {
    let children = this.#children.get(node);
    if (children === undefined) {
      children = new Map(this.#base.children(node).map((child) => [this.#base.code(child), child]));
      this.#children.set(node, children);
    }
    return children;
  }
}

/**
 * How a share has changed, from −1 (gone) over 0 (the same) to 1 (new), relative to the larger one.
 * @param weight of a box @param base its weight in the base
 */
export function relativeChange(weight: number, whole: number, base: number, baseWhole: number): number {
  const [share, baseShare] = [shareOf(weight, whole), shareOf(base, baseWhole)];
  const larger = Math.max(share, baseShare);
  return larger === 0 ? 0 : (share - baseShare) / larger;
}

/** The difference of two shares, from −1 to 1. */
export function change(weight: number, whole: number, base: number, baseWhole: number): number {
  return shareOf(weight, whole) - shareOf(base, baseWhole);
}

/** The same in percentage points: `+1.23`, `-0.40`; `0` if there is none, `+0.00` if there is hardly one. */
export function pointsText(weight: number, whole: number, base: number, baseWhole: number): string {
  const points = 100 * change(weight, whole, base, baseWhole);
  return points === 0 ? '0' : `${points > 0 ? '+' : '-'}${Math.abs(points).toFixed(2)}`;
}

function shareOf(weight: number, whole: number): number {
  return whole > 0 ? weight / whole : 0;
}
