import { expect, test } from 'vitest';
import { State } from '../../viewer/view/state.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { pageRecording } from '../support/builders/profiles/page-recording.ts';

test('an event without periods does not change what is counted of others', async () => {
  const profile = buildProfile([
    { timeNs: 0, period: 5, stack: ['main'] },
    { timeNs: 1, event: 'page-faults', period: 0, stack: ['main'] },
  ]);
  const state = new State(await pageRecording(profile));
  const [first, other] = [state.selection.event, 1 - state.selection.event];
  state.select({ event: other });
  const ofOther = state.unit;
  state.select({ event: first });
  expect([ofOther, state.unit]).toEqual(['samples', 'nanoseconds']);
  state.select({ weight: 'samples' });
  state.select({ event: other });
  state.select({ event: first });
  expect(state.unit).toBe('samples');
});
