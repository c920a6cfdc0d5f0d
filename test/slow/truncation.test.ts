import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { type AttrSpec, type ByteWriter, context, encodeFile, encodePipe, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';
import { decode } from '../support/readers/decode.ts';

const ATTRS: AttrSpec[] = [
  { name: 'cpu-clock', freq: 1000n, ids: [1n], sampleType: ['identifier', 'ip', 'tid', 'time', 'period', 'callchain', 'raw'], flags: ['sampleIdAll'] },
  { name: 'page-faults', config: 2n, period: 1n, ids: [2n], sampleType: ['identifier', 'ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] },
];

const sample = (time: bigint) =>
  record.sample({ id: 1n, time, ip: 0x400010n, pid: 9, period: 1n, callchain: [context.user, 0x400010n, 0x400020n], raw: new Uint8Array(4) });

/** The beginning of tracing data that is cut off: it must not prevent anything else from being read. */
const TRACING_DATA = Uint8Array.from([0x17, 0x08, 0x44, ...new TextEncoder().encode('tracing0.5\0'), 0, 8]);

const SPEC = {
  attrs: ATTRS,
  features: {
    hostname: 'fixture-host',
    eventDesc: true as const,
    cmdline: ['perf', 'record'],
    buildIds: [{ buildId: new Uint8Array(20).fill(1), filename: '/bin/app' }],
  },
  records: [
    record.comm({ pid: 9, comm: 'app', exec: true }, { sampleId: { time: 1n } }),
    record.mmap2({ pid: 9, addr: 0x400000n, len: 0x1000n, filename: '/bin/app' }, { sampleId: { time: 2n } }),
    toolRecords.tracingData(TRACING_DATA),
    sample(3n),
    toolRecords.finishedRound(),
    toolRecords.auxtrace({ data: new Uint8Array(40) }),
    sample(4n),
    record.sample({ id: 2n, time: 5n, ip: 0x400030n, pid: 9, period: 1n }, { attr: 1 }),
  ],
};

describe('impossible sizes', () => {
  it('of a payload after a record do not hide what is there, and are reported', async () => {
    const huge = {
      ...toolRecords.auxtrace({ data: new Uint8Array(8) }),
      writeBody: (out: ByteWriter) => void out.u64(2n ** 62n).zeros(32),
      payload: new Uint8Array(0),
    };
    for (const bytes of [encodePipe({ ...SPEC, records: [sample(3n), huge, sample(4n)] }), encodeFile({ ...SPEC, records: [sample(3n), huge, sample(4n)] })]) {
      const { samples, diagnostics } = await decode(bytes);
      expect(samples.map(({ time }) => time)).toEqual([3n, 4n]);
      expect(diagnostics.list().map(({ code }) => code)).toEqual(['auxtrace', 'damaged']);
      expect(diagnostics.list()[1].message).toMatch(/^the payload of PERF_RECORD_AUXTRACE, \d+ bytes, reaches past the end: /);
    }
  });

  it('of a record are skipped, up to where records begin again', async () => {
    const broken = { ...sample(4n), sizeBytes: 4 };
    const { samples, diagnostics } = await decode(encodeFile({ ...SPEC, records: [sample(3n), broken, ...Array.from({ length: 9000 }, () => sample(5n))] }));
    expect(samples).toHaveLength(9001);
    expect(diagnostics.list()).toMatchObject([{ code: 'damaged', count: 1, bytes: expect.any(Number) }]);
    expect(diagnostics.list()[0].message).toMatch(/^PERF_RECORD_SAMPLE of 4 bytes cannot be a record: \d+ bytes were skipped/);
  });
});

describe.each([
  ['file', encodeFile(SPEC)],
  ['big-endian file', encodeFile({ ...SPEC, byteOrder: 'big' })],
  ['pipe', encodePipe(SPEC)],
  ['big-endian pipe', encodePipe({ ...SPEC, byteOrder: 'big' })],
])('a %s', (_kind, whole) => {
  it('is read completely', async () => {
    const { samples, diagnostics } = await decode(whole);
    expect(samples.map((each) => each.time)).toEqual([3n, 4n, 5n]);
    expect(diagnostics.list().map(({ code }) => code)).toEqual(['tracing-data-damaged', 'auxtrace']);
  });

  it('cut off at any byte gives its first samples or a typed error', async () => {
    let mostSamples = 0;
    for (let length = 0; length < whole.length; length++) {
      const result = await decode(whole.subarray(0, length)).catch((error: unknown) => error);
      if (result instanceof PerfconvError) {
        expect(result.message, `${length} bytes`).toMatch(/./);
        expect(mostSamples, `${length} bytes: ${result.message}`).toBe(0);
        continue;
      }
      if (result instanceof Error) throw new Error(`${length} of ${whole.length} bytes: ${result.stack}`);
      const { samples } = result as Awaited<ReturnType<typeof decode>>;
      expect(samples.length, `${length} bytes`).toBeGreaterThanOrEqual(mostSamples);
      expect(samples.map((each) => each.time)).toEqual([3n, 4n, 5n].slice(0, samples.length));
      mostSamples = samples.length;
    }
    expect(mostSamples).toBeGreaterThanOrEqual(2);
  });

  it('with any byte changed gives samples or a typed error', async () => {
    for (let at = 0; at < whole.length; at++) {
      for (const flip of [0xff, 0x01, 0x80]) {
        const bytes = whole.slice();
        bytes[at] ^= flip;
        const result = await decode(bytes).catch((error: unknown) => error);
        if (result instanceof Error && !(result instanceof PerfconvError)) throw new Error(`byte ${at} ^ ${flip}: ${result.stack}`);
      }
    }
  });
});
