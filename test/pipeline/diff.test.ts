import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { matchEvents, writeDiff } from '../../src/pipeline/diff.ts';
import { plainEventName } from '../../src/session/events/event-names.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

const eventsOf = (...names: string[]) => buildProfile(names.map((event, timeNs) => ({ timeNs, event, stack: ['main'] }))).events;

const [CLOCK] = eventsOf('cpu-clock');

describe('events of two recordings are matched', () => {
  test.each([
    [['cycles:P'], ['cycles:u'], [[0, 0]]],
    [
      ['cycles', 'cycles:u'],
      ['cycles:u', 'cycles'],
      [
        [0, 1],
        [1, 0],
      ],
    ],
    [
      ['cycles:u', 'instructions'],
      ['instructions:u', 'cycles/freq=99/'],
      [
        [0, 1],
        [1, 0],
      ],
    ],
    [['cycles', 'page-faults'], ['page-faults'], [[1, 0]]],
    [['sched:sched_switch'], ['sched:sched_switch'], [[0, 0]]],
    [['cycles'], ['instructions'], []],
    [
      ['cycles:P', 'cs'],
      ['context-switches', 'cpu-cycles:u'],
      [
        [0, 1],
        [1, 0],
      ],
    ],
    [['cycles', 'cpu-cycles'], ['cpu-cycles'], [[1, 0]]],
    [['cpu/event=0x3c/'], ['cpu/event=0xc0/'], []],
  ])('%j with %j', (base, next, pairs) => expect(matchEvents(eventsOf(...base), eventsOf(...next))).toEqual(pairs));

  test('only if they count the same, and one of them has samples', () => {
    expect(matchEvents([CLOCK], [{ ...CLOCK, unit: 'count' }])).toEqual([]);
    expect(matchEvents([{ ...CLOCK, samples: 0 }], [CLOCK])).toEqual([[0, 0]]);
    expect(matchEvents([{ ...CLOCK, samples: 0 }], [{ ...CLOCK, samples: 0 }])).toEqual([]);
  });

  test('one by one, if several have the same name', () => {
    expect(matchEvents(eventsOf('cycles', 'cycles:u'), eventsOf('cycles:k', 'cycles:h'))).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  test('each by its own name, not by going through all others', () => {
    let reads = 0;
    const events = Array.from({ length: 1000 }, (_, nth) => ({
      ...CLOCK,
      get name() {
        reads++;
        return `tracepoint:event_${nth}`;
      },
    }));
    const pairs = matchEvents(events, events.toReversed());
    expect(pairs).toEqual(events.map((_, nth) => [nth, 999 - nth]));
    expect(reads).toBeLessThan(10 * events.length);
  });
});

test('events without samples, which only one recording has, are not reported', async () => {
  const profile = buildProfile([{ timeNs: 0, stack: ['main'] }]);
  const base = { ...profile, events: [...profile.events, { ...CLOCK, name: 'idle', samples: 0 }] };
  const diagnostics = new Diagnostics();
  await writeDiff({ profile: base, label: 'a' }, { profile, label: 'b' }, new BufferSink(), {}, diagnostics);
  expect(diagnostics.list()).toEqual([]);
});

test.each([
  [' cycles:upp ', 'cycles'],
  ['cpu-clock/freq=99,call-graph=dwarf/u', 'cpu-clock'],
  ['cpu/event=0x3c/', 'cpu/event=0x3c/'],
  ['cpu/event=0x3c/u', 'cpu/event=0x3c/u'],
  ['sched:sched_switch', 'sched:sched_switch'],
])('without how it is recorded, %s is %s', (name, plain) => expect(plainEventName(name)).toBe(plain));
