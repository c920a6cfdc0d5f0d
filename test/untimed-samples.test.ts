import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { context, encodeFile, type RecordSpec, record, simpleperfFeatures } from './support/builders/recordings/perf-encoder.ts';
import { CLOCK, SWITCHES, sampleAt } from './support/builders/recordings/simpleperf-recordings.ts';
import { runMain } from './support/programs/run-main.ts';
import { parseCsv } from './support/readers/parse-csv.ts';
import { htmlText } from './support/readers/read-html.ts';
import { readOtlp } from './support/readers/read-otlp.ts';
import { parquetText } from './support/readers/read-parquet.ts';
import { readPprof } from './support/readers/read-pprof.ts';
import { spread } from './support/thoroughness.ts';

/** Times at which no sample can be shown: see RecordingClock. */
const NO_TIMES = { '0': 0n, '2^64-1': 0xffff_ffff_ffff_ffffn, '~0<<32': 0xffff_ffffn << 32n };
const STACK = [context.user, 0x1000n];
const switchOff = (time: bigint) => sampleAt(time, STACK, { attr: 1, period: 1n });
const onCpu = (time: bigint) => sampleAt(time, STACK);
const switchIn = (time: bigint): RecordSpec => record.switch({ out: false }, { sampleId: { time, pid: 100, tid: 100 } });

/** Recordings of `simpleperf record --trace-offcpu`, in which a period is the difference of two times. */
function recordings(time: bigint): Record<string, readonly RecordSpec[]> {
  return {
    'a switch without a time': [onCpu(1000n), switchOff(time), onCpu(5000n)],
    'a switch back without a time': [switchOff(1000n), switchIn(time), onCpu(time), onCpu(5000n)],
    'no times at all': [onCpu(time), switchOff(time), onCpu(time), switchOff(time)],
  };
}

const cases = Object.entries(NO_TIMES).flatMap(([name, time]) => Object.entries(recordings(time)).map(([what, records]) => [what, name, records] as const));

describe.each(spread(cases, 2))('%s: %s', (_what, _name, records) => {
  let directory = '';
  let input = '';
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'perfconv-untimed-'));
    input = join(directory, 'perf.data');
    const features = [simpleperfFeatures.metaInfo({ trace_offcpu: 'true', event_type_info: 'cpu-clock,1,0\nsched:sched_switch,2,47' })];
    writeFileSync(input, encodeFile({ attrs: [CLOCK, SWITCHES], records, foreignFeatures: features }));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const filters: string[][] = [[], ['--event', 'sched:sched_switch'], ['--time', '0,'], ['--time', '0%-100%']];

  test.each(filters.map((filter) => [filter.join(' '), filter] as const))('makes a valid document in every format %s', async (_text, filter) => {
    for (const format of ['speedscope', 'chrome', 'cpuprofile', 'firefox', 'html', 'script', 'folded', 'pprof', 'otlp', 'csv', 'parquet']) {
      const output = join(directory, `out-${format}`);
      const result = await runMain(['-q', input, '-t', format, '-o', output, ...filter]);
      expect(result.stderr).not.toMatch(/internal error|NaN|BigInt/);
      if (result.status !== 0) {
        expect(result.stderr, `${format} ${filter}`).toContain('passes the filters');
        continue;
      }
      if (format === 'pprof') {
        readPprof(gunzipSync(readFileSync(output)));
        continue;
      }
      if (format === 'otlp') {
        readOtlp(readFileSync(output));
        continue;
      }
      const texts =
        format === 'csv'
          ? ['overview', 'processes', 'results'].map((table) => readFileSync(join(output, `${table}.csv`), 'utf8'))
          : [
              format === 'parquet'
                ? await parquetText(readFileSync(output))
                : format === 'html'
                  ? htmlText(readFileSync(output))
                  : readFileSync(output, 'utf8'),
            ];
      for (const text of texts) expect(text, format).not.toMatch(/NaN|Infinity/);
      if (format === 'speedscope' || format === 'chrome' || format === 'cpuprofile' || format === 'firefox' || format === 'html') JSON.parse(texts[0]);
      if (format === 'csv')
        expect(
          parseCsv(texts[2])
            .map(({ period }) => period)
            .every((period) => /^\d+$/.test(period)),
        ).toBe(true);
    }
  });

  test('causes no failure in report, info and dump', async () => {
    for (const command of [['report'], ['report', '--event', 'sched:sched_switch'], ['info'], ['info', '--json'], ['dump'], ['dump', '--json']]) {
      const result = await runMain([...command, input]);
      expect(`${result.stderr}${result.stdout}`, command.join(' ')).not.toMatch(/internal error|NaN|Infinity/);
      expect(result.status, command.join(' ')).toBe(0);
    }
  });
});
