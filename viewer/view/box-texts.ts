import { CATEGORIES, categoryOf } from '../model/categories.ts';
import { REST } from '../model/layout.ts';
import { functionOf, isInlined, type Recording, ROOT } from '../model/recording.ts';
import { processLabel, type Scope, threadLabel } from '../model/selection.ts';
import { percentText } from '../model/units.ts';
import type { State } from './state.ts';

/** What a box is called. */
export function boxName({ focused, graph, recording, selection }: State, node: number): string {
  if (node === ROOT) return focused < 0 ? scopeName(recording, selection.scope) : `stacks with ${recording.functions[focused].name}`;
  if (node === REST) return 'smaller ones';
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

/** What is known about a box. @param weight of a box of REST */
export function boxTexts(state: State, node: number, weight: number): BoxTexts {
  const { graph, recording } = state;
  const share = state.shareText(node === REST ? weight : graph.weight(node));
  if (node === ROOT) return { name: boxName(state, node), place: '', numbers: share };
  if (node === REST) return { name: `${state.grouping === 'none' ? 'Functions' : 'Boxes'} too small to be drawn`, place: '', numbers: share };
  const one = recording.functions[functionOf(graph.code(node))];
  const kind = CATEGORIES.find(({ id }) => id === categoryOf(one, isInlined(graph.code(node))))?.label ?? '';
  const inlined = isInlined(graph.code(node)) && one.kind === 'kernel' ? 'inlined' : '';
  const place = [one.place, one.binary, kind, inlined].filter((text) => text !== '').join(' · ');
  const ofParent = graph.weight(graph.parent(node));
  const self = graph.self(node);
  const parts = self === undefined ? [share] : [`total ${share}`, `self ${state.shareText(self)}`];
  if (graph.parent(node) !== ROOT) parts.push(`${percentText(graph.weight(node), ofParent)} of the box above`);
  return { name: one.fullName, place, numbers: parts.join(' · ') };
}
