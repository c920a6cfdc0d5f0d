import { expect, test, vi } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { EventTotals } from '../../../src/writers/report/event-totals.ts';
import { writeReport } from '../../../src/writers/report/report.ts';
import { writeTree } from '../../../src/writers/report/write-tree.ts';
import { buildProfile } from '../../support/builders/profiles/build-profile.ts';

const EVENTS = 300;
const manyEvents = (): Profile => buildProfile(Array.from({ length: EVENTS }, (_, nth) => ({ timeNs: nth, event: `event ${nth}`, stack: ['main'] })));

test('rows of totals are known by event, in their order', () => {
  const events = ['a', 'b', 'a', 'c', 'b', 'a'];
  const profile = buildProfile(events.map((event, timeNs) => ({ timeNs, event, stack: [`f${timeNs}`] })));
  const totals = new EventTotals({ ...profile, events: [...profile.events, { ...profile.events[0], samples: 0 }] });
  expect([0, 1, 2, 3].map((event) => [...totals.of(event)])).toEqual([[0, 2, 5], [1, 4], [3], []]);
});

test.each([
  ['tables', writeReport],
  ['trees', writeTree],
])('%s of many events do not go through the totals of all events for each', async (_, write) => {
  const profile = manyEvents();
  const event = vi.spyOn(profile.totals, 'event');
  const sink = new BufferSink();
  await write(profile, sink);
  expect(sink.text().match(/^# event/gm)).toHaveLength(EVENTS);
  expect(event.mock.calls.length).toBeLessThan(10 * EVENTS);
});
