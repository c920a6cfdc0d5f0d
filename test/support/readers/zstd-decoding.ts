import { expect } from 'vitest';
import type { ZstdDecoder } from '../../../src/zstd/decoder.ts';

export interface Outcome {
  readonly bytes: Uint8Array;
  /** Bytes that each push gave. */
  readonly counts: readonly number[];
  readonly error: unknown;
  readonly isAtFrameEnd: boolean;
}

/** Pushes bytes in pieces that end at the cuts and at their end. */
export function decompress(stream: ZstdDecoder, bytes: Uint8Array, cuts: readonly number[] = []): Outcome {
  const pieces: Uint8Array[] = [];
  const counts: number[] = [];
  let error: unknown;
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    let count = 0;
    // Bytes may be overwritten after they were pushed.
    const pushed = bytes.slice(from, to);
    try {
      stream.push(pushed, (piece) => {
        expect(piece.length).toBeGreaterThan(0);
        expect(piece.length).toBeLessThanOrEqual(128 << 10);
        count += piece.length;
        pieces.push(piece.slice());
      });
    } catch (thrown) {
      error ??= thrown;
    }
    pushed.fill(0xff);
    counts.push(count);
    from = to;
  }
  return { bytes: Buffer.concat(pieces), counts, error, isAtFrameEnd: stream.isAtFrameEnd };
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
