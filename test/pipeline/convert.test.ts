import { expect, test } from 'vitest';
import { BufferSink } from '../../src/base/byte-sink.ts';
import { BufferSource } from '../../src/base/byte-source.ts';
import { Diagnostics } from '../../src/base/diagnostics.ts';
import { convert } from '../../src/pipeline/convert.ts';
import { FORMATS } from '../../src/pipeline/formats.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { emptyRecording, fileRecording } from '../support/cli-recordings.ts';

/** Counts how often the recording's data section is read. */
class CountingSource extends BufferSource {
  reads = 0;

  override async readAt(position: number, target: Uint8Array): Promise<number> {
    if (target.length > 4096) this.reads++;
    return super.readAt(position, target);
  }
}

test('a recording is decoded once for all outputs, and they are the same as one by one', async () => {
  const tables = new Map<string, InstanceType<typeof BufferSink>>();
  const openTable = async (name: string): Promise<InstanceType<typeof BufferSink>> => {
    tables.set(name, new BufferSink());
    return tables.get(name)!;
  };
  const formats = FORMATS.filter((format) => format !== 'csv');
  const together = new CountingSource(fileRecording(30));
  const sinks = formats.map(() => new BufferSink());
  const outputs = formats.map((format, i) => ({ format, sink: sinks[i] }));
  await convert(together, [...outputs, { format: 'csv', openTable }], {}, new Diagnostics());
  expect([...tables.keys()].sort()).toEqual(['overview.csv', 'processes.csv', 'results.csv', 'stat.csv']);
  for (const [i, format] of formats.entries()) {
    const alone = new CountingSource(fileRecording(30));
    const sink = new BufferSink();
    await convert(alone, [{ format, sink }], {}, new Diagnostics());
    expect(sink.bytes()).toEqual(sinks[i].bytes());
    expect(alone.reads).toBe(together.reads);
  }
});

test('samples are kept only where a format shows them one by one', async () => {
  const profileOf = async (format: 'pprof' | 'folded' | 'script'): Promise<Profile> =>
    (await convert(new BufferSource(fileRecording()), [{ format, sink: new BufferSink() }], {}, new Diagnostics())).profile;
  expect((await profileOf('pprof')).samples).toBeUndefined();
  expect((await profileOf('folded')).samples).toBeUndefined();
  expect((await profileOf('script')).samples?.size).toBe(3);
});

test('errors are typed, findings are collected, nothing is printed', async () => {
  const diagnostics = new Diagnostics();
  const outputs = [{ format: 'folded' as const, sink: new BufferSink() }];
  await expect(convert(new BufferSource(emptyRecording()), outputs, {}, diagnostics)).rejects.toMatchObject({ name: 'PerfconvError', code: 'no-samples' });
  await expect(convert(new BufferSource(new Uint8Array(0)), outputs, {}, diagnostics)).rejects.toMatchObject({ code: 'not-perf-data' });
  await convert(new BufferSource(fileRecording()), outputs, {}, diagnostics);
  expect(diagnostics.list().map(({ code }) => code)).toContain('folded-one-event');
});
