import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { openFile } from '../../../src/host/input/open-input.ts';
import { type ConvertOptions, type ConvertOutput, convert } from '../../../src/pipeline/convert.ts';
import { report } from '../../../src/pipeline/report.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { FIXTURE_SYMBOLS, FixtureSymbolFiles } from '../fixture-symbols.ts';
import {
  chromeTruth,
  cpuProfileTruth,
  csvTruth,
  firefoxTruth,
  foldedTruth,
  htmlTruth,
  ofEvent,
  otlpTruth,
  parquetTruth,
  pprofTruth,
  reportTruth,
  speedscopeTruth,
  type Truth,
  withoutPeriods,
  withoutSamples,
} from './format-truth.ts';

/**
 * Options for all formats: otherwise they would show names in different styles and unknown code in different ways,
 * and pprof would not repeat labels that are the same for all samples.
 */
const ALIKE = { demangle: 'simple', unknown: 'binary', labels: ['pid', 'tid'] } as const;

/** Tests that all formats say the same about a recording: how much each event, thread, process and function has. */
export function describeTruth(recordings: readonly (readonly [name: string, path: string])[]): void {
  describe.each(recordings)('%s', (_, path) => {
    it.each(['inlines', 'none'] as const)('says the same in every format, with debug information: %s', async (debugInfo) => {
      const options = { ...ALIKE, debugInfo };
      const files = await convertTo(['pprof', 'otlp', 'speedscope', 'firefox', 'html', 'parquet', 'csv'], path, options);
      if (files === undefined) return;
      const { events } = files;
      const base = pprofTruth(files.bytes('pprof'), events);
      expect(otlpTruth(files.bytes('otlp'), events), 'otlp').toEqual(base);
      expect(speedscopeTruth(files.bytes('speedscope'), events), 'speedscope').toEqual(base);
      expect(firefoxTruth(files.bytes('firefox'), events), 'firefox').toEqual(base);
      expect(htmlTruth(files.bytes('html')), 'html').toEqual(base);
      expect(await parquetTruth(files.bytes('parquet')), 'parquet').toEqual(base);
      for (const event of events) {
        const filter = { events: [event] };
        const single = await convertTo(['folded', 'chrome', 'cpuprofile'], path, { ...options, filter, chromeStyle: 'profile' });
        if (single === undefined) continue;
        const { events: ownEvents = [], self = [], total = [] } = foldedTruth(single.bytes('folded'), event);
        const folded = [ownEvents, self, total].map((table) => withoutSamples(table));
        expect(folded, `folded ${event}`).toEqual([base.events, base.self, base.total].map((table) => withoutSamples(ofEvent(table, event))));
        const threads = withoutPeriods(ofEvent(base.threads, event));
        const sampled = { self: withoutPeriods(ofEvent(base.self, event)), total: withoutPeriods(ofEvent(base.total, event)) };
        const cpuProfile = cpuProfileTruth(single.bytes('cpuprofile'), event, threads.length);
        expect(cpuProfile, `cpuprofile ${event}`).toEqual({ ...sampled, ...(threads.length > 1 && { threads }) });
        // An event that only counts has no time in a trace, and may have no sampled profile there.
        if (!/^(cpu|task)-clock/.test(event)) continue;
        expect(chromeTruth(single.bytes('chrome'), event), `chrome ${event}`).toEqual(sampled);
      }
      // Tables and reports count by the functions that symbols name.
      if (debugInfo !== 'none') return;
      expectPartOf('csv', csvTruth(files.bytes('results.csv'), files.bytes('processes.csv')), base);
      expectPartOf('report', reportTruth(await reportOf(path, ['dso', 'function'], options), await reportOf(path, ['pid', 'tid'], options)), base);
    });
  });
}

function expectPartOf(format: string, part: Truth, base: Required<Truth>): void {
  for (const [table, rows] of Object.entries(part)) expect(rows, `${format}: ${table}`).toEqual(base[table as keyof Truth]);
}

interface Converted {
  /** Names of the events that have samples. */
  readonly events: readonly string[];
  readonly bytes: (name: string) => Uint8Array;
}

/** undefined for a recording without samples. */
async function convertTo(formats: readonly ConvertOutput['format'][], path: string, options: ConvertOptions): Promise<Converted | undefined> {
  const sinks = new Map<string, BufferSink>();
  const sinkOf = (name: string): BufferSink => {
    const sink = new BufferSink();
    sinks.set(name, sink);
    return sink;
  };
  const outputs = formats.map(
    (format): ConvertOutput => (format === 'csv' ? { format, openTable: async (table) => sinkOf(table) } : { format, sink: sinkOf(format) }),
  );
  const { source } = await openFile(path);
  try {
    const { profile } = await convert(source, outputs, { symbolizer: fixtureSymbolizer(), ...options }, new Diagnostics());
    return {
      events: profile.events.filter(({ samples }) => samples > 0).map(({ name }) => name),
      bytes: (name) => sinks.get(name)?.bytes() ?? new Uint8Array(0),
    };
  } catch (error) {
    if (error instanceof PerfconvError && error.code === 'no-samples') return undefined;
    throw error;
  } finally {
    await source.close();
  }
}

async function reportOf(path: string, sort: ('dso' | 'function' | 'pid' | 'tid')[], options: ConvertOptions): Promise<Uint8Array> {
  const sink = new BufferSink();
  const { source } = await openFile(path);
  try {
    await report(source, sink, { symbolizer: fixtureSymbolizer(), ...options, sort }, new Diagnostics());
    return sink.bytes();
  } finally {
    await source.close();
  }
}

/** Names the fixtures' functions; other recordings have only the names in themselves. */
function fixtureSymbolizer(): Symbolizer {
  return new Symbolizer(new FixtureSymbolFiles(), { ...FIXTURE_SYMBOLS, compatPerf: false }, new Diagnostics());
}
