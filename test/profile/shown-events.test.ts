import { expect, test } from 'vitest';
import { leftOutEvents } from '../../src/profile/shown-events.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

/** A profile of as many events: `e1` with one sample, `e2` with two … */
function profileOf(count: number) {
  const events = Array.from({ length: count }, (_, i) => Array.from({ length: i + 1 }, () => `e${i + 1}`)).flat();
  return buildProfile(events.map((event, timeNs) => ({ timeNs, event, stack: ['main'] })));
}

test('the events that an output leaves out are named, the most samples first', () => {
  expect(leftOutEvents(profileOf(4), 1)).toBe('e4, e3, e1');
});

test('of many events that an output leaves out, the first ten are named', () => {
  expect(leftOutEvents(profileOf(12), 0)).toBe('e12, e11, e10, e9, e8, e7, e6, e5, e4, e3 and 1 other');
  expect(leftOutEvents(profileOf(14), 0)).toMatch(/, e5 and 3 others$/);
});

test('an output leaves out nothing of a single event', () => {
  expect(leftOutEvents(profileOf(1), 0)).toBe('');
});
