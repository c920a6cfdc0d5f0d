import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DevToolsView, hasNoChromium, loadInDevTools, loadInSpeedscope, type SpeedscopeView } from '../support/browsers/chromium.ts';
import { fixtureFile, fixtureSymbolArgs, isShippedDso } from '../support/fixture-files.ts';
import { announceSkipped, makeTempDir, removeTempDir, whyMissing, whyNoPerf, whyNoRecording } from '../support/perf/perf-tool.ts';
import { recordVariant, type Variant, variantFileName } from '../support/perf/record-variant.ts';
import { ensureBuilt } from '../support/programs/built-cli.ts';
import { convert } from '../support/programs/perfconv-tool.ts';
import { buildWorkloads, whyNoCompiler } from '../support/programs/workloads.ts';
import {
  busiestThread,
  busiestThreadOf,
  demangle,
  heaviestFunctions,
  type RecordedThread,
  type Threads,
  threadsOf,
} from '../support/truth/recorded-threads.ts';
import { devToolsThreads, speedscopeThreads } from '../support/truth/viewer-threads.ts';

// Compares what speedscope and the Performance panel of DevTools show of recordings with what perf reports.

interface Recording {
  readonly name: string;
  /** How to record it; a fixture when absent. */
  readonly variant?: Variant;
  readonly symbols: readonly string[];
  readonly isNamedAlike: (dso: string) => boolean;
}

const clock = ['-e', 'cpu-clock', '-F', '2000', '-g'] as const;
const fresh: readonly Variant[] = [
  { name: 'threads -g', record: clock, workload: ['./threads', '4'] },
  { name: 'whole system -g -a', record: [...clock, '-e', 'sched:sched_switch', '-a'] },
];

const SOURCE_PLACE = /\.(?:c|cc|cpp|h|S|s|rs|go|inc)(?::\d+)*$/;
const STYLES = ['events', 'profile'] as const;
const TOP = 5;
/**
 * DevTools counts in whole microseconds. Rounding moves each end of a sample by at most half of one. Where samples
 * follow one another, the end of one is the start of the next, so a thread is off by no more than this per sample.
 */
const MS_PER_SAMPLE = 0.001;
/** Half of the tenth of a millisecond that its tables show. */
const MS_SHOWN = 0.05;

const whyNoOracle = whyNoPerf();
const whyNothingFresh = whyNoRecording() ?? whyNoCompiler();
const whyNoDemangler = whyMissing('c++filt');
if (whyNoOracle !== undefined) announceSkipped('recordings in the viewers', whyNoOracle);
else if (whyNothingFresh !== undefined) announceSkipped('fresh recordings in the viewers', whyNothingFresh);
if (whyNoDemangler !== undefined) announceSkipped('the names of functions in speedscope, which demangles them', whyNoDemangler);
const isSkipped = hasNoChromium('recordings in speedscope and in DevTools') || whyNoOracle !== undefined;

const recordings: readonly Recording[] = [
  ...(whyNothingFresh === undefined ? fresh : []).map((variant) => ({ name: variant.name, variant, symbols: [], isNamedAlike: () => true })),
  { name: 'events.data', symbols: fixtureSymbolArgs, isNamedAlike: isShippedDso },
];

