import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { announceSkipped, makeTempDir, recordWithPerf, removeTempDir, whyNoRecording } from '../support/perf/perf-tool.ts';

const whyNot = whyNoRecording();
if (whyNot !== undefined) announceSkipped('what recording leaves in the home directory', whyNot);

test.skipIf(whyNot !== undefined)("recording leaves nothing in perf's build-id cache", () => {
  const directory = makeTempDir();
  try {
    recordWithPerf(['-e', 'cpu-clock', '-o', join(directory, 'perf.data'), 'true'], { env: { HOME: directory } });
    expect(readdirSync(directory)).toEqual(['perf.data']);
  } finally {
    removeTempDir(directory);
  }
});
