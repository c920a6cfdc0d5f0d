import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareTables } from '../../support/perf/compare-tables.ts';
import { announceSkipped, makeTempDir, readWithPerf, recordWithPerf, removeTempDir, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { csvTextsOf } from '../../support/readers/csv-texts.ts';
import { parseCsv } from '../../support/readers/parse-csv.ts';

const whyNot = whyNoRecording();
if (whyNot !== undefined) announceSkipped('the CSV tables of fresh recordings against perf', whyNot);

describe.skipIf(whyNot !== undefined)('the CSV tables of a fresh recording', () => {
  const program = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; for j in 1 2 3; do ls / | cat; done; (i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done)';
  let directory = '';
  beforeAll(() => {
    directory = makeTempDir();
  });
  afterAll(() => removeTempDir(directory));

  const ways: [string, string[]][] = [
    ['callchains', ['-e', 'cpu-clock', '-F', '2000', '-g']],
    ['the whole system', ['-e', 'cpu-clock', '-F', '2000', '-g', '-a']],
    ['three events', ['-e', 'cpu-clock,page-faults,context-switches', '-F', '2000']],
    ['a group', ['-e', '{cpu-clock,page-faults,context-switches}:S', '-F', '2000']],
    ['switch events', ['-e', 'cpu-clock', '-F', '2000', '--switch-events']],
  ];
  test.each(ways)('agree with perf: %s', async (name, args) => {
    const file = join(directory, `${name.replaceAll(' ', '-')}.data`);
    recordWithPerf([...args, '-o', file, '--', 'sh', '-c', program]);
    const tables = await csvTextsOf(readFileSync(file), { compatPerf: true });
    const [stat, overview, processes, results] = ['stat', 'overview', 'processes', 'results'].map((table) => parseCsv(tables[`${table}.csv`]));
    expect(compareTables({ stat, overview, processes, results }, file)).toEqual([]);

    const rows = overview.filter(({ type }) => type === 'SAMPLE').map(({ pid, tid, time, info }) => `${pid}/${tid} ${time} ${info}`);
    const lines = readWithPerf('script', file, ['-G', '--ns', '-F', 'pid,tid,time,ip']).split('\n');
    // Samples of a thread that has ended have pid and tid −1, which readperf prints unsigned.
    const unsigned = (id: string): bigint => BigInt.asUintN(32, BigInt(id));
    const samples = lines.flatMap((line) => {
      const fields = /^\s*(-?\d+)\/(-?\d+)\s+(\d+)\.(\d{9}):\s+([0-9a-f]+)\s*$/.exec(line);
      return fields === null ? [] : [`${unsigned(fields[1])}/${unsigned(fields[2])} ${BigInt(fields[3] + fields[4])} ${BigInt(`0x${fields[5]}`)}`];
    });
    // perf prints a sample with the counters of a group once for each member.
    expect(rows).toEqual(name === 'a group' ? samples.filter((sample, i) => sample !== samples[i - 1]) : samples);
    expect(rows.length).toBeGreaterThan(0);
  });
});
