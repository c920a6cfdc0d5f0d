import { describe, expect, it } from 'vitest';
import { block, compressedRecords, FRAME_START, RLE } from '../../support/builders/recordings/compressed-records.ts';
import { type AttrSpec, encodeFile, encodePipe, encodeRecord, record, toolRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';
import { readingFindings } from '../../support/readers/reading-findings.ts';

const ATTRS: AttrSpec[] = [{ name: 'cpu-clock', period: 1n, ids: [1n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] }];
const COUNT = 3000;
const samples = Array.from({ length: COUNT }, (_, i) => record.sample({ time: BigInt(i + 1), ip: 0x400010n, pid: 9, period: 1n }));

describe.each(['COMPRESSED', 'COMPRESSED2'] as const)('%s', (kind) => {
  it.each([17, 747, 1471, 60_000])('records in pieces of %d bytes are all read', async (pieceBytes) => {
    const records = [...compressedRecords(samples, ATTRS, kind, pieceBytes), toolRecords.finishedRound()];
    for (const bytes of [encodeFile({ attrs: ATTRS, records, features: { hostname: 'h' } }), encodePipe({ attrs: ATTRS, records })]) {
      const { samples: decoded, session, diagnostics } = await decode(bytes);
      expect(decoded.map(({ time }) => time)).toEqual(Array.from({ length: COUNT }, (_, i) => BigInt(i + 1)));
      expect(session.counts.get(9)).toBe(COUNT);
      expect(readingFindings(diagnostics)).toEqual([]);
    }
  });

  it('records before a cut in a compressed record are kept, and the loss is reported', async () => {
    const whole = encodeFile({ attrs: ATTRS, records: compressedRecords(samples, ATTRS, kind, 60_000) });
    const data = new DataView(whole.buffer);
    const dataEnd = Number(data.getBigUint64(40, true) + data.getBigUint64(48, true));
    // The last two of twelve blocks are cut off.
    const { samples: decoded, diagnostics } = await decode(whole.subarray(0, dataEnd - 15_000));
    expect(decoded.map(({ time }) => Number(time))).toEqual(Array.from({ length: 2500 }, (_, i) => i + 1));
    expect(readingFindings(diagnostics)).toMatchObject([{ code: 'truncated', severity: 'loss' }]);
  });

  it.each([8, 9, 15, 16, 17])('records before a cut %d bytes into a compressed record are kept', async (bytes) => {
    const pieces = compressedRecords(samples, ATTRS, kind, 60_000);
    const whole = encodeFile({ attrs: ATTRS, records: pieces });
    const first = Number(new DataView(whole.buffer).getBigUint64(40, true)) + encodeRecord(pieces[0], ATTRS).length;
    const { samples: decoded, diagnostics } = await decode(whole.subarray(0, first + bytes));
    expect(decoded).toHaveLength(1250);
    expect(readingFindings(diagnostics)).toMatchObject([{ code: 'truncated', severity: 'loss' }]);
  });

  it('records before damage are kept, and the loss is reported', async () => {
    // The header of the fourth block.
    const at = FRAME_START.length + 3 * 10_003;
    const broken = compressedRecords(samples, ATTRS, kind, 5000, at);
    const { samples: decoded, diagnostics } = await decode(encodeFile({ attrs: ATTRS, records: broken, features: { hostname: 'h' } }));
    expect(decoded).toHaveLength(Math.floor(30_000 / 40));
    const finding = readingFindings(diagnostics).find(({ code }) => code === 'zstd-damaged');
    expect(finding).toMatchObject({ severity: 'loss', count: broken.length - Math.floor(at / 5000) });
  });

  it('records after a gap are not made up', async () => {
    const pieces = compressedRecords(samples, ATTRS, kind, 5000);
    const bytes = encodeFile({ attrs: ATTRS, records: pieces, features: { hostname: 'h' } });
    const dataStart = Number(new DataView(bytes.buffer).getBigUint64(40, true));
    // Clears the fifth record. What it holds is stored as it is there, and would be found.
    const sizes = pieces.map((piece) => encodeRecord(piece, ATTRS).length);
    const start = dataStart + sizes.slice(0, 4).reduce((sum, size) => sum + size, 0);
    bytes.fill(0, start, start + sizes[4]);
    const { samples: decoded, diagnostics } = await decode(bytes);
    const times = decoded.map(({ time }) => Number(time));
    expect(times).toEqual(Array.from({ length: times.length }, (_, i) => i + 1));
    expect(times.length).toBeGreaterThanOrEqual(250);
    expect(readingFindings(diagnostics).map(({ code }) => code)).toEqual(expect.arrayContaining(['damaged', 'zstd-damaged']));
  });
});

describe('a stream that decompresses to far more than any recording does', () => {
  it('is given up, and the rest of the recording is read', async () => {
    const zeros = Array.from({ length: 4000 }, () => block(RLE, 128 << 10, [0])).flat();
    const last = record.sample({ time: 7n, ip: 1n, pid: 9, period: 1n });
    const records = [...compressedRecords(samples.slice(0, 10), ATTRS, 'COMPRESSED', 60_000), toolRecords.compressed(Uint8Array.from(zeros)), last];
    const { samples: decoded, diagnostics } = await decode(encodeFile({ attrs: ATTRS, records, features: { hostname: 'h' } }));
    expect(decoded).toHaveLength(11);
    expect(readingFindings(diagnostics).map(({ code }) => code)).toContain('zstd-damaged');
    expect(readingFindings(diagnostics).find(({ code }) => code === 'zstd-damaged')?.message).toContain('more than 256 times');
  });
});
