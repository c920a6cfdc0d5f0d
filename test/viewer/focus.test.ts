import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Graph } from '../../viewer/model/graph.ts';
import { functionOf, ROOT } from '../../viewer/model/recording.ts';
import { State } from '../../viewer/view/state.ts';
import { pageRecording, recordingOfStacks } from '../support/builders/profiles/page-recording.ts';
import { randomProfile } from '../support/builders/profiles/random-profile.ts';
import { runs } from '../support/thoroughness.ts';

/** The graph as lines of folded stacks, of functions' indexes. */
function linesOf(graph: Graph): Map<string, number> {
  const found = new Map<string, number>();
  const visit = (node: number, path: readonly number[]): void => {
    const children = graph.children(node);
    const own = children.reduce((rest, child) => rest - graph.weight(child), graph.weight(node));
    if (own > 0) found.set(path.join(), (found.get(path.join()) ?? 0) + own);
    for (const child of children) visit(child, [...path, functionOf(graph.code(child))]);
  };
  visit(ROOT, []);
  return found;
}

describe('the graph of one function', () => {
  test('has what it calls, wherever it is called, and what calls it', async () => {
    const state = new State(await recordingOfStacks({ 'main;a;f;x': 3, 'main;b;f;x;y': 2, 'main;b;f': 1, 'main;x': 7, 'g;f;x;f;y': 4 }));
    const names = (): Record<string, number> =>
      Object.fromEntries(
        [...linesOf(state.graph)].map(([path, weight]) => [
          path
            .split(',')
            .map((index) => state.recording.functions[Number(index)].name)
            .join(';'),
          weight,
        ]),
      );
    state.focus(state.recording.functions.findIndex(({ name }) => name === 'f'));
    expect(names()).toEqual({ f: 1, 'f;x': 3, 'f;x;y': 2, 'f;x;f;y': 4 });
    const [f] = state.graph.children(ROOT);
    expect([state.graph.weight(ROOT), state.graph.self(f), state.whole]).toEqual([10, 1, 17]);
    state.turn('callers');
    expect(names()).toEqual({ 'f;a;main': 3, 'f;b;main': 3, 'f;g': 4 });
    state.focus(-1);
    expect(state.graph.weight(ROOT)).toBe(17);
  });

  test('is empty if no sample that is selected has it', async () => {
    const state = new State(await recordingOfStacks({ 'main;f': 0, main: 2 }));
    state.focus(state.recording.functions.findIndex(({ name }) => name === 'f'));
    for (const direction of ['calls', 'callers'] as const) {
      state.turn(direction);
      expect([state.graph.weight(ROOT), state.graph.children(ROOT)]).toEqual([0, []]);
    }
  });

  test('has the stacks from its first call on, or up to it', async () => {
    await fc.assert(
      fc.asyncProperty(randomProfile, fc.nat(), async (profile, nth) => {
        if (profile.events.every(({ samples }) => samples === 0)) return;
        const state = new State(await pageRecording(profile, { weight: 'samples' }));
        state.group('none');
        const { caller, code, functions } = state.recording;
        const wanted = nth % functions.length;
        const [below, above] = [new Map<string, number>(), new Map<string, number>()];
        for (const [leaf, weight] of state.self.entries()) {
          const stack: number[] = [];
          for (let node = leaf; node !== ROOT; node = caller[node]) stack.unshift(functionOf(code[node]));
          const first = stack.indexOf(wanted);
          if (weight === 0 || first < 0) continue;
          for (const [lines, path] of [
            [below, stack.slice(first)],
            [above, stack.slice(0, first + 1).reverse()],
          ] as const) {
            lines.set(path.join(), (lines.get(path.join()) ?? 0) + weight);
          }
        }
        state.focus(wanted);
        expect(linesOf(state.graph)).toEqual(below);
        state.turn('callers');
        expect(linesOf(state.graph)).toEqual(above);
      }),
      { numRuns: runs(500, 100) },
    );
  });
});
