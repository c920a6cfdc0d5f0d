import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureFile, fixtureNames, fixtureSymbolArgs, isShippedDso } from '../../support/fixture-files.ts';
import type { ReportEvent } from '../../support/perf/perf-report-text.ts';
import { parseReport, reportArgs } from '../../support/perf/perf-report-text.ts';
import { announceSkipped, makeTempDir, readWithPerf, removeTempDir, whyNoPerf, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { recordVariant, type Variant, variantFileName } from '../../support/perf/record-variant.ts';
import { ensureBuilt } from '../../support/programs/built-cli.ts';
import { convert } from '../../support/programs/perfconv-tool.ts';
import { findPprof, noPprof, parseRawPprof, runPprof } from '../../support/programs/pprof-tool.ts';
import { buildWorkloads, whyNoCompiler } from '../../support/programs/workloads.ts';
import type { ReadPprof } from '../../support/readers/read-pprof.ts';
import { readPprof } from '../../support/readers/read-pprof.ts';
import { variants } from '../variants.ts';

// Profiles that the command line makes of recordings, read by the real pprof and by two decoders, against `perf report`.

/** Names in variants.ts: one for each form that the profile's columns can have. */
const recorded = [
  'plain',
  '-g',
  '-g -a',
  'fixed period',
  'three events',
  'three events -g',
  'group',
  'group -g',
  'tracepoints -a',
  'tracepoint and software events',
  'pipe, three events',
  'process tree',
];

interface Recording {
  readonly name: string;
  /** A variant to be recorded now; otherwise a fixture is used. */
  readonly variant?: Variant;
  readonly symbols: readonly string[];
  readonly isNamedAlike: (dso: string) => boolean;
}

const fresh = recorded.map((name): Recording => {
  const variant = variants.find((candidate) => candidate.name === name);
  if (variant === undefined) throw new Error(`no variant ${name}`);
  return { name, variant, symbols: [], isNamedAlike: () => true };
});
const shipped = fixtureNames.map((name): Recording => ({ name, symbols: fixtureSymbolArgs, isNamedAlike: isShippedDso }));

const whyNoOracle = whyNoPerf();
const whyNothingFresh = whyNoRecording() ?? whyNoCompiler();
const pprof = findPprof();
if (whyNoOracle !== undefined) announceSkipped('pprof profiles of recordings against perf report', whyNoOracle);
else if (whyNothingFresh !== undefined) announceSkipped('pprof profiles of fresh recordings', whyNothingFresh);
if (pprof === undefined) announceSkipped('opening profiles of recordings in the real pprof', noPprof);

describe.skipIf(whyNoOracle !== undefined)('pprof profiles of recordings', () => {
  let directory = '';
  beforeAll(() => {
    ensureBuilt();
    directory = makeTempDir();
    if (whyNothingFresh === undefined) buildWorkloads(directory);
  });
  afterAll(() => removeTempDir(directory));

  describe.each([...(whyNothingFresh === undefined ? fresh : []), ...shipped])('$name', ({ name, variant, symbols, isNamedAlike }) => {
    let problem: string | undefined;
    let input = '';
    let output = '';
    let profile: ReadPprof;
    /** With functions named and chains cut as perf does it, where perfconv by itself knows better. */
    let likePerf: ReadPprof;
    let expected: readonly ReportEvent[] = [];

    function convertTo(fileName: string, ...args: string[]): string {
      const file = join(directory, fileName);
      convert(['-o', file, '--no-inline', '--no-demangle', ...args, ...symbols, input]);
      return file;
    }

    beforeAll(() => {
      input = variant === undefined ? fixtureFile(name) : join(directory, variantFileName(variant));
      problem = variant === undefined ? undefined : recordVariant(variant, input, directory);
      if (problem !== undefined) return announceSkipped(`pprof of variant ${name}`, problem);
      output = convertTo(`${basename(input)}.pb.gz`);
      // Two decoders must read the same, and find the tables consistent.
      profile = readPprof(gunzipSync(readFileSync(output)));
      likePerf = readPprof(gunzipSync(readFileSync(convertTo(`${basename(input)}.compat.pb.gz`, '--compat', 'perf'))));
      expected = parseReport(readWithPerf('report', input, [...reportArgs, ...symbols])).filter((event) => event.samples > 0n);
    });

    test('its columns are those of the events that have samples', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const { primary, types } = columnsOf(expected);
      expect([...profile.types].sort()).toEqual([...types.keys()].sort());
      expect(profile.types.slice(0, 2)).toEqual(['samples/count', primary]);
      expect(profile.defaultType).toBe(primary.slice(0, primary.lastIndexOf('/')));
      expect(profile.periodType).toBe(primary);
    });

    test('its totals are those of perf report, to the unit', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const totals = new Map<string, bigint>();
      for (const { values } of profile.samples) for (const [type, value] of values) totals.set(type, (totals.get(type) ?? 0n) + value);
      expect(sortedEntries(totals)).toEqual(sortedEntries(columnsOf(expected).types));
    });

    test('the time in every named function itself is that of perf report', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const actual = selfWeights(likePerf);
      let compared = 0;
      for (const event of expected) {
        const column = weightColumn(event, expected);
        const perf = new Map<string, bigint>();
        for (const { symbol, dso, period } of event.rows) {
          if (symbol.startsWith('0x') || !isNamedAlike(dso)) continue;
          perf.set(`${symbol} in ${dso}`, (perf.get(`${symbol} in ${dso}`) ?? 0n) + period);
        }
        const ours = sortedEntries(actual.get(column) ?? new Map()).filter(([key]) => perf.has(key));
        expect(ours, event.event).toEqual(sortedEntries(perf));
        compared += perf.size;
      }
      expect(compared).toBeGreaterThan(0);
    });

    test('its addresses are in their mappings', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const mappings = new Map(profile.message.mapping.map((row) => [row.id, row]));
      const astray = profile.message.location.filter(({ mappingId, address }) => {
        const mapping = mappings.get(mappingId);
        return mapping !== undefined && (address < mapping.memoryStart || address >= mapping.memoryLimit);
      });
      expect(astray).toEqual([]);
    });

    test('a second conversion gives the same bytes', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const again = convertTo(`${basename(input)}.again.pb.gz`);
      expect(readFileSync(again).equals(readFileSync(output))).toBe(true);
    });

    test.skipIf(pprof === undefined)('the real pprof opens it and computes the same sums', ({ skip }) => {
      if (problem !== undefined) skip(problem);
      const run = (...args: string[]): string => runPprof(pprof ?? '', args, output, directory).stdout;
      const { primary, types } = columnsOf(expected);

      const raw = parseRawPprof(run('-raw', '-symbolize=none'));
      expect(raw.defaultType).toBe(primary);
      expect(sortedEntries(raw.totals)).toEqual(sortedEntries(types));
      expect(raw.samples).toBe(profile.samples.length);

      // As users call it, and then with numbers that are not rounded.
      expect(run('-top')).toContain(`Type: ${profile.defaultType}\n`);
      const [[heaviest = '', weight = 0n] = []] = [...(selfByName(profile).get(primary) ?? new Map<string, bigint>())].sort((a, b) => Number(b[1] - a[1]));
      const top = run('-top', '-symbolize=none', '-nodefraction=0', '-nodecount=1000000', ...(primary.endsWith('nanoseconds') ? ['-unit=ns'] : []));
      const rows = top.split('\n').flatMap((line) => /^\s*(\d+)(?:ns)? +[\d.]+% +[\d.]+% +\d+(?:ns)? +[\d.]+% +(.*)$/.exec(line)?.slice(1, 3).join(' ') ?? []);
      expect(rows).toContain(`${weight} ${heaviest}`);

      // Without line numbers in the profile, there is no source to list: then pprof names the function that it found.
      const listed = run(`-list=^${heaviest.replaceAll(/[^\w ]/g, '\\$&')}$`, '-symbolize=none');
      expect(listed).toContain('Total: ');
      expect(listed).toContain(heaviest);
    });
  });
});

