import { describe, expect, it } from 'vitest';
import { ByteView } from '../../src/base/bytes/byte-view.ts';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { type Features, readFeature } from '../../src/perfdata/features/features.ts';
import type { DebugUnwindFile } from '../../src/simpleperf/features.ts';
import { loadProtobuf } from '../../src/simpleperf/protobuf-reader.ts';
import { simpleperfFeatures } from '../support/builders/recordings/perf-encoder.ts';

describe('DEBUG_UNWIND', () => {
  const FILES: readonly DebugUnwindFile[] = [
    { path: '/system/lib64/libc.so', sizeBytes: 300 },
    { path: '/data/app/größer.so', sizeBytes: 2 ** 40 },
    { path: '', sizeBytes: 0 },
  ];
  const bytes = sectionOf(FILES);

  function sectionOf(files: readonly DebugUnwindFile[]): Uint8Array {
    return simpleperfFeatures.debugUnwind(files.map(({ path, sizeBytes }) => ({ path, size: BigInt(sizeBytes) }))).bytes;
  }

  async function read(section: Uint8Array): Promise<{ files: readonly DebugUnwindFile[] | undefined; damaged: number }> {
    await loadProtobuf();
    const features: Features = { present: new Set() };
    const diagnostics = new Diagnostics();
    readFeature(features, 130, new ByteView(section, true), 0, diagnostics);
    return { files: features.simpleperf?.debugUnwindFiles, damaged: diagnostics.count('feature-damaged') };
  }

  it('lists the binaries that the recording holds, with their sizes', async () => {
    expect(await read(bytes)).toEqual({ files: FILES, damaged: 0 });
  });

  it('steps over fields of later versions, in the list and in a file', async () => {
    const later = [0x38, 0x81, 0x01, 0x3a, 1, 0x41]; // 7: 129, 7: 'A'
    const path = [0x0a, 1, 0x61]; // 1: 'a'
    const others = [0x18, 0x81, 0x01, 0x22, 1, 0x62, 0x08, 5, 0x12, 1, 0x63]; // 3: 129, 4: 'b', 1: 5, 2: 'c'
    const size = [0x10, 7]; // 2: 7
    const file = [...path, ...others, ...size, ...others];
    expect(await read(Uint8Array.of(...later, 0x0a, file.length, ...file, ...later))).toEqual({ files: [{ path: 'a', sizeBytes: 7 }], damaged: 0 });
  });

  it('keeps what comes before the place where it is cut off, and reports the damage', async () => {
    const ends = [0, 1, 2, 3].map((count) => sectionOf(FILES.slice(0, count)).length);
    for (let length = 0; length < bytes.length; length++) {
      const { files, damaged } = await read(bytes.subarray(0, length));
      expect(files).toEqual(
        FILES.slice(
          0,
          ends.findLastIndex((end) => end <= length),
        ),
      );
      expect(damaged).toBe(ends.includes(length) ? 0 : 1);
    }
  });

  it('with more files than recordings have keeps the first ones, and is damaged', async () => {
    const many = new Uint8Array(((1 << 16) + 1) * 2).map((_, i) => (i % 2 === 0 ? 0x0a : 0));
    const { files, damaged } = await read(many);
    expect([files?.length, damaged]).toEqual([1 << 16, 1]);
  });

  it('is damaged if a path overruns its file', async () => {
    const overrun = bytes.slice();
    // The length of the first path comes after the tags of the file and of the path, and the length of the file.
    overrun[3] += 4;
    expect(await read(overrun)).toEqual({ files: [], damaged: 1 });
  });
});

describe('META_INFO', () => {
  it('with more entries than anybody writes keeps the first ones, and is damaged', () => {
    const entries = Array.from({ length: (1 << 16) + 1 }, (_, i) => `${i}\0a\0`).join('');
    const features: Features = { present: new Set() };
    const diagnostics = new Diagnostics();
    readFeature(features, 129, new ByteView(new TextEncoder().encode(entries), true), 0, diagnostics);
    expect([features.simpleperf?.metaInfo.size, diagnostics.count('feature-damaged')]).toEqual([1 << 16, 1]);
  });
});