describe.skipIf(isSkipped)('recordings in viewers', () => {
  let directory = '';
  beforeAll(() => {
    ensureBuilt();
    directory = makeTempDir();
    if (whyNothingFresh === undefined) buildWorkloads(directory);
  });
  afterAll(() => removeTempDir(directory));

  describe.each(recordings)('$name', ({ name, variant, symbols, isNamedAlike }) => {
    let problem: string | undefined;
    let input = '';
    let threads: Threads;

    beforeAll(() => {
      input = variant === undefined ? fixtureFile(name) : join(directory, variantFileName(variant));
      problem = variant === undefined ? undefined : recordVariant(variant, input, directory);
      if (problem !== undefined) return announceSkipped(`${name} in the viewers`, problem);
      threads = threadsOf(input);
    });

    function busiestHere(): RecordedThread {
      return variant === undefined ? busiestThread(threads) : busiestThreadOf('threads', threads);
    }

    function convertTo(fileName: string, ...args: string[]): string {
      const output = join(directory, fileName);
      convert(['-o', output, '--compat', 'perf', '--no-inline', '--no-demangle', ...args, ...symbols, input]);
      return output;
    }

    describe('speedscope', () => {
      let shown: ReturnType<typeof speedscopeThreads>;
      let view: SpeedscopeView;

      beforeAll(async () => {
        if (problem !== undefined) return;
        view = await loadInSpeedscope(convertTo(`${name}.speedscope.json`));
        shown = speedscopeThreads(view);
      });

      test('loads without problems and opens all threads together', ({ skip }) => {
        if (problem !== undefined) skip(problem);
        expect(view.problems).toEqual([]);
        const { event } = busiestThread(threads, true);
        const all = [...threads.values()].filter((thread) => thread.event === event);
        expect(view.profiles[view.shown]?.total).toBe(all.reduce((sum, { period }) => sum + period, 0));
      });

      test('shows the threads of each event with their exact weights', ({ skip }) => {
        if (problem !== undefined) skip(problem);
        expect(shown.size).toBe(view.profiles.filter(({ name: shownName }) => !shownName.startsWith('all threads ')).length);
        const facts = [...shown].map(([key, { total, nonIdle, unit }]) => [key, { total, nonIdle, unit }] as const);
        const expected = [...threads].map(([key, { period, isClock }]) => {
          return [key, { total: period, nonIdle: period, unit: isClock ? 'nanoseconds' : 'none' }] as const;
        });
        expect(new Map(facts)).toEqual(new Map(expected));
      });

      test('shows the same heaviest functions as perf', ({ skip }) => {
        if (problem !== undefined) skip(problem);
        if (whyNoDemangler !== undefined) skip(whyNoDemangler);
        const busiest = busiestHere();
        const functions = heaviestFunctions(input, busiest, TOP, symbols, isNamedAlike);
        expect(functions.length).toBe(TOP);
        // The page demangles names itself, except those that perfconv protects with a leading space.
        const frames = (shown.get(busiest.key)?.frames ?? []).map((frame) => ({ ...frame, name: demangle(frame.name.trim()) }));
        for (const { symbol, period } of functions) {
          const self = frames.filter((frame) => frame.name === demangle(symbol)).reduce((sum, frame) => sum + frame.self, 0);
          expect(self, symbol).toBe(period);
        }
        const names = new Set(functions.map(({ symbol }) => demangle(symbol)));
        const others = frames.filter((frame) => !names.has(frame.name) && isNamedAlike(frame.file ?? '') && !frame.name.startsWith('0x'));
        expect(Math.max(...others.map((frame) => frame.self))).toBeLessThanOrEqual(functions.at(-1)?.period ?? 0);
      });
    });

    describe.each(STYLES)('DevTools (%s)', (style) => {
      let shown: ReturnType<typeof devToolsThreads>;
      let view: DevToolsView;

      beforeAll(async () => {
        if (problem !== undefined) return;
        const busiest = busiestHere();
        const bottomUpOf = (trackName: string): boolean => new RegExp(`\\(${busiest.tid}\\)$`).test(trackName);
        view = await loadInDevTools(convertTo(`${name}.${style}.trace.json`, '--chrome-style', style, '--group', 'thread'), { bottomUpOf });
        const otherEvents = new Set([...threads.values()].filter(({ isClock }) => !isClock).map(({ event }) => event));
        shown = devToolsThreads(view, style, busiest.event, [...otherEvents]);
      });

      test('loads without problems and recognizes the kind of trace', ({ skip }) => {
        if (problem !== undefined) skip(problem);
        expect(view.problems).toEqual([]);
        expect(view.isGeneric).toBe(style === 'events');
      });

      test('shows the threads of each event with their weights, to a microsecond per sample', ({ skip }) => {
        if (problem !== undefined) skip(problem);
        // Samples of a thread that has ended may have no id (-1), so that their tracks do not tell the process.
        const known = (keys: Iterable<string>): Set<string> => new Set([...keys].filter((key) => !key.includes('/-1 ')));
        expect(known(shown.keys())).toEqual(known(threads.keys()));
        for (const [key, { busyMs }] of shown) {
          if (!known([key]).has(key)) continue;
          const { period = 0, samples = 0, isClock = false } = threads.get(key) ?? {};
          // Only periods of clocks are times. Samples of other events are shown for a microsecond each.
          if (isClock) expect(Math.abs(busyMs - period / 1e6), key).toBeLessThanOrEqual(samples * MS_PER_SAMPLE);
          else expect(busyMs, key).toBeCloseTo(samples / 1000, 3);
        }
      });

      test('shows the same heaviest functions as perf', ({ skip }) => {
        if (problem !== undefined) skip(problem);
        const busiest = busiestHere();
        const functions = heaviestFunctions(input, busiest, TOP, symbols, isNamedAlike);
        expect(functions.length).toBe(TOP);
        const rows = shown.get(busiest.key)?.bottomUp ?? [];
        let found = 0;
        for (const { symbol, dso, period, samples } of functions) {
          const named = rows.filter(({ activity }) => (style === 'events' ? activity === symbol : activity.startsWith(`${symbol} `)));
          // Functions of equal weight come in any order, so those that tie with the last may not be in view.
          if (named.length === 0 && period === functions.at(-1)?.period) continue;
          const selfMs = named.reduce((sum, row) => sum + row.selfMs, 0);
          expect(Math.abs(selfMs - period / 1e6), symbol).toBeLessThanOrEqual(samples * MS_PER_SAMPLE + named.length * MS_SHOWN);
          // After the name comes the source file where debug information has it, otherwise the binary.
          if (style === 'profile')
            expect(
              named.every(({ activity }) => activity.includes(dso) || SOURCE_PLACE.test(activity)),
              symbol,
            ).toBe(true);
          found++;
        }
        expect(found).toBeGreaterThan(0);
      });
    });
  });
});
