import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallGraph } from '../../viewer/model/call-graph.ts';
import { CallTree } from '../../viewer/model/call-tree.ts';
import { CallerGraph } from '../../viewer/model/caller-graph.ts';
import { type Graph, pathTo } from '../../viewer/model/graph.ts';
import { functionOf, type Recording, ROOT } from '../../viewer/model/recording.ts';
import { selfWeights, totalWeights } from '../../viewer/model/selection.ts';
import { pageRecording, recordingOfStacks } from '../support/builders/profiles/page-recording.ts';
import { randomProfile } from '../support/builders/profiles/random-profile.ts';
import { runs } from '../support/thoroughness.ts';

const selfOf = (recording: Recording): Float64Array => selfWeights(recording, { event: recording.event, scope: { of: 'all' }, weight: recording.weight });
const callsOf = (recording: Recording): Graph => new CallGraph(new CallTree(recording, totalWeights(recording, selfOf(recording))), selfOf(recording));
const callersOf = (recording: Recording): Graph => new CallerGraph(recording, selfOf(recording));

/** A graph as text: `main 3 (f 2 ())`. */
function textOf(recording: Recording, graph: Graph, node = ROOT): string {
  const children = graph.children(node).map((child) => textOf(recording, graph, child));
  const name = node === ROOT ? 'all' : recording.functions[functionOf(graph.code(node))].name;
  return `${name} ${graph.weight(node)}${children.length > 0 ? ` (${children.join(', ')})` : ''}`;
}

describe('the tree of calls', () => {
  test('has equal stacks once, the heaviest callees first', async () => {
    const recording = await recordingOfStacks({ 'main;light': 1, 'main;heavy;leaf': 5, main: 2, other: 3 });
    expect(textOf(recording, callsOf(recording))).toBe('all 11 (main 8 (heavy 5 (leaf 5), light 1), other 3)');
  });

  test('leaves out what has no weight', async () => {
    const recording = await recordingOfStacks({ 'main;a': 1, 'main;b': 0 });
    expect(textOf(recording, callsOf(recording))).toBe('all 1 (main 1 (a 1))');
  });

  test('leads back from a node to the root', async () => {
    const recording = await recordingOfStacks({ 'main;f;g': 1 });
    const graph = callsOf(recording);
    const [main] = graph.children(ROOT);
    const [f] = graph.children(main);
    const [g] = graph.children(f);
    expect(pathTo(graph, g, ROOT)).toEqual([main, f, g]);
    expect(pathTo(graph, ROOT, ROOT)).toEqual([]);
  });
});

describe('the tree of callers', () => {
  test('begins with the functions that samples were in', async () => {
    const recording = await recordingOfStacks({ 'main;a;copy': 5, 'main;b;copy': 3, 'main;a': 1 });
    expect(textOf(recording, callersOf(recording))).toBe('all 9 (copy 8 (a 5 (main 5), b 3 (main 3)), a 1 (main 1))');
  });

  test('counts a sample once if a function called itself', async () => {
    const recording = await recordingOfStacks({ 'main;f;f;f': 4, 'main;f': 1 });
    expect(textOf(recording, callersOf(recording))).toBe('all 5 (f 5 (f 4 (f 4 (main 4)), main 1))');
  });
});

/** The weights of the stacks that end in each node, by their functions from the root. */
function stacksOf(graph: Graph, isInverted: boolean): Map<string, number> {
  const found = new Map<string, number>();
  const visit = (node: number, path: readonly number[]): void => {
    const children = graph.children(node);
    const own = children.reduce((rest, child) => rest - graph.weight(child), graph.weight(node));
    if (own > 0) found.set((isInverted ? [...path].reverse() : path).join(), own);
    for (const child of children) visit(child, [...path, graph.code(child)]);
  };
  visit(ROOT, []);
  return found;
}

test('both trees have the same stacks', async () => {
  await fc.assert(
    fc.asyncProperty(randomProfile, async (profile) => {
      if (profile.events.every(({ samples }) => samples === 0)) return;
      const recording = await pageRecording(profile, { weight: 'samples' });
      const calls = stacksOf(callsOf(recording), false);
      expect(stacksOf(callersOf(recording), true)).toEqual(calls);
      expect([...calls.values()].reduce((sum, weight) => sum + weight, 0)).toBe(profile.events[recording.event].samples);
    }),
    { numRuns: runs(1000, 100) },
  );
});
