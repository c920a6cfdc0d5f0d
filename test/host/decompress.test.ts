import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import type { Compression } from '../../src/base/streams/decompressor.ts';
import { decompress } from '../../src/host/compression/decompress.ts';

const TEXT = Buffer.from('debug information '.repeat(1000));
/** A frame of one block, 17 times the same byte: magic, single segment with a size of one byte, last RLE block. Source: RFC 8878. */
const ZSTD = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, 17, (17 << 3) | (1 << 1) | 1, 0, 0, 0x61);
const XZ = readFileSync(fileURLToPath(new URL('packed/words.xz', import.meta.url)));

const cases: readonly (readonly [Compression, Uint8Array, number])[] = [
  ['zlib', deflateSync(TEXT), TEXT.length],
  ['gzip', gzipSync(TEXT), TEXT.length],
  ['zstd', ZSTD, 17],
];

describe.each(cases)('decompress %s', (compression, packed, sizeBytes) => {
  it('unpacks complete data up to the given size', async () => {
    const bytes = await decompress(compression, packed, sizeBytes);
    expect(bytes.length).toBe(sizeBytes);
    expect(Buffer.from(bytes).toString()).toBe(compression === 'zstd' ? 'a'.repeat(17) : TEXT.toString());
    expect((await decompress(compression, packed, 1e15)).length).toBe(sizeBytes);
    await expect(decompress(compression, packed, sizeBytes - 1)).rejects.toThrow(`unpacks to more than ${sizeBytes - 1} bytes`);
  });

  it('ignores what follows the data', async () => {
    expect((await decompress(compression, Buffer.concat([packed, Buffer.from('something else')]), 1 << 20)).length).toBe(sizeBytes);
  });

  it('refuses data that is damaged or cut off', async () => {
    for (const bytes of [packed.subarray(0, packed.length - 1), packed.subarray(0, 3), Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)]) {
      await expect(decompress(compression, bytes, 1 << 20)).rejects.toThrow(PerfconvError);
    }
  });
});

it('decompress zlib unpacks data of any size, on this and on another thread', async () => {
  const noise = Buffer.from(Uint32Array.from({ length: 1 << 18 }, (_, i) => Math.imul(i, 0x9e3779b1) ^ (i >>> 3)).buffer);
  const large = Buffer.concat([noise, noise, noise, noise, noise]);
  for (const bytes of [Buffer.alloc(1), noise.subarray(0, 1000), noise, Buffer.alloc(3 << 20), large, Buffer.alloc(9 << 20, 'x')]) {
    const packed = deflateSync(bytes);
    expect(Buffer.compare(await decompress('zlib', packed, bytes.length), bytes)).toBe(0);
    expect(Buffer.compare(await decompress('zlib', packed, bytes.length + 1), bytes)).toBe(0);
    if (bytes.length > 1) await expect(decompress('zlib', packed, bytes.length - 1)).rejects.toThrow('unpacks to more');
  }
});

it.each(cases.filter(([compression]) => compression !== 'zlib'))('decompress %s unpacks consecutive frames', async (compression, packed, sizeBytes) => {
  expect((await decompress(compression, Buffer.concat([packed, packed]), 1 << 20)).length).toBe(2 * sizeBytes);
});

describe('decompress xz', () => {
  it('unpacks complete data up to the given size', async () => {
    const bytes = await decompress('xz', XZ, 1 << 20);
    expect(bytes.length).toBeGreaterThan(10);
    expect(await decompress('xz', XZ, bytes.length)).toEqual(bytes);
    await expect(decompress('xz', XZ, bytes.length - 1)).rejects.toThrow('unpacks to more than');
  });

  it('refuses data that is damaged or cut off, and continues', async () => {
    await expect(decompress('xz', XZ.subarray(0, 30), 1 << 20)).rejects.toThrow(PerfconvError);
    await expect(decompress('xz', TEXT, 1 << 20)).rejects.toThrow(PerfconvError);
    expect((await decompress('xz', XZ, 1 << 20)).length).toBeGreaterThan(10);
  });
});
