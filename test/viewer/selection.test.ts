import { describe, expect, test } from 'vitest';
import { defaultGrouping, type Grouping, groupStacks } from '../../viewer/model/grouping.ts';
import { functionOf, type Recording, ROOT } from '../../viewer/model/recording.ts';
import { heaviestTasks, isSameScope, type Scope, type ScopeChoice, scopeChoices, scopeLabel, selfWeights, withWeight } from '../../viewer/model/selection.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { pageRecording } from '../support/builders/profiles/page-recording.ts';

const recording = await pageRecording(
  buildProfile([
    { timeNs: 0, pid: 1, comm: 'app', period: 5, stack: ['main', 'f'] },
    { timeNs: 1, pid: 1, tid: 2, process: 'app', comm: 'worker', period: 7, stack: ['main', 'f'] },
    { timeNs: 2, pid: 3, comm: 'sh', period: 20, stack: ['main'] },
    { timeNs: 3, pid: 4, comm: 'sh', period: 1, stack: ['main'] },
    { timeNs: 4, pid: 1, comm: 'app', event: 'page-faults', period: 0, stack: ['main'] },
  ]),
);

const sum = (scope: Scope, weight: 'period' | 'samples' = 'period', event = 0): number =>
  selfWeights(recording, { event, scope, weight }).reduce((all, one) => all + one, 0);

/** `app (1) 12` */
function linesOf(named: Recording, choices: readonly ScopeChoice[]): string[] {
  return choices.map(({ scope, weight }) => `${scopeLabel(named, scope)} ${weight}`);
}

/** `app;main;f 12`, as lines of folded stacks. */
function stacksOf(grouped: Recording): string[] {
  const self = selfWeights(grouped, { event: 0, scope: { of: 'all' }, weight: 'period' });
  const lines: string[] = [];
  for (const [leaf, weight] of self.entries()) {
    const names: string[] = [];
    for (let node = leaf; node !== ROOT; node = grouped.caller[node]) names.unshift(grouped.functions[functionOf(grouped.code[node])].name);
    if (weight > 0) lines.push(`${names.join(';')} ${weight}`);
  }
  return lines.sort();
}

describe('a selection', () => {
  test('has the samples of an event, in all threads, a process or a thread', () => {
    expect([sum({ of: 'all' }), sum({ of: 'process', index: 0 }), sum({ of: 'thread', index: 1 })]).toEqual([33, 12, 7]);
    expect([sum({ of: 'all' }, 'samples'), sum({ of: 'all' }, 'samples', 1)]).toEqual([4, 1]);
  });

  test('counts samples if no sample of the event has a period', () => {
    const selection = { event: 1, scope: { of: 'all' }, weight: 'period' } as const;
    expect(withWeight(recording, selection).weight).toBe('samples');
    expect(withWeight(recording, { ...selection, event: 0 }).weight).toBe('period');
  });

  test('can be chosen among processes, the heaviest first, with the threads of those that have several', () => {
    const { all, inputs, tasks } = scopeChoices(recording, { event: 0, weight: 'period' });
    expect([all, inputs]).toEqual([33, []]);
    expect(linesOf(recording, tasks)).toEqual(['sh (3) 20', 'app (1) 12', 'worker (2) 7', 'app (1) 5', 'sh (4) 1']);
    expect(linesOf(recording, scopeChoices(recording, { event: 1, weight: 'samples' }).tasks)).toEqual(['app (1) 1']);
  });

  test('can be chosen among the heaviest, threads always with their process', () => {
    const { tasks } = scopeChoices(recording, { event: 0, weight: 'period' });
    const heaviest = (limit: number): string[] => linesOf(recording, heaviestTasks(tasks, limit));
    expect(heaviest(5)).toEqual(linesOf(recording, tasks));
    expect(heaviest(3)).toEqual(['sh (3) 20', 'app (1) 12', 'worker (2) 7']);
    expect(heaviest(1)).toEqual(['sh (3) 20']);
    // Both threads weigh as much as the process.
    const alike = tasks.map((one) => ({ ...one, weight: 1 }));
    expect(linesOf(recording, heaviestTasks(alike, 4))).toEqual(['sh (3) 1', 'app (1) 1', 'worker (2) 1', 'sh (4) 1']);
  });

  test('can be chosen among merged recordings, each with the weight of its processes', () => {
    const processes = recording.processes.map((process, index) => ({ ...process, input: index === 1 ? 1 : 0 }));
    const merged = { ...recording, inputs: ['a.data', 'b.data', 'c.data'], processes };
    const { inputs, tasks } = scopeChoices(merged, { event: 0, weight: 'period' });
    expect(linesOf(merged, inputs)).toEqual(['a.data 13', 'b.data 20', 'c.data 0']);
    expect(linesOf(merged, tasks)).toEqual(['b.data: sh (3) 20', 'a.data: app (1) 12', 'worker (2) 7', 'app (1) 5', 'a.data: sh (4) 1']);
  });

  test.each<[Scope, Scope, boolean]>([
    [{ of: 'all' }, { of: 'all' }, true],
    [{ of: 'all' }, { of: 'thread', index: 0 }, false],
    [{ of: 'thread', index: 0 }, { of: 'process', index: 0 }, false],
    [{ of: 'thread', index: 0 }, { of: 'thread', index: 1 }, false],
    [{ of: 'input', index: 1 }, { of: 'input', index: 1 }, true],
  ])('of %j and %j is the same: %j', (a, b, isSame) => expect([isSameScope(a, b), isSameScope(b, a)]).toEqual([isSame, isSame]));
});

describe('grouped stacks', () => {
  const EXPECTED: Readonly<Record<Grouping, readonly string[]>> = {
    none: ['main 21', 'main;f 12'],
    name: ['app;main;f 12', 'sh;main 21'],
    process: ['app (1);main;f 12', 'sh (3);main 20', 'sh (4);main 1'],
    thread: ['app (1);main;f 5', 'sh (3);main 20', 'sh (4);main 1', 'worker (2);main;f 7'],
    input: ['perf.data;main 21', 'perf.data;main;f 12'],
  };

  test.each(Object.entries(EXPECTED))('are below their %s', (grouping, expected) => {
    expect(stacksOf(groupStacks(recording, grouping as Grouping))).toEqual(expected);
  });

  test('name the recording if several were merged', () => {
    const processes = recording.processes.map((process, index) => ({ ...process, input: index === 1 ? 1 : 0 }));
    const grouped = groupStacks({ ...recording, inputs: ['a.data', 'b.data'], processes }, 'process');
    expect(stacksOf(grouped)).toEqual(['a.data: app (1);main;f 12', 'a.data: sh (4);main 1', 'b.data: sh (3);main 20']);
  });

  test('keep the functions under their indexes', () => {
    const grouped = groupStacks(recording, 'name');
    expect(grouped.functions.slice(0, recording.functions.length)).toEqual(recording.functions);
    expect(grouped.functions.slice(recording.functions.length).map(({ kind, name }) => [kind, name])).toEqual([
      ['group', 'app'],
      ['group', 'sh'],
    ]);
  });

  test('are the default if processes have several names, or by recording if that was asked for', () => {
    expect(defaultGrouping(recording)).toBe('name');
    expect(defaultGrouping({ ...recording, totals: recording.totals.filter(({ thread }) => thread < 2) })).toBe('none');
    expect(defaultGrouping({ ...recording, byInput: true, inputs: ['a', 'b'] })).toBe('input');
    expect(defaultGrouping({ ...recording, byInput: true })).toBe('name');
  });
});
