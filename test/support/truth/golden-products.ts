import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import type { ConvertOptions } from '../../../src/pipeline/convert.ts';
import { convert } from '../../../src/pipeline/convert.ts';
import type { StreamFormat } from '../../../src/pipeline/formats.ts';
import { type ReportOptions, report } from '../../../src/pipeline/report.ts';
import type { WriteOptions } from '../../../src/pipeline/write-profile.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { FIXTURE_SYMBOLS, FixtureSymbolFiles } from '../fixture-symbols.ts';
import { otlpText } from '../readers/otlp-text.ts';
import { pprofText } from '../readers/pprof-text.ts';
import { htmlText } from '../readers/read-html.ts';
import { parquetText } from '../readers/read-parquet.ts';

/** A recording to make a golden of. */
export interface GoldenInput {
  /** Name of the file. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The time of recordings that do not tell when they were made, since the time of a file depends on who checked it out. */
const CAPTURE_TIME_NS = 1_700_000_000_000_000_000n;

/**
 * The content of each golden, by its file name: as the command makes it by default, except that nothing depends on the
 * machine; `like-perf.txt` as perf does it, to be compared with
 * `perf script --ns -F comm,pid,tid,cpu,time,event,ip,sym,symoff,dso --no-inline --no-demangle`.
 */
export const GOLDEN_PRODUCTS: Readonly<Record<string, (input: GoldenInput) => Promise<string>>> = {
  'script.txt': (input) => textOf(input, 'script'),
  'like-perf.txt': (input) =>
    textOf(
      input,
      'script',
      { fields: [{ fields: ['comm', 'pid', 'tid', 'cpu', 'time', 'event', 'ip', 'sym', 'symoff', 'dso'] }], ns: true, demangle: 'none' },
      true,
    ),
  'stacks.folded': (input) => textOf(input, 'folded'),
  'speedscope.json': (input) => textOf(input, 'speedscope'),
  'chrome-events.json': (input) => textOf(input, 'chrome', { chromeStyle: 'events' }),
  'chrome-profile.json': (input) => textOf(input, 'chrome', { chromeStyle: 'profile' }),
  'cpuprofile.json': (input) => textOf(input, 'cpuprofile'),
  'firefox.json': (input) => textOf(input, 'firefox'),
  'html.json': async (input) => htmlText((await converted(input, 'html')).bytes()),
  'otlp.txt': async (input) => otlpText((await converted(input, 'otlp')).bytes()),
  'pprof.txt': async (input) => pprofText((await converted(input, 'pprof')).bytes()),
  'parquet.txt': async (input) => parquetText((await converted(input, 'parquet')).bytes()),
  'report.txt': (input) => reportOf(input),
  'report.json': (input) => reportOf(input, { layout: 'json', children: true }),
  'report.md': (input) => reportOf(input, { layout: 'markdown', limit: 20 }),
  'tree.txt': (input) => reportOf(input, { tree: {} }),
  'tree.json': (input) => reportOf(input, { tree: {}, layout: 'json' }),
  'stat.csv': (input) => tableOf(input, 'stat.csv'),
  'overview.csv': (input) => tableOf(input, 'overview.csv'),
  'processes.csv': (input) => tableOf(input, 'processes.csv'),
  'results.csv': (input) => tableOf(input, 'results.csv'),
};

type GoldenOptions = WriteOptions & Pick<ConvertOptions, 'demangle'>;

async function textOf(input: GoldenInput, format: StreamFormat, options: GoldenOptions = {}, compatPerf = false): Promise<string> {
  return (await converted(input, format, options, compatPerf)).text();
}

async function converted(input: GoldenInput, format: StreamFormat, options: GoldenOptions = {}, compatPerf = false): Promise<BufferSink> {
  const sink = new BufferSink();
  await convert(sourceOf(input), [{ format, sink }], { ...readingOptions(compatPerf), ...options }, new Diagnostics());
  return sink;
}

async function tableOf(input: GoldenInput, fileName: string): Promise<string> {
  const sink = new BufferSink();
  const openTable = async (name: string): Promise<BufferSink> => (name === fileName ? sink : new BufferSink());
  await convert(sourceOf(input), [{ format: 'csv', openTable }], readingOptions(), new Diagnostics());
  return sink.text();
}

async function reportOf(input: GoldenInput, options: ReportOptions = {}): Promise<string> {
  const sink = new BufferSink();
  await report(sourceOf(input), sink, { ...readingOptions(), sort: ['function', 'dso'], ...options }, new Diagnostics());
  return sink.text();
}

function sourceOf({ name, bytes }: GoldenInput): BufferSource {
  return new BufferSource(bytes, name);
}

function readingOptions(compatPerf = false): ConvertOptions {
  const symbolizer = new Symbolizer(new FixtureSymbolFiles(), { ...FIXTURE_SYMBOLS, compatPerf }, new Diagnostics());
  return { symbolizer, compatPerf, modifiedNs: CAPTURE_TIME_NS };
}
