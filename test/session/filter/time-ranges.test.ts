import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSource, type ByteSource, type RecordingSource } from '../../../src/base/streams/byte-source.ts';
import { readProfile } from '../../../src/pipeline/read-profile.ts';
import { parseTimeRanges } from '../../../src/session/filter/time-ranges.ts';
import { denseRecording, FIRST_NS } from '../../support/builders/recordings/dense-recording.ts';
import { type AttrSpec, encodeFile, record, simpleperfRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { CLOCK, META } from '../../support/builders/recordings/simpleperf-recordings.ts';

/** Times of the samples that `--time` keeps, in nanoseconds since the first sample of the recording. */
async function selected(source: RecordingSource, time: string, firstNs = FIRST_NS): Promise<number[]> {
  const { profile } = await readProfile(source, { keepSamples: true, filter: { times: parseTimeRanges(time, '--time') } }, new Diagnostics());
  const { samples, meta } = profile;
  const offset = Number(meta.startTime - firstNs);
  return samples === undefined ? [] : [...samples.timeNs.subarray(0, samples.size)].map((timeNs) => timeNs + offset);
}

async function ends(bytes: Uint8Array, time: string, firstNs = FIRST_NS): Promise<string> {
  const times = await selected(new BufferSource(bytes), time, firstNs);
  return times.length === 0 ? 'none' : `${times.length}: ${times[0]}-${times[times.length - 1]}`;
}

describe('--time', () => {
  const clock = (from: bigint | undefined, to: bigint | undefined, kind = 'clock') => ({
    kind,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  });
  test.each([
    ['12.5,13', [clock(12_500_000_000n, 13_000_000_000n)]],
    [' 12.000000001 , ', [clock(12_000_000_001n, undefined)]],
    [',1', [clock(undefined, 1_000_000_000n)]],
    [',', [clock(undefined, undefined)]],
    ['1,2 3,4 5,', [clock(1_000_000_000n, 2_000_000_000n), clock(3_000_000_000n, 4_000_000_000n), clock(5_000_000_000n, undefined)]],
    ['1, 2', [clock(1_000_000_000n, 2_000_000_000n)]],
    ['+0.5,+2', [clock(500_000_000n, 2_000_000_000n, 'sinceFirst')]],
    ['+1,', [clock(1_000_000_000n, undefined, 'sinceFirst')]],
    [',+1 +2,+3', [clock(undefined, 1_000_000_000n, 'sinceFirst'), clock(2_000_000_000n, 3_000_000_000n, 'sinceFirst')]],
    ['10%', [{ kind: 'percent', from: 0, to: 10 }]],
    ['10%/2', [{ kind: 'percent', from: 10, to: 20 }]],
    ['12.5%/8', [{ kind: 'percent', from: 87.5, to: 100 }]],
    ['10% - 20%', [{ kind: 'percent', from: 10, to: 20 }]],
    [
      '10%/1, 30%-40%',
      [
        { kind: 'percent', from: 0, to: 10 },
        { kind: 'percent', from: 30, to: 40 },
      ],
    ],
  ])('accepts %j', (text, expected) => {
    expect(parseTimeRanges(text, '--time')).toEqual(expected);
  });

  test.each([
    '',
    '1',
    '1 2',
    '1,2,3',
    '-1,2',
    '1.0000000001,2',
    '0x1,2',
    '1e3,2',
    '2,1',
    '+1,2',
    '10%-20',
    '10-20%',
    '10%/0',
    '0%',
    '50%,60%',
    '34%/3',
    '0%-101%',
  ])('rejects %j', (text) => {
    expect(() => parseTimeRanges(text, '--time')).toThrow(PerfconvError);
    expect(() => parseTimeRanges(text, '--time')).toThrow(`--time ${text}: `);
  });
});

describe('the samples of a range', () => {
  const bytes = denseRecording(1004);
  test.each([
    ['1.000000010,1.000000020', '11: 10-20'],
    ['1.000001000,', '4: 1000-1003'],
    ['1.000000020,1.000000030 1.000000010,1.000000025', '21: 10-30'],
    ['+0,+0.000000004', '5: 0-4'],
    ['+0.000001,', '4: 1000-1003'],
    [',+0.000000001 +0.000001003,', '3: 0-1003'],
    ['0%-100%', '1004: 0-1003'],
    ['10%/2', '101: 100-200'],
    ['2,', 'none'],
  ])('are those of %s', async (time, expected) => {
    expect(await ends(bytes, time)).toBe(expected);
  });

  test('are counted from the first sample of the recording, whatever other filters keep', async () => {
    const filter = { times: parseTimeRanges('+0.000000002,', '--time'), cpus: [1] };
    const { profile } = await readProfile(new BufferSource(denseRecording(8)), { keepSamples: true, filter }, new Diagnostics());
    expect([profile.meta.startTime - FIRST_NS, profile.samples?.size]).toEqual([3n, 3]);
  });

  test('are exact for times that count from 1970', async () => {
    const first = 1_795_261_454_802_293_123n;
    expect(await ends(denseRecording(1004, { firstNs: first }), '10%/2', first)).toBe('101: 100-200');
  });

  test('in per cent are found by the times in the header, as in perf', async () => {
    const sampleTime = { first: FIRST_NS + 20n, last: FIRST_NS + 50n };
    expect(await ends(denseRecording(101, { sampleTime }), '0%-50%')).toBe('15: 20-34');
  });

  test.each([undefined, { first: 0n, last: 0n }])('in per cent are found in a second reading if the header has no times (%o)', async (sampleTime) => {
    expect(await ends(denseRecording(1004, { sampleTime }), '10%/2')).toBe('101: 100-200');
    expect(await ends(denseRecording(1004, { sampleTime, isPipe: true }), '10%/2')).toBe('101: 100-200');
  });

  test("in per cent are found in a first reading that knows the ids in simpleperf's own records", async () => {
    const attr: AttrSpec = { ...CLOCK, ids: [], sampleType: ['ip', 'tid', 'time', 'id', 'period'] };
    const ids = simpleperfRecords.eventId([
      { attr: 0n, id: 111n },
      { attr: 1n, id: 222n },
    ]);
    const samples = Array.from({ length: 101 }, (_, i) => record.sample({ time: FIRST_NS + BigInt(i), id: i % 2 === 0 ? 111n : 222n, pid: 1, period: 1n }));
    const bytes = encodeFile({ attrs: [attr, { ...attr, config: 1n }], records: [ids, ...samples], foreignFeatures: [META] });
    expect(await ends(bytes, '10%-20%')).toBe('10: 10-19');
  });

  test('cannot be found by per cent in a pipe that does not tell its times', async () => {
    const silent = new OnceSource(denseRecording(100, { isPipe: true, sampleTime: { first: 0n, last: 0n } }));
    await expect(selected(silent, '10%/2')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('input that can be read only once'),
    });
    const telling = new OnceSource(denseRecording(1004, { isPipe: true, sampleTime: { first: FIRST_NS, last: FIRST_NS + 1003n } }));
    expect((await selected(telling, '10%/2')).length).toBe(101);
    const relative = new OnceSource(denseRecording(1004, { isPipe: true }));
    expect((await selected(relative, '+0.000000001,+0.000000002')).length).toBe(2);
  });

  test.each([...[1, 2, 3, 6, 11, 101].map((count) => [count, 1n] as const), ...[1, 2, 9].map((count) => [count, 0n] as const), [4, 1_000_000_007n] as const])(
    'in slices of %i samples, %d ns apart, make up the whole',
    async (count, stepNs) => {
      const bytes = denseRecording(count, { stepNs });
      for (const [slice, slices] of [
        [10, 10],
        [1, 100],
        [12.5, 8],
        [50, 2],
        [100, 1],
      ] as const) {
        const parts: number[][] = [];
        for (let nth = 1; nth <= slices; nth++) parts.push(await selected(new BufferSource(bytes), `${slice}%/${nth}`));
        expect(parts.reduce((sum, part) => sum + part.length, 0)).toBe(count);
        if (stepNs === 0n) expect(parts.map((part) => part.length)).toEqual([...Array.from({ length: slices - 1 }, () => 0), count]);
      }
      const ranges = ['0%-30%', '30%-99.9%', '99.9%-100%'];
      const sizes = await Promise.all(ranges.map(async (range) => (await selected(new BufferSource(bytes), range)).length));
      expect(sizes.reduce((sum, size) => sum + size)).toBe(count);
    },
  );

  test.each([
    ['50%-50%', '1: 5-5'],
    ['0%-0%', '1: 0-0'],
    ['100%-100%', '1: 10-10'],
  ])('of %s are those of one moment', async (time, expected) => {
    expect(await ends(denseRecording(11), time)).toBe(expected);
  });

  test('do not include samples without a time', async () => {
    for (const time of ['0%-100%', '+0,', ',']) expect(await ends(denseRecording(5, { hasTimes: false }), time)).toBe('none');
  });
});

/** Bytes that come once, as through a pipe. */
class OnceSource implements ByteSource {
  readonly name = '-';
  readonly sizeBytes = undefined;
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  async readAt(position: number, target: Uint8Array): Promise<number> {
    if (position < this.#position) throw new Error('a pipe goes forward only');
    const part = this.#bytes.subarray(position, position + target.length);
    target.set(part);
    this.#position = position + part.length;
    return part.length;
  }

  async close(): Promise<void> {}
}
