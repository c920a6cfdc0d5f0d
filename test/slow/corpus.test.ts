import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import type { PerfRecord } from '../../src/perfdata/records/perf-record.ts';
import { readRecords } from '../../src/records/read-records.ts';
import { announceSkipped } from '../support/perf/perf-tool.ts';
import { lineOf, nameOf, withSortedTrailer } from '../support/readers/corpus-lines.ts';
import { decode } from '../support/readers/decode.ts';

/**
 * Recordings that other projects published, with the output of an independent decoder. They are not part of this
 * project: $PERFCONV_CORPUS names the folder, which has `files/`, `expected/` and `inventory.tsv`.
 */
const corpus = process.env.PERFCONV_CORPUS ?? '';
const isThere = corpus !== '' && existsSync(corpus);

/** The only file that is not a recording. */
const NOT_A_RECORDING = 'simpleperf__invalid_perf.data';

/** The name of a recording that was rewritten in big-endian byte order; the rest of the name is the original's. */
const TWIN = /^be__/;
/** Records that were left out of the rewritten twins. */
const NOT_IN_TWINS = /^(EVENT_UPDATE|THREAD_MAP|CPU_MAP|TIME_CONV)\t/;

/**
 * Events of simpleperf that the decoder names by itself, from type and config: without modifiers, and without looking
 * at META_INFO.
 */
const OTHER_EVENT_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'simpleperf__perf_for_build_id_check.data': { 'cpu-cycles': 'cpu-cycles:u' },
  'simpleperf__perf_with_trace_offcpu.data': { 'tracepoint-47': 'sched:sched_switch' },
};

/** MMAP2 before Linux 3.16 has neither prot nor flags; the decoder takes the first eight bytes of the file name for them. */
const EARLY_MMAP2 = 'hotspot__perf.data.true.v2';

/** simpleperf's --add-counter: each sample is one with its own period, and one more for each further counter that it reads. */
const ADDS_COUNTERS = 'simpleperf__perf_with_add_counter.data';

/** A pipe with one byte after its last record. */
const EXTRA_BYTE = 'quipperhist__perf.data.piped.extrabyte-3.4';

function expectedLines(name: string): string[] {
  const bytes = readFileSync(join(corpus, 'expected', `${name.replace(TWIN, '')}.records.tsv.gz`));
  const lines = gunzipSync(bytes).toString().split('\n').slice(0, -1).map(withSortedTrailer);
  if (TWIN.test(name)) return lines.filter((line) => !NOT_IN_TWINS.test(line));
  if (name === EARLY_MMAP2) return lines.map(withEarlyMmap2);
  const names = OTHER_EVENT_NAMES[name];
  if (names === undefined) return lines;
  return lines.map((line) => line.replace(/^(SAMPLE\t\d+\t)([^\t]+)/, (_, before: string, event: string) => before + (names[event] ?? event)));
}

function withEarlyMmap2(line: string): string {
  return line.replace(/prot=(\d+) flags=([0-9a-f]+) /, (_, prot: string, flags: string) => {
    const start = Buffer.alloc(8);
    start.writeUInt32LE(Number(prot), 0);
    start.writeUInt32LE(Number.parseInt(flags, 16), 4);
    return start.toString('latin1').replace(/\0.*$/s, '');
  });
}

/** The decoder counts offsets in decompressed data, and a twin's records are elsewhere: there, offsets are not compared. */
function withoutOffset(line: string): string {
  return line.replace(/^(\w+\t)\d+/, '$1');
}

function recordCounts(name: string): Record<string, number> {
  const [head, ...rows] = readFileSync(join(corpus, 'inventory.tsv'), 'utf8')
    .split('\n')
    .map((line) => line.split('\t'));
  const row = rows.find(([file]) => file === name);
  const counts = (row?.[head.indexOf('record_counts')] ?? '').split(' ').map((one) => one.split('='));
  return Object.fromEntries(counts.map(([type, count]) => [type, Number(count)]));
}

