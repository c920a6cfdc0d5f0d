import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { PPROF_LABELS } from '../../../src/writers/pprof/labels.ts';
import { type PprofOptions, writePprof } from '../../../src/writers/pprof/pprof.ts';
import { buildProfile } from '../../support/builders/profiles/build-profile.ts';
import { announceSkipped } from '../../support/perf/perf-tool.ts';
import { findPprof, noPprof } from '../../support/programs/pprof-tool.ts';

const pprof = findPprof();
if (pprof === undefined) announceSkipped('opening profiles in the real pprof', noPprof);

describe.skipIf(pprof === undefined)('the pprof tool', () => {
  const directory = mkdtempSync(join(tmpdir(), 'perfconv-pprof-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  const profile = buildProfile([
    { timeNs: 0, pid: 0, tid: 0, comm: 'swapper', stack: [{ name: 'idle', dso: '[kernel.kallsyms]', address: -0x7f00_0000 }] },
    {
      timeNs: 1e6,
      stack: ['main', { name: 'outer', file: '/src/a.c', line: 10, inlined: [{ name: 'inner', file: '/src/b.h', line: 3 }] }],
    },
    { timeNs: 2e6, tid: 101, comm: 'worker', period: 2_000_000, stack: ['main', { name: '', dso: '/lib/libx.so.6', unresolved: true, address: 0x4f2c1 }] },
    { timeNs: 3e6, event: 'page-faults', period: 7, stack: ['main'] },
    { timeNs: 4e6, stack: [{ name: '<module>', file: '/src/m.py' }] },
  ]);

  async function run(args: readonly string[], from: Profile = profile, options: PprofOptions = { labels: PPROF_LABELS }): Promise<string> {
    const sink = new BufferSink();
    await writePprof(from, sink, options);
    const file = join(directory, 'test.pb.gz');
    writeFileSync(file, gzipSync(sink.bytes()));
    return execFileSync(pprof ?? '', [...args, file], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PPROF_TMPDIR: directory },
    });
  }

  /** Rows of -top: `flat cum name`. */
  function topRows(output: string): string[] {
    const lines = output.split('\n');
    const header = lines.findIndex((line) => line.trim().startsWith('flat '));
    return lines
      .slice(header + 1)
      .filter((line) => line !== '')
      .map((line) => line.trim().split(/\s+/))
      .map((cells) => `${cells[0]} ${cells[3]} ${cells.slice(5).join(' ')}`);
  }

  test('-top shows totals, weights, inlined and unresolved frames, and names as they are', async () => {
    const output = await run(['-top']);
    expect(output).toContain('File: app\n');
    expect(output).toContain('Type: cpu\n');
    expect(output).toContain('Duration: 4ms, Total samples = 5ms ');
    expect(topRows(output).sort()).toEqual(
      ['2ms 2ms 0x4f2c1 (libx.so.6)', '1ms 1ms <module>', '1ms 1ms idle', '1ms 1ms inner (inline)', '0 1ms outer', '0 3ms main'].sort(),
    );
  });

  test.each([
    ['samples', '4 '],
    ['cpu', '5ms '],
    ['page-faults_samples', '1 '],
    ['page-faults', '7 '],
  ])('-sample_index=%s shows the total of that column', async (type, total) => {
    expect(await run(['-top', `-sample_index=${type}`])).toContain(`Total samples = ${total}`);
  });

  test('-raw shows the metadata, sample types, kernel addresses and mappings', async () => {
    const raw = await run(['-raw']);
    expect(raw).toContain('PeriodType: cpu nanoseconds\nPeriod: 1000000\nTime: 2023-11-14 22:13:20 +0000 UTC\nDuration: 4ms\n');
    expect(raw).toContain('samples/count cpu/nanoseconds[dflt] page-faults_samples/count page-faults/count\n');
    expect(raw).toMatch(/: 0xffffffff81000000 M=2 idle /);
    expect(raw).toContain('1: 0x401000/0x500000/0x1000 /bin/app  [FN][FL][LN][IN]\n');
    expect(raw).toContain('3: 0x401000/0x500000/0x1000 /lib/libx.so.6  \n');
  });

  test('-traces shows stacks leaf first, with their labels', async () => {
    const traces = await run(['-traces']);
    expect(traces.replaceAll(/[ \t]+/g, ' ')).toContain(
      ' comm: worker\n input: perf.data\n thread: worker (101)\n pid: 100\n tid: 101\n 2ms 0x4f2c1 (libx.so.6)\n main\n',
    );
  });

  test('-tags shows pid 0 too', async () => {
    expect((await run(['-tags'])).replaceAll(/[ \t]+/g, ' ')).toContain(' 1ms (20.00%): 0\n');
  });

  test('-tagroot=comm makes comms the root frames', async () => {
    expect(topRows(await run(['-top', '-tagroot=comm']))).toEqual(expect.arrayContaining(['0 2ms worker', '0 1ms swapper', '0 2ms app']));
  });

  test('-list finds the source line', async () => {
    const source = join(directory, 'prog.c');
    writeFileSync(source, 'int f() {\n  return 42;\n}\n');
    const listed = await run(['-list=^f$'], buildProfile([{ timeNs: 0, stack: [{ name: 'f', file: source, line: 2 }] }]));
    expect(listed.replaceAll(/[ \t]+/g, ' ')).toContain(' 1ms 1ms 2: return 42;');
  });

  test('-comments shows perf version and command line, and -top the default sample type', async () => {
    expect(await run(['-comments'])).toBe('perf version: 6.1\ncommand line: perf record -g ./app\n');
    expect(await run(['-top'], profile, { labels: [], weight: 'samples' })).toContain('Type: samples\n');
  });
});
