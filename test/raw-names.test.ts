import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../src/base/problems/diagnostics.ts';
import { BufferSink } from '../src/base/streams/byte-sink.ts';
import { BufferSource } from '../src/base/streams/byte-source.ts';
import { encodeText } from '../src/base/text/text.ts';
import { demangle } from '../src/demangle/demangle.ts';
import { convert } from '../src/pipeline/convert.ts';
import type { StreamFormat } from '../src/pipeline/formats.ts';
import { readRecordingInfo } from '../src/pipeline/read-info.ts';
import { readProfile } from '../src/pipeline/read-profile.ts';
import { dump } from '../src/records/dump.ts';
import { NameBytes } from '../src/symbol-table/name-bytes.ts';
import { SymbolTable } from '../src/symbol-table/symbol-table.ts';
import { writeReport } from '../src/writers/report/report.ts';
import { encodeFile, record } from './support/builders/recordings/perf-encoder.ts';
import { runMain } from './support/programs/run-main.ts';
import { CollectedTables } from './support/readers/collected-tables.ts';
import { htmlText } from './support/readers/read-html.ts';
import { readOtlp } from './support/readers/read-otlp.ts';
import { readParquet } from './support/readers/read-parquet.ts';
import { readPprof } from './support/readers/read-pprof.ts';

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** Two threads with binaries whose names differ in one byte that is not UTF-8. */
const recording = ((): Uint8Array => {
  const samples = [1, 2].flatMap((nr) => [
    record.comm({ pid: nr, comm: `t@${nr}`, exec: true }, { sampleId: { time: BigInt(nr * 10) } }),
    record.mmap2({ pid: nr, addr: 0x400000n, len: 0x1000n, filename: `/none/d@${nr}/app` }, { sampleId: { time: BigInt(nr * 10 + 1) } }),
    record.sample({ ip: 0x400123n, pid: nr, tid: nr, time: BigInt(nr * 10 + 2), period: 5n }),
  ]);
  const bytes = encodeFile({
    attrs: [{ name: 'cpu-clock', period: 5n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] }],
    records: samples,
    features: { cmdline: ['perf', 'record', 'd@1/app'], eventDesc: true },
  });
  // The encoder writes only UTF-8.
  return Buffer.from(latin1(bytes).replaceAll('@1', '\xff\xe4').replaceAll('@2', '\xfe\xe4'), 'latin1');
})();

async function converted(format: StreamFormat): Promise<Uint8Array> {
  const sink = new BufferSink();
  await convert(new BufferSource(recording), [{ format, sink }], {}, new Diagnostics());
  return sink.bytes();
}

