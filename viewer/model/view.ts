import { GROUPINGS, type Grouping } from './grouping.ts';
import type { Recording } from './recording.ts';
import type { Selection } from './selection.ts';

export const DIRECTIONS = ['calls', 'callers'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** What can be seen: the graph, the table, or both. */
export const PANES = ['graph', 'both', 'table'] as const;
export type Panes = (typeof PANES)[number];

/** All that a user can choose, so that one can go back to it. Indexes are those of the page, which never change. */
export interface View extends Selection {
  readonly grouping: Grouping;
  readonly direction: Direction;
  readonly panes: Panes;
  readonly search: string;
  /** Index of a function; −1 for none. */
  readonly chosen: number;
  /** Index of the function that the graph shows alone; −1 for none. */
  readonly focused: number;
  /** Index of the recording that what is shown is compared with; −1 for none. */
  readonly compared: number;
  /** The codes of the boxes from the outermost one to the zoomed one; empty for the root. */
  readonly zoom: readonly number[];
  /** If only the smaller children of that box are zoomed: index of the first of them among its children; else −1. */
  readonly zoomRest: number;
}

/** A deeper zoom is not in the text: addresses may be limited, and people have to send them. */
const MAX_ZOOM = 1000;

/** A view as the fragment of an address; only what differs from another view, which is empty for the same one. */
export function viewText(view: View, from: View): string {
  const text = new URLSearchParams();
  const { scope, zoom } = view;
  if (view.event !== from.event) text.set('event', String(view.event));
  if (scope.of !== 'all') text.set('threads', `${scope.of}-${scope.index}`);
  for (const key of ['weight', 'grouping', 'direction', 'panes', 'search'] as const) if (view[key] !== from[key]) text.set(key, view[key]);
  if (view.chosen >= 0) text.set('function', String(view.chosen));
  if (view.focused >= 0) text.set('focus', String(view.focused));
  if (view.compared >= 0) text.set('base', String(view.compared));
  if (zoom.length > MAX_ZOOM) return text.toString();
  if (zoom.length > 0) text.set('zoom', zoom.map((code) => code.toString(36)).join('.'));
  if (view.zoomRest >= 0) text.set('rest', String(view.zoomRest));
  return text.toString();
}

/** The view that a fragment says, as far as it makes sense; what it does not say is as in another view. */
export function parseView(fragment: string, from: View, { events, functions, inputs, processes, threads }: Recording): View {
  const text = new URLSearchParams(fragment);
  const event = indexAt(text.get('event'), events.length);
  const [of = '', index = ''] = (text.get('threads') ?? '').split('-');
  const counts: Readonly<Record<string, number>> = { input: inputs.length, process: processes.length, thread: threads.length };
  const task = indexAt(index, Object.hasOwn(counts, of) ? counts[of] : 0);
  const codes = text.get('zoom')?.split('.', MAX_ZOOM) ?? [];
  return {
    event: event >= 0 && events[event].samples > 0 ? event : from.event,
    scope: task < 0 ? { of: 'all' } : { of: of as 'input' | 'process' | 'thread', index: task },
    weight: oneOf(['period', 'samples'], text.get('weight'), from.weight),
    grouping: oneOf(GROUPINGS, text.get('grouping'), from.grouping),
    direction: oneOf(DIRECTIONS, text.get('direction'), from.direction),
    panes: oneOf(PANES, text.get('panes'), from.panes),
    search: text.get('search') ?? from.search,
    chosen: indexAt(text.get('function'), functions.length),
    focused: indexAt(text.get('focus'), functions.length),
    compared: indexAt(text.get('base'), inputs.length),
    zoom: codes.map((code) => Number.parseInt(code, 36)),
    // How many children there are is only known of the graph.
    zoomRest: indexAt(text.get('rest'), Number.POSITIVE_INFINITY),
  };
}

/** −1 for what is no index. */
function indexAt(text: string | null, count: number): number {
  const index = text === null || text === '' ? -1 : Number(text);
  return Number.isInteger(index) && index >= 0 && index < count ? index : -1;
}

function oneOf<Value extends string>(values: readonly Value[], text: string | null, otherwise: Value): Value {
  return values.find((one) => one === text) ?? otherwise;
}
