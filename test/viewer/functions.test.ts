import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallTree } from '../../viewer/model/call-tree.ts';
import { categoryOf, categoryWeights } from '../../viewer/model/categories.ts';
import { functionWeights, type Neighbor, neighborsOf } from '../../viewer/model/function-weights.ts';
import { type CodeFunction, functionOf, type Recording, ROOT } from '../../viewer/model/recording.ts';
import { matchedWeight, matchFunctions } from '../../viewer/model/search.ts';
import { selfWeights, totalWeights } from '../../viewer/model/selection.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { pageRecording, recordingOfStacks } from '../support/builders/profiles/page-recording.ts';
import { randomProfile } from '../support/builders/profiles/random-profile.ts';
import { runs } from '../support/thoroughness.ts';

const selfOf = (recording: Recording): Float64Array => selfWeights(recording, { event: recording.event, scope: { of: 'all' }, weight: recording.weight });
const indexOf = (recording: Recording, name: string): number => recording.functions.findIndex((one) => one.name === name);

/** `name: self/total`, in the order of the tables. */
function weightsOf(recording: Recording): string[] {
  const self = selfOf(recording);
  const weights = functionWeights(new CallTree(recording, totalWeights(recording, self)), self);
  return recording.functions.map(({ name }, index) => `${name}: ${weights.self[index]}/${weights.total[index]}`);
}

function neighbors(recording: Recording, name: string): { callers: string[]; callees: string[] } {
  const { callees, callers } = neighborsOf(new CallTree(recording, totalWeights(recording, selfOf(recording))), indexOf(recording, name));
  const texts = (list: readonly Neighbor[]): string[] => list.map(({ function: index, weight }) => `${recording.functions[index].name}: ${weight}`);
  return { callers: texts(callers), callees: texts(callees) };
}

describe('the weights of functions', () => {
  test('are those of samples in them, and in what they called', async () => {
    expect(weightsOf(await recordingOfStacks({ 'main;f;g': 3, 'main;f': 2, 'main;g': 1 }))).toEqual(['main: 0/6', 'f: 2/5', 'g: 4/4']);
  });

  test('count a sample once, however often a function is in its stack', async () => {
    expect(weightsOf(await recordingOfStacks({ 'main;f;g;f;f': 3, 'main;f': 1 }))).toEqual(['main: 0/4', 'f: 4/4', 'g: 0/3']);
  });

  test('join what was inlined and what was called', async () => {
    const profile = buildProfile([
      { timeNs: 0, period: 2, stack: ['main', { name: 'outer', inlined: [{ name: 'f' }] }] },
      { timeNs: 1, period: 3, stack: ['main', 'f'] },
    ]);
    expect(weightsOf(await pageRecording(profile))).toContain('f: 5/5');
  });
});

describe('callers and callees', () => {
  test('have the samples in which one called the other', async () => {
    const recording = await recordingOfStacks({ 'main;a;f;x': 3, 'main;b;f;y': 2, 'main;b;f': 1, 'main;x': 7 });
    expect(neighbors(recording, 'f')).toEqual({ callers: ['a: 3', 'b: 3'], callees: ['x: 3', 'y: 2'] });
    expect(neighbors(recording, 'main')).toEqual({ callers: [], callees: ['x: 7', 'a: 3', 'b: 3'] });
  });

  test('count a sample once, also if a function calls itself', async () => {
    const recording = await recordingOfStacks({ 'main;f;f;f;g;f;g': 2 });
    expect(neighbors(recording, 'f')).toEqual({ callers: ['main: 2', 'f: 2', 'g: 2'], callees: ['f: 2', 'g: 2'] });
  });
});

