import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { announceSkipped, makeTempDir, readWithPerf, recordWithPerf, removeTempDir, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { runMain } from '../../support/programs/run-main.ts';

const noRecording = whyNoRecording();
if (noRecording !== undefined) announceSkipped('comparing times with perf script -F tod, --reltime and --deltatime', noRecording);

describe.skipIf(noRecording !== undefined)('times are those of perf script, byte by byte', () => {
  let dir: string;
  let timeZone: string | undefined;
  beforeAll(() => {
    dir = makeTempDir();
    timeZone = process.env.TZ;
  });
  afterAll(() => {
    if (timeZone === undefined) delete process.env.TZ;
    else process.env.TZ = timeZone;
    removeTempDir(dir);
  });

  test.each(['CLOCK_MONOTONIC', 'CLOCK_REALTIME', 'CLOCK_BOOTTIME'])('%s', async (clock) => {
    const file = join(dir, `${clock}.data`);
    const loop = ['sh', '-c', 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'];
    recordWithPerf(['-k', clock, '-e', 'cpu-clock,page-faults', '-F', '999', '--sample-cpu', '-o', file, ...loop]);
    for (const zone of ['UTC', 'America/New_York']) {
      process.env.TZ = zone;
      for (const ns of [[], ['--ns']]) {
        const expected = readWithPerf('script', file, ['-F', 'comm,pid,tid,cpu,tod,time,event', ...ns]);
        const { stdout } = await runMain([file, '-q', '-t', 'script', '-F', 'comm,pid,tid,cpu,tod,time,event', ...ns, '-o', '-']);
        expect(stdout.toString()).toBe(expected);
        const wallClock = await runMain([file, '-q', '-t', 'script', '--wall-clock', '-F', 'comm,tid,cpu,time,period,event', ...ns, '-o', '-']);
        expect(wallClock.stdout.toString()).toBe(readWithPerf('script', file, ['-F', 'comm,tid,cpu,tod,period,event', ...ns]));
      }
    }
  });

  test.each(['--reltime', '--deltatime'])('%s', async (option) => {
    const file = join(dir, `${option}.data`);
    const loop = ['sh', '-c', 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'];
    recordWithPerf(['-e', 'cpu-clock,page-faults', '-F', '999', '-o', file, ...loop]);
    for (const more of [[], ['--ns'], ['-F', 'comm,tid,time,event,ip,sym']]) {
      const { stdout } = await runMain([file, '-q', '-t', 'script', option, ...more, '-o', '-']);
      expect(stdout.toString()).toBe(readWithPerf('script', file, [option, ...more]));
    }
  });
});
