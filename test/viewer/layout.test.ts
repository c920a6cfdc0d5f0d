import { describe, expect, test } from 'vitest';
import { CallGraph } from '../../viewer/model/call-graph.ts';
import { CallTree } from '../../viewer/model/call-tree.ts';
import type { Graph } from '../../viewer/model/graph.ts';
import { boxAt, layOut, type Row } from '../../viewer/model/layout.ts';
import { functionOf, type Recording, ROOT } from '../../viewer/model/recording.ts';
import { REST } from '../../viewer/model/rest-graph.ts';
import { selfWeights, totalWeights } from '../../viewer/model/selection.ts';
import { recordingOfStacks } from '../support/builders/profiles/page-recording.ts';

function graphOf(recording: Recording): Graph {
  const self = selfWeights(recording, { event: 0, scope: { of: 'all' }, weight: 'period' });
  return new CallGraph(new CallTree(recording, totalWeights(recording, self)), self);
}

/** A row as text: `f 0–0.5`. */
function textOf(recording: Recording, { left, nodes, right }: Row): string {
  const name = (node: number): string => (node === ROOT ? 'all' : node === REST ? 'rest' : recording.functions[functionOf(recording.code[node])].name);
  return nodes.map((node, at) => `${name(node)} ${left[at]}–${right[at]}`).join(', ');
}

describe('the layout', () => {
  test('has a row for each depth, with boxes as wide as their weights', async () => {
    const recording = await recordingOfStacks({ 'main;f;g': 4, 'main;h': 2, other: 2 });
    const rows = layOut(graphOf(recording), ROOT, 0);
    expect(rows.map((row) => textOf(recording, row))).toEqual(['all 0–1', 'main 0–0.75, other 0.75–1', 'f 0–0.5, h 0.5–0.75', 'g 0–0.5']);
  });

  test('gives a zoomed box and its callers the whole width', async () => {
    const recording = await recordingOfStacks({ 'main;f;g': 1, 'main;f': 3, 'main;h': 96 });
    const graph = graphOf(recording);
    const f = graph.children(graph.children(ROOT)[0])[1];
    expect(layOut(graph, f, 0).map((row) => textOf(recording, row))).toEqual(['all 0–1', 'main 0–1', 'f 0–1', 'g 0–0.25']);
  });

  test('joins callees that are too small, and goes no deeper there', async () => {
    const recording = await recordingOfStacks({ 'main;f': 62, 'main;a;x': 1, 'main;b;y': 1 });
    const rows = layOut(graphOf(recording), ROOT, 0.02);
    expect(rows.map((row) => textOf(recording, row))).toEqual(['all 0–1', 'main 0–1', 'f 0–0.96875, rest 0.96875–1']);
    expect(rows[2].parents).toEqual([rows[1].nodes[0], rows[1].nodes[0]]);
  });

  test('has only the root if nothing has a weight', async () => {
    const recording = await recordingOfStacks({ main: 0 });
    expect(layOut(graphOf(recording), ROOT, 0)).toHaveLength(1);
  });

  test('finds boxes by their places', async () => {
    const recording = await recordingOfStacks({ 'main;f': 2, 'main;g': 1, main: 1 });
    const row = layOut(graphOf(recording), ROOT, 0)[2];
    expect([0, 0.49, 0.5, 0.74, 0.75, 1, -0.1].map((place) => boxAt(row, place))).toEqual([0, 0, 1, 1, -1, -1, -1]);
  });
});
