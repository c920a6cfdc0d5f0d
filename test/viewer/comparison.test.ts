import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Profile } from '../../src/profile/profile.ts';
import { change, comparableInputs, pointsText, relativeChange } from '../../viewer/model/comparison.ts';
import { withCounterparts } from '../../viewer/model/counterparts.ts';
import { pathTo } from '../../viewer/model/graph.ts';
import { functionOf, ROOT } from '../../viewer/model/recording.ts';
import { boxTexts } from '../../viewer/view/box-texts.ts';
import { legendOf } from '../../viewer/view/legend.ts';
import { lookOf } from '../../viewer/view/look.ts';
import { State } from '../../viewer/view/state.ts';
import { buildProfile, type FrameSpec } from '../support/builders/profiles/build-profile.ts';
import { pageRecording } from '../support/builders/profiles/page-recording.ts';
import { randomProfile } from '../support/builders/profiles/random-profile.ts';
import { mergeProfiles } from '../support/merge-profiles.ts';
import { runs } from '../support/thoroughness.ts';

const profileOf = (stacks: Readonly<Record<string, number>>, event = 'cpu-clock'): Profile =>
  buildProfile(Object.entries(stacks).map(([stack, period], timeNs) => ({ timeNs, period, event, stack: stack.split(';') })));

async function stateOf(...profiles: readonly Profile[]): Promise<State> {
  const labels = ['old.data', 'new.data', 'events.data'];
  return new State(await pageRecording(mergeProfiles(profiles.map((profile, nth) => ({ profile, label: labels[nth] })))));
}

/** In the new recording, twice as much is recorded; sort has a larger share, parse a smaller one, write is gone, and hash is new. */
const OLD = profileOf({ 'main;sort': 20, 'main;parse': 60, 'main;write': 20 });
const NEW = profileOf({ 'main;sort': 120, 'main;parse': 60, 'main;hash': 20 });

function nodeOf({ graph, recording }: State, ...names: readonly string[]): number {
  return names.reduce((node, name) => graph.children(node).find((child) => recording.functions[graph.code(child) >>> 1].name === name)!, ROOT);
}

