import { ROOT } from '../model/recording.ts';
import { isRest } from '../model/rest-graph.ts';
import { boxTexts } from './box-texts.ts';
import { element, named } from './dom.ts';
import type { State } from './state.ts';

/** More of a name can be seen nowhere. */
const MAX_NAME = 4000;

const HINT = 'Click a box to zoom in, or go to it with the arrow keys and press Enter · Escape: show all · / search';
const TOUCH_HINT = 'Press a box to zoom in, or one above it to zoom out';
const REST_HINT = 'Click to see them, or press Enter';
const TOUCH_REST_HINT = 'Press to see them';
const FULL_HINT = 'Too many to be drawn: find them in the table';
const GROUPED_FULL_HINT = 'Too many to be drawn: find functions in the table, and processes and threads in their list';

/** Lines about a box. Those of boxes that are no code say what one can do. */
export function describeBox(state: State, node: number): HTMLElement[] {
  const { name, numbers, place } = boxTexts(state, node);
  return lines(name, node === ROOT || isRest(node) ? hintOf(state, node) : place, numbers);
}

function hintOf({ graph, grouping, zoomed }: State, node: number): string {
  const isTouch = matchMedia('(hover: none)').matches;
  if (node === ROOT) return isTouch ? TOUCH_HINT : HINT;
  if (node === zoomed) return '';
  if (graph.zoomFor(node) !== zoomed) return isTouch ? TOUCH_REST_HINT : REST_HINT;
  return grouping === 'none' ? FULL_HINT : GROUPED_FULL_HINT;
}

function lines(name: string, place: string, numbers: string): HTMLElement[] {
  const made = [named('span', 'name', name.slice(0, MAX_NAME))];
  if (place !== '') made.push(named('span', 'place', place.slice(0, MAX_NAME)));
  made.push(element('span', 'numbers', numbers));
  return made;
}
