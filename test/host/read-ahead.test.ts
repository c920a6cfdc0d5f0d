import { describe, expect, it } from 'vitest';
import { ReadAhead } from '../../src/host/read-ahead.ts';

const MIB = 1 << 20;
const FILE = Uint8Array.from({ length: 9 * MIB + 77 }, (_, i) => (i * 2654435761) >>> 24);

/** A file of which each read is noted. @param problem what a read of a position fails with */
function noting(problem: (position: number) => Error | undefined = () => undefined) {
  const reads: (readonly [position: number, sizeBytes: number])[] = [];
  const ahead = new ReadAhead(async (position, target) => {
    reads.push([position, target.length]);
    await new Promise(setImmediate);
    const error = problem(position);
    if (error !== undefined) throw error;
    const part = FILE.subarray(position, position + target.length);
    target.set(part);
    return part.length;
  });
  return { ahead, reads };
}

async function readAll(ahead: ReadAhead, sizeBytes: (position: number) => number): Promise<Uint8Array> {
  const read = new Uint8Array(FILE.length);
  for (let position = 0; ; ) {
    const target = new Uint8Array(sizeBytes(position));
    const count = await ahead.readAt(position, target);
    if (count === 0) return read.subarray(0, position);
    read.set(target.subarray(0, count), position);
    position += count;
  }
}

describe('reading ahead', () => {
  it.each([
    ['all of the same size', () => 2 * MIB],
    ['smaller by parts of records', (position: number) => 4 * MIB - (position % 60_001)],
    ['smaller than what was read ahead', (position: number) => (position === 0 ? 4 * MIB : 1000 + (position % MIB))],
    ['of some bytes', () => 100_000],
  ])('gives the bytes of the file to reads that are %s', async (_, sizeBytes) => {
    expect(Buffer.compare(await readAll(noting().ahead, sizeBytes), FILE)).toBe(0);
  });

  it('reads each byte once, and what follows before it is asked for', async () => {
    const { ahead, reads } = noting();
    await ahead.readAt(0, new Uint8Array(2 * MIB));
    expect(reads).toEqual([
      [0, 2 * MIB],
      [2 * MIB, 2 * MIB],
    ]);
    await ahead.readAt(2 * MIB, new Uint8Array(2 * MIB));
    expect(reads.slice(2)).toEqual([[4 * MIB, 2 * MIB]]);
  });

  it('does not read on behind small reads', async () => {
    const { ahead, reads } = noting();
    await ahead.readAt(0, new Uint8Array(4096));
    expect(reads).toEqual([[0, 4096]]);
  });

  it('begins anew where a reader goes on elsewhere', async () => {
    const { ahead, reads } = noting();
    await ahead.readAt(0, new Uint8Array(MIB));
    await ahead.readAt(5 * MIB, new Uint8Array(MIB));
    expect(reads.map(([position]) => position / MIB)).toEqual([0, 1, 5, 6]);
  });

  it('gives the same bytes to two readers at once', async () => {
    const { ahead } = noting();
    await ahead.readAt(0, new Uint8Array(MIB));
    const targets = [new Uint8Array(MIB), new Uint8Array(MIB)];
    expect(await Promise.all(targets.map((target) => ahead.readAt(MIB, target)))).toEqual([MIB, MIB]);
    for (const target of targets) expect(Buffer.compare(target, FILE.subarray(MIB, 2 * MIB))).toBe(0);
  });

  it('keeps what it has read while somebody waits to take it, whatever another reader does', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ahead = new ReadAhead(async (position, target) => {
      if (position === MIB) await held;
      target.set(FILE.subarray(position, position + target.length));
      return target.length;
    });
    await ahead.readAt(0, new Uint8Array(MIB));
    const other = ahead.readAt(4 * MIB, new Uint8Array(2 * MIB));
    await new Promise(setImmediate);
    const target = new Uint8Array(MIB);
    const taken = ahead.readAt(MIB, target);
    release();
    expect(await Promise.all([taken, other])).toEqual([MIB, 2 * MIB]);
    expect(Buffer.compare(target, FILE.subarray(MIB, 2 * MIB))).toBe(0);
  });

  it('reports an error when its bytes are asked for', async () => {
    const { ahead, reads } = noting((position) => (position >= MIB ? new Error('disk') : undefined));
    expect(await ahead.readAt(0, new Uint8Array(MIB))).toBe(MIB);
    await new Promise(setImmediate);
    await expect(ahead.readAt(MIB, new Uint8Array(MIB))).rejects.toThrow('disk');
    expect(reads.length).toBe(3);
  });
});
