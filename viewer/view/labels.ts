import { CATEGORIES, categoryOf } from '../model/categories.ts';
import { REST } from '../model/layout.ts';
import { functionOf, isInlined, type Recording, ROOT } from '../model/recording.ts';
import { processLabel, type Scope, threadLabel } from '../model/selection.ts';
import { percentText } from '../model/units.ts';
import { element, named } from './dom.ts';
import type { State } from './state.ts';

/** More of a name can be seen nowhere. */
const MAX_NAME = 4000;

const HINT = 'Click a box to zoom in, or go to it with the arrow keys and press Enter · Escape: show all · / search';
const TOUCH_HINT = 'Press a box to zoom in, or one above it to zoom out';

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

/** Lines about a box: its name, where its code is, how much it weighs. @param weight of a box of REST */
export function describeBox(state: State, node: number, weight: number): HTMLElement[] {
  const { graph, recording } = state;
  const share = state.shareText(node === REST ? weight : graph.weight(node));
  if (node === ROOT) return lines(boxName(state, node), matchMedia('(hover: none)').matches ? TOUCH_HINT : HINT, share);
  if (node === REST) return lines('Functions too small to be drawn', 'Zoom into what is above them, or find them in the table', share);
  const one = recording.functions[functionOf(graph.code(node))];
  const kind = CATEGORIES.find(({ id }) => id === categoryOf(one, isInlined(graph.code(node))))?.label ?? '';
  const inlined = isInlined(graph.code(node)) && one.kind === 'kernel' ? 'inlined' : '';
  const place = [one.place, one.binary, kind, inlined].filter((text) => text !== '').join(' · ');
  const ofParent = graph.weight(graph.parent(node));
  const self = graph.self(node);
  const parts = self === undefined ? [share] : [`total ${share}`, `self ${state.shareText(self)}`];
  if (graph.parent(node) !== ROOT) parts.push(`${percentText(graph.weight(node), ofParent)} of the box above`);
  return lines(one.fullName, place, parts.join(' · '));
}

function lines(name: string, place: string, numbers: string): HTMLElement[] {
  const made = [named('span', 'name', name.slice(0, MAX_NAME))];
  if (place !== '') made.push(named('span', 'place', place.slice(0, MAX_NAME)));
  made.push(element('span', 'numbers', numbers));
  return made;
}
