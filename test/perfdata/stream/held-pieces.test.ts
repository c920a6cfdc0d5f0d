import { describe, expect, it } from 'vitest';
import type { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import type { ByteSource } from '../../../src/base/streams/byte-source.ts';
import { NestedRecords } from '../../../src/perfdata/stream/nested-records.ts';
import type { Piece } from '../../../src/perfdata/stream/pieces.ts';
import type { RecordCursor } from '../../../src/perfdata/stream/record-cursor.ts';
import { RecordStream } from '../../../src/perfdata/stream/record-stream.ts';

const MIB = 1 << 20;
/** PERF_RECORD_LOST, and a type of simpleperf's, whose records may be large. */
const LOST = 2;
const LARGE = 33000;

/** Records of these sizes, filled with words that hold their number. */
function encode(sizes: readonly number[]): Uint8Array {
  const words = new Uint32Array(sizes.reduce((sum, size) => sum + size, 0) / 4);
  const view = new DataView(words.buffer);
  let at = 0;
  for (const [nr, size] of sizes.entries()) {
    words.fill(nr, at / 4, (at + size) / 4);
    view.setUint32(at, size > 0xffff ? LARGE : LOST, true);
    view.setUint16(at + 4, size >>> 16, true);
    view.setUint16(at + 6, size & 0xffff, true);
    at += size;
  }
  return new Uint8Array(words.buffer);
}

interface Kept {
  readonly piece: Piece;
  readonly view: ByteView;
  readonly offset: number;
  readonly size: number;
  readonly nr: number;
}

/** Holds the last records that were walked, up to a number, and looks at each again when it lets go of it. */
class Holder {
  readonly #count: number;
  readonly #kept: Kept[] = [];
  readonly seen: number[] = [];
  copied = 0;

  constructor(count: number) {
    this.#count = count;
  }

  look({ piece, view, offset, size }: RecordCursor): void {
    const nr = view.u32(offset + 8);
    this.seen.push(nr);
    if (piece === undefined) {
      this.copied++;
      return;
    }
    expect(piece.view).toBe(view);
    piece.hold();
    this.#kept.push({ piece, view, offset, size, nr });
    if (this.#kept.length > this.#count) this.#release();
  }

  finish(): void {
    while (this.#kept.length > 0) this.#release();
  }

  #release(): void {
    const { piece, view, offset, size, nr } = this.#kept.shift() as Kept;
    for (let at = offset + 8; at < offset + size; at += 4) if (view.u32(at) !== nr) expect.unreachable(`record ${nr} holds ${view.u32(at)}`);
    piece.release();
  }
}

async function walkFile(bytes: Uint8Array, holder: Holder, mayReadAhead = true): Promise<number> {
  const buffers = new Set<ArrayBufferLike>();
  const source: ByteSource = {
    name: 'file',
    sizeBytes: bytes.length,
    mayReadAhead,
    async readAt(position, target) {
      buffers.add(target.buffer);
      const part = bytes.subarray(position, position + target.length);
      target.set(part);
      return part.length;
    },
    async close() {},
  };
  const stream = new RecordStream(source, { start: 0, end: bytes.length, littleEndian: true, maxChunkBytes: MIB }, new Diagnostics());
  while (await stream.fill()) while (stream.next()) holder.look(stream);
  holder.finish();
  return buffers.size;
}

function walkNested(bytes: Uint8Array, holder: Holder): void {
  const records = new NestedRecords(true, new Diagnostics());
  for (let at = 0; at < bytes.length; at += 100_000) {
    records.append(bytes.subarray(at, at + 100_000), 0);
    while (records.next()) holder.look(records);
  }
  expect(records.end()).toBe(false);
  holder.finish();
}

const SIZES = Array.from({ length: 900 }, (_, nr) => 8 + 8 * ((nr * 7919) % 2000) + 8);
const NUMBERS = SIZES.map((_, nr) => nr);

describe('pieces of a file that are held', () => {
  it.each([1, 10, 100])('keep their bytes while the walk goes on: the last %i records', async (count) => {
    const holder = new Holder(count);
    const buffers = await walkFile(encode(SIZES), holder);
    expect(holder.seen).toEqual(NUMBERS);
    expect(holder.copied).toBe(0);
    expect(buffers).toBeLessThanOrEqual(4);
  });

  it('are at most three: what comes after them can only be copied', async () => {
    const holder = new Holder(Number.POSITIVE_INFINITY);
    expect(await walkFile(encode(SIZES), holder)).toBeLessThanOrEqual(6);
    expect(holder.seen).toEqual(NUMBERS);
    expect(holder.copied).toBeGreaterThan(300);
    expect(holder.copied).toBeLessThan(600);
  });

  it('keep their bytes where a record is larger than a piece', async () => {
    const sizes = [...SIZES.slice(0, 100), 3 * MIB, ...SIZES.slice(100, 200), 200_000, ...SIZES.slice(200, 400)];
    const holder = new Holder(20);
    await walkFile(encode(sizes), holder);
    expect(holder.seen).toEqual(sizes.map((_, nr) => nr));
  });

  it('cannot be held where nothing may be read ahead', async () => {
    const holder = new Holder(1);
    expect(await walkFile(encode(SIZES), holder, false)).toBe(1);
    expect(holder.copied).toBe(SIZES.length);
  });
});

describe('pieces of decompressed records that are held', () => {
  it.each([1, 10, 100])('keep their bytes while the walk goes on: the last %i records', (count) => {
    const holder = new Holder(count);
    walkNested(encode(SIZES), holder);
    expect(holder.seen).toEqual(NUMBERS);
    expect(holder.copied).toBe(0);
  });

  it('are not taken for others after a record that was larger than a piece', () => {
    const sizes = [...SIZES.slice(0, 100), MIB, ...SIZES.slice(100, 300)];
    const holder = new Holder(10);
    walkNested(encode(sizes), holder);
    expect(holder.seen).toEqual(sizes.map((_, nr) => nr));
    expect(holder.copied).toBeGreaterThan(0);
    expect(holder.copied).toBeLessThan(30);
  });
});
