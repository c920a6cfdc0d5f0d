import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Inflater } from '../../src/unwrap/inflater.ts';

const openInflater = await Inflater.load();

/** What an inflater makes of pieces of a stream: the bytes, how many are left behind the stream, and what is wrong. */
function inflated(stream: Uint8Array, pieceBytes = stream.length || 1): { bytes: Buffer; left: number; error: string } {
  const inflater = openInflater();
  const pieces: Buffer[] = [];
  let left = 0;
  try {
    for (let at = 0; at < stream.length; at += pieceBytes) {
      const piece = new Uint8Array(stream.subarray(at, at + pieceBytes));
      left += inflater.write(piece, (one) => pieces.push(Buffer.from(one)));
      // Readers of files use their buffer again.
      piece.fill(0xee);
    }
    inflater.end();
  } catch (error) {
    return { bytes: Buffer.concat(pieces), left, error: (error as Error).message };
  }
  return { bytes: Buffer.concat(pieces), left, error: '' };
}

/** Bytes of which some repeat, at distances up to the longest. */
function mixed(size: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(size);
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 8;
  };
  for (let at = 0; at < size; ) {
    const length = 1 + (next() % 400);
    const distance = 1 + (next() % 33_000);
    const isCopy = next() % 3 > 0 && at >= distance;
    for (let nth = 0; nth < length && at < size; nth++, at++) bytes[at] = isCopy ? bytes[at - distance] : next();
  }
  return bytes;
}

const STRATEGIES = [
  ['usual', {}],
  ['stored', { level: 0 }],
  ['fast', { level: 1, memLevel: 1 }],
  ['with fixed codes', { strategy: constants.Z_FIXED }],
  ['without copies', { strategy: constants.Z_HUFFMAN_ONLY }],
  ['with runs', { strategy: constants.Z_RLE }],
] as const;

describe('deflate', () => {
  test.each(STRATEGIES)('is unpacked: %s', (_, options) => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('a'), Buffer.alloc(300_000, 'ab'), mixed(400_000), mixed(70_000, 7)]) {
      const stream = deflateRawSync(bytes, options);
      for (const pieceBytes of [stream.length, 4096, 37, ...(stream.length < 50_000 ? [1, 2, 3] : [])]) {
        const { left, error, ...unpacked } = inflated(stream, pieceBytes);
        expect([left, error]).toEqual([0, '']);
        expect(unpacked.bytes.equals(bytes)).toBe(true);
      }
    }
  });

  test('ends where it ends, whatever follows', () => {
    for (const [, options] of STRATEGIES) {
      const stream = Buffer.concat([deflateRawSync(mixed(5000), options), Buffer.from('what follows')]);
      for (const pieceBytes of [1, 2, 5, 100, stream.length]) expect(inflated(stream, pieceBytes)).toMatchObject({ left: 12, error: '' });
    }
  });

  test('that is cut off is unpacked up to there', () => {
    for (const [, options] of STRATEGIES) {
      const bytes = mixed(3000);
      const stream = deflateRawSync(bytes, options);
      let most = 0;
      for (let size = 0; size < stream.length; size++) {
        const { bytes: unpacked, error } = inflated(stream.subarray(0, size), 100);
        expect(error).toBe('unexpected end of file');
        expect(bytes.subarray(0, unpacked.length).equals(unpacked)).toBe(true);
        most = Math.max(most, unpacked.length);
      }
      expect(most).toBeGreaterThan(bytes.length - 10);
    }
  });

  test('that is damaged, or never was deflate, is refused as zlib does', () => {
    const streams = STRATEGIES.map(([, options]) => deflateRawSync(mixed(2000), options));
    const damaged = fc.tuple(fc.constantFrom(...streams), fc.nat(), fc.integer({ min: 1, max: 255 })).map(([stream, at, change]) => {
      const copy = Buffer.from(stream);
      copy[at % copy.length] ^= change;
      return copy;
    });
    fc.assert(
      fc.property(
        fc.oneof(
          damaged,
          fc.uint8Array({ maxLength: 400 }),
          damaged.map((stream) => stream.subarray(0, 30)),
        ),
        fc.integer({ min: 1, max: 300 }),
        (stream, pieceBytes) => {
          let expected: Buffer | undefined;
          let why = '';
          try {
            expected = inflateRawSync(stream);
          } catch (error) {
            why = (error as Error).message;
          }
          const { bytes, error } = inflated(stream, pieceBytes);
          if (expected === undefined) expect(error).toBe(why);
          else expect([error, bytes.equals(expected)]).toEqual(['', true]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
