import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PERF_RECORD_NAMES } from '../../src/perfdata/records/perf-record.ts';
import { RECORD_TYPES } from '../../src/pipeline/choices.ts';
import { fileRecording, pipeRecording } from '../support/builders/recordings/cli-recordings.ts';
import { type AttrSpec, encodeFile, record } from '../support/builders/recordings/perf-encoder.ts';
import { runMain } from '../support/programs/run-main.ts';

const ATTR: AttrSpec = { name: 'cycles', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'stackUser', 'branchStack'], flags: ['sampleIdAll'] };
const HIGH = 0xffffffff81000000n;

let dir: string;
let input: string;
let rich: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'perfconv-dump-'));
  input = join(dir, 'perf.data');
  writeFileSync(input, fileRecording());
  rich = join(dir, 'rich.data');
  const records = [
    record.comm({ pid: 1, comm: 'two words\n\u009b' }, { sampleId: { time: 5n } }),
    record.sample({
      ip: HIGH,
      pid: 1,
      time: 2n ** 63n,
      stackUser: { data: new Uint8Array(64).fill(0xab) },
      branchStack: { entries: [{ from: HIGH, to: 0x10n, predicted: true, cycles: 12 }] },
    }),
    record.opaque(7, new Uint8Array(8)),
  ];
  writeFileSync(rich, encodeFile({ attrs: [ATTR], records, features: { hostname: 'fixture-host', eventDesc: true } }));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

const linesOf = async (...args: string[]): Promise<string[]> => (await runMain(['dump', ...args])).stdout.toString().split('\n').slice(0, -1);

describe('dump', () => {
  test('prints one line per record, in the order of the file', async () => {
    const lines = await linesOf(input);
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['COMM', 'MMAP2', 'SAMPLE', 'SAMPLE', 'SAMPLE', 'FINISHED_ROUND']);
    expect(lines[0]).toMatch(/^0x[0-9a-f]+ COMM size=\d+ misc=0x2000 pid=100 tid=100 comm=app isExec=true sampleId=\{pid=100 tid=100 time=1000 id=7 cpu=0\}$/);
    expect(lines[2]).toMatch(/ SAMPLE size=\d+ misc=0x2 event=cpu-clock cpumode=2 identifier=7 ip=0x400123 pid=100 tid=100 time=3000 cpu=0 /);
    expect(lines[2]).toContain(' callchain=[0x400123,0x400200');
  });

  test('escapes control characters, and shortens long bytes', async () => {
    const [comm, sample, damaged] = await linesOf(rich);
    expect(comm).toContain('comm="two words\\n\\u009b"');
    expect(sample).toContain(`userStack={size=64 dynSize=64 bytes=${'ab'.repeat(32)}…(64 bytes)}`);
    expect(sample).toContain(`branchStack={entries=[{from=0x${HIGH.toString(16)} to=0x10 mispred=false predicted=true`);
    expect(damaged).toMatch(/ DAMAGED size=16 misc=0x0 recordType=FORK problem="/);
  });

  test('prints JSON for programs, with 64-bit numbers as strings without loss', async () => {
    const records = (await linesOf('--json', rich)).map((line) => JSON.parse(line));
    expect(records[0]).toMatchObject({ type: 'COMM', pid: 1, comm: 'two words\n\u009b', sampleId: { time: '5' } });
    expect(records[1]).toMatchObject({
      type: 'SAMPLE',
      misc: 2,
      event: { index: 0, name: 'cycles' },
      ip: '0xffffffff81000000',
      time: '9223372036854775808',
      userStack: { size: 64, bytes: 'ab'.repeat(64) },
      branchStack: { entries: [{ from: '0xffffffff81000000', to: '0x10', cycles: 12, predicted: true }] },
    });
    expect(records[1].event).not.toHaveProperty('attr');
    expect(BigInt(records[1].ip)).toBe(HIGH);
    const attr = JSON.parse((await runMain(['dump', '--json', '--type', 'HEADER_ATTR', '-'], { stdin: pipeRecording() })).stdout.toString().split('\n')[0]);
    expect(attr).toMatchObject({ type: 'HEADER_ATTR', ids: ['7'], attr: { config: '0x0', flags: ['sample_id_all'] } });
  });

  test('prints only the requested types', async () => {
    expect((await linesOf('--type', 'COMM,FINISHED_ROUND', input)).map((line) => line.split(' ')[1])).toEqual(['COMM', 'FINISHED_ROUND']);
    expect(await linesOf('--type', 'EXIT', input)).toEqual([]);
    expect(await runMain(['dump', '--type', 'MMAP3', input])).toMatchObject({ status: 2, stderr: expect.stringContaining('did you mean MMAP?') });
    expect([...RECORD_TYPES].sort()).toEqual([...PERF_RECORD_NAMES].sort());
  });

  test('reports damage, which makes --strict fail', async () => {
    expect(await runMain(['dump', rich])).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^perfconv: data lost: PERF_RECORD_FORK: sample_id trailer of 16 bytes overruns record of 16 bytes/),
    });
    expect((await runMain(['dump', '--strict', '--quiet', rich])).status).toBe(3);
    expect((await runMain(['dump', '--strict', input])).status).toBe(0);
    expect(await runMain(['dump', join(dir, 'none')])).toMatchObject({ status: 1, stderr: expect.stringContaining('no such file') });
  });
});