describe('a search', () => {
  test('counts samples with several matches once', async () => {
    const recording = await recordingOfStacks({ 'main;alloc;alloc_slow;alloc': 5, 'main;free': 3, 'realloc;main': 2 });
    const matches = matchFunctions(recording.functions, 'alloc');
    expect(matches && matchedWeight(recording, selfOf(recording), matches)).toBe(7);
  });

  test('takes the text as it is, whatever the case', async () => {
    const recording = await recordingOfStacks({ 'Main;f(int*)': 1, 'operator[]': 2, 'a.b': 4 });
    const found = (text: string): string[] =>
      recording.functions.filter((_, index) => matchFunctions(recording.functions, text)?.[index] === 1).map(({ name }) => name);
    expect(found(' mAIN ')).toEqual(['Main']);
    expect(found('*)')).toEqual(['f(int*)']);
    expect(found('[]')).toEqual(['operator[]']);
    expect(found('.')).toEqual(['a.b']);
    expect(found('none')).toEqual([]);
    expect(matchFunctions(recording.functions, '  ')).toBeUndefined();
  });
});

test('code that was inlined has a category of its own, unless it is a kernel’s or unknown', () => {
  const category = (kind: CodeFunction['kind']) => categoryOf({ name: 'f', fullName: 'f', place: '', binary: '', kind }, true);
  expect((['user', 'jit', 'kernel', 'unknown'] as const).map(category)).toEqual(['inlined', 'inlined', 'kernel', 'unknown']);
});

test('the shares of the legend are those of leaves, and for marks those of whole stacks', async () => {
  const kernel = { name: 'sys_read', dso: '[kernel.kallsyms]' };
  const profile = buildProfile([
    { timeNs: 0, period: 1, stack: ['main', kernel] },
    { timeNs: 1, period: 2, stack: ['main', { name: 'outer', inlined: [{ name: 'f' }] }] },
    { timeNs: 2, period: 4, stack: ['main', { name: 'x', unresolved: true }] },
    { timeNs: 3, period: 8, stack: [] },
    { timeNs: 4, period: 16, stack: ['main'] },
  ]);
  const recording = await pageRecording(profile);
  expect(Object.fromEntries(categoryWeights(recording, selfOf(recording)))).toEqual({ kernel: 1, inlined: 2, unknown: 4, mark: 8, user: 16 });
});

test('all of these agree with a count stack by stack', async () => {
  await fc.assert(
    fc.asyncProperty(randomProfile, fc.nat(), async (profile, nth) => {
      if (profile.events.every(({ samples }) => samples === 0)) return;
      const recording = await pageRecording(profile, { weight: 'samples' });
      const { caller, code, functions } = recording;
      const self = selfOf(recording);
      const tree = new CallTree(recording, totalWeights(recording, self));
      const chosen = nth % functions.length;
      const matches = Uint8Array.from(functions, (_, index) => (index % 3 === nth % 3 ? 1 : 0));
      const expected = { self: new Float64Array(functions.length), total: new Float64Array(functions.length) };
      const [callers, callees] = [new Map<number, number>(), new Map<number, number>()];
      let matched = 0;
      for (const [leaf, weight] of self.entries()) {
        if (weight === 0) continue;
        const stack: number[] = [];
        for (let node = leaf; node !== ROOT; node = caller[node]) stack.unshift(functionOf(code[node]));
        expected.self[stack.at(-1)!] += weight;
        for (const one of new Set(stack)) expected.total[one] += weight;
        for (const one of new Set(stack.filter((_, at) => stack[at + 1] === chosen))) callers.set(one, (callers.get(one) ?? 0) + weight);
        for (const one of new Set(stack.filter((_, at) => at > 0 && stack[at - 1] === chosen))) callees.set(one, (callees.get(one) ?? 0) + weight);
        if (stack.some((one) => matches[one] === 1)) matched += weight;
      }
      expect(functionWeights(tree, self)).toEqual(expected);
      const found = neighborsOf(tree, chosen);
      const entries = (list: readonly Neighbor[]): Map<number, number> => new Map(list.map(({ function: index, weight }) => [index, weight]));
      expect(entries(found.callers)).toEqual(callers);
      expect(entries(found.callees)).toEqual(callees);
      expect(matchedWeight(recording, self, matches)).toBe(matched);
    }),
    { numRuns: runs(1000, 100) },
  );
});
