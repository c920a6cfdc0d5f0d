import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { unresolvedName } from '../../src/profile/names.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { writePprof } from '../../src/writers/pprof/pprof.ts';
import { buildProfile, type SampleSpec } from '../support/builders/profiles/build-profile.ts';
import { randomProfile } from '../support/builders/profiles/random-profile.ts';
import { mergeProfiles } from '../support/merge-profiles.ts';
import { locationsOf } from '../support/readers/locations-of.ts';
import { runs } from '../support/thoroughness.ts';

type Sums = Map<string, readonly [samples: number, period: number]>;

/** What a profile counts, by event, thread name and the texts of all frames, whatever the layout of its tables. */
function sumsOf(profile: Profile, sums: Sums = new Map()): Sums {
  const { events, functions, locations, mappings, stacks, strings, tasks, totals } = profile;
  const nthOfKind = events.map((event, index) => events.slice(0, index).filter(({ name, unit }) => name === event.name && unit === event.unit).length);
  const frameText = (location: number): string => {
    const lines = Array.from({ length: locations.lineCount(location) }, (_, nth) => {
      const func = locations.lineFunction(location, nth);
      const texts = [functions.name(func), functions.systemName(func), functions.file(func)].map((index) => strings.get(index));
      return [...texts, functions.startLine(func), locations.lineNumber(location, nth), locations.lineColumn(location, nth)].join(':');
    });
    const { kind, name, buildId } = mappings[locations.mapping(location)] ?? {};
    return [unresolvedName(profile, location), kind, name, buildId, locations.cpumode(location), locations.isReturnAddress(location), ...lines].join('|');
  };
  for (let row = 0; row < totals.size; row++) {
    const leafFirst = locationsOf(stacks, totals.stack(row));
    const { name, unit } = events[totals.event(row)];
    const key = [name, unit, nthOfKind[totals.event(row)], tasks[totals.task(row)].comm, ...leafFirst.map(frameText)].join(' ; ');
    const [samples, period] = sums.get(key) ?? [0, 0];
    sums.set(key, [samples + totals.samples(row), period + totals.period(row)]);
  }
  return sums;
}

function merge(...profiles: Profile[]): Profile {
  return mergeProfiles(profiles.map((profile, index) => ({ profile, label: `${'abc'[index]}.data` })));
}

const sample = (stack: SampleSpec['stack'], more: Partial<SampleSpec> = {}): SampleSpec => ({ timeNs: 0, stack, ...more });

test('merging any profiles adds up the counts of each stack', () => {
  fc.assert(
    fc.property(randomProfile, randomProfile, randomProfile, (a, b, c) => {
      const expected: Sums = new Map();
      for (const input of [a, b, c]) sumsOf(input, expected);
      expect(sumsOf(merge(a, b, c))).toEqual(expected);
    }),
    { numRuns: runs(60, 20) },
  );
});

test('merged locations keep the start of their function, and those with different starts are kept apart', () => {
  const [a, b, c] = [0x1200, 0x1200, -1].map((start) => {
    const profile = buildProfile([sample([{ name: 'f', unresolved: true, address: 0x1234 }])]);
    if (start >= 0) profile.locations.setFunctionStart(0, start);
    return profile;
  });
  const { locations } = merge(a, b, c);
  expect(Array.from({ length: locations.size }, (_, location) => locations.functionStart(location))).toEqual([0x1200, -1]);
});

test('merging a single profile does not change it', async () => {
  await fc.assert(
    fc.asyncProperty(randomProfile, async (profile) => {
      // Entries of tables keep their order, so that pprof's ids are the same.
      const [one, merged] = [new BufferSink(), new BufferSink()];
      await writePprof(profile, one, { labels: ['pid', 'tid', 'comm'] });
      await writePprof(merge(profile), merged, { labels: ['pid', 'tid', 'comm'] });
      expect(merged.text()).toBe(one.text());
    }),
    { numRuns: runs(40, 15) },
  );
});

