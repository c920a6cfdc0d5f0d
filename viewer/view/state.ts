import { CallGraph } from '../model/call-graph.ts';
import { CallTree } from '../model/call-tree.ts';
import { CalleeGraph } from '../model/callee-graph.ts';
import { CallerGraph } from '../model/caller-graph.ts';
import type { ShownStacks } from '../model/folded.ts';
import { type FunctionWeights, functionWeights, outermostNodes } from '../model/function-weights.ts';
import { type Graph, pathTo } from '../model/graph.ts';
import { defaultGrouping, type Grouping, groupStacks } from '../model/grouping.ts';
import { type Recording, ROOT } from '../model/recording.ts';
import { RestGraph } from '../model/rest-graph.ts';
import { matchedWeight, matchFunctions } from '../model/search.ts';
import { isSameScope, type Selection, selfWeights, totalWeights, withWeight } from '../model/selection.ts';
import { namedWeightText, percentText, type WeightUnit, weightText } from '../model/units.ts';
import type { Direction, Panes, View } from '../model/view.ts';

/** What has changed, from much to little: `samples` also changes the graph, and the graph changes what is zoomed. */
export type Change = 'samples' | 'graph' | 'zoom' | 'search' | 'function' | 'panes' | 'colors';

/** What the page shows, and what follows from it. The views read it, and redraw themselves when it changes. */
export class State {
  /** With the stacks as they are grouped. */
  recording: Recording;
  grouping: Grouping;
  selection: Selection;
  direction: Direction = 'calls';
  panes: Panes = 'both';
  /** The node of the graph that has the whole width. */
  zoomed = ROOT;
  /** Index of a function; −1 for none. */
  chosen = -1;
  /** Index of the function that the graph shows alone, with what it calls or what calls it; −1 for none. */
  focused = -1;
  /** By node of the recording. */
  self: Float64Array;
  tree: CallTree;
  graph: RestGraph;
  functions: FunctionWeights;
  /** What is searched for, as it was typed. */
  searched = '';
  /** By function: 1 if it matches; undefined if nothing is searched for. */
  matches: Uint8Array | undefined;
  /** What was asked for, even if the event shown has no periods. */
  #wanted: Selection;
  /** Without groups. */
  readonly #ungrouped: Recording;
  readonly #watchers: ((change: Change) => void)[] = [];