async function recordsOf(name: string): Promise<{ records: PerfRecord[]; littleEndian: boolean; diagnostics: Diagnostics }> {
  const bytes = readFileSync(join(corpus, 'files', name));
  const diagnostics = new Diagnostics();
  const records: PerfRecord[] = [];
  for await (const record of readRecords(new BufferSource(bytes, name), diagnostics)) records.push(record);
  return { records, littleEndian: /^(PERFILE2|ELIFFREP)/.test(bytes.toString('latin1', 0, 8)), diagnostics };
}

if (!isThere) announceSkipped('the corpus of published recordings', '$PERFCONV_CORPUS is not set');

describe.skipIf(!isThere)('published recordings', () => {
  // Without the corpus, one test takes the place of all, so that it is counted as skipped.
  const names = isThere ? readdirSync(join(corpus, 'files')).sort() : ['all of them'];
  const recordings = names.filter((name) => name !== NOT_A_RECORDING);

  it('are recordings except for one, which is refused', async () => {
    await expect(recordsOf(NOT_A_RECORDING)).rejects.toThrow(PerfconvError);
    await expect(recordsOf(NOT_A_RECORDING)).rejects.toThrow(/not a perf\.data file/);
    expect(names).toContain(NOT_A_RECORDING);
  });

  it.each(recordings)('%s: every record is read with all its fields, in the order of the file', async (name) => {
    const { records, littleEndian, diagnostics } = await recordsOf(name);
    const hasOffsets = !TWIN.test(name) && !records.some(({ type }) => type === 'COMPRESSED' || type === 'COMPRESSED2');
    const shown = (line: string): string => (hasOffsets ? line : withoutOffset(line));
    const ours = records.map((record) => lineOf(record, littleEndian)).filter((line) => line !== undefined);
    expect(ours.map(shown)).toEqual(expectedLines(name).map(shown));
    const losses = diagnostics.list().filter(({ severity }) => severity === 'loss');
    expect(losses.map(({ code, count }) => [code, count])).toEqual(name === EXTRA_BYTE ? [['truncated', 1]] : []);
  });

  it.each(recordings.filter((name) => !TWIN.test(name)))('%s: all its records of each type are read', async (name) => {
    const { records } = await recordsOf(name);
    const counts: Record<string, number> = {};
    for (const record of records) counts[nameOf(record)] = (counts[nameOf(record)] ?? 0) + 1;
    expect(counts).toEqual(recordCounts(name));
  });

  it.each(recordings)('%s: every sample is in the profile', async (name) => {
    const { samples, profile, session } = await decode(readFileSync(join(corpus, 'files', name)));
    const table = profile.samples;
    if (table === undefined) throw new Error('no samples kept');
    // If a recording does not name its events, the decoder chooses their names, which are checked above.
    const isNamed = session.features.eventDesc !== undefined;
    const wanted = expectedLines(name).filter((line) => line.startsWith('SAMPLE\t'));
    const hasPeriods = wanted.some((line) => line.split('\t')[8] !== '-');
    const theirs = wanted.map((line) => {
      const [, , event, pid, tid, cpu, time, ip, period] = line.split('\t');
      return [...(isNamed ? [event] : []), pid, tid, cpu, time, ip, period].join(' ');
    });
    const ours = samples.map((sample, row) => {
      const ip = (BigInt(table.ipHi[row]) << 32n) | BigInt(table.ipLo[row]);
      const fields = [sample.pid, sample.tid, sample.cpu < 0 ? '-' : sample.cpu, sample.time ?? '-', ip.toString(16), hasPeriods ? sample.period : '-'];
      return [...(isNamed ? [sample.event] : []), ...fields].join(' ');
    });
    // perfconv's samples are in the order of time, the expected ones in that of the file.
    if (name !== ADDS_COUNTERS) return expect(ours.sort()).toEqual(theirs.sort());
    expect(ours).toEqual(expect.arrayContaining(theirs));
    expect(ours).toHaveLength(2 * theirs.length);
  });
});
