import type { CallTree } from '../model/call-tree.ts';
import { Comparison, canCompare, comparableInputs, isComparable, relativeChange } from '../model/comparison.ts';
import { withCounterparts } from '../model/counterparts.ts';
import type { ShownStacks } from '../model/folded.ts';
import type { FunctionWeights } from '../model/function-weights.ts';
import { pathTo } from '../model/graph.ts';
import { defaultGrouping, type Grouping, groupStacks } from '../model/grouping.ts';
import { type Recording, ROOT } from '../model/recording.ts';
import { RestGraph } from '../model/rest-graph.ts';
import { matchedWeight, matchFunctions } from '../model/search.ts';
import { graphOf, type SelectedSamples, selectSamples } from '../model/selected-samples.ts';
import { isSameScope, type Scope, type Selection, withWeight } from '../model/selection.ts';
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
  /** Index of the recording that what is shown is compared with; −1 for none. */
  compared = -1;
  comparison: Comparison | undefined;
  /** What is searched for, as it was typed. */
  searched = '';
  /** By function: 1 if it matches; undefined if nothing is searched for. */
  matches: Uint8Array | undefined;
  /** What was asked for, even if the event shown has no periods. */
  #wanted: Selection;
  #base: SelectedSamples | undefined;
  /** Without groups. */
  readonly #ungrouped: Recording;
  readonly #watchers: ((change: Change) => void)[] = [];

  constructor(recording: Recording) {
    this.#ungrouped = recording;
    this.grouping = defaultGrouping(recording);
    this.recording = groupStacks(recording, this.grouping);
    this.#wanted = { event: recording.event, scope: { of: 'all' }, weight: recording.weight };
    this.selection = withWeight(recording, this.#wanted);
    const { functions, self, tree } = selectSamples(this.recording, this.selection);
    this.self = self;
    this.tree = tree;
    this.functions = functions;
    this.graph = new RestGraph(graphOf(this, this.direction, this.focused));
  }

  watch(watcher: (change: Change) => void): void {
    this.#watchers.push(watcher);
  }

  select(selection: Partial<Selection>): void {
    this.#wanted = { ...this.#wanted, ...selection };
    this.#addUp();
    this.#makeGraph('samples');
  }

  /** Shows an event: of all threads, since those that were shown may have no samples of it. A comparison goes on if both recordings have some. */
  showEvent(event: number): void {
    const { scope } = this.selection;
    this.select({ event, scope: canCompare(this.recording, this.compared, { event, scope }, this.grouping) ? scope : { of: 'all' } });
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

  /**
   * Compares the samples that are shown with another recording. Those of another one are shown if these are not all of one.
   * @param base index of the recording; −1 for none
   */
  compare(base: number, wanted = this.selection.scope): void {
    this.compared = base;
    const inputs = comparableInputs(this.recording, this.selection.event);
    const others = inputs.includes(base) ? inputs.filter((input) => input !== base) : [];
    const isOther = wanted.of === 'input' && others.includes(wanted.index);
    const scope: Scope = base < 0 || isOther || others.length === 0 ? wanted : { of: 'input', index: others[others.length - 1] };
    if (base < 0 || isComparable(this.grouping)) this.select({ scope });
    else this.group('name', { scope });
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
    const { chosen, compared, direction, focused, graph, grouping, panes, searched, zoomed } = this;
    const zoomRest = graph.restFrom(zoomed);
    const box = zoomRest < 0 ? zoomed : graph.parent(zoomed);
    const zoom = pathTo(graph, box, ROOT).map((node) => graph.code(node));
    return { ...this.#wanted, grouping, direction, panes, search: searched, chosen, focused, compared, zoom, zoomRest };
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
    if (view.compared !== this.compared) this.compare(view.compared, view.scope);
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

  /** How the share of a box has changed from the base, see {@link relativeChange}; 0 if nothing is compared. */
  changeOf(node: number): number {
    return this.comparison === undefined ? 0 : relativeChange(this.graph.weight(node), this.whole, this.comparison.weight(node), this.comparison.whole);
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

  /** Adds up the samples of the selection, and of what they are compared with. */
  #addUp(): void {
    this.selection = withWeight(this.recording, this.#wanted);
    const { functions, self, tree } = selectSamples(this.recording, this.selection);
    this.self = self;
    this.tree = tree;
    this.functions = functions;
    if (!canCompare(this.recording, this.compared, this.selection, this.grouping)) this.compared = -1;
    this.#base = this.compared < 0 ? undefined : this.#selectBase();
  }

  /** The samples of the recording that is compared with, in which the functions of those that are shown are the same ones. */
  #selectBase(): SelectedSamples {
    const selection: Selection = { ...this.selection, scope: { of: 'input', index: this.compared } };
    const base = selectSamples(this.recording, selection);
    const recording = withCounterparts(this.recording, base.functions, this.functions);
    return recording === this.recording ? base : selectSamples(recording, selection);
  }

  #makeGraph(change: Change): void {
    this.graph = new RestGraph(graphOf(this, this.direction, this.focused));
    this.comparison = this.#base && new Comparison(this.graph, this.#base, graphOf(this.#base, this.direction, this.focused));
    this.zoomed = ROOT;
    this.#tell(change);
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