describe('in a merged profile', () => {
  test('strings, functions, binaries, locations and stacks are shared, and the same stack adds up', () => {
    const input = () => buildProfile([sample(['main', 'work']), sample(['main'])]);
    const merged = merge(input(), input());
    const { strings, functions, mappings, locations, stacks } = input();
    expect([merged.strings.size, merged.functions.size, merged.mappings.length, merged.locations.size, merged.stacks.size]).toEqual([
      strings.size,
      functions.size,
      mappings.length,
      locations.size,
      stacks.size,
    ]);
    expect([...sumsOf(merged).values()]).toEqual([
      [2, 2_000_000],
      [2, 2_000_000],
    ]);
  });

  test('processes and threads are not shared, whatever their ids', () => {
    const input = () => buildProfile([sample(['main'], { pid: 7, tid: 8, comm: 'worker' })]);
    const { processes, threads, tasks, totals, inputs } = merge(input(), input());
    expect(processes.map(({ pid, input: of = -1 }) => [pid, inputs?.[of].label])).toEqual([
      [7, 'a.data'],
      [7, 'b.data'],
    ]);
    expect(threads.map(({ process, tid }) => [process, tid])).toEqual([
      [0, 8],
      [1, 8],
    ]);
    expect(tasks.map(({ thread }) => thread)).toEqual([0, 1]);
    expect([totals.size, totals.task(0), totals.task(1)]).toEqual([2, 0, 1]);
  });

  test('binaries with the same name and build id are shared, wherever they were mapped', () => {
    const input = (buildId: string, bias: number, start: number, limit: number) => {
      const profile = buildProfile([sample(['main'])]);
      return { ...profile, mappings: profile.mappings.map((mapping) => ({ ...mapping, buildId, bias, start, limit })) };
    };
    const { mappings, mainMapping } = merge(input('aa', 0x400000, 0x1000, 0x2000), input('aa', 0x7f0000, 0x800, 0x1800), input('bb', 0x400000, 0x1000, 0x2000));
    expect(mappings.map(({ buildId, bias, start, limit }) => [buildId, bias, start, limit])).toEqual([
      ['aa', 0x400000, 0x800, 0x2000],
      ['bb', 0x400000, 0x1000, 0x2000],
    ]);
    expect(mainMapping).toBe(0);
  });

  test('binaries have symbols, and were found, if that is so for any recording', () => {
    const input = (isKnown: boolean) => {
      const profile = buildProfile([sample(['main'])]);
      return { ...profile, mappings: profile.mappings.map((mapping) => ({ ...mapping, hasSymbols: isKnown, wasFound: isKnown })) };
    };
    const known = (...inputs: Profile[]) => merge(...inputs).mappings.map(({ hasSymbols, wasFound }) => [hasSymbols, wasFound]);
    expect(known(input(false), input(true), input(false))).toEqual([[true, true]]);
    expect(known(input(false), input(false))).toEqual([[false, false]]);
  });

  test('the main binary is that of the first recording that has one', () => {
    const input = (name: string, mainMapping: number) => {
      const profile = buildProfile([sample(['main'])]);
      return { ...profile, mainMapping, mappings: profile.mappings.map((mapping) => ({ ...mapping, name })) };
    };
    const { mainMapping, mappings } = merge(input('/bin/a', -1), input('/bin/b', 0), input('/bin/c', 0));
    expect(mappings[mainMapping].name).toBe('/bin/b');
  });

  test('addresses with different functions in different recordings are kept apart', () => {
    const input = (name: string) => buildProfile([sample([{ name, address: 0x1234 }])]);
    const merged = merge(input('before'), input('after'), input('before'));
    expect([merged.mappings.length, merged.locations.size]).toEqual([1, 2]);
    expect([...sumsOf(merged)].map(([key, [samples]]) => [/before|after/.exec(key)?.[0], samples])).toEqual([
      ['before', 2],
      ['after', 1],
    ]);
    expect([0, 1].map((location) => [merged.locations.cpumode(location), merged.locations.isReturnAddress(location)])).toEqual([
      [2, false],
      [2, false],
    ]);
  });
});

describe('merged events', () => {
  test('are matched by name', () => {
    const a = buildProfile([sample(['main']), sample(['main'], { event: 'page-faults', period: 3 })]);
    const b = buildProfile([sample(['main'], { event: 'page-faults', period: 4 }), sample(['main'], { event: 'cycles', period: 5 })]);
    expect(merge(a, b).events.map(({ name, samples, period }) => [name, samples, period])).toEqual([
      ['cpu-clock', 1, 1_000_000],
      ['page-faults', 2, 7],
      ['cycles', 1, 5],
    ]);
  });

  test('of the same name in one recording stay apart: the first goes with the first', () => {
    const twice = () => {
      const profile = buildProfile([sample(['main'], { event: 'cycles', period: 1 }), sample(['main'], { event: 'other', period: 10 })]);
      return { ...profile, events: profile.events.map((event) => ({ ...event, name: 'cycles' })) };
    };
    expect(merge(twice(), twice()).events.map(({ name, period }) => [name, period])).toEqual([
      ['cycles', 2],
      ['cycles', 20],
    ]);
  });

  test('stay apart if they have different units, with a report', () => {
    const input = (unit: 'count' | 'nanoseconds') => buildProfile([sample(['main'], { event: 'e' })], { units: { e: unit } });
    const diagnostics = new Diagnostics();
    const inputs = [input('count'), input('nanoseconds'), input('count')].map((profile) => ({ profile, label: 'x' }));
    expect(mergeProfiles(inputs, diagnostics).events.map(({ unit, samples }) => [unit, samples])).toEqual([
      ['count', 2],
      ['nanoseconds', 1],
    ]);
    expect(diagnostics.list()).toMatchObject([{ code: 'merge-units', severity: 'warning', message: expect.stringContaining('the event e counts') }]);
  });

  test('have the largest distance between samples that any recording requested', () => {
    const input = (samplePeriod: number, sampleFreq: number, unit: 'nanoseconds' | 'count' = 'nanoseconds') => {
      const profile = buildProfile([sample(['main'])]);
      return { ...profile, events: profile.events.map((event) => ({ ...event, samplePeriod, sampleFreq, unit })) };
    };
    const periods = (...profiles: Profile[]) => merge(...profiles).events.map(({ samplePeriod, sampleFreq }) => [samplePeriod, sampleFreq]);
    expect(periods(input(0, 4000), input(0, 1000), input(0, 2000))).toEqual([[0, 1000]]);
    expect(periods(input(0, 1000), input(2_000_000, 0))).toEqual([[2_000_000, 0]]);
    expect(periods(input(500_000, 0), input(0, 1000))).toEqual([[0, 1000]]);
    // A number of samples per second says nothing about how many occurrences are between two of them.
    expect(periods(input(0, 4000, 'count'), input(0, 1000, 'count'), input(0, 500, 'count'))).toEqual([[0, 4000]]);
    expect(periods(input(0, 1000, 'count'), input(5, 0, 'count'), input(0, 500, 'count'))).toEqual([[5, 0]]);
  });
});

