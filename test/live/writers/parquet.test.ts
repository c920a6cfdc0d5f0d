import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { convert } from '../../../src/pipeline/convert.ts';
import { announceSkipped, lastLines, makeTempDir, readWithPerf, recordWithPerf, removeTempDir, runTool, whyNoRecording } from '../../support/perf/perf-tool.ts';

// Tables of fresh recordings, as the programs that people query them with read them, against perf's own text.

/** Prints the rows of a table as JSON: `[pid, tid, cpu, time_ns, period, event, ip, stack]`, numbers as text. Each takes another way to read nested columns. */
const READERS: Readonly<Record<string, string>> = {
  duckdb: `import sys, json, duckdb
rows = duckdb.sql(f"SELECT pid, tid, cpu, time_ns, period, event, ip, stack FROM '{sys.argv[1]}'").fetchall()`,
  pyarrow: `import sys, json, pyarrow.parquet
table = pyarrow.parquet.read_table(sys.argv[1])
table.validate(full=True)
rows = [(r['pid'], r['tid'], r['cpu'], r['time_ns'], r['period'], r['event'], r['ip'], r['stack']) for r in table.to_pylist()]`,
};
const PRINT = '\nprint(json.dumps([[v if isinstance(v, list) else None if v is None else str(v) for v in r] for r in rows]))';

type Row = readonly [pid: string | null, tid: string | null, cpu: string | null, timeNs: string, period: string, event: string, ip: string, stack: string[]];

/** Where .ci/run installs the readers, and the Python of the machine. */
const PYTHONS = [fileURLToPath(new URL('../../../.tmp/readers/bin/python', import.meta.url)), 'python3'];
const pythonOf = (reader: string): string | undefined =>
  PYTHONS.find((python) => spawnSync(python, ['-c', `import ${reader}`], { stdio: 'ignore' }).status === 0);

const whyNot = whyNoRecording();
if (whyNot !== undefined) announceSkipped('tables of fresh recordings against perf', whyNot);

const WAYS: [string, string[], string[]][] = [
  ['callchains of the whole system', ['-e', 'cpu-clock', '-F', '2000', '-g', '-a'], ['-G']],
  ['two events of a program', ['-e', 'cpu-clock,page-faults', '-F', '2000', '--sample-cpu'], []],
];

describe.skipIf(whyNot !== undefined).each(WAYS)('the table of a recording with %s', (_, options, perfOptions) => {
  let directory = '';
  let table = '';
  let printed: (string | null)[][] = [];
  beforeAll(async () => {
    directory = makeTempDir();
    const file = join(directory, 'perf.data');
    recordWithPerf([...options, '-o', file, '--', 'sh', '-c', 'for i in 1 2; do ls -lR /usr/lib | gzip | md5sum; done >/dev/null']);
    const sink = new BufferSink();
    await convert(new BufferSource(readFileSync(file)), [{ format: 'parquet', sink }], {}, new Diagnostics());
    table = join(directory, 'perf.parquet');
    writeFileSync(table, sink.bytes());
    printed = samplesOf(readWithPerf('script', file, [...perfOptions, '--ns', '-F', 'pid,tid,cpu,time,period,event,ip']));
  });
  afterAll(() => removeTempDir(directory));

  for (const [reader, script] of Object.entries(READERS)) {
    const python = pythonOf(reader);
    if (python === undefined) announceSkipped(`tables in ${reader}`, `no Python has ${reader}: pip install ${reader}`);
    test.skipIf(python === undefined)(`has the samples that perf prints, in ${reader}`, () => {
      const { status, stderr, stdout } = runTool(python ?? '', ['-c', script + PRINT, table]);
      expect(lastLines(stderr)).toBe('');
      expect(status).toBe(0);
      const rows: Row[] = JSON.parse(stdout);
      expect(rows.map((row) => row.slice(0, 7))).toEqual(printed);
      expect(rows.length).toBeGreaterThan(100);
      expect(rows.every(({ 7: stack }) => stack.length > 0)).toBe(true);
    });
  }
});

/** Lines of perf-script text without callchains, as the table has them. */
function samplesOf(text: string): (string | null)[][] {
  return text.split('\n').flatMap((line) => {
    const fields = /^\s*(-?\d+)\/(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\d+)\s+(\S+):\s+([0-9a-f]+)\s*$/.exec(line);
    if (fields === null) return [];
    const [, pid, tid, cpu, seconds, ns, period, event, ip] = fields;
    const known = (id: string): string | null => (id === '-1' ? null : id);
    return [[known(pid), known(tid), String(Number(cpu)), String(BigInt(seconds + ns)), period, event, String(BigInt(`0x${ip}`))]];
  });
}
