import { describe, expect, test } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { emptySampleOffsets } from '../../../src/perfdata/samples/sample-layout.ts';
import { Piece } from '../../../src/perfdata/stream/pieces.ts';
import { StackDumps } from '../../../src/session/rows/stack-dumps.ts';
import { runs } from '../../support/thoroughness.ts';

const REGISTERS = 2;

/** A sample with registers and a stack of this many bytes, all with a value that follows from `nr`. */
function sampleOf(nr: number, stackBytes: number): { view: ByteView; offsets: ReturnType<typeof emptySampleOffsets> } {
  const bytes = new Uint8Array(8 + REGISTERS * 8 + 8 + stackBytes + 8).fill(nr & 0xff);
  const data = new DataView(bytes.buffer);
  data.setBigUint64(0, 2n, true);
  const stackUser = 8 + REGISTERS * 8;
  data.setBigUint64(stackUser, BigInt(stackBytes), true);
  data.setBigUint64(stackUser + 8 + stackBytes, BigInt(stackBytes), true);
  return { view: new ByteView(bytes, true), offsets: { ...emptySampleOffsets(), regsUser: 0, stackUser } };
}

function add(dumps: StackDumps, nr: number, stackBytes: number): number {
  const { view, offsets } = sampleOf(nr, stackBytes);
  return dumps.add(view, offsets, REGISTERS, undefined);
}

function expectWhole(dumps: StackDumps, place: number, nr: number, stackBytes: number): void {
  const { bytes } = dumps.viewOf(place);
  const registers = bytes.subarray(dumps.regsOffset(place), dumps.regsOffset(place) + REGISTERS * 8);
  const stack = bytes.subarray(dumps.stackOffset(place), dumps.stackOffset(place) + dumps.stackSizeBytes(place));
  expect(dumps.stackOffset(place)).toBeGreaterThanOrEqual(dumps.regsOffset(place) + REGISTERS * 8);
  expect([registers.length, stack.length, dumps.abi(place)]).toEqual([REGISTERS * 8, stackBytes, 2]);
  expect([...registers, ...stack].every((byte) => byte === (nr & 0xff))).toBe(true);
}

describe('stack dumps', () => {
  test('are kept until they are freed, in whatever order', () => {
    const dumps = new StackDumps(true);
    const waiting = new Map<number, { nr: number; size: number }>();
    for (let nr = 0; nr < runs(3000, 600); nr++) {
      const size = ((nr * 7919) % 65_000) & ~7;
      if (size === 0) continue;
      const place = add(dumps, nr, size);
      expect(waiting.has(place)).toBe(false);
      waiting.set(place, { nr, size });
      if (waiting.size < 40) continue;
      const [freed, { nr: of, size: had }] = [...waiting][(nr * 31) % waiting.size];
      expectWhole(dumps, freed, of, had);
      dumps.free(freed);
      waiting.delete(freed);
    }
    for (const [place, { nr, size }] of waiting) expectWhole(dumps, place, nr, size);
  });

  test('stay in a piece that can be held until they are freed', () => {
    const dumps = new StackDumps(true);
    const { view, offsets } = sampleOf(7, 1000);
    const piece = new Piece(view);
    const places = [dumps.add(view, offsets, REGISTERS, piece), dumps.add(view, offsets, REGISTERS, piece)];
    expect(dumps.viewOf(places[0])).toBe(view);
    expectWhole(dumps, places[0], 7, 1000);
    expect(dumps.heldBytes).toBe(0);
    dumps.free(places[0]);
    expect(piece.isHeld).toBe(true);
    dumps.free(places[1]);
    expect(piece.isHeld).toBe(false);
  });

  test('take no more memory for a long recording than for a short one', () => {
    const dumps = new StackDumps(true);
    const held: number[] = [];
    for (let round = 0; round < 50; round++) {
      const places = Array.from({ length: 500 }, (_, nr) => add(dumps, nr, 8192));
      held.push(dumps.heldBytes);
      for (const place of places) dumps.free(place);
    }
    expect(Math.max(...held)).toBeLessThanOrEqual(held[0] + (1 << 20));
    expect(held[0]).toBeLessThan(6 << 20);
    expect(dumps.heldBytes).toBeLessThan(10 << 20);
  });
});
