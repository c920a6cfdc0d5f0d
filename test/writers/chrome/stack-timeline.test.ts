import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StackSpans } from '../../../src/writers/chrome/stack-spans.ts';
import { eventScales, type PlacedSamples, placeSamples } from '../../../src/writers/chrome/stack-timeline.ts';
import { FrameTree } from '../../../src/writers/frame-tree.ts';
import { groupSamples } from '../../../src/writers/sample-groups.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';

function placeAll(specs: readonly SampleSpec[]): PlacedSamples {
  const profile = buildProfile(specs);
  const samples = profile.samples!;
  const groups = groupSamples(samples, () => 0);
  return placeSamples(samples, groups[0].rows, eventScales(profile, samples, groups)[0], samples.timeNs[0] || 0);
}

const intervals = ({ startUs, endUs }: PlacedSamples) => [...startUs].map((start, i) => [start, endUs[i]]);
const clock = (timesUs: readonly number[], periodUs = 1000): SampleSpec[] =>
  timesUs.map((us) => ({ timeNs: us * 1000, period: periodUs * 1000, stack: ['main'] }));

describe('chrome: samples on the time axis', () => {
  it('samples of a clock last for their period, and adjacent ones touch', () => {
    expect(intervals(placeAll(clock([0, 1000, 2000])))).toEqual([
      [1, 1001],
      [1001, 2001],
      [2001, 3001],
    ]);
  });

  it('a sample does not extend over a gap without samples', () => {
    expect(intervals(placeAll(clock([0, 50_000])))).toEqual([
      [1, 1001],
      [50_001, 51_001],
    ]);
  });

  it('late and early samples of a jittery timer are evened out', () => {
    expect(intervals(placeAll(clock([0, 1003, 1990, 3001])))).toEqual([
      [1, 1001],
      [1001, 2001],
      [2001, 3001],
      [3001, 4001],
    ]);
  });

  it('samples of a clock are shortened only if CPUs share the track, and the result says by how much', () => {
    const placed = placeAll(Array.from({ length: 100 }, (_, i) => ({ timeNs: Math.floor(i / 2) * 1e6, period: 1e6, stack: ['idle'] })));
    expect(placed.clippedNs).toBeGreaterThan(40e6);
    expect(placeAll(clock([0, 900, 2000])).clippedNs).toBe(0);
  });

  it('samples of cycles last in proportion to their period, and never beyond the next sample', () => {
    const counter = (us: number, period: number): SampleSpec => ({ timeNs: us * 1000, event: 'cycles', period, stack: ['main'] });
    // 1000 Hz, mean period 50: one unit of period lasts 20 µs.
    expect(intervals(placeAll([counter(0, 25), counter(600, 75), counter(1700, 50)]))).toEqual([
      [1, 501],
      [501, 1701],
      [1701, 2701],
    ]);
    expect(intervals(placeAll([counter(0, 1), counter(10_000, 1000), counter(90_000, 1)]))[1]).toEqual([10_001, 12_001]);
  });

  it('samples without a frequency last for the median gap', () => {
    const profile = buildProfile([0, 100, 200, 9000].map((us) => ({ timeNs: us * 1000, event: 'cycles', period: 1, stack: ['main'] })));
    const events = profile.events.map((event) => ({ ...event, sampleFreq: 0, samplePeriod: 1 }));
    const scales = eventScales(
      { ...profile, events },
      profile.samples!,
      groupSamples(profile.samples!, () => 0),
    );
    expect(scales[0]).toEqual({ kind: 'cycles', intervalNs: 100_000, nsPerPeriod: 100_000 });
  });

  it('occurrences take no time: each sample lasts a microsecond, whatever its period', () => {
    const fault = (us: number, period: number): SampleSpec => ({ timeNs: us * 1000, event: 'page-faults', period, stack: ['main'] });
    expect(intervals(placeAll([fault(0, 1), fault(10_000, 1_000_000), fault(10_000, 7)]))).toEqual([
      [1, 2],
      [10_001, 10_002],
      [10_002, 10_003],
    ]);
  });

  it.each([
    ['cycles:u', 'cycles'],
    ['cpu_core/cycles/', 'cycles'],
    ['armv8_pmuv3/cpu_cycles/', 'cycles'],
    ['ref-cycles', 'cycles'],
    ['stalled-cycles-frontend', 'occurrences'],
    ['instructions', 'occurrences'],
    ['sched:sched_switch', 'occurrences'],
  ] as const)('%s is of kind %s', (event, kind) => {
    const profile = buildProfile([{ timeNs: 0, event, stack: ['main'] }]);
    expect(eventScales(profile, profile.samples!, [])[0].kind).toBe(kind);
  });

  it('cycles count as occurrences if there is also a clock', () => {
    const profile = buildProfile([
      { timeNs: 0, event: 'cycles', stack: ['main'] },
      { timeNs: 0, event: 'cpu-clock', stack: ['main'] },
    ]);
    expect(eventScales(profile, profile.samples!, []).map(({ kind }) => kind)).toEqual(['occurrences', 'clock']);
  });

  it('samples without a time come one after the other', () => {
    expect(intervals(placeAll(clock([Number.NaN, Number.NaN, Number.NaN], 10)))).toEqual([
      [1, 11],
      [11, 21],
      [21, 31],
    ]);
  });

  it('samples always last at least a microsecond, and are in order and do not overlap', () => {
    const sample = fc.record({ gap: fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.constant(1e9)), period: fc.integer({ min: 0, max: 1e7 }) });
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1, maxLength: 60 }), fc.boolean(), (parts, isClock) => {
        let timeNs = 0;
        const specs = parts.map(({ gap, period }) => {
          timeNs += gap;
          return { timeNs, period, event: isClock ? 'cpu-clock' : 'cycles', stack: ['main'] };
        });
        let last = 1;
        for (const [start, end] of intervals(placeAll(specs))) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          expect(Number.isInteger(start) && Number.isInteger(end)).toBe(true);
          last = end;
        }
      }),
    );
  });
});

