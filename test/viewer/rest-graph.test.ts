import { describe, expect, test } from 'vitest';
import { pathTo } from '../../viewer/model/graph.ts';
import { layOut, nodeOf, type Row } from '../../viewer/model/layout.ts';
import { functionOf, ROOT } from '../../viewer/model/recording.ts';
import { isRest } from '../../viewer/model/rest-graph.ts';
import { boxTexts } from '../../viewer/view/box-texts.ts';
import { State } from '../../viewer/view/state.ts';
import { recordingOfStacks } from '../support/builders/profiles/page-recording.ts';

/** main calls one large function and three small ones. */
const RECORDING = await recordingOfStacks({ 'main;large': 940, 'main;b;x': 30, 'main;c': 20, 'main;d': 10 });
const newState = (): State => new State(RECORDING);
const MAIN = newState().graph.children(ROOT)[0];
const SMALLEST = 0.05;

const nameOf = ({ graph, recording }: State, node: number): string =>
  node === ROOT ? 'all' : isRest(node) ? 'rest' : recording.functions[functionOf(graph.code(node))].name;
const rowText = (state: State, { left, nodes, right }: Row): string =>
  nodes.map((node, at) => `${nameOf(state, node)} ${(right[at] - left[at]).toFixed(2)}`).join(', ');

describe('the smaller children of a box', () => {
  test('have the whole width when they are zoomed, and what they call is below them', () => {
    const state = newState();
    const row = layOut(state.graph, ROOT, SMALLEST)[2];
    expect(rowText(state, row)).toBe('large 0.94, rest 0.06');
    const rest = nodeOf(state.graph, row, 1);
    expect(layOut(state.graph, rest, SMALLEST).map((one) => rowText(state, one))).toEqual([
      'all 1.00',
      'main 1.00',
      'rest 1.00',
      'b 0.50, c 0.33, d 0.17',
      'x 0.50',
    ]);
    expect([state.graph.weight(rest), state.graph.parent(rest), state.graph.self(rest)]).toEqual([60, MAIN, undefined]);
    expect(pathTo(state.graph, rest, ROOT)).toEqual([MAIN, rest]);
  });

  test('have smaller ones again, below the same parent', () => {
    const state = newState();
    const { graph } = state;
    const rest = graph.rest(MAIN, 1);
    const inner = nodeOf(graph, layOut(graph, rest, 0.4)[3], 1);
    expect(inner).toBe(graph.rest(MAIN, 2));
    expect(inner).not.toBe(rest);
    expect(graph.children(inner).map((node) => nameOf(state, node))).toEqual(['c', 'd']);
  });

  test('are zoomed as their parent if that has no others, and by itself if there is one', () => {
    const state = newState();
    const { graph } = state;
    expect(graph.zoomFor(graph.rest(MAIN, 0))).toBe(MAIN);
    expect(graph.zoomFor(graph.rest(MAIN, 1))).toBe(graph.rest(MAIN, 1));
    expect(nameOf(state, graph.rest(MAIN, 3))).toBe('d');
  });

  test('are in the address, so that the browser leads back to them', () => {
    const state = newState();
    state.zoom(state.graph.rest(MAIN, 1));
    const { view } = state;
    expect(view).toMatchObject({ zoom: [state.graph.code(MAIN)], zoomRest: 1 });
    state.turn('callers');
    state.restore(view);
    expect(state.view).toEqual(view);
    state.restore({ ...view, zoomRest: 4 });
    expect(state.zoomed).toBe(state.graph.children(ROOT)[0]);
  });

  test('say how many they are, and the boxes below them what share of them they have', () => {
    const state = newState();
    const rest = state.graph.rest(MAIN, 1);
    expect(boxTexts(state, rest)).toEqual({ name: '3 functions too small to be drawn', place: '', numbers: '60 ns (6.00%) · 6.00% of the box above' });
    state.zoom(rest);
    expect(boxTexts(state, rest).name).toBe('3 smaller functions');
    expect(boxTexts(state, state.graph.children(rest)[0]).numbers).toBe('total 30 ns (3.00%) · self 0 (0%) · 50.0% of the box above');
  });
});
