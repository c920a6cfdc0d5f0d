import { expect, test } from 'vitest';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import type { ReadRecording } from '../../src/pipeline/read-recording.ts';
import { writeTables } from '../../src/pipeline/write-tables.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

test('tables of a recording that was read without its records are refused, not left out', async () => {
  const recording = { profile: buildProfile([]), log: undefined } as unknown as ReadRecording;
  await expect(writeTables(recording, async () => new BufferSink(), {})).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/^CSV needs every record/),
  });
});
