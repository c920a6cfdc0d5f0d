import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../src/errors.ts';
import { decode } from './support/decode.ts';
import { announceSkipped } from './support/perf-tool.ts';

/**
 * Recordings that other projects published, with what an independent decoder made of them. They are not part of this
 * project: $PERFCONV_CORPUS names the folder, which holds `files/` and `expected/`.
 */
const corpus = process.env.PERFCONV_CORPUS;

/** Recordings of kinds that the README's table of known limits names, and what is said of them. */
const NOT_READ: readonly (readonly [pattern: RegExp, message: RegExp | string])[] = [
  [/true\.v1$/, /PERFFILE/],
  [/invalid_perf/, /not a perf\.data file/],
  [/compressed|\.zstd$/, 'compressed'],
  [/^cros__/, 'auxtrace'],
  // simpleperf: its own records and features, a TRACING_DATA record with another size, READ with one value for all.
  [/^simpleperf__perf_with_tracepoint_event\.data/, 'insane-record-size'],
  [/^simpleperf__perf_with_add_counter/, 'dwarf-callchain'],
];

/** event, pid, tid, cpu, time, ip, period of each sample, `-` where it has none. */
interface Expected {
  readonly event: string;
  readonly rest: string;
  readonly period: string;
}

function expectedSamples(name: string): Expected[] {
  const file = join(corpus ?? '', 'expected', `${name.replace(/^be__/, '')}.records.tsv.gz`);
  const lines = gunzipSync(readFileSync(file)).toString().split('\n');
  return lines
    .filter((line) => line.startsWith('SAMPLE\t'))
    .map((line) => {
      const [, , event, pid, tid, cpu, time, ip, period] = line.split('\t');
      return { event, rest: [pid, tid, cpu, time, ip].join(' '), period };
    });
}

if (corpus === undefined) announceSkipped('the corpus of published recordings', '$PERFCONV_CORPUS is not set');

describe.skipIf(corpus === undefined || !existsSync(corpus))('published recordings', () => {
  // Without the corpus one test stands for all of them, so that it is counted as skipped.
  const names = corpus === undefined ? ['all of them'] : readdirSync(join(corpus, 'files')).sort();

  it.each(names)('%s', async (name) => {
    const bytes = readFileSync(join(corpus ?? '', 'files', name));
    const limit = NOT_READ.find(([pattern]) => pattern.test(name));
    const decoded = await decode(bytes).catch((error: unknown) => error);
    if (decoded instanceof Error) {
      expect(decoded).toBeInstanceOf(PerfconvError);
      expect(limit?.[1], decoded.message).toBeInstanceOf(RegExp);
      expect(decoded.message).toMatch(limit?.[1] as RegExp);
      return;
    }
    const { samples, diagnostics, profile, session } = decoded as Awaited<ReturnType<typeof decode>>;
    if (limit !== undefined) {
      expect(diagnostics.list().map(({ code }) => code)).toContain(limit[1]);
      return;
    }
    const table = profile.samples;
    if (table === undefined) throw new Error('no samples kept');
    const isNamed = session.features.eventDesc !== undefined;
    const wanted = expectedSamples(name);
    const ours = samples.map((sample, row) => {
      const ip = (BigInt(table.ipHi[row]) << 32n) | BigInt(table.ipLo[row]);
      const rest = [sample.pid, sample.tid, sample.cpu < 0 ? '-' : sample.cpu, sample.time ?? '-', ip.toString(16)].join(' ');
      return `${isNamed ? `${sample.event} ` : ''}${rest} ${wanted[0]?.period === '-' ? '-' : sample.period}`;
    });
    const theirs = wanted.map(({ event, rest, period }) => `${isNamed ? `${event} ` : ''}${rest} ${period}`);
    // Ours come in the order of time, the expected ones in that of the file.
    expect(ours.sort()).toEqual(theirs.sort());
  });
});
