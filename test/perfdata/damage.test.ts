import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { readRecords } from '../../src/records/read-records.ts';
import { SP_SPLIT } from '../../src/simpleperf/constants.ts';
import { type AttrSpec, encodeFile, encodePipe, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';
import { decode } from '../support/readers/decode.ts';
import { readingFindings } from '../support/readers/reading-findings.ts';

const ATTRS: AttrSpec[] = [{ name: 'cpu-clock', period: 1n, ids: [1n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] }];
/** header, ip, tid, time, period */
const SAMPLE_BYTES = 40;
const COUNT = 5000;

const sample = (time: number) => record.sample({ time: BigInt(time), ip: 0x400010n, pid: 9, period: 1n });
const samples = Array.from({ length: COUNT }, (_, i) => sample(i + 1));

const RECORDINGS = [
  ['file', encodeFile({ attrs: ATTRS, records: samples })],
  ['file that was not ended', encodeFile({ attrs: ATTRS, records: samples, unfinished: true })],
  ['big-endian file', encodeFile({ attrs: ATTRS, records: samples, byteOrder: 'big' })],
  ['pipe', encodePipe({ attrs: ATTRS, records: samples })],
] as const;

/** Where the samples begin, counted from their end. */
function firstSampleAt(bytes: Uint8Array): number {
  return bytes.length - SAMPLE_BYTES * COUNT - tailBytes(bytes);
}

/** Bytes after the last sample: the feature table of a file. */
function tailBytes(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const littleEndian = bytes[0] === 0x50;
  const isPipe = view.getBigUint64(8, littleEndian) === 16n;
  const dataSize = isPipe ? 0 : Number(view.getBigUint64(48, littleEndian));
  return dataSize === 0 ? 0 : bytes.length - Number(view.getBigUint64(40, littleEndian)) - dataSize;
}

/** Times of the samples that are decoded after `damage` was done to a copy of `whole`. */
async function timesAfter(whole: Uint8Array, damage: (bytes: Uint8Array, firstSample: number) => Uint8Array | undefined) {
  const copy = whole.slice();
  const { samples: decoded, diagnostics } = await decode(damage(copy, firstSampleAt(whole)) ?? copy);
  return { times: decoded.map(({ time }) => Number(time)), findings: readingFindings(diagnostics).filter(({ code }) => code !== 'unfinished') };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe.each(RECORDINGS)('in a %s', (_kind, whole) => {
  it('a page of zeros costs the samples that it hits, and no others', async () => {
    const { times, findings } = await timesAfter(whole, (bytes, first) => {
      // Begins in the middle of sample 1001 and ends in the middle of sample 1103.
      bytes.fill(0, first + 1000 * SAMPLE_BYTES + 16, first + 1000 * SAMPLE_BYTES + 16 + 4096);
    });
    const kept = times.filter((time) => time !== 0 && !Number.isNaN(time));
    expect(kept).toEqual([...range(1, 1000), ...range(1104, COUNT)]);
    expect(findings).toMatchObject([{ code: 'damaged', severity: 'loss', count: 1 }]);
    expect(findings[0].message).toMatch(/^a stretch of zeros cannot be a record: \d+ bytes were skipped up to the next record$/);
  });

  it('several stretches of zeros are each stepped over, and their bytes add up', async () => {
    const { times, findings } = await timesAfter(whole, (bytes, first) => {
      for (const index of [500, 2000, 4000]) bytes.fill(0, first + index * SAMPLE_BYTES, first + (index + 10) * SAMPLE_BYTES);
    });
    expect(times).toEqual([...range(1, 500), ...range(511, 2000), ...range(2011, 4000), ...range(4011, COUNT)]);
    expect(findings).toMatchObject([{ code: 'damaged', count: 3, bytes: 3 * 10 * SAMPLE_BYTES }]);
    expect(findings[0].firstOffset).toBe(firstSampleAt(whole) + 500 * SAMPLE_BYTES);
  });

  it('a size that swallows other samples costs none of them', async () => {
    const littleEndian = whole[0] === 0x50;
    const { times, findings } = await timesAfter(whole, (bytes, first) => {
      // Not a multiple of a sample's size, so that no header follows.
      new DataView(bytes.buffer).setUint16(first + 100 * SAMPLE_BYTES + 6, 50 * SAMPLE_BYTES + 8, littleEndian);
    });
    // The sample itself has all its fields in the right places, followed by much else.
    expect(times).toEqual(range(1, COUNT));
    expect(findings.map(({ code }) => code)).toEqual(['sample-surplus', 'damaged']);
  });

  it('a size that reaches beyond the end costs only its own sample', async () => {
    const littleEndian = whole[0] === 0x50;
    const { times, findings } = await timesAfter(whole, (bytes, first) => {
      new DataView(bytes.buffer).setUint16(first + (COUNT - 50) * SAMPLE_BYTES + 6, 0xfff8, littleEndian);
    });
    expect(times).toEqual([...range(1, COUNT - 50), ...range(COUNT - 48, COUNT)]);
    expect(findings).toMatchObject([{ code: 'damaged', count: 1, bytes: SAMPLE_BYTES }]);
  });

  it('zeros up to the end are reported as skipped', async () => {
    const { times, findings } = await timesAfter(whole, (bytes, first) => {
      bytes.fill(0, first + 3000 * SAMPLE_BYTES, first + COUNT * SAMPLE_BYTES);
    });
    expect(times).toEqual(range(1, 3000));
    expect(findings).toMatchObject([{ code: 'damaged', bytes: 2000 * SAMPLE_BYTES, firstOffset: firstSampleAt(whole) + 3000 * SAMPLE_BYTES }]);
    expect(findings[0].message).toContain('to the end');
  });

  it('missing or inserted bytes cost hardly more than the samples that they hit', async () => {
    for (const [removed, inserted] of [
      [7, 0],
      [1001, 0],
      [0, 4],
      [0, 1003],
    ]) {
      const at = firstSampleAt(whole) + 2000 * SAMPLE_BYTES + 20;
      const { times, findings } = await timesAfter(whole, (bytes) =>
        Uint8Array.from([...bytes.subarray(0, at), ...new Uint8Array(inserted).fill(0x5a), ...bytes.subarray(at + removed)]),
      );
      const kept = times.filter((time) => time > 0 && time <= COUNT);
      const lost = COUNT - new Set(kept).size;
      // What is cut out or overwritten. The end of a file moves, too, so that its last samples leave the data section.
      expect(lost, `${removed} removed, ${inserted} inserted`).toBeLessThanOrEqual(Math.ceil((removed + inserted) / SAMPLE_BYTES) * 2 + 2);
      expect(findings.map(({ code }) => code)).toContain('damaged');
    }
  });

  it('text in the middle is a loss, whatever follows it', async () => {
    const text = new TextEncoder().encode('[ perf record: Woken up 1 times to write data ]');
    const at = firstSampleAt(whole) + 10 * SAMPLE_BYTES;
    const { times, findings } = await timesAfter(whole, (bytes) => Uint8Array.from([...bytes.subarray(0, at), ...text, ...bytes.subarray(at)]));
    expect(times.slice(0, COUNT - 2)).toEqual(range(1, COUNT - 2));
    expect(findings.map(({ code }) => code)).not.toContain('trailing-text');
    expect(findings.find(({ code }) => code === 'damaged')).toMatchObject({ severity: 'loss', bytes: text.length });
  });

  it('text written over samples is stepped over', async () => {
    const text = new TextEncoder().encode('[ perf record: Woken up 1 times to write data ]\n');
    const { times } = await timesAfter(whole, (bytes, first) => {
      bytes.set(text.subarray(0, 48), first + 700 * SAMPLE_BYTES);
    });
    expect(times).toEqual([...range(1, 700), ...range(703, COUNT)]);
  });
});

describe('damage near a record whose size is not a multiple of 8 bytes', () => {
  it('is stepped over', async () => {
    const odd = { ...toolRecords.finishedRound(), sizeBytes: 20, writeBody: (out: { zeros(count: number): unknown }) => void out.zeros(12) };
    const whole = encodeFile({ attrs: ATTRS, records: [sample(1), odd, ...samples.slice(1)] });
    const { times } = await timesAfter(whole, (bytes) => {
      const first = bytes.length - tailBytes(bytes) - (COUNT - 1) * SAMPLE_BYTES;
      bytes.fill(0, first + 10 * SAMPLE_BYTES, first + 11 * SAMPLE_BYTES);
    });
    expect(times).toEqual([...range(1, 11), ...range(13, COUNT)]);
  });
});

describe('the output of perf itself in a pipe', () => {
  it('costs nothing at the end, and is reported', async () => {
    const text = new TextEncoder().encode('[ perf record: Captured and wrote 0.123 MB - ]\n');
    const whole = encodePipe({ attrs: ATTRS, records: samples });
    const { times, findings } = await timesAfter(whole, (bytes) => Uint8Array.from([...bytes, ...text]));
    expect(times).toEqual(range(1, COUNT));
    expect(findings).toMatchObject([{ code: 'trailing-text', severity: 'warning', firstOffset: whole.length }]);
  });
});

it('records that swallow thousands of others are not all read again', async () => {
  const bytes = encodeFile({ attrs: ATTRS, records: samples });
  const view = new DataView(bytes.buffer);
  const first = firstSampleAt(bytes);
  const size = (COUNT / 2) * SAMPLE_BYTES + 8;
  for (let index = 0; index < COUNT / 2; index += 5) {
    const at = first + index * SAMPLE_BYTES;
    view.setUint32(at, SP_SPLIT, true);
    // High half first.
    view.setUint16(at + 4, size >>> 16, true);
    view.setUint16(at + 6, size & 0xffff, true);
  }
  let seenBytes = 0;
  for await (const record of readRecords(new BufferSource(bytes), new Diagnostics())) seenBytes += record.size;
  // All of them together have 50 MB.
  expect(seenBytes).toBeGreaterThan(4_000_000);
  expect(seenBytes).toBeLessThan(8_000_000);
});
