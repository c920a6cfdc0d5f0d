import { expect, test } from 'vitest';
import { parseView, type View, viewText } from '../../viewer/model/view.ts';
import { State } from '../../viewer/view/state.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { pageRecording } from '../support/builders/profiles/page-recording.ts';

const recording = await pageRecording(
  buildProfile([
    { timeNs: 0, period: 5, stack: ['main', 'f', 'g'] },
    { timeNs: 1, period: 2, tid: 101, stack: ['main', 'h'] },
    { timeNs: 2, event: 'page-faults', period: 3, stack: ['main'] },
  ]),
);
const FIRST = new State(recording).view;
const ALL: View = {
  event: 1,
  scope: { of: 'thread', index: 1 },
  weight: 'samples',
  grouping: 'thread',
  direction: 'callers',
  panes: 'graph',
  search: 'a&b=ü #\u202e',
  chosen: 0,
  focused: 2,
  zoom: [4, 71, 0],
  zoomRest: 12,
  compared: -1,
};

test('what is shown first has an empty address', () => {
  expect(viewText(FIRST, FIRST)).toBe('');
  expect(parseView('', FIRST, recording)).toEqual(FIRST);
});

test('an address says all that can be chosen', () => {
  const text = viewText(ALL, FIRST);
  expect(text).toMatch(/^[\w=&.%*+-]+$/);
  expect(parseView(text, FIRST, recording)).toEqual(ALL);
});

test.each([
  'event=2',
  'event=-1',
  'event=0.5',
  'threads=thread-9',
  'threads=constructor-0',
  'threads=all-0',
  'weight=x',
  'grouping=',
  'function=99',
  'rest=-1',
  'rest=x',
  'base=0',
  'direction=toString',
])('what makes no sense is as at first: %s', (text) => expect(parseView(text, FIRST, recording)).toEqual(FIRST));

test('a view is restored whatever was shown in between', () => {
  const state = new State(recording);
  state.turn('callers');
  const [g] = state.graph.children(-1);
  state.zoom(state.graph.children(g)[0]);
  state.search('f');
  state.choose(1);
  const { view } = state;
  expect(view.zoom).toHaveLength(2);
  state.group('thread');
  state.select({ event: 1, scope: { of: 'process', index: 0 }, weight: 'samples' });
  state.turn('calls');
  state.show('table');
  state.search('');
  state.choose(-1);
  state.restore(view);
  expect(state.view).toEqual(view);
  state.restore({ ...view, zoomRest: 5 });
  expect(state.view).toEqual(view);
  state.restore({ ...view, zoom: [1, 2, Number.NaN] });
  expect(state.view).toEqual({ ...view, zoom: [] });
});
