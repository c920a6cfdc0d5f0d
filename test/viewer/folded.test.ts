import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { writeFolded } from '../../src/writers/folded/folded.ts';
import { foldedLines } from '../../viewer/model/folded.ts';
import { type Graph, pathTo } from '../../viewer/model/graph.ts';
import { functionOf, type Recording, ROOT } from '../../viewer/model/recording.ts';
import { isRest } from '../../viewer/model/rest-graph.ts';
import { State } from '../../viewer/view/state.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { pageRecording } from '../support/builders/profiles/page-recording.ts';
import { randomProfile } from '../support/builders/profiles/random-profile.ts';
import { runs } from '../support/thoroughness.ts';

const shownLines = (state: State): string[] => [...foldedLines(state.recording, state.shownStacks, state.grouping !== 'none')];

async function writtenLines(profile: Profile): Promise<string[]> {
  const sink = new BufferSink();
  await writeFolded(profile, sink);
  return sink.text().split(/(?<=\n)/);
}

const STACKS = buildProfile([
  { timeNs: 0, period: 5, stack: ['main', 'a', 'f', 'x'] },
  { timeNs: 1, period: 3, stack: ['main', 'b', 'f', { name: 'sys', dso: '[kernel.kallsyms]' }] },
  { timeNs: 2, period: 2, tid: 101, comm: 'work er', stack: ['main', 'b', 'f', 'x', 'f', 'y'] },
  { timeNs: 3, period: 1, tid: 101, comm: 'work er', stack: ['x'] },
  { timeNs: 4, period: 7, stack: [] },
  { timeNs: 5, period: 9, event: 'page-faults', stack: ['main', 'a;b'] },
]);

/** The lines of the graph, which has samples at what its children leave of a box; without the names of threads. */
function linesOf(recording: Recording, graph: Graph, zoomed: number, direction: string): Map<string, number> {
  const found = new Map<string, number>();
  const visit = (node: number): void => {
    const own = graph.children(node).reduce((rest, child) => rest - graph.weight(child), graph.weight(node));
    const path = pathTo(graph, isRest(node) ? graph.parent(node) : node, ROOT).map((one) => {
      const { kind, name } = recording.functions[functionOf(graph.code(one))];
      return name === '(no stack)' ? '' : `${name.replaceAll(';', ':')}${kind === 'kernel' ? '_[k]' : ''}`;
    });
    const line = (direction === 'calls' ? path : path.reverse()).join(';');
    if (own > 0) found.set(line, (found.get(line) ?? 0) + own);
    for (const child of graph.children(node)) visit(child);
  };
  visit(zoomed);
  return found;
}

describe('the folded stacks of what a page shows', () => {
  test('are those of -t folded if everything is shown', async () => {
    expect(shownLines(new State(await pageRecording(STACKS)))).toEqual(await writtenLines(STACKS));
    await fc.assert(
      fc.asyncProperty(randomProfile, async (profile) => {
        if (profile.events.every(({ samples }) => samples === 0)) return;
        const state = new State(await pageRecording(profile));
        state.group('none');
        if (state.selection.weight !== 'period') return;
        // The page has line breaks as they are written out.
        const lines = shownLines(state).map((line) => line.replaceAll('line\\nbreak', 'line break'));
        expect(lines.sort()).toEqual((await writtenLines(profile)).sort());
      }),
      { numRuns: runs(500, 50) },
    );
  });

  test('are of the event, the threads and the weight that were chosen', async () => {
    const state = new State(await pageRecording(STACKS));
    state.select({ scope: { of: 'thread', index: 1 } });
    expect(shownLines(state)).toEqual(['work_er;main;b;f;x;f;y 2\n', 'work_er;x 1\n']);
    state.select({ event: 1, scope: { of: 'all' }, weight: 'samples' });
    expect(shownLines(state)).toEqual(['app;main;a:b 1\n']);
  });

  test('begin or end at the function that is shown alone', async () => {
    const state = new State(await pageRecording(STACKS));
    state.focus(state.recording.functions.findIndex(({ name }) => name === 'f'));
    expect(shownLines(state)).toEqual(['app;f;sys_[k] 3\n', 'app;f;x 5\n', 'work_er;f;x;f;y 2\n']);
    state.turn('callers');
    expect(shownLines(state)).toEqual(['app;main;a;f 5\n', 'app;main;b;f 3\n', 'work_er;main;b;f 2\n']);
    state.group('thread');
    expect(shownLines(state)).toEqual(['app_(100);main;a;f 5\n', 'app_(100);main;b;f 3\n', 'work_er_(101);main;b;f 2\n']);
    state.turn('calls');
    expect(shownLines(state)).toEqual(['app_(100);f;sys_[k] 3\n', 'app_(100);f;x 5\n', 'work_er_(101);f;x;f;y 2\n']);
  });

  test('are those of the zoomed box, in every direction and with every focus', async () => {
    await fc.assert(
      fc.asyncProperty(randomProfile, fc.nat(), fc.nat(), async (profile, nth, way) => {
        if (profile.events.every(({ samples }) => samples === 0)) return;
        const state = new State(await pageRecording(profile, { weight: 'samples' }));
        state.group('none');
        for (const focused of [-1, nth % state.recording.functions.length]) {
          state.focus(focused);
          for (const direction of ['calls', 'callers'] as const) {
            state.turn(direction);
            for (let zoomed = ROOT, depth = way; ; depth >>= 1) {
              state.zoom(zoomed);
              const lines = new Map<string, number>();
              for (const line of shownLines(state)) {
                const [, stack, weight] = /^[^;]*?(?:;(.*))? (\d+)$/s.exec(line.trimEnd())!;
                lines.set(stack ?? '', (lines.get(stack ?? '') ?? 0) + Number(weight));
              }
              expect(lines).toEqual(linesOf(state.recording, state.graph, zoomed, direction));
              const children = state.graph.children(zoomed);
              if (children.length === 0) break;
              // Now and then, all children from one on.
              const next = depth % children.length;
              zoomed = depth % 3 === 1 ? state.graph.rest(zoomed, next) : children[next];
            }
          }
        }
      }),
      { numRuns: runs(500, 50) },
    );
  });

  test('keep every digit that the page has', async () => {
    const large = buildProfile([1, 2].map((timeNs) => ({ timeNs, period: 2 ** 70, stack: ['main'] })));
    expect(shownLines(new State(await pageRecording(large)))).toEqual([`app;main ${2n ** 71n}\n`]);
  });
});
