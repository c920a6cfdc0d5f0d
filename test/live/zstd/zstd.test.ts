import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ZstdDecoder } from '../../../src/zstd/decoder.ts';
import { openCore } from '../../../src/zstd/open-core.ts';
import { PlainCore } from '../../../src/zstd/plain-core.ts';
import { skewedBytes, wordyText } from '../../support/builders/zstd-streams.ts';
import { announceSkipped, whyMissing } from '../../support/perf/perf-tool.ts';
import { decompress, equal, joined } from '../../support/readers/zstd-decoding.ts';

const CORES = [
  ['in WebAssembly', openCore],
  ['in JavaScript', () => new PlainCore()],
] as const;

const whyNoZstd = whyMissing('zstd');
if (whyNoZstd !== undefined) announceSkipped('what the zstd program compresses', whyNoZstd);

describe.skipIf(whyNoZstd !== undefined)('data that the zstd program compresses', () => {
  const fixtures = ['threads.data', 'pipe.data', 'kallsyms'].map((name) => readFileSync(fileURLToPath(new URL(`../../../fixtures/${name}`, import.meta.url))));
  // Repeated far apart, so that matches reach across a window of several megabytes.
  const content = joined(...fixtures, wordyText(3_000_000, 9), skewedBytes(300_000), ...fixtures, wordyText(3_000_000, 9), ...fixtures);
  test.each(['-1', '-3', '-9 --no-check', '-15', '--ultra -22', '--fast=5', '--long=27 -4'])('at %s is decompressed', (level) => {
    const options = level.split(' ');
    const compressed = new Uint8Array(execFileSync('zstd', [...options, '-c', '-q'], { input: content, maxBuffer: 1 << 28 }));
    for (const [name, open] of CORES) {
      const outcome = decompress(
        new ZstdDecoder(open()),
        compressed,
        [65_528, 131_056, 200_000].filter((cut) => cut < compressed.length),
      );
      expect(outcome.error, name).toBeUndefined();
      expect(equal(outcome.bytes, content), name).toBe(true);
      expect(outcome.isAtFrameEnd, name).toBe(true);
    }
  });
});