describe('names that are not UTF-8', () => {
  it('are distinguished, and can be converted back into their bytes', async () => {
    const { profile } = await readProfile(new BufferSource(recording), {}, new Diagnostics());
    expect(profile.mappings.map(({ name }) => latin1(encodeText(name)))).toEqual(['/none/d\xff\xe4/app', '/none/d\xfe\xe4/app']);
    expect(new Set(profile.tasks.map(({ comm }) => comm)).size).toBe(2);
  });

  it('are written as recorded in perf-script text, folded stacks and tables', async () => {
    const script = latin1(await converted('script'));
    expect(script).toContain('/none/d\xff\xe4/app)\n');
    // Sixteen columns are sixteen bytes.
    expect(script).toMatch(/^ {13}t\xff\xe4 /m);
    expect(script).toMatch(/^ {13}t\xfe\xe4 /m);
    expect(latin1(await converted('folded'))).toBe('t\xfe\xe4;[app] 5\nt\xff\xe4;[app] 5\n');
    const { sinks: tables, openTable } = new CollectedTables();
    await convert(new BufferSource(recording), [{ format: 'csv', openTable }], {}, new Diagnostics());
    expect(latin1(tables.get('processes.csv')!.bytes())).toContain('"t\xff\xe4"');
  });

  it('are written with escapes in formats that must be Unicode', async () => {
    const strict = new TextDecoder('utf-8', { fatal: true });
    for (const format of ['speedscope', 'chrome', 'cpuprofile', 'firefox', 'html'] as const) {
      const bytes = await converted(format);
      const text = format === 'html' ? htmlText(bytes) : strict.decode(bytes);
      expect(text).not.toMatch(/\\ud[c-f]/i);
      expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify('t\\xff\\xe4').slice(1, -1));
    }
    for (const { comm, dso, stack_dsos } of await readParquet(await converted('parquet'))) {
      expect([comm, dso, ...stack_dsos].join()).toMatch(/^t(\\xf[ef]\\xe4),\/none\/d\1\/app,\/none\/d\1\/app$/);
    }
    const { mappings, message } = readPprof(await converted('pprof'));
    expect(mappings.map(({ name }) => name)).toEqual(['/none/d\\xff\\xe4/app', '/none/d\\xfe\\xe4/app']);
    const otlp = readOtlp(await converted('otlp'));
    expect(otlp.mappings.map(({ name }) => name)).toEqual(['/none/d\\xff\\xe4/app', '/none/d\\xfe\\xe4/app']);
    expect(otlp.profiles[0].samples.map(({ attributes }) => attributes.get('thread.name')).sort()).toEqual(['t\\xfe\\xe4', 't\\xff\\xe4']);
    expect(message.stringTable.join()).not.toMatch(/\ufffd|\p{Surrogate}/u);
  });

  it('are printed with escapes on the terminal and in JSON', async () => {
    const { profile } = await readProfile(new BufferSource(recording), {}, new Diagnostics());
    const report = new BufferSink();
    await writeReport(profile, report, { sort: ['comm', 'dso'] });
    expect(report.text().split('\n').slice(2, 4)).toEqual(['', ''].map(() => expect.stringMatching(/ t\\xf[ef]\\xe4 {2}\/none\/d\\xf[ef]\\xe4\/app$/)));
    for (const json of [false, true]) {
      const sink = new BufferSink();
      await dump(new BufferSource(recording), sink, { json, types: ['COMM', 'MMAP2'] }, new Diagnostics());
      expect(sink.text()).not.toMatch(/\ufffd|\\ud/);
      expect(sink.text()).toContain(json ? '"comm":"t\\\\xff\\\\xe4"' : ' comm=t\\xff\\xe4 ');
    }
    for (const args of [[], ['--json']]) {
      const { stdout } = await runMain(['info', ...args, '-'], { stdin: recording });
      expect(stdout.toString()).toContain(args.length > 0 ? '"d\\\\xff\\\\xe4/app"' : 'd\\xff\\xe4/app');
      expect(stdout.toString()).not.toMatch(/\ufffd|\\ud/);
    }
    const info = await readRecordingInfo(new BufferSource(recording), {}, new Diagnostics());
    expect(info.commandLine?.at(-1)).toBe('d\udcff\udce4/app');
  });

  it.each(['t\udcff\udce4', 't\\xff\\xe4', 't\ufffd\ufffd'])('are found by --comm %j', async (comm) => {
    const { profile } = await readProfile(new BufferSource(recording), { filter: { comms: [comm] } }, new Diagnostics());
    expect(profile.totals.size).toBe(comm.includes('\ufffd') ? 2 : 1);
  });

  it('stay unchanged in symbol tables and through the demangler', () => {
    const names = Buffer.from('_Z3f\xff\xe4v', 'latin1');
    const table = new SymbolTable({
      starts: Float64Array.of(0),
      ends: Float64Array.of(1),
      nameOffsets: Uint32Array.of(0),
      nameLengths: Uint32Array.of(names.length),
      names: new NameBytes(names),
    });
    expect(table.name(0)).toBe('_Z3f\udcff\udce4v');
    expect(demangle(table.name(0))).toBe('f\udcff\udce4()');
    // Lengths count bytes: the character beside the raw one has two.
    expect(demangle('_Z4ä\udcff_v')).toBe('ä\udcff_()');
  });
});