describe('chrome: bars of the flame chart', () => {
  it('the bars show exactly the stack of each sample while it lasts', () => {
    const frame = fc.constantFrom('a', 'b', 'c');
    const sample = fc.record({ gapUs: fc.constantFrom(1000, 5000), stack: fc.array(frame, { minLength: 1, maxLength: 5 }) });
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1, maxLength: 30 }), (parts) => {
        let us = 0;
        const specs = parts.map(({ gapUs, stack }) => {
          us += gapUs;
          return { timeNs: us * 1000, stack };
        });
        const profile = buildProfile(specs);
        const samples = profile.samples!;
        const tree = new FrameTree(profile);
        const groups = groupSamples(samples, () => 0);
        const placed = placeSamples(samples, groups[0].rows, eventScales(profile, samples, groups)[0], 0);
        const spans = new StackSpans(tree);
        spans.build({ ...placed, node: Uint32Array.from(samples.stack.subarray(0, samples.size), (stack) => tree.nodeOf(stack)) });
        const bars = Array.from({ length: spans.size }, (_, bar) => ({
          name: tree.frames[tree.frame(spans.node[bar])].name,
          start: spans.startUs[bar],
          end: spans.endUs[bar],
        }));
        for (const [index, { stack }] of parts.entries()) {
          const middle = (placed.startUs[index] + placed.endUs[index]) / 2;
          // Callers come before callees, so bars are in the order of the stack.
          expect(bars.filter(({ start, end }) => start < middle && middle < end).map(({ name }) => name)).toEqual(stack);
        }
        const covered = bars.reduce((sum, { start, end }) => sum + end - start, 0);
        const wanted = parts.reduce((sum, { stack }, i) => sum + stack.length * (placed.endUs[i] - placed.startUs[i]), 0);
        expect(covered).toBe(wanted);
      }),
    );
  });

  it('a caller that is the same in consecutive samples has one bar', () => {
    const profile = buildProfile([
      { timeNs: 0, stack: ['main', 'a'] },
      { timeNs: 1e6, stack: ['main', 'b'] },
      { timeNs: 2e6, stack: ['main', 'b'] },
      { timeNs: 9e6, stack: ['main', 'b'] },
    ]);
    const tree = new FrameTree(profile);
    const samples = profile.samples!;
    const groups = groupSamples(samples, () => 0);
    const spans = new StackSpans(tree);
    const node = Uint32Array.from(samples.stack.subarray(0, samples.size), (stack) => tree.nodeOf(stack));
    spans.build({ ...placeSamples(samples, groups[0].rows, eventScales(profile, samples, groups)[0], 0), node });
    const bars = Array.from({ length: spans.size }, (_, bar) => [tree.frames[tree.frame(spans.node[bar])].name, spans.startUs[bar], spans.endUs[bar]]);
    expect(bars).toEqual([
      ['main', 1, 3001],
      ['a', 1, 1001],
      ['b', 1001, 3001],
      ['main', 9001, 10_001],
      ['b', 9001, 10_001],
    ]);
  });
});
