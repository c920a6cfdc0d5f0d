import { REST } from '../model/layout.ts';
import { ROOT } from '../model/recording.ts';
import { boxTexts } from './box-texts.ts';
import { element, named } from './dom.ts';
import type { State } from './state.ts';

/** More of a name can be seen nowhere. */
const MAX_NAME = 4000;

const HINT = 'Click a box to zoom in, or go to it with the arrow keys and press Enter · Escape: show all · / search';
const REST_HINT = 'Zoom into what is above them, or find them in the table';
const GROUPED_REST_HINT = 'Zoom into what is above them, or find functions in the table, and processes and threads in their list';
const TOUCH_HINT = 'Press a box to zoom in, or one above it to zoom out';

/** Lines about a box. Those of boxes that are no code say what one can do. @param weight of a box of REST */
export function describeBox(state: State, node: number, weight: number): HTMLElement[] {
  const { name, numbers, place } = boxTexts(state, node, weight);
  if (node === REST) return lines(name, state.grouping === 'none' ? REST_HINT : GROUPED_REST_HINT, numbers);
  return lines(name, node === ROOT ? (matchMedia('(hover: none)').matches ? TOUCH_HINT : HINT) : place, numbers);
}

function lines(name: string, place: string, numbers: string): HTMLElement[] {
  const made = [named('span', 'name', name.slice(0, MAX_NAME))];
  if (place !== '') made.push(named('span', 'place', place.slice(0, MAX_NAME)));
  made.push(element('span', 'numbers', numbers));
  return made;
}
