import { describe, expect, test } from 'vitest';
import type { Profile, ProfileEvent } from '../../src/profile/profile.ts';
import { findMostSampledEvent, findTimelineEvent } from '../../src/writers/primary-event.ts';

const event = (name: string, samples: number, others: Partial<ProfileEvent> = {}): ProfileEvent => ({
  name,
  unit: 'count',
  samplePeriod: 1,
  sampleFreq: 0,
  isTracepoint: false,
  isDummy: false,
  samples,
  period: samples,
  hasCallchain: true,
  ...others,
});
const clock = (samples: number): ProfileEvent => event('cpu-clock', samples, { unit: 'nanoseconds', period: samples * 1_000_000 });
const wait = (state: string, samples: number, period: number): ProfileEvent =>
  event(`off-cpu:${state}`, samples, { unit: 'nanoseconds', isOffCpuTime: true, period });
const dummy = (samples: number): ProfileEvent => event('dummy:HG', samples, { isDummy: true });
const switches = (samples: number, name = 'sched:sched_switch'): ProfileEvent => event(name, samples, { isTracepoint: true });

const cases: readonly (readonly [what: string, events: readonly ProfileEvent[], mostSampled: string, timeline: string])[] = [
  ['the event with the most samples; along time, a clock', [event('page-faults', 9), clock(3)], 'page-faults', 'cpu-clock'],
  ['on a tie, the first one', [event('faults', 3), event('alignment-faults', 3)], 'faults', 'faults'],
  ['what ran, before times off the CPU', [wait('sleeping', 9, 900), clock(3)], 'cpu-clock', 'cpu-clock'],
  ['what ran, before the switches that times off the CPU are computed from', [clock(3), switches(20), wait('sleeping', 9, 900)], 'cpu-clock', 'cpu-clock'],
  ['switches like other events if there are no times off the CPU', [clock(3), switches(20)], 'sched:sched_switch', 'cpu-clock'],
  ['times off the CPU, before the switches that they are computed from', [switches(20), wait('sleeping', 9, 900)], 'off-cpu:sleeping', 'off-cpu:sleeping'],
  ['the same with an event that has modifiers', [switches(20, 'context-switches:u'), wait('waiting', 9, 900)], 'off-cpu:waiting', 'off-cpu:waiting'],
  ['the longest times off the CPU, not the most frequent', [wait('preempted', 50, 10), wait('blocked', 2, 900)], 'off-cpu:blocked', 'off-cpu:blocked'],
  ["perf's dummy event last", [dummy(99), switches(2), wait('sleeping', 1, 1)], 'off-cpu:sleeping', 'off-cpu:sleeping'],
  ["perf's dummy event, if nothing else has samples", [dummy(99), clock(0)], 'dummy:HG', 'dummy:HG'],
];

describe('the event that a format shows first', () => {
  test.each(cases)('is %s', (_, events, mostSampled, timeline) => {
    const profile = { events } as unknown as Profile;
    expect([events[findMostSampledEvent(profile)].name, events[findTimelineEvent(profile)].name]).toEqual([mostSampled, timeline]);
  });

  test('does not exist if no event has samples', () => {
    const profile = { events: [clock(0)] } as unknown as Profile;
    expect([findMostSampledEvent(profile), findTimelineEvent(profile)]).toEqual([-1, -1]);
  });
});
