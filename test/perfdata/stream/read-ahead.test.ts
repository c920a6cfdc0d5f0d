import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import type { ByteSource } from '../../../src/base/streams/byte-source.ts';
import { RecordStream } from '../../../src/perfdata/stream/record-stream.ts';

const MIB = 1 << 20;
/** Room in front of what was read ahead, by which the first piece is larger. */
const FRONT_BYTES = 128 << 10;
const FIRST_BYTES = MIB + FRONT_BYTES;
/** PERF_RECORD_LOST, of a size that divides no piece; and a type of simpleperf's, whose records may be large. */
const LOST = 2;
const LARGE = 33000;

interface Spec {
  readonly type: number;
  readonly size: number;
}

/** Records that hold their number. */
function encode(specs: readonly Spec[]): Uint8Array {
  const bytes = new Uint8Array(specs.reduce((sum, { size }) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [index, { type, size }] of specs.entries()) {
    view.setUint32(at, type, true);
    view.setUint16(at + 4, type === LARGE ? size >>> 16 : 0, true);
    view.setUint16(at + 6, size & 0xffff, true);
    view.setUint32(at + 8, index, true);
    view.setUint32(at + size - 4, index, true);
    at += size;
  }
  return bytes;
}

const many = (count: number, size = 40_008): Spec[] => Array.from({ length: count }, () => ({ type: LOST, size }));

/** A file that notes each read. @param problem what a read of a position fails with */
function fileOf(bytes: Uint8Array, mayReadAhead = true, problem: (position: number) => Error | undefined = () => undefined) {
  const reads: (readonly [position: number, sizeBytes: number])[] = [];
  const source: ByteSource = {
    name: 'file',
    sizeBytes: bytes.length,
    mayReadAhead,
    async readAt(position, target) {
      reads.push([position, target.length]);
      await new Promise(setImmediate);
      const error = problem(position);
      if (error !== undefined) throw error;
      const part = bytes.subarray(position, position + target.length);
      target.set(part);
      return part.length;
    },
    async close() {},
  };
  return { source, reads };
}

/** Walks all records: their numbers, from their beginnings and their ends, and where they are. @param step is called before each piece is looked at */
async function walk(source: ByteSource, step: () => void = () => {}) {
  const diagnostics = new Diagnostics();
  const stream = new RecordStream(source, { start: 0, end: source.sizeBytes ?? 0, littleEndian: true, maxChunkBytes: MIB }, diagnostics);
  const records: (readonly [first: number, last: number, fileOffset: number])[] = [];
  while (await stream.fill()) {
    step();
    while (stream.next()) {
      const { view, offset, size, fileOffset } = stream;
      records.push([view.u32(offset + 8), view.u32(offset + size - 4), fileOffset]);
    }
  }
  return { records, findings: diagnostics.list() };
}

function expected(specs: readonly Spec[]) {
  let at = 0;
  return specs.map(({ size }, index) => {
    at += size;
    return [index, index, at - size];
  });
}

describe('reading ahead', () => {
  it.each([
    ['small', many(60_000, 64)],
    ['split between pieces', many(130)],
    ['as large as perf makes them', many(90, 65_528)],
    ['larger than the room in front', [...many(40), { type: LARGE, size: 700_000 }, ...many(40), { type: LARGE, size: 3_000_000 }, ...many(40)]],
  ])('finds all records that are %s', async (_, specs) => {
    const { records, findings } = await walk(fileOf(encode(specs)).source);
    expect(records).toEqual(expected(specs));
    expect(findings).toEqual([]);
  });

  it('finds all records around damage', async () => {
    const specs = many(130);
    const bytes = encode(specs);
    // Clears the size of a record that begins in the first piece and ends in the second.
    new DataView(bytes.buffer).setUint16(29 * 40_008 + 6, 0, true);
    const { records, findings } = await walk(fileOf(bytes).source);
    expect(records).toEqual(expected(specs).filter((_, index) => index !== 29));
    expect(findings).toMatchObject([{ firstOffset: 29 * 40_008, message: expect.stringContaining('40008 bytes were skipped') }]);
  });

  it('reads each byte once, and each piece while the records before it are looked at', async () => {
    const bytes = encode(many(100));
    const { source, reads } = fileOf(bytes);
    const readsByPiece: number[] = [];
    await walk(source, () => readsByPiece.push(reads.length));
    expect(reads.slice(0, 3)).toEqual([
      [0, FIRST_BYTES],
      [FIRST_BYTES, MIB],
      [FIRST_BYTES + MIB, MIB],
    ]);
    expect(reads.reduce((sum, [position, size]) => sum + Math.min(size, bytes.length - position), 0)).toBe(bytes.length);
    expect(readsByPiece.slice(0, 3)).toEqual([2, 3, 4]);
  });

  it('does not read ahead if its source does not allow it', async () => {
    const specs = many(100);
    const { source, reads } = fileOf(encode(specs), false);
    const readsByPiece: number[] = [];
    expect((await walk(source, () => readsByPiece.push(reads.length))).records).toEqual(expected(specs));
    expect(readsByPiece.slice(0, 3)).toEqual([1, 2, 3]);
  });

  it('reports an error only when the bytes are asked for', async () => {
    const { source } = fileOf(encode(many(100)), true, (position) => (position > 0 ? new Error('disk') : undefined));
    let pieces = 0;
    await expect(
      walk(source, () => {
        pieces++;
      }),
    ).rejects.toThrow('disk');
    expect(pieces).toBe(1);
  });

  it('goes on after a payload that was stepped over', async () => {
    const specs = many(100);
    const bytes = encode(specs);
    const { source } = fileOf(bytes);
    const stream = new RecordStream(source, { start: 0, end: bytes.length, littleEndian: true, maxChunkBytes: MIB }, new Diagnostics());
    const seen: number[] = [];
    while (await stream.fill()) {
      while (stream.next()) {
        seen.push(stream.view.u32(stream.offset + 8));
        // The payload of the sixth record is sixty records, and that of the eighth is read whole.
        if (seen.length === 6) expect(stream.skipPayloadOf('a record', 60 * 40_008)).toBe(true);
        if (seen.length === 8) expect((await stream.takePayload(2 * 40_008, 'a record'))?.length).toBe(2 * 40_008);
      }
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 66, 67, ...Array.from({ length: 30 }, (_, i) => 70 + i)]);
  });
});
