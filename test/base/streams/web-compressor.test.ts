import { inflateRawSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSink, type ByteSink } from '../../../src/base/streams/byte-sink.ts';
import { WebCompressor } from '../../../src/base/streams/web-compressor.ts';

const CHUNK_BYTES = 1 << 16;
const CHUNKS = 20;
/** The target gets at least that many pieces. */
const LEAST_WRITES = 5;

/** Bytes that do not become fewer. */
function noise(seed: number): Uint8Array {
  let state = seed + 1;
  return Uint8Array.from({ length: CHUNK_BYTES }, () => {
    state = Math.imul(state, 1_664_525) + 1_013_904_223;
    return state >>> 24;
  });
}

async function compress(target: ByteSink): Promise<void> {
  const compressor = new WebCompressor(target, 'deflate-raw');
  try {
    const reused = new Uint8Array(CHUNK_BYTES);
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      reused.set(noise(chunk));
      await compressor.write(reused);
    }
    await compressor.end();
  } catch (error) {
    await compressor.destroy();
    throw error;
  }
}

describe('an engine that does not compress', () => {
  const refuse = class {
    constructor() {
      throw new Error('not supported in the Edge Runtime');
    }
  };
  test.each([
    [undefined, 'this engine does not compress (it has no CompressionStream): give gzip: false'],
    [refuse, 'this engine does not compress (its CompressionStream refuses): give gzip: false'],
  ])('is told from a fault: %s', (stub, message) => {
    vi.stubGlobal('CompressionStream', stub);
    try {
      expect(() => new WebCompressor(new BufferSink(), 'gzip', ': give gzip: false')).toThrow(new PerfconvError('unsupported', message));
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe('what is compressed by the engine', () => {
  test('is written as a whole, though the buffer is reused', async () => {
    const sink = new BufferSink();
    await compress(sink);
    const expected = Buffer.concat(Array.from({ length: CHUNKS }, (_, chunk) => noise(chunk)));
    expect(Buffer.compare(inflateRawSync(sink.bytes()), expected)).toBe(0);
  });

  test.each(Array.from({ length: LEAST_WRITES }, (_, nth) => nth))('ends with the error of a target that fails after %i writes', async (wholeWrites) => {
    const failure = new Error('the disk is full');
    let writes = 0;
    const target = {
      write: async () => {
        await new Promise((done) => setTimeout(done));
        if (writes++ === wholeWrites) throw failure;
      },
    };
    await expect(compress(target)).rejects.toBe(failure);
    expect(writes).toBe(wholeWrites + 1);
  });
});
