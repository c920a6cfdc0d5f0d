import { CATEGORIES, categoryOf } from '../model/categories.ts';
import { pointsText } from '../model/comparison.ts';
import { closed } from '../model/direction.ts';
import { functionOf, isInlined, type Recording, ROOT } from '../model/recording.ts';
import { isRest } from '../model/rest-graph.ts';
import { processLabel, type Scope, threadLabel } from '../model/selection.ts';
import { percentText } from '../model/units.ts';
import type { State } from './state.ts';

/** What a box is called. */
export function boxName({ focused, graph, recording, selection }: State, node: number): string {
  if (node === ROOT) return focused < 0 ? scopeName(recording, selection.scope) : `stacks with ${recording.functions[focused].name}`;
  if (isRest(node)) return 'smaller ones';
  return recording.functions[functionOf(graph.code(node))].name;
}

function scopeName(recording: Recording, scope: Scope): string {
  if (scope.of === 'all') return 'all';
  if (scope.of === 'input') return recording.inputs[scope.index];
  return scope.of === 'process' ? processLabel(recording, scope.index) : threadLabel(recording, scope.index);
}

/** What a box is called, where its code is, how much it weighs. */
export interface BoxTexts {
  readonly name: string;
  /** Empty if there is nothing to say. */
  readonly place: string;
  readonly numbers: string;
}

/** What is known about a box. */
export function boxTexts(state: State, node: number): BoxTexts {
  if (node === ROOT) return { name: boxName(state, node), place: '', numbers: rootNumbers(state) };
  const numbers = numbersOf(state, node);
  return isRest(node) ? { name: restName(state, node), place: '', numbers } : { ...functionTexts(state, node), numbers };
}

/** `768 ms (100%) · 570 ms in old.data` */
function rootNumbers(state: State): string {
  const { compared, comparison, graph, recording } = state;
  const own = state.shareText(graph.weight(ROOT));
  return comparison === undefined ? own : `${own} · ${state.namedWeightText(comparison.weight(ROOT))} in ${recording.inputs[compared]}`;
}

/** `12 functions too small to be drawn`; of the zoomed box, which is there to draw them, `12 smaller functions`. */
function restName({ graph, grouping, zoomed }: State, rest: number): string {
  const count = graph.children(rest).length;
  const what = grouping === 'none' ? 'functions' : 'boxes';
  return rest === zoomed ? `${count} smaller ${what}` : `${count} ${what} too small to be drawn`;
}

function functionTexts({ graph, recording }: State, node: number): Pick<BoxTexts, 'name' | 'place'> {
  const one = recording.functions[functionOf(graph.code(node))];
  const kind = CATEGORIES.find(({ id }) => id === categoryOf(one, isInlined(graph.code(node))))?.label ?? '';
  const inlined = isInlined(graph.code(node)) && one.kind === 'kernel' ? 'inlined' : '';
  return { name: one.fullName, place: [one.place, one.binary, kind, inlined].filter((text) => text !== '').join(' · ') };
}

function numbersOf(state: State, node: number): string {
  const { graph } = state;
  const share = state.shareText(graph.weight(node));
  const self = graph.self(node);
  const parts = [self === undefined ? share : `total ${share}`];
  if (state.comparison !== undefined) parts.push(baseText(state, graph.weight(node), state.comparison.weight(node)));
  if (self !== undefined) parts.push(`self ${state.shareText(self)}`);
  const above = boxAbove(state, node);
  if (above !== ROOT) parts.push(`${percentText(graph.weight(node), graph.weight(above))} of the box above`);
  return parts.join(' · ');
}

/** The share in the base, and how it has changed: `10.2% in old.data (+2.10 points)`. @param base the weight there */
export function baseText({ compared, comparison, recording, whole }: State, weight: number, base: number): string {
  const baseWhole = comparison?.whole ?? 0;
  return `${percentText(base, baseWhole)} in ${closed(recording.inputs[compared])} (${pointsText(weight, whole, base, baseWhole)} points)`;
}

/** The box that a box is drawn below: where a rest is zoomed, its children have taken the place of all children of its parent. */
function boxAbove({ graph, zoomed }: State, node: number): number {
  const parent = graph.parent(node);
  return isRest(zoomed) && node !== zoomed && graph.parent(zoomed) === parent ? zoomed : parent;
}
