import { expect, it } from 'vitest';
import { BufferSink } from '../../src/bytes/byte-sink.ts';
import { writeScript } from '../../src/writers/script.ts';
import { buildProfile } from '../support/build-profile.ts';

it('a recording may have more events than a function takes arguments', async () => {
  const profile = buildProfile([{ timeNs: 0, stack: ['main'] }]);
  const events = new Array<(typeof profile.events)[number]>(200_000).fill(profile.events[0]);
  const sink = new BufferSink();
  await writeScript({ ...profile, events }, sink);
  expect(sink.text()).toContain(`${events[0].name}: `);
});