/** The columns for perf's events (docs/formats.md, pprof), with the sums in perf report. */
function columnsOf(events: readonly ReportEvent[]): { readonly primary: string; readonly types: ReadonlyMap<string, bigint> } {
  const types = new Map<string, bigint>();
  for (const event of events) {
    const weight = weightColumn(event, events);
    types.set(event === primaryOf(events) ? 'samples/count' : `${event.event}_samples/count`, event.samples);
    types.set(weight, event.period);
  }
  return { primary: weightColumn(primaryOf(events), events), types };
}

/** The event with the most samples. */
function primaryOf(events: readonly ReportEvent[]): ReportEvent {
  return events.reduce((most, event) => (event.samples > most.samples ? event : most));
}

function weightColumn(event: ReportEvent, events: readonly ReportEvent[]): string {
  const isClock = /^(?:cpu|task)-clock\b/.test(event.event);
  return `${isClock && event === primaryOf(events) ? 'cpu' : event.event}/${isClock ? 'nanoseconds' : 'count'}`;
}

/** The sum of the samples by column, and by the key that `keyOf` makes of the leaf's function and mapping. */
function sumLeaves({ samples }: ReadPprof, keyOf: (name: string, mapping: string) => string): Map<string, Map<string, bigint>> {
  const sums = new Map<string, Map<string, bigint>>();
  for (const { locations, values } of samples) {
    const [leaf] = locations;
    if (leaf === undefined) continue;
    const key = keyOf(leaf.frames[0]?.split('|')[0] ?? '', leaf.mapping);
    for (const [type, value] of values) {
      const column = sums.get(type) ?? new Map<string, bigint>();
      if (value > 0n) column.set(key, (column.get(key) ?? 0n) + value);
      sums.set(type, column);
    }
  }
  return sums;
}

/** With the rows named as in perf report: function and file, the latter without directories. */
function selfWeights(profile: ReadPprof): Map<string, Map<string, bigint>> {
  return sumLeaves(profile, (name, mapping) => `${name} in ${mapping.startsWith('[') ? mapping : basename(mapping)}`);
}

/** With the rows named as in pprof. */
function selfByName(profile: ReadPprof): Map<string, Map<string, bigint>> {
  return sumLeaves(profile, (name) => name);
}

function sortedEntries(sums: ReadonlyMap<string, bigint>): [string, bigint][] {
  return [...sums].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}
