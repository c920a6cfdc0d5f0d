import { readFileSync } from 'node:fs';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { decompressInEngine } from '../../src/web/decompress.ts';

const TEXT = Buffer.from('perf record '.repeat(10_000));
/** `zstd` of the text "perf\n". */
const ZSTD = Buffer.from('KLUv/QRYKQAAcGVyZgqxvIcf', 'base64');

afterEach(() => vi.unstubAllGlobals());

test.each([
  ['zlib', deflateSync(TEXT)],
  ['gzip', gzipSync(TEXT)],
] as const)('%s is unpacked', async (compression, packed) => {
  expect(Buffer.from(await decompressInEngine(compression, packed, TEXT.length))).toEqual(TEXT);
  await expect(decompressInEngine(compression, packed, TEXT.length - 1)).rejects.toMatchObject({
    code: 'damaged',
    message: expect.stringContaining('unpacks to more'),
  });
  await expect(decompressInEngine(compression, packed.subarray(0, 40), TEXT.length)).rejects.toMatchObject({ code: 'damaged' });
  await expect(decompressInEngine(compression, Buffer.from('not packed'), TEXT.length)).rejects.toMatchObject({ code: 'damaged' });
});

test('zlib is refused where the class is there, and refuses, as in the sandbox of Next.js', async () => {
  const refuse = class {
    constructor() {
      throw new Error('not supported in the Edge Runtime');
    }
  };
  vi.stubGlobal('DecompressionStream', refuse);
  const message = "zlib is not unpacked here: this engine's DecompressionStream refuses";
  await expect(decompressInEngine('zlib', deflateSync(TEXT), TEXT.length)).rejects.toMatchObject({ code: 'unsupported', message });
});

test('only zlib needs an engine with DecompressionStream', async () => {
  vi.stubGlobal('DecompressionStream', undefined);
  await expect(decompressInEngine('zlib', deflateSync(TEXT), TEXT.length)).rejects.toMatchObject({ code: 'unsupported' });
  expect(Buffer.from(await decompressInEngine('gzip', gzipSync(TEXT), TEXT.length))).toEqual(TEXT);
});

test('gzip is unpacked to its end, member by member', async () => {
  const packed = Buffer.concat([gzipSync(TEXT), gzipSync('and more'), Buffer.from('what follows')]);
  expect(Buffer.from(await decompressInEngine('gzip', packed, 2 * TEXT.length)).toString()).toBe(`${TEXT}and more`);
});

test('an engine that unpacks all that it is given at once is given little at a time', async () => {
  let unpackedBytes = 0;
  class GreedyStream extends TransformStream<Uint8Array, Uint8Array> {
    constructor() {
      super({
        transform: (chunk, controller) => {
          unpackedBytes += 64 * chunk.length;
          controller.enqueue(new Uint8Array(64 * chunk.length));
        },
      });
    }
  }
  vi.stubGlobal('DecompressionStream', GreedyStream);
  await expect(decompressInEngine('zlib', new Uint8Array(1 << 20), 1 << 20)).rejects.toMatchObject({ code: 'damaged' });
  expect(unpackedBytes).toBeLessThan(1 << 22);
});

test('zstd is unpacked without the engine', async () => {
  expect(Buffer.from(await decompressInEngine('zstd', ZSTD, 100)).toString()).toBe('perf\n');
  await expect(decompressInEngine('zstd', ZSTD.subarray(0, 12), 100)).rejects.toMatchObject({ code: 'damaged' });
  await expect(decompressInEngine('zstd', ZSTD, 4)).rejects.toMatchObject({ code: 'damaged' });
});

test('xz is refused with a reason where no WebAssembly may run, as in workerd', async () => {
  const packed = readFileSync(new URL('../host/packed/plain.data.xz', import.meta.url));
  const Module = class {
    constructor() {
      throw new Error('disallowed by embedder');
    }
  };
  vi.stubGlobal('WebAssembly', { Module });
  await expect(decompressInEngine('xz', packed, 1 << 20)).rejects.toMatchObject({
    code: 'unsupported',
    message: 'xz is not unpacked here: this engine runs no WebAssembly: disallowed by embedder (run unxz)',
  });
});

test('xz is unpacked in WebAssembly', async () => {
  const packed = readFileSync(new URL('../host/packed/plain.data.xz', import.meta.url));
  const text = readFileSync(new URL('../../fixtures/plain.data', import.meta.url));
  expect(Buffer.from(await decompressInEngine('xz', packed, text.length))).toEqual(text);
  await expect(decompressInEngine('xz', packed, text.length - 1)).rejects.toMatchObject({ code: 'damaged' });
  await expect(decompressInEngine('xz', packed.subarray(0, 2000), text.length)).rejects.toMatchObject({ code: 'damaged' });
  await expect(decompressInEngine('xz', new Uint8Array(8), 100)).rejects.toMatchObject({ code: 'damaged' });
});