describe('a merged profile', () => {
  const input = (captureTimeNs: bigint | undefined, last: number, hostName = 'host') =>
    buildProfile([sample(['main']), sample(['main'], { timeNs: last })], { meta: { captureTimeNs, hostName, commandLine: ['perf', hostName] } });

  test('starts with the earliest recording, and lasts as long as all together, like in pprof', () => {
    expect(merge(input(50n, 10), input(20n, 30), input(undefined, 5)).meta).toMatchObject({ captureTimeNs: 20n, durationNs: 45 });
    expect(merge(input(undefined, 1)).meta.captureTimeNs).toBeUndefined();
  });

  test('says what is the same in all recordings', () => {
    expect(merge(input(1n, 1), input(1n, 1)).meta).toMatchObject({ hostName: 'host', commandLine: ['perf', 'host'], arch: 'x86_64', cpuCount: 2 });
    const { meta, inputs } = merge(input(1n, 1), input(1n, 1, 'other'));
    expect(meta).toMatchObject({ hostName: '', commandLine: [], arch: 'x86_64' });
    expect(inputs?.map((one) => one.meta.hostName)).toEqual(['host', 'other']);
  });

  test('has a number of CPUs if it is the same in all recordings, and a wall clock if all have one', () => {
    const of = (meta: Partial<Profile['meta']>) => buildProfile([sample(['main'])], { meta });
    expect(merge(of({ cpuCount: 2 }), of({ cpuCount: 4 })).meta.cpuCount).toBeUndefined();
    const [late, early] = [of({ startTime: 100n, wallClockOffsetNs: 1000n }), of({ startTime: 500n, wallClockOffsetNs: 50n })];
    for (const inputs of [
      [late, early],
      [early, late],
    ])
      expect(merge(...inputs).meta).toMatchObject({ startTime: 550n, wallClockOffsetNs: 0n });
    expect(merge(late, of({ startTime: 7n, wallClockOffsetNs: undefined })).meta).toMatchObject({ startTime: 0n, wallClockOffsetNs: undefined });
  });

  test('has distinct names of all recordings, unless there are many', () => {
    const inputs = (count: number) => Array.from({ length: count }, () => ({ profile: input(1n, 1), label: 'perf.data' }));
    expect(mergeProfiles(inputs(3)).meta.inputName).toBe('perf.data, perf.data#2, perf.data#3');
    expect(mergeProfiles(inputs(5)).meta.inputName).toBe('perf.data and 4 more');
    expect(() => mergeProfiles([])).toThrow('there is no profile to merge');
  });

  test('keeps the samples of each recording with their own times if all have samples', () => {
    const a = buildProfile([sample(['main'], { timeNs: 1, cpu: 3 }), sample(['main', 'work'], { timeNs: 5, period: 7 })]);
    const b = buildProfile([sample([], { timeNs: 0, event: 'cycles' }), sample(['main', 'work'], { timeNs: 2 })]);
    const { samples, events, stacks } = merge(a, b);
    if (samples === undefined) throw new Error('no samples');
    const rows = Array.from({ length: samples.size }, (_, row) => [
      samples.timeNs[row],
      events[samples.event[row]].name,
      samples.task[row],
      samples.cpu[row],
      samples.stack[row] < 0 ? -1 : stacks.parent(samples.stack[row]),
      samples.period[row],
    ]);
    expect(rows).toEqual([
      [1, 'cpu-clock', 0, 3, -1, 1_000_000],
      [5, 'cpu-clock', 0, 0, expect.any(Number), 7],
      [0, 'cycles', 1, 0, -1, 1_000_000],
      [2, 'cpu-clock', 1, 0, rows[1][4], 1_000_000],
    ]);
    expect(merge(a, { ...b, samples: undefined }, a).samples).toBeUndefined();
  });
});
