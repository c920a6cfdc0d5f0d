import { expect, test } from 'vitest';
import { processStats } from '../../src/stats/process-stats.ts';
import { RecordLog } from '../../src/stats/record-log.ts';
import { type AttrSpec, encodeFile, misc, type RecordSpec, record } from '../support/builders/recordings/perf-encoder.ts';
import { decode } from '../support/readers/decode.ts';

const attr: AttrSpec = { name: 'cpu-clock', period: 1_000_000n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] };

async function statsOf(...records: RecordSpec[]) {
  const log = new RecordLog();
  const { session } = await decode(encodeFile({ attrs: [attr], records }), { observer: log });
  return processStats(session, log);
}

const at = (time: number, task = {}) => ({ sampleId: { time: BigInt(time), ...task } });

test('maps, forks, exits and times are those of the process that a record names', async () => {
  const stats = await statsOf(
    record.comm({ pid: 100, comm: 'app', exec: true }, at(1)),
    record.mmap2({ pid: 100, addr: 0x1000n, len: 0x1000n, filename: '/bin/app' }, at(2)),
    record.mmap({ pid: 100, addr: 0x9000n, len: 0x1000n, filename: '/lib/libc.so' }, at(3)),
    // First a thread, then a child; the trailer of a FORK names the parent, which was running.
    record.fork({ pid: 100, ppid: 100, tid: 101, ptid: 100 }, at(4)),
    record.fork({ pid: 200, ppid: 100, tid: 200, ptid: 101 }, at(5, { pid: 100, tid: 101 })),
    record.mmap2({ pid: 200, addr: 0x1000n, len: 0x1000n, filename: '/bin/app' }, at(6)),
    record.exit({ pid: 200, ppid: 100 }, at(7)),
    record.exit({ pid: 100, ppid: 100, tid: 101, ptid: 100 }, at(8)),
    record.exit({ pid: 100, ppid: 1 }, at(9)),
  );
  expect(stats).toEqual([
    { process: 0, pid: 100, comm: 'app', mmaps: 2, forkTime: undefined, exitTime: 9n, forks: 1, exits: 2, threads: 2 },
    { process: 1, pid: 200, comm: 'app', mmaps: 1, forkTime: 5n, exitTime: 7n, forks: 1, exits: 1, threads: 1 },
  ]);
});

test('a process has the last name of its main thread, or that of another thread, or its pid as printed by perf', async () => {
  const stats = await statsOf(
    record.comm({ pid: 100, comm: 'before' }, at(1)),
    record.comm({ pid: 100, comm: 'after', exec: true }, at(2)),
    record.comm({ pid: 100, tid: 105, comm: 'worker' }, at(3)),
    record.comm({ pid: 300, tid: 301, comm: 'only a worker' }, at(4)),
    record.sample({ ip: 1n, pid: 400, time: 5n, period: 1n }),
    record.sample({ ip: 1n, pid: 0, time: 6n, period: 1n }),
  );
  expect(stats.map(({ pid, comm, threads }) => [pid, comm, threads])).toEqual([
    [0, 'swapper', 1],
    [100, 'after', 2],
    [300, 'only a worker', 1],
    [400, ':400', 1],
  ]);
});

test('processes with the same pid in turn are separate', async () => {
  const stats = await statsOf(
    record.fork({ pid: 50, ppid: 1 }, at(1)),
    record.comm({ pid: 50, comm: 'first', exec: true }, at(2)),
    record.exit({ pid: 50, ppid: 1 }, at(3)),
    record.fork({ pid: 50, ppid: 1 }, at(4)),
    record.comm({ pid: 50, comm: 'second', exec: true }, at(5)),
    record.mmap2({ pid: 50, addr: 0x1000n, len: 0x1000n, filename: '/bin/app' }, at(6)),
    record.fork({ pid: 50, ppid: 50, tid: 51, ptid: 50 }, at(7)),
  );
  expect(stats.filter(({ pid }) => pid === 50)).toEqual([
    { process: 1, pid: 50, comm: 'first', mmaps: 0, forkTime: 1n, exitTime: 3n, forks: 1, exits: 1, threads: 1 },
    { process: 2, pid: 50, comm: 'second', mmaps: 1, forkTime: 4n, exitTime: undefined, forks: 2, exits: 0, threads: 2 },
  ]);
});

test('repeated exits and exits of other threads do not change when a process ended', async () => {
  const [stats] = await statsOf(
    record.fork({ pid: 50, ppid: 50, tid: 51, ptid: 50 }, at(2)),
    record.exit({ pid: 50, ppid: 50, tid: 51, ptid: 50 }, at(3)),
    record.exit({ pid: 50, ppid: 1 }, at(4)),
    record.exit({ pid: 50, ppid: 1 }, at(5)),
    record.sample({ ip: 1n, pid: 50, time: 6n, period: 1n }),
  );
  expect(stats).toMatchObject({ forkTime: undefined, exitTime: 4n, forks: 1, exits: 3, threads: 2 });
});

test('64-bit times are exact', async () => {
  const boot = 0xff00_0000_0000_0001n;
  const stats = await statsOf(
    record.comm({ pid: 50, comm: 'app' }, { sampleId: { time: boot } }),
    record.fork({ pid: 60, ppid: 50 }, { sampleId: { time: boot + 2n } }),
    record.exit({ pid: 60, ppid: 50 }, { sampleId: { time: boot + 79_680_289_557_761n } }),
  );
  expect(stats[1]).toMatchObject({ forkTime: boot + 2n, exitTime: boot + 79_680_289_557_761n });
});

test('without sample_id trailers, the times in FORK and EXIT count', async () => {
  const log = new RecordLog();
  const attrs = [{ ...attr, flags: [] }];
  const own = 0x8000_0000_0000_0001n;
  const records = [record.fork({ pid: 50, ppid: 1, time: own }), record.exit({ pid: 50, ppid: 1, time: own + 8n })];
  const { session } = await decode(encodeFile({ attrs, records }), { observer: log });
  expect(processStats(session, log).find(({ pid }) => pid === 50)).toMatchObject({ forkTime: own, exitTime: own + 8n });
});

test('records of no process, such as the kernel’s maps, are in a separate last row', async () => {
  const stats = await statsOf(
    record.mmap(
      { pid: -1, tid: 0, addr: 0xffffffff81000000n, len: 0x1000n, filename: '[kernel.kallsyms]_text' },
      { misc: misc.kernel, sampleId: { time: 0n } },
    ),
    record.comm({ pid: 100, comm: 'app' }, at(1)),
  );
  expect(stats).toEqual([
    { process: 0, pid: 100, comm: 'app', mmaps: 0, forkTime: undefined, exitTime: undefined, forks: 0, exits: 0, threads: 1 },
    { process: -1, pid: -1, comm: ':-1', mmaps: 1, forkTime: undefined, exitTime: undefined, forks: 0, exits: 0, threads: 0 },
  ]);
});
