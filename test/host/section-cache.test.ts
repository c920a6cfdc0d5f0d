import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Compression } from '../../src/base/streams/decompressor.ts';
import { decompress } from '../../src/host/compression/decompress.ts';
import { SectionCache } from '../../src/host/symbols/section-cache.ts';

const TEXT = Buffer.from('the lines of libc. '.repeat(50));
const OTHER = Buffer.from('the lines of libm. '.repeat(50));

/** Sections that are kept, and what was really unpacked. */
function counted(maxSizeBytes?: number): { sections: SectionCache; unpacked: string[] } {
  const unpacked: string[] = [];
  const unpack = async (compression: Compression, bytes: Uint8Array, maxSize: number): Promise<Uint8Array> => {
    const whole = await decompress(compression, bytes, maxSize);
    unpacked.push(Buffer.from(whole.subarray(13, 17)).toString());
    return whole;
  };
  return { sections: new SectionCache(unpack, maxSizeBytes), unpacked };
}

describe('kept sections', () => {
  test('are unpacked only once, whatever buffer their bytes are in', async () => {
    const { sections, unpacked } = counted();
    for (let nth = 0; nth < 3; nth++) {
      expect(Buffer.from(await sections.decompress('zlib', deflateSync(TEXT), 5000))).toEqual(TEXT);
      expect(Buffer.from(await sections.decompress('zlib', deflateSync(OTHER), 5000))).toEqual(OTHER);
    }
    expect(unpacked).toEqual(['libc', 'libm']);
  });

  test('do not change if a caller changes the result', async () => {
    const { sections } = counted();
    const packed = deflateSync(TEXT);
    (await sections.decompress('zlib', packed, 5000)).fill(0);
    expect(Buffer.from(await sections.decompress('zlib', packed, 5000))).toEqual(TEXT);
  });

  test('are refused if they are larger than allowed, as if they were not kept', async () => {
    const { sections } = counted();
    const packed = deflateSync(TEXT);
    await sections.decompress('zlib', packed, TEXT.length);
    await expect(sections.decompress('zlib', packed, TEXT.length - 1)).rejects.toMatchObject({ code: 'damaged' });
  });

  test('are dropped if they would take too much memory, the oldest first', async () => {
    const packed = deflateSync(TEXT);
    const { sections, unpacked } = counted(1.5 * (packed.length + TEXT.length));
    for (const bytes of [packed, packed, deflateSync(OTHER), packed]) await sections.decompress('zlib', bytes, 5000);
    expect(unpacked).toEqual(['libc', 'libm', 'libc']);
  });

  test('do not displace others if they are too large to be kept', async () => {
    const { sections, unpacked } = counted(1.5 * (deflateSync(TEXT).length + TEXT.length));
    const large = deflateSync(Buffer.concat([OTHER, OTHER, OTHER]));
    for (const bytes of [deflateSync(TEXT), large, deflateSync(TEXT), large]) await sections.decompress('zlib', bytes, 5000);
    expect(unpacked).toEqual(['libc', 'libm', 'libm']);
  });

  test('are kept once if requested twice at the same time', async () => {
    const size = deflateSync(TEXT).length + TEXT.length;
    const { sections, unpacked } = counted(2 * size + 10);
    await Promise.all([sections.decompress('zlib', deflateSync(TEXT), 5000), sections.decompress('zlib', deflateSync(TEXT), 5000)]);
    for (const text of [OTHER, TEXT, OTHER]) await sections.decompress('zlib', deflateSync(text), 5000);
    expect(unpacked.sort()).toEqual(['libc', 'libc', 'libm']);
  });

  test('are not kept if they cannot be unpacked', async () => {
    const { sections } = counted();
    for (let nth = 0; nth < 2; nth++) await expect(sections.decompress('zlib', TEXT, 5000)).rejects.toMatchObject({ code: 'damaged' });
  });
});
