import { describe, expect, it, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { readHeader } from '../../src/perfdata/header/file-header.ts';
import { walkRecords } from '../../src/perfdata/record-walk.ts';
import type { RecordCursor } from '../../src/perfdata/stream/record-cursor.ts';
import type { RecordVisitor } from '../../src/perfdata/stream/record-visitor.ts';
import { compressedRecords } from '../support/builders/recordings/compressed-records.ts';
import { splitRecord } from '../support/builders/recordings/perf-encoder/simpleperf.ts';
import { type AttrSpec, encodeFile, encodeRecord, type RecordSpec, record } from '../support/builders/recordings/perf-encoder.ts';

const ATTRS: AttrSpec[] = [{ name: 'cpu-clock', period: 1n, ids: [1n], sampleType: ['ip', 'tid', 'time'], flags: ['sampleIdAll'] }];
const COUNT = 200;
const SAMPLES = Array.from({ length: COUNT }, (_, i) => record.sample({ ip: BigInt(i), pid: 9, time: 1n }));
const SAMPLE = 9;

/** Waits after every `step`th sample, and must not be given anything until it has been waited for. */
class WaitingVisitor implements RecordVisitor {
  readonly seen: number[] = [];
  isBlocked = false;
  waits = 0;
  readonly #step: number;

  constructor(step: number) {
    this.#step = step;
  }

  visit({ type, view, offset }: RecordCursor): void {
    expect(this.isBlocked).toBe(false);
    if (type !== SAMPLE) return;
    this.seen.push(view.u64(offset + 8));
    this.isBlocked = this.seen.length % this.#step === 0;
  }

  visitTracingData(): void {}

  endPiece(): number {
    expect(this.isBlocked).toBe(false);
    this.isBlocked = true;
    return 0;
  }

  async settle(): Promise<void> {
    expect(this.isBlocked).toBe(true);
    await new Promise((done) => setTimeout(done, 0));
    this.waits++;
    this.isBlocked = false;
  }
}

async function walk(records: readonly RecordSpec[], visitor: WaitingVisitor, parts: readonly Uint8Array[] = []): Promise<Diagnostics> {
  const source = Object.assign(new BufferSource(encodeFile({ attrs: ATTRS, records, features: { hostname: 'h' } }), 'data'), {
    ...(parts.length > 0 && { parts: parts.map((bytes, i) => new BufferSource(bytes, `data.${i}`)) }),
  });
  const diagnostics = new Diagnostics();
  await walkRecords(source, await readHeader(source, diagnostics), visitor, {}, diagnostics);
  return diagnostics;
}

describe.each([1, 7])('a visitor that waits after each of %d samples', (step) => {
  test.each<[string, readonly RecordSpec[]]>([
    ['in plain records', SAMPLES],
    ['in compressed records', compressedRecords(SAMPLES, ATTRS, 'COMPRESSED', 300)],
    ['in one compressed record', compressedRecords(SAMPLES, ATTRS, 'COMPRESSED', 60_000)],
    ['in pieces', SAMPLES.flatMap((sample) => splitRecord(sample, ATTRS, 16))],
    [
      'in pieces in compressed records',
      compressedRecords(
        SAMPLES.flatMap((sample) => splitRecord(sample, ATTRS, 16)),
        ATTRS,
        'COMPRESSED',
        5000,
      ),
    ],
  ])('sees all records in order: %s', async (_, records) => {
    const visitor = new WaitingVisitor(step);
    const diagnostics = await walk(records, visitor);
    expect(visitor.seen).toEqual(Array.from({ length: COUNT }, (_, i) => i));
    expect(visitor.waits).toBe(Math.floor(COUNT / step));
    expect(diagnostics.list()).toEqual([]);
  });

  it('is also waited for at the end of a piece', async () => {
    const part = Buffer.concat(SAMPLES.map((sample) => encodeRecord(sample, ATTRS)));
    const visitor = new WaitingVisitor(step);
    await walk([], visitor, [part, part]);
    expect(visitor.seen).toHaveLength(2 * COUNT);
    expect(visitor.isBlocked).toBe(false);
  });
});