  constructor(recording: Recording) {
    this.#ungrouped = recording;
    this.grouping = defaultGrouping(recording);
    this.recording = groupStacks(recording, this.grouping);
    this.#wanted = { event: recording.event, scope: { of: 'all' }, weight: recording.weight };
    this.selection = withWeight(recording, this.#wanted);
    this.self = selfWeights(this.recording, this.selection);
    this.tree = new CallTree(this.recording, totalWeights(this.recording, this.self));
    this.graph = new RestGraph(new CallGraph(this.tree, this.self));
    this.functions = functionWeights(this.tree, this.self);
  }

  watch(watcher: (change: Change) => void): void {
    this.#watchers.push(watcher);
  }

  select(selection: Partial<Selection>): void {
    this.#wanted = { ...this.#wanted, ...selection };
    this.selection = withWeight(this.recording, this.#wanted);
    this.self = selfWeights(this.recording, this.selection);
    this.tree = new CallTree(this.recording, totalWeights(this.recording, this.self));
    this.functions = functionWeights(this.tree, this.self);
    this.#makeGraph('samples');
  }

  /** @param selection what else is chosen at the same time */
  group(grouping: Grouping, selection: Partial<Selection> = {}): void {
    this.grouping = grouping;
    this.recording = groupStacks(this.#ungrouped, grouping);
    this.matches = matchFunctions(this.recording.functions, this.searched);
    // The group that is chosen may no longer be there.
    if (this.chosen >= this.#ungrouped.functions.length) this.chosen = -1;
    if (this.focused >= this.#ungrouped.functions.length) this.focused = -1;
    this.select(selection);
  }

  turn(direction: Direction): void {
    this.direction = direction;
    this.#makeGraph('graph');
  }

  /** @param index of a function; −1 to show all stacks again */
  focus(index: number): void {
    this.focused = index;
    this.#makeGraph('graph');
  }

  zoom(node: number): void {
    this.zoomed = node;
    this.#tell('zoom');
  }

  search(text: string): void {
    this.searched = text;
    this.matches = matchFunctions(this.recording.functions, text);
    this.#tell('search');
  }

  show(panes: Panes): void {
    this.panes = panes;
    this.#tell('panes');
  }

  /** What is shown, to go back to it. */
  get view(): View {
    const { chosen, direction, focused, graph, grouping, panes, searched, zoomed } = this;
    const zoomRest = graph.restFrom(zoomed);
    const box = zoomRest < 0 ? zoomed : graph.parent(zoomed);
    const zoom = pathTo(graph, box, ROOT).map((node) => graph.code(node));
    return { ...this.#wanted, grouping, direction, panes, search: searched, chosen, focused, zoom, zoomRest };
  }

  /** The stacks that the graph shows. */
  get shownStacks(): ShownStacks {
    const { graph, selection, view, zoomed } = this;
    const shown = { ...view, ...selection };
    return view.zoomRest < 0 ? shown : { ...shown, among: new Set(graph.children(zoomed).map((child) => graph.code(child))) };
  }

  /** Goes back to what was shown. Only what differs is computed anew. */
  restore(view: View): void {
    const { event, scope, weight } = this.#wanted;
    const selection: Selection = { event: view.event, scope: view.scope, weight: view.weight };
    if (view.grouping !== this.grouping) this.group(view.grouping, selection);
    else if (view.event !== event || view.weight !== weight || !isSameScope(view.scope, scope)) this.select(selection);
    if (view.direction !== this.direction) this.turn(view.direction);
    const focused = view.focused < this.recording.functions.length ? view.focused : -1;
    if (focused !== this.focused) this.focus(focused);
    if (view.panes !== this.panes) this.show(view.panes);
    if (view.search !== this.searched) this.search(view.search);
    this.choose(view.chosen < this.recording.functions.length ? view.chosen : -1);
    const zoomed = nodeAt(this.graph, view);
    if (zoomed !== this.zoomed) this.zoom(zoomed);
  }

  /** Has everything colored anew. */
  recolor(): void {
    this.#tell('colors');
  }

  choose(index: number): void {
    if (index === this.chosen) return;
    this.chosen = index;
    this.#tell('function');
  }

  /** Of all selected samples. */
  get whole(): number {
    return this.tree.whole;
  }

  /** Of the samples with a match in their stacks. */
  get matched(): number {
    return this.matches === undefined ? 0 : matchedWeight(this.recording, this.self, this.matches);
  }

  get unit(): WeightUnit {
    return this.selection.weight === 'samples' ? 'samples' : this.recording.events[this.selection.event].unit;
  }

  weightText(weight: number): string {
    return weightText(weight, this.unit);
  }

  namedWeightText(weight: number): string {
    return namedWeightText(weight, this.unit, this.recording.events[this.selection.event].name);
  }

  /** `1.23 ms (4.56%)` */
  shareText(weight: number): string {
    return `${this.namedWeightText(weight)} (${percentText(weight, this.whole)})`;
  }

  #makeGraph(change: Change): void {
    this.graph = new RestGraph(this.focused < 0 ? this.#wholeGraph() : this.#focusedGraph(this.focused));
    this.zoomed = ROOT;
    this.#tell(change);
  }

  #wholeGraph(): Graph {
    return this.direction === 'calls' ? new CallGraph(this.tree, this.self) : new CallerGraph(this.recording, this.self);
  }

  #focusedGraph(index: number): Graph {
    const { outermost } = outermostNodes(this.tree, index);
    if (this.direction === 'calls') return new CalleeGraph(this.tree, this.self, outermost, 2 * index);
    const weights = new Float64Array(this.self.length);
    for (const node of outermost) weights[node] = this.tree.total[node];
    return new CallerGraph(this.recording, weights);
  }

  #tell(change: Change): void {
    for (const watcher of this.#watchers) watcher(change);
  }
}

/** The node that was zoomed; ROOT if its codes lead nowhere. */
function nodeAt(graph: RestGraph, { zoom, zoomRest }: View): number {
  let node = ROOT;
  for (const code of zoom) {
    const next = graph.children(node).find((child) => graph.code(child) === code);
    if (next === undefined) return ROOT;
    node = next;
  }
  return zoomRest >= 0 && zoomRest < graph.children(node).length ? graph.rest(node, zoomRest) : node;
}
