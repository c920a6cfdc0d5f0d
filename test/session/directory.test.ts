import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource, type ByteSource, type RecordingSource } from '../../src/base/streams/byte-source.ts';
import { readProfile } from '../../src/pipeline/read-profile.ts';
import { type AttrSpec, encodeFile, encodeRecord, type RecordSpec, record, toolRecords } from '../support/builders/recordings/perf-encoder.ts';

const ATTRS: AttrSpec[] = [
  { name: 'cpu-clock', period: 1n, ids: [1n], sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu', 'period'], flags: ['sampleIdAll'] },
];
const sample = (time: number, cpu: number) => record.sample({ id: 1n, time: BigInt(time), ip: 0x400010n, pid: 9, cpu, period: 1n });

/** A directory recording: `data` with a header, `data.N` with only records. */
function directory(main: readonly RecordSpec[], parts: readonly (readonly RecordSpec[])[]): RecordingSource {
  const bytesOf = (records: readonly RecordSpec[]) => Uint8Array.from(records.flatMap((each) => [...encodeRecord(each, ATTRS)]));
  return withParts(
    encodeFile({ attrs: ATTRS, records: main, features: { hostname: 'h' } }),
    parts.map((records, i) => new BufferSource(bytesOf(records), `data.${i}`)),
  );
}

function withParts(main: Uint8Array, parts: readonly ByteSource[]): RecordingSource {
  return Object.assign(new BufferSource(main, 'data'), { parts });
}

/** The same recording, whose other files return a little at a time. */
function inSmallReads(source: RecordingSource): RecordingSource {
  const parts = (source.parts ?? []).map(
    (part): ByteSource => ({
      name: part.name,
      sizeBytes: part.sizeBytes,
      readAt: (position, target) => part.readAt(position, target.subarray(0, 0x4000)),
      close: () => part.close(),
    }),
  );
  return Object.assign(source, { parts });
}

async function decodeDirectory(source: RecordingSource) {
  const diagnostics = new Diagnostics();
  const { profile, session } = await readProfile(source, { keepSamples: true }, diagnostics);
  const { samples } = profile;
  if (samples === undefined) throw new Error('no samples kept');
  const rows = Array.from({ length: samples.size }, (_, row) => ({ time: Number(profile.meta.startTime) + samples.timeNs[row], cpu: samples.cpu[row] }));
  return { rows, session, diagnostics };
}

/** Ascending times for each CPU, at different paces: larger than one piece of a part. */
function timesOf(cpu: number, count: number): number[] {
  let state = cpu * 7919 + 1;
  let time = 1000 * (cpu + 1);
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    time += 1 + (state % (10 * (cpu * cpu + 1)));
    return time;
  });
}

describe('a directory recording', () => {
  it('is read in time order, whatever the pace of its files', async () => {
    const COUNTS = [9000, 30000, 2000];
    const parts = COUNTS.map((count, cpu) => timesOf(cpu, count).map((time) => sample(time, cpu)));
    const { rows, session, diagnostics } = await decodeDirectory(directory([record.comm({ pid: 9, comm: 'app' })], parts));
    const expected = COUNTS.flatMap((count, cpu) => timesOf(cpu, count).map((time) => ({ time, cpu }))).sort((a, b) => a.time - b.time || a.cpu - b.cpu);
    expect(rows.map(({ time }) => time)).toEqual(expected.map(({ time }) => time));
    expect(rows.length).toBe(41000);
    expect(session.threads.find(({ tid }) => tid === 9)?.comm).toBe('app');
    expect(diagnostics.list().map(({ code }) => code)).toEqual(['no-callchains']);
  });

  it('is read in time order, even if its `data` ends with newer records than the other files begin with', async () => {
    const parts = [0, 1, 2].map((cpu) => timesOf(cpu, 9000).map((time) => sample(time, cpu)));
    const main = [record.comm({ pid: 9, comm: 'app' }, { sampleId: { time: 40_000n } })];
    const { rows, session } = await decodeDirectory(inSmallReads(directory(main, parts)));
    const times = rows.map(({ time }) => time);
    expect(times).toHaveLength(27000);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(session.threads.find(({ tid }) => tid === 9)?.comm).toBe('app');
  });

  it('without other files is played round by round', async () => {
    const late = [sample(20, 0), toolRecords.finishedRound(), sample(30, 0), toolRecords.finishedRound(), sample(10, 0)];
    const { diagnostics } = await decodeDirectory(directory(late, []));
    expect(diagnostics.list()).toMatchObject([{ code: 'out-of-order', count: 1 }]);
  });

  it('may have files slightly out of order, with rounds that mean nothing across files', async () => {
    const swapped = timesOf(1, 9000);
    for (let i = 0; i + 1 < swapped.length; i += 10) [swapped[i], swapped[i + 1]] = [swapped[i + 1], swapped[i]];
    const first = [sample(1_000_000, 0), toolRecords.finishedRound(), sample(1_000_001, 0), toolRecords.finishedRound(), toolRecords.finishedRound()];
    const { rows, diagnostics } = await decodeDirectory(directory([], [first, swapped.map((time) => sample(time, 1))]));
    expect(rows.map(({ time }) => time)).toEqual([...swapped, 1_000_000, 1_000_001].sort((a, b) => a - b));
    expect(diagnostics.list().map(({ code }) => code)).toEqual(['no-callchains']);
  });

  it('keeps the whole records of a file that is cut off', async () => {
    const whole = [sample(10, 0), sample(20, 0)].flatMap((each) => [...encodeRecord(each, ATTRS)]);
    const source = withParts(encodeFile({ attrs: ATTRS, records: [], features: { hostname: 'h' } }), [
      new BufferSource(Uint8Array.from(whole.slice(0, -3)), 'data.0'),
      new BufferSource(Uint8Array.from(encodeRecord(sample(15, 1), ATTRS)), 'data.1'),
      new BufferSource(new Uint8Array(0), 'data.2'),
    ]);
    const { rows, diagnostics } = await decodeDirectory(source);
    expect(rows.map(({ time }) => time)).toEqual([10, 15]);
    expect(diagnostics.list().map(({ code, message }) => [code, message])).toEqual([['truncated', expect.stringMatching(/, in data\.0$/)]]);
  });
});
