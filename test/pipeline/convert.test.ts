import { expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { convert } from '../../src/pipeline/convert.ts';
import { FORMATS } from '../../src/pipeline/formats.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { MadeFiles } from '../support/builders/made-symbol-files.ts';
import { emptyRecording, fileRecording } from '../support/builders/recordings/cli-recordings.ts';
import { context, encodeFile, misc, record } from '../support/builders/recordings/perf-encoder.ts';
import { CollectedTables } from '../support/readers/collected-tables.ts';

/** Counts how often large pieces of the recording are read. */
class CountingSource extends BufferSource {
  reads = 0;

  override async readAt(position: number, target: Uint8Array): Promise<number> {
    if (target.length > 4096) this.reads++;
    return super.readAt(position, target);
  }
}

test('a recording is decoded once for all outputs, which are the same as if written one by one', async () => {
  const { sinks: tables, openTable } = new CollectedTables();
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

test('samples are kept only if a format shows them one by one', async () => {
  const profileOf = async (format: 'pprof' | 'folded' | 'script'): Promise<Profile> =>
    (await convert(new BufferSource(fileRecording()), [{ format, sink: new BufferSink() }], {}, new Diagnostics())).profile;
  expect((await profileOf('pprof')).samples).toBeUndefined();
  expect((await profileOf('folded')).samples).toBeUndefined();
  expect((await profileOf('script')).samples?.size).toBe(3);
});

test('errors have types, and findings are collected', async () => {
  const diagnostics = new Diagnostics();
  const outputs = [{ format: 'folded' as const, sink: new BufferSink() }];
  await expect(convert(new BufferSource(emptyRecording()), outputs, {}, diagnostics)).rejects.toMatchObject({ name: 'PerfconvError', code: 'no-samples' });
  await expect(convert(new BufferSource(new Uint8Array(0)), outputs, {}, diagnostics)).rejects.toMatchObject({ code: 'not-perf-data' });
  await convert(new BufferSource(fileRecording()), outputs, {}, diagnostics);
  expect(diagnostics.list().map(({ code }) => code)).toContain('folded-one-event');
});

test('names are demangled only in outputs if all have their own styles, which makes no difference to the outputs', async () => {
  const text = 0xffff_ffff_8100_0000n;
  const names = ['_ZN3app4sortIiEEvPT_', '_Z4workv.part.0', '_RNvC3app4main', 'Lapp/Main;::run(I)V', 'plain.cold', '_ZN3app4sortIlEEvPT_'];
  const files = new MadeFiles();
  const list = ['_text', ...names].map((name, i) => `${(text + BigInt(i * 16)).toString(16)} T ${name}\n`).join('');
  files.content.set('/kallsyms', new TextEncoder().encode(list));
  const source = (): BufferSource =>
    new BufferSource(
      encodeFile({
        attrs: [{ name: 'cpu-clock', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'callchain'], flags: ['sampleIdAll'] }],
        records: [
          record.mmap({ pid: -1, tid: 0, addr: text, len: 0x1000n, pgoff: text, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel }),
          ...names.map((_, i) => {
            const ip = text + BigInt(i * 16 + 20);
            return record.sample({ ip, pid: 9, tid: 9, time: BigInt(i), callchain: [context.kernel, ip] }, { misc: misc.kernel });
          }),
        ],
      }),
    );
  const converted = async (...formats: readonly ('pprof' | 'folded' | 'speedscope')[]): Promise<{ shown: string[]; outputs: Uint8Array[] }> => {
    const sinks = formats.map(() => new BufferSink());
    const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false, kallsyms: '/kallsyms' }, new Diagnostics());
    const outputs = formats.map((format, i) => ({ format, sink: sinks[i] }));
    const { functions, strings } = (await convert(source(), outputs, { symbolizer }, new Diagnostics())).profile;
    const shown = Array.from({ length: names.length }, (_, func) => strings.get(functions.name(func)));
    return { shown, outputs: sinks.map((sink) => sink.bytes()) };
  };
  const mangled = await converted('pprof', 'folded');
  const full = await converted('pprof', 'folded', 'speedscope');
  expect(mangled.shown).toEqual(names);
  expect(full.shown).toContain('void app::sort<int>(int*)');
  expect(mangled.outputs).toEqual(full.outputs.slice(0, 2));
  expect((await converted('pprof')).outputs[0]).toEqual(full.outputs[0]);
  expect(new TextDecoder().decode(full.outputs[1])).toContain('app::sort<int>');
});