describe('a recording that is compared with another one', () => {
  test('is shown with the change of each share', async () => {
    const state = await stateOf(OLD, NEW);
    expect(state.comparison).toBeUndefined();
    state.compare(0);
    expect(state.selection.scope).toEqual({ of: 'input', index: 1 });
    expect(boxTexts(state, ROOT).numbers).toBe('200 ns (100%) · 100 ns in old.data');
    expect(boxTexts(state, nodeOf(state, 'main', 'sort')).numbers).toBe(
      'total 120 ns (60.0%) · 20.0% in old.data (+40.00 points) · self 120 ns (60.0%) · 60.0% of the box above',
    );
    expect(boxTexts(state, nodeOf(state, 'main', 'parse')).numbers).toContain('60.0% in old.data (-30.00 points)');
    expect(boxTexts(state, nodeOf(state, 'main', 'hash')).numbers).toContain('0% in old.data (+10.00 points)');
    expect(boxTexts(state, state.graph.rest(nodeOf(state, 'main'), 1)).numbers).toContain('60.0% in old.data (-20.00 points)');
    expect(['main', 'main;sort', 'main;parse', 'main;hash'].map((path) => state.changeOf(nodeOf(state, ...path.split(';'))))).toEqual([0, 2 / 3, -0.5, 1]);
  });

  test('has colors for changes, and a legend of them', async () => {
    const state = await stateOf(OLD, NEW);
    const colors = {
      ...{ text: '', page: '', outline: '', plain: 'plain', match: { fill: 'match', text: '' } },
      ...{ fill: () => 'kind', category: () => 'kind', change: (relative: number) => relative.toFixed(2) },
    };
    expect(legendOf(state, colors).map(({ label, share }) => `${label} ${share}`)).toEqual(['User code 100%']);
    state.compare(0);
    expect(legendOf(state, colors).map(({ color, label, share }) => `${color} ${label}${share}`)).toEqual([
      '0.50 Larger share than in old.data',
      '0.00 The same',
      '-0.50 Smaller',
    ]);
    const fillOf = (...path: readonly string[]): string => lookOf(state, colors, nodeOf(state, ...path), false).fill;
    expect([fillOf(), fillOf('main'), fillOf('main', 'sort')]).toEqual(['plain', '0.00', '0.67']);
    state.search('sort');
    expect(fillOf('main', 'sort')).toBe('match');
  });

  test('is compared in both directions, and with one function alone', async () => {
    const state = await stateOf(OLD, NEW);
    state.compare(0);
    state.turn('callers');
    expect(state.changeOf(nodeOf(state, 'sort', 'main'))).toBeCloseTo(2 / 3);
    state.focus(state.recording.functions.findIndex(({ name }) => name === 'parse'));
    expect(state.changeOf(nodeOf(state, 'parse'))).toBeCloseTo(-0.5);
    expect(boxTexts(state, ROOT).numbers).toBe('60 ns (30.0%) · 60 ns in old.data');
    state.focus(state.recording.functions.findIndex(({ name }) => name === 'hash'));
    expect(state.changeOf(nodeOf(state, 'hash', 'main'))).toBe(1);
  });

  describe('has the functions of the other one', () => {
    const built = (directory: string, ...names: readonly string[]): FrameSpec[] =>
      names.map((name) => ({ name, dso: `${directory}/app`, file: `${directory}/${name}.c`, line: directory.length }));
    const changesOf = async (old: readonly FrameSpec[][], next: readonly FrameSpec[][]): Promise<Record<string, number>> => {
      const state = await stateOf(...[old, next].map((stacks) => buildProfile(stacks.map((stack, timeNs) => ({ timeNs, period: 10, stack })))));
      state.compare(0);
      const { comparison, functions, recording, whole } = state;
      const changes: Record<string, number> = {};
      for (const [index, { binary, name }] of recording.functions.entries()) {
        const [weight, base] = [functions.total[index], comparison!.functions.total[index]];
        if (weight > 0 || base > 0) changes[`${name} in ${binary}`] = relativeChange(weight, whole, base, comparison!.whole);
      }
      return changes;
    };

    test('that were built in another directory', async () => {
      const changes = await changesOf([built('/old', 'main', 'sort')], [built('/new', 'main', 'sort'), built('/new', 'main', 'parse')]);
      expect(changes).toEqual({ 'main in /new/app': 0, 'sort in /new/app': -0.5, 'parse in /new/app': 1 });
    });

    test('that are in code made at run time, or in a program of another name', async () => {
      const [main] = built('/old', 'main');
      const changes = await changesOf(
        [[main, { name: 'JS:*fib a.js', dso: '/tmp/perf-12.map' }]],
        [
          [
            { ...main, dso: '/old/app2' },
            { name: 'JS:*fib a.js', dso: '/tmp/perf-345.map' },
          ],
        ],
      );
      expect(changes).toEqual({ 'main in /old/app2': 0, 'JS:*fib a.js in /tmp/perf-345.map': 0 });
    });

    test('in the same boxes, in both directions and for one function alone', async () => {
      const stacks = (directory: string, ...counts: readonly number[]) =>
        ['sort', 'parse'].flatMap((name, nth) => Array.from({ length: counts[nth] }, () => built(directory, 'main', name)));
      const state = await stateOf(...[stacks('/old', 1, 3), stacks('/new', 3, 1)].map((all) => buildProfile(all.map((stack, timeNs) => ({ timeNs, stack })))));
      state.compare(0);
      expect(state.changeOf(nodeOf(state, 'main', 'sort'))).toBeCloseTo(2 / 3);
      state.turn('callers');
      expect(state.changeOf(nodeOf(state, 'parse', 'main'))).toBeCloseTo(-2 / 3);
      state.focus(functionOf(state.graph.code(nodeOf(state, 'sort'))));
      expect(state.changeOf(nodeOf(state, 'sort', 'main'))).toBeCloseTo(2 / 3);
    });

    test('by their binaries and source files, if several have the same name', async () => {
      const inits = (directory: string, ...files: readonly string[]): FrameSpec[][] =>
        files.map((file, nth) => [{ name: 'init', dso: `${directory}/${file.slice(0, 1)}.so`, file: `${directory}/${file}`, line: nth + 1 }]);
      expect(await changesOf(inits('/old', 'a.c', 'b.c'), inits('/new', 'a2.c', 'b2.c'))).toEqual({ 'init in /new/a.so': 0, 'init in /new/b.so': 0 });
      // The first of each is found by its source file; then there is only one left.
      const state = await stateOf(
        ...[inits('/old', 'a1.c', 'a2.c'), inits('/new', 'a1.c', 'a3.c')].map((all) => buildProfile(all.map((stack, timeNs) => ({ timeNs, stack })))),
      );
      state.compare(0);
      expect(state.graph.children(ROOT).map((node) => state.changeOf(node))).toEqual([0, 0]);
    });

    test('with their inlined calls, and apart from processes of their names', async () => {
      const inlining = (dso: string): FrameSpec => ({ name: 'main', dso, inlined: [{ name: 'sort' }] });
      const [old, next] = ['old', 'new'].map((name, nth) => buildProfile([{ timeNs: 0, process: ['main', 'other'][nth], stack: [inlining(`/${name}`)] }]));
      const state = await stateOf(old, next);
      state.compare(0);
      state.group('none');
      expect(state.changeOf(nodeOf(state, 'main', 'sort'))).toBe(0);
      state.group('name');
      expect(state.changeOf(nodeOf(state, 'other'))).toBe(1);
      const [program, process] = [buildProfile([{ timeNs: 0, stack: ['main'] }]), buildProfile([{ timeNs: 0, process: 'main', stack: ['run'] }])];
      const mixed = await stateOf(process, program);
      mixed.group('name');
      mixed.compare(0);
      expect(mixed.changeOf(nodeOf(mixed, 'app', 'main'))).toBe(1);
      expect(mixed.comparison?.functions.total[mixed.recording.functions.findIndex(({ name, kind }) => name === 'main' && kind !== 'group')]).toBe(0);
    });

    test('only where it is certain which one', async () => {
      const twice = (directory: string): FrameSpec[][] =>
        ['a', 'b'].map((file, nth) => [{ name: 'init', dso: `${directory}/app`, file: `${directory}/${file}.c`, line: nth + 1 }]);
      expect(await changesOf(twice('/old'), twice('/new').slice(0, 1))).toEqual({ 'init in /new/app': 0.5, 'init in /old/app': -1 });
      const shared = [{ name: 'init', dso: '/usr/lib/a.so' }];
      expect(await changesOf([shared, [{ name: 'init', dso: '/usr/lib/b.so' }]], [shared])).toEqual({
        'init in /usr/lib/a.so': 0.5,
        'init in /usr/lib/b.so': -1,
      });
      const two = ['x', 'y'].map((directory) => [{ name: 'init', dso: `/${directory}/app` }]);
      expect(Object.values(await changesOf(two, [[{ name: 'init', dso: '/z/app' }]]))).toEqual([-1, -1, 1]);
    });
  });

  test('is no longer compared when something else than one recording is shown', async () => {
    const state = await stateOf(OLD, NEW);
    for (const leave of [
      () => state.select({ scope: { of: 'all' } }),
      () => state.select({ scope: { of: 'process', index: 1 } }),
      () => state.select({ scope: { of: 'input', index: 0 } }),
      () => state.group('process'),
      () => state.compare(-1),
    ]) {
      state.compare(0);
      expect(state.comparison).toBeDefined();
      leave();
      expect([state.comparison, state.compared]).toEqual([undefined, -1]);
    }
    state.compare(1);
    expect([state.selection.scope, state.grouping]).toEqual([{ of: 'input', index: 0 }, 'name']);
  });

  test('is shown without groups that only it has', async () => {
    const state = await stateOf(OLD, NEW);
    state.group('process');
    state.compare(0);
    expect([state.grouping, state.compared]).toEqual(['name', 0]);
    expect(state.changeOf(nodeOf(state, 'app', 'main', 'sort'))).toBeCloseTo(2 / 3);
  });

  test('is only compared with recordings that have the event', async () => {
    const state = await stateOf(OLD, NEW, profileOf({ main: 5 }, 'page-faults'));
    expect(comparableInputs(state.recording, state.selection.event)).toEqual([0, 1]);
    state.compare(2);
    expect([state.comparison, state.compared, state.selection.scope]).toEqual([undefined, -1, { of: 'all' }]);
    state.compare(0);
    expect(state.selection.scope).toEqual({ of: 'input', index: 1 });
    const faults = state.recording.events.findIndex(({ name }) => name === 'page-faults');
    state.showEvent(faults);
    expect([state.compared, state.selection.scope]).toEqual([-1, { of: 'all' }]);
    expect(comparableInputs(state.recording, faults)).toEqual([]);
  });

  test('stays compared when another event is shown that both have', async () => {
    const both = (time: number, faults: number): Profile =>
      buildProfile([
        { timeNs: 0, period: time, event: 'cpu-clock', stack: ['main'] },
        { timeNs: 1, period: faults, event: 'page-faults', stack: ['main', 'load'] },
      ]);
    const state = await stateOf(both(20, 1), both(10, 3));
    state.compare(1);
    const other = state.recording.events.findIndex((_, index) => index !== state.selection.event);
    state.showEvent(other);
    expect([state.selection, state.compared]).toMatchObject([{ event: other, scope: { of: 'input', index: 0 } }, 1]);
  });

  test('does not have its change before the name of the other one, if that is written from right to left', async () => {
    const profiles = [
      { profile: OLD, label: 'ישן' },
      { profile: NEW, label: 'new.data' },
    ];
    const state = new State(await pageRecording(mergeProfiles(profiles)));
    state.compare(0);
    expect(boxTexts(state, nodeOf(state, 'main', 'sort')).numbers).toContain('20.0% in ישן\u200e (+40.00 points)');
  });

  test('is in the address, so that the browser leads back to it', async () => {
    const state = await stateOf(OLD, NEW);
    state.compare(0);
    const { view } = state;
    expect(view).toMatchObject({ compared: 0, scope: { of: 'input', index: 1 } });
    state.compare(-1);
    state.select({ scope: { of: 'all' } });
    const { view: all } = state;
    state.restore(view);
    expect(state.view).toEqual(view);
    state.restore(all);
    expect([state.view, state.comparison]).toEqual([all, undefined]);
  });

  test('has the weights in every box that the other recording has there when that is shown', async () => {
    await fc.assert(
      fc.asyncProperty(randomProfile, randomProfile, fc.boolean(), async (base, profile, isTurned) => {
        const state = await stateOf(base, profile);
        if (comparableInputs(state.recording, state.selection.event).length < 2) return;
        state.group('none');
        if (isTurned) state.turn('callers');
        const { recording } = state;
        const codes = (node: number): number[] => pathTo(state.graph, node, ROOT).map((one) => state.graph.code(one));
        const visit = (node: number, use: (node: number) => void): void => {
          use(node);
          for (const child of state.graph.children(node)) visit(child, use);
        };
        state.select({ scope: { of: 'input', index: 0 } });
        const weights = new Map<string, number>();
        visit(ROOT, (node) => weights.set(codes(node).join(), state.graph.weight(node)));
        const { functions } = state;
        state.select({ scope: { of: 'input', index: 1 } });
        /** By code of what is shown: that of the same function in the base. */
        const inBase = new Map<number, number>();
        for (const [node, code] of withCounterparts(recording, functions, state.functions).code.entries())
          if (code !== recording.code[node]) inBase.set(code, recording.code[node]);
        state.compare(0);
        visit(ROOT, (node) => {
          const path = codes(node).map((code) => inBase.get(code) ?? code);
          expect(state.comparison?.weight(node)).toBe(weights.get(path.join()) ?? 0);
        });
      }),
      { numRuns: runs(300, 30) },
    );
  });
});

test('changes of shares are signed, and relative to the larger share', () => {
  expect([relativeChange(0, 10, 0, 0), relativeChange(5, 10, 5, 20), relativeChange(0, 10, 1, 2)]).toEqual([0, 0.5, -1]);
  expect(change(1, 4, 1, 2)).toBe(-0.25);
  expect([pointsText(1, 2, 2, 4), pointsText(1, 8, 0, 4), pointsText(0, 0, 1, 100_000)]).toEqual(['0', '+12.50', '-0.00']);
});
