import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../src/base/diagnostics.ts';
import { KERNEL_RECORDS } from '../../src/perfdata/records/kernel-records.ts';
import { type SymbolFiles, Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { decode, type PlainFrame } from '../support/decode.ts';
import { buildElf, TEXT } from '../support/elf-builder.ts';
import { MadeFiles } from '../support/made-symbol-files.ts';
import { type AttrSpec, type ByteWriter, context, encodeFile, encodePipe, misc, type RecordSpec, record, toolRecords } from '../support/perf-encoder.ts';

const CLOCK: AttrSpec = {
  name: 'cpu-clock',
  freq: 1000n,
  ids: [11n],
  sampleType: ['ip', 'tid', 'time', 'cpu', 'period', 'callchain'],
  flags: ['sampleIdAll', 'commExec'],
};

const APP = '/bin/app';

/** A process that runs /bin/app at 0x400000, from time 1 on. */
function startApp(pid = 100): RecordSpec[] {
  return [
    record.comm({ pid, comm: 'app', exec: true }, { sampleId: { time: 1n } }),
    record.mmap2({ pid, addr: 0x400000n, len: 0x10000n, pgoff: 0x1000n, filename: APP, ino: 5n }, { sampleId: { time: 2n } }),
  ];
}

function sampleAt(time: bigint, ip: bigint, callchain: readonly bigint[] = [context.user, ip], pid = 100): RecordSpec {
  return record.sample({ time, ip, pid, cpu: 3, period: 1_000_000n, callchain });
}

const user = (address: bigint, isReturnAddress = false): PlainFrame => ({ dso: APP, address, isReturnAddress, cpumode: 2 });
const unmapped = (address: bigint, isReturnAddress = false): PlainFrame => ({ dso: undefined, address, isReturnAddress, cpumode: 2 });

describe('samples', () => {
  it('are read alike from files and pipes, in either byte order', async () => {
    const spec = {
      attrs: [CLOCK],
      features: { eventDesc: true as const, hostname: 'fixture-host' },
      records: [...startApp(), sampleAt(10n, 0x400123n), toolRecords.finishedRound(), sampleAt(20n, 0x400124n)],
    };
    const expected = [10n, 20n].map((time, i) => ({
      event: 'cpu-clock',
      pid: 100,
      tid: 100,
      comm: 'app',
      time,
      cpu: 3,
      period: 1_000_000,
      frames: [user(0x1123n + BigInt(i))],
    }));
    for (const byteOrder of ['little', 'big'] as const) {
      expect((await decode(encodeFile({ ...spec, byteOrder }))).samples).toEqual(expected);
      const piped = await decode(encodePipe({ ...spec, byteOrder }));
      expect(piped.samples).toEqual(expected);
      expect(piped.profile.meta.hostName).toBe('fixture-host');
      expect(piped.diagnostics.list()).toEqual([]);
    }
  });

  it('are sorted by time, whatever their order in the file', async () => {
    const records = [...startApp(), sampleAt(30n, 0x400001n), sampleAt(20n, 0x400002n), toolRecords.finishedRound(), sampleAt(25n, 0x400003n)];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.time)).toEqual([20n, 25n, 30n]);
  });

  it('stay in file order if only they have times, and see the maps recorded before them', async () => {
    const attr: AttrSpec = { ...CLOCK, flags: ['commExec'] };
    const records = [
      record.mmap2({ pid: 100, addr: 0x400000n, len: 0x10000n, filename: APP }),
      sampleAt(30n, 0x400001n),
      sampleAt(50n, 0x500001n),
      record.mmap2({ pid: 100, addr: 0x500000n, len: 0x1000n, filename: '/lib/new.so' }),
      sampleAt(20n, 0x500002n),
      toolRecords.finishedRound(),
      sampleAt(25n, 0x400003n),
    ];
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [attr], records }));
    expect(samples.map(({ time, frames }) => [time, frames[0].dso])).toEqual([
      [30n, APP],
      [50n, undefined],
      [20n, '/lib/new.so'],
      [25n, APP],
    ]);
    expect(diagnostics.list().map(({ code, severity, count }) => [code, severity, count])).toEqual([['file-order', 'info', 2]]);
    // When perf begins to read a pipe, it does not know the events yet.
    const piped = await decode(encodePipe({ attrs: [attr], records }));
    expect(piped.samples.map(({ time }) => time)).toEqual([20n, 25n, 30n, 50n]);
  });

  it('see the maps of their own time, even if a map comes later in the file', async () => {
    const records = [
      ...startApp(),
      sampleAt(50n, 0x500010n),
      record.mmap2({ pid: 100, addr: 0x500000n, len: 0x1000n, filename: '/lib/new.so' }, { sampleId: { time: 40n } }),
      sampleAt(30n, 0x500010n),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual([undefined, '/lib/new.so']);
  });

  it('belong to the event that their id names, wherever the id is', async () => {
    for (const idBit of ['identifier', 'id'] as const) {
      const attrs: AttrSpec[] = [
        { ...CLOCK, sampleType: [...CLOCK.sampleType, idBit], ids: [11n, 12n] },
        { name: 'page-faults', config: 2n, period: 1n, ids: [13n], sampleType: [...CLOCK.sampleType, idBit], flags: ['sampleIdAll'] },
      ];
      const fields = { ip: 0x400001n, pid: 100, period: 7n };
      const records = [
        record.sample({ ...fields, time: 10n, id: 13n }, { attr: 1 }),
        record.sample({ ...fields, time: 11n, id: 12n }),
        record.sample({ ...fields, time: 12n, id: 0n }),
        record.sample({ ...fields, time: 13n, id: 99n }),
      ];
      const { samples, diagnostics } = await decode(encodeFile({ attrs, records, features: { eventDesc: true } }));
      expect(samples.map((sample) => sample.event)).toEqual(['page-faults', 'cpu-clock', 'cpu-clock']);
      expect(diagnostics.list()).toMatchObject([{ code: 'unknown-event-id', severity: 'loss', count: 1 }]);
    }
  });

  it('and side-band records are each read in the layout of their event', async () => {
    const attrs: AttrSpec[] = [
      { name: 'task-clock', config: 1n, period: 1n, ids: [11n], sampleType: ['identifier', 'ip', 'tid'], flags: ['sampleIdAll'] },
      { name: 'dummy', config: 9n, ids: [12n], sampleType: ['identifier', 'ip', 'tid', 'time', 'cpu'], flags: ['sampleIdAll'] },
      { name: 'cpu-clock', period: 1n, ids: [13n], sampleType: ['identifier', 'ip', 'tid', 'time'], flags: ['sampleIdAll'] },
    ];
    const at = (time: bigint) => ({ attr: 1, sampleId: { pid: 100, time } });
    const records = [
      record.comm({ pid: 100, comm: 'late' }, at(50n)),
      record.comm({ pid: 100, comm: 'early' }, at(10n)),
      record.sample({ id: 13n, ip: 1n, pid: 100, time: 20n }, { attr: 2 }),
      record.sample({ id: 13n, ip: 1n, pid: 100, time: 60n }, { attr: 2 }),
    ];
    const { samples } = await decode(encodeFile({ attrs, records }));
    expect(samples.map((sample) => sample.comm)).toEqual(['early', 'late']);
  });

  it('count each event separately if their read values have no ids', async () => {
    const common = { sampleType: ['identifier', 'ip', 'tid', 'time', 'read'] as const, flags: ['sampleIdAll'] as const };
    const attrs: AttrSpec[] = [
      { name: 'a', ids: [1n], ...common },
      { name: 'b', config: 2n, ids: [2n], ...common },
    ];
    const one = (id: bigint, time: bigint, value: bigint) =>
      record.sample({ id, ip: 1n, pid: 1, time, read: { values: [{ value }] } }, { attr: Number(id) - 1 });
    const { samples } = await decode(encodeFile({ attrs, records: [one(1n, 1n, 100n), one(2n, 2n, 40n), one(1n, 3n, 150n)], features: { eventDesc: true } }));
    expect(samples.map(({ event, period }) => [event, period])).toEqual([
      ['a', 100],
      ['b', 40],
      ['a', 50],
    ]);
  });

  it('later than any real time (off-CPU sums) come last, and do not lengthen the recording', async () => {
    const offCpu = 0xffffffffn << 32n;
    const records = [sampleAt(offCpu, 1n), sampleAt(30n, 2n), toolRecords.finishedRound(), sampleAt(20n, 3n), toolRecords.finishedRound(), sampleAt(40n, 4n)];
    const observed: number[] = [];
    const { samples, profile, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records }), {
      observer: { sample: ({ timeNs }) => void observed.push(timeNs), sideBand: () => {} },
    });
    expect(samples.map((sample) => sample.time)).toEqual([20n, 30n, 40n, undefined]);
    // Relative to the first time seen, which is 30. Observers, too, get no time if it cannot be shown.
    expect(observed).toEqual([-10, 0, 10, Number.NaN]);
    expect(profile.meta.durationNs).toBe(20);
    expect(diagnostics.list()).toEqual([]);
  });

  it('without a period have that of the attr, but never its frequency', async () => {
    const sampleType = ['ip', 'tid', 'time'] as const;
    const one = [record.sample({ ip: 1n, pid: 1, time: 5n })];
    const byPeriod = await decode(encodeFile({ attrs: [{ period: 5000n, sampleType }], records: one }));
    expect(byPeriod.samples[0].period).toBe(5000);
    const byFrequency = await decode(encodeFile({ attrs: [{ freq: 4000n, sampleType }], records: one }));
    expect(byFrequency.samples[0].period).toBe(1);
  });

  it('of a group count how much the value of each member has grown', async () => {
    const group = { sampleType: ['ip', 'tid', 'time', 'read', 'id'] as const, readFormat: ['id', 'group'] as const, flags: ['sampleIdAll'] as const };
    const attrs: AttrSpec[] = [
      { name: 'cpu-clock', ids: [21n], ...group },
      { name: 'page-faults', config: 2n, ids: [22n], ...group },
    ];
    const read = (clock: bigint, faults: bigint) => ({
      values: [
        { value: clock, id: 21n },
        { value: faults, id: 22n },
      ],
    });
    // Counted in time order, whatever their order in the file.
    const records = [
      record.sample({ ip: 1n, pid: 1, time: 7n, read: read(1700n, 8n) }),
      record.sample({ ip: 1n, pid: 1, time: 5n, read: read(1000n, 3n) }),
      record.sample({ ip: 1n, pid: 1, time: 6n, read: read(1600n, 3n) }),
    ];
    const { samples, profile, diagnostics } = await decode(encodeFile({ attrs, records, features: { eventDesc: true } }));
    expect(samples.map(({ event, period }) => [event, period])).toEqual([
      ['cpu-clock', 1000],
      ['page-faults', 3],
      ['cpu-clock', 600],
      ['cpu-clock', 100],
      ['page-faults', 5],
    ]);
    expect(diagnostics.list()).toEqual([]);
    expect(profile.events.map(({ samples: count, period }) => [count, period])).toEqual([
      [3, 1700],
      [2, 8],
    ]);
  });

  it('of an inherited group count how much the values of their own thread have grown', async () => {
    const group = { sampleType: ['ip', 'tid', 'time', 'read', 'id'] as const, readFormat: ['id', 'group'] as const };
    const attrs: AttrSpec[] = [
      { name: 'cpu-clock', ids: [21n], ...group, flags: ['sampleIdAll', 'inherit'] },
      { name: 'page-faults', config: 2n, ids: [22n], ...group, flags: ['sampleIdAll', 'inherit'] },
    ];
    const sampleOf = (tid: number, time: bigint, clock: bigint, faults: bigint) =>
      record.sample({
        ip: 1n,
        pid: 1,
        tid,
        time,
        read: {
          values: [
            { value: clock, id: 21n },
            { value: faults, id: 22n },
          ],
        },
      });
    // As Linux 6.18 recorded them. The last thread reuses the number of the first, which has ended.
    const records = [sampleOf(2, 5n, 1000n, 1n), sampleOf(3, 6n, 900n, 4n), sampleOf(2, 7n, 2000n, 1n), sampleOf(3, 8n, 1900n, 5n), sampleOf(2, 9n, 800n, 7n)];
    const indexOf = (tid: bigint) => toolRecords.idIndex([21n, 22n].map((id) => ({ id, cpu: 0n, tid })));
    const { samples, diagnostics } = await decode(encodeFile({ attrs, records: [indexOf(2n), ...records], features: { eventDesc: true } }));
    expect(samples.map(({ tid, event, period }) => [tid, event, period])).toEqual([
      [2, 'cpu-clock', 1000],
      [2, 'page-faults', 1],
      [3, 'cpu-clock', 900],
      [3, 'page-faults', 4],
      [2, 'cpu-clock', 1000],
      [3, 'cpu-clock', 1000],
      [3, 'page-faults', 1],
      [2, 'cpu-clock', 800],
      [2, 'page-faults', 7],
    ]);
    expect(diagnostics.list()).toEqual([]);
    // All threads on a CPU share its counter, whatever the attr says: `perf record -a` of perf 6.1.
    const onCpu = [indexOf(-1n), sampleOf(2, 5n, 1000n, 1n), sampleOf(3, 6n, 1900n, 4n), sampleOf(2, 7n, 3000n, 4n)];
    const ofCpu = await decode(encodeFile({ attrs, records: onCpu, features: { eventDesc: true } }));
    expect(ofCpu.samples.map(({ tid, period }) => [tid, period])).toEqual([
      [2, 1000],
      [2, 1],
      [3, 900],
      [3, 3],
      [2, 1100],
    ]);
  });

  it('without a time stay in file order', async () => {
    const { samples } = await decode(
      encodeFile({ attrs: [{ period: 1n, sampleType: ['ip', 'tid'] }], records: [2n, 1n].map((ip) => record.sample({ ip, pid: 1 })) }),
    );
    expect(samples.map(({ frames, time }) => [frames[0].address, time])).toEqual([
      [2n, undefined],
      [1n, undefined],
    ]);
  });

  it('keep times that a double cannot hold', async () => {
    const start = 2n ** 62n + 1n;
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [sampleAt(start + 7n, 1n), sampleAt(start, 1n)] }));
    expect(samples.map((sample) => sample.time)).toEqual([start, start + 7n]);
  });

  it('that are damaged are skipped, and reported with their count and offset', async () => {
    const bad = { ...sampleAt(10n, 1n), sizeBytes: 40 };
    const bytes = encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(9n, 0x400001n)] });
    const { samples } = await decode(bytes);
    expect(samples).toHaveLength(1);
    const whole = record.sample({ time: 1n, ip: 1n, pid: 1, callchain: [] });
    const damaged = await decode(encodeFile({ attrs: [CLOCK], records: [whole, { ...bad, writeBody: (out) => void out.zeros(32) }] }));
    expect(damaged.samples).toHaveLength(1);
    const [finding] = damaged.diagnostics.list();
    expect(finding).toMatchObject({ code: 'bad-sample', severity: 'loss', count: 1 });
    expect(finding.message).toMatch(/^PERF_RECORD_SAMPLE: leading fields of 40 bytes overruns? record of 40 bytes/);
    expect(finding.firstOffset).toBeGreaterThan(0);
  });
});

describe('events of a pipe', () => {
  it.each([
    ['is too short for any attr', 16, (out: ByteWriter) => out.zeros(8), 'fields of 72 bytes overrun record of 16 bytes'],
    ['has an attr that is too small', 88, (out: ByteWriter) => out.u32(0).u32(8).zeros(72), 'attr of 8 bytes is too small in record of 88 bytes'],
    ['has an attr that overruns it', 88, (out: ByteWriter) => out.u32(0).u32(120).zeros(72), 'attr of 120 bytes overruns record of 88 bytes'],
  ])('are skipped if their record %s, and its offset is reported', async (_, sizeBytes, write, problem) => {
    const damaged: RecordSpec = { ...toolRecords.headerAttr(CLOCK), sizeBytes, writeBody: (out) => void write(out) };
    const { samples, diagnostics } = await decode(encodePipe({ attrs: [CLOCK], records: [damaged, ...startApp(), sampleAt(9n, 0x400001n)] }));
    expect(samples).toHaveLength(1);
    const message = `PERF_RECORD_HEADER_ATTR: ${problem}; it is skipped`;
    expect(diagnostics.list()).toMatchObject([{ code: 'bad-record', severity: 'loss', count: 1, message }]);
    expect(diagnostics.list()[0].firstOffset).toBeGreaterThan(16);
  });
});

describe('processes and threads', () => {
  it('inherit maps at a fork, and change them independently', async () => {
    const records = [
      ...startApp(),
      record.fork({ pid: 200, ppid: 100 }, { sampleId: { time: 10n } }),
      record.mmap2({ pid: 200, addr: 0x400000n, len: 0x1000n, filename: '/bin/child' }, { sampleId: { time: 20n } }),
      sampleAt(15n, 0x400010n, undefined, 200),
      sampleAt(25n, 0x400010n, undefined, 200),
      sampleAt(26n, 0x400010n, undefined, 100),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => [sample.pid, sample.comm, sample.frames[0].dso])).toEqual([
      [200, 'app', APP],
      [200, 'app', '/bin/child'],
      [100, 'app', APP],
    ]);
  });

  it('inherit no maps if they existed before the recording, since their maps follow', async () => {
    const records = [
      ...startApp(),
      record.fork({ pid: 200, ppid: 100 }, { misc: misc.forkExec, sampleId: { time: 10n } }),
      sampleAt(15n, 0x400010n, undefined, 200),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples[0].frames).toEqual([unmapped(0x400010n)]);
  });

  it('lose their maps at an exec, but keep them when only renamed', async () => {
    const inExecve = [context.kernel, 0xffffffff81000010n, context.user, 0x400010n];
    const records = [
      ...startApp(),
      record.comm({ pid: 100, comm: 'renamed' }, { sampleId: { time: 10n } }),
      sampleAt(15n, 0x400010n),
      record.comm({ pid: 100, comm: 'other', exec: true }, { sampleId: { time: 20n } }),
      sampleAt(25n, 0xffffffff81000010n, inExecve),
      record.mmap2({ pid: 100, addr: 0x600000n, len: 0x1000n, filename: '/bin/other' }, { sampleId: { time: 30n } }),
      sampleAt(35n, 0xffffffff81000010n, inExecve),
      sampleAt(45n, 0x600010n),
      sampleAt(55n, 0x400010n),
    ];
    const bytes = encodeFile({ attrs: [CLOCK], records });
    const { samples, profile } = await decode(bytes);
    expect(samples.map((sample) => [sample.comm, sample.frames.at(-1)?.dso])).toEqual([
      ['renamed', APP],
      // The kernel is still in execve(), which the old program called.
      ['other', APP],
      ['other', APP],
      ['other', '/bin/other'],
      ['other', undefined],
    ]);
    const asPerf = await decode(bytes, { compatPerf: true });
    expect(asPerf.samples[4].frames[0].dso).toBe(APP);
    expect(profile.threads).toHaveLength(1);
    expect(profile.processes[0].name).toBe('other');
  });

  it('that perf lists before the kernel reports them are the same ones', async () => {
    const listed = { misc: 0x2000, sampleId: { time: 0n } };
    const records = [
      record.comm({ pid: 90, comm: 'app' }, { sampleId: { time: 0n } }),
      record.fork({ pid: 100, ppid: 90, tid: 100, ptid: 90 }, listed),
      record.comm({ pid: 100, comm: 'app' }, { sampleId: { time: 0n } }),
      record.fork({ pid: 100, ppid: 100, tid: 101, ptid: 100 }, listed),
      record.comm({ pid: 100, tid: 101, comm: 'app' }, { sampleId: { time: 0n } }),
      record.fork({ pid: 100, ppid: 90, tid: 100, ptid: 90 }, { sampleId: { time: 10n } }),
      record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename: APP }, { sampleId: { time: 11n } }),
      record.fork({ pid: 100, ppid: 100, tid: 101, ptid: 100 }, { sampleId: { time: 12n } }),
      record.sample({ time: 20n, ip: 0x400001n, pid: 100, tid: 101, callchain: [context.user, 0x400001n] }),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => [sample.tid, sample.comm, sample.frames[0].dso])).toEqual([[101, 'app', APP]]);
  });

  it('share maps within a process', async () => {
    const records = [
      ...startApp(),
      record.fork({ pid: 100, ppid: 100, tid: 101, ptid: 100 }, { sampleId: { time: 10n } }),
      record.comm({ pid: 100, tid: 101, comm: 'worker' }, { sampleId: { time: 11n } }),
      record.mmap2({ pid: 100, tid: 101, addr: 0x700000n, len: 0x1000n, filename: '/lib/x.so' }, { sampleId: { time: 12n } }),
      record.sample({ time: 20n, ip: 0x700001n, pid: 100, tid: 101, callchain: [context.user, 0x700001n] }),
      sampleAt(21n, 0x700001n),
    ];
    const { samples, profile } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => [sample.tid, sample.comm, sample.frames[0].dso])).toEqual([
      [101, 'worker', '/lib/x.so'],
      [100, 'app', '/lib/x.so'],
    ]);
    expect(profile.processes).toHaveLength(1);
  });

  it('are new ones when they reuse a number', async () => {
    const records = [
      ...startApp(),
      sampleAt(10n, 0x400010n),
      record.exit({ pid: 100, ppid: 1 }, { sampleId: { time: 20n } }),
      record.fork({ pid: 100, ppid: 1 }, { sampleId: { time: 30n } }),
      sampleAt(40n, 0x400010n),
    ];
    const { samples, profile } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => [sample.comm, sample.frames[0].dso])).toEqual([
      ['app', APP],
      [':100', undefined],
    ]);
    expect(profile.threads.filter((thread) => thread.tid === 100)).toHaveLength(2);
  });

  it('without a name are called by their number, but the idle task swapper', async () => {
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [sampleAt(1n, 1n, undefined, 77), sampleAt(2n, 1n, undefined, 0)] }));
    expect(samples.map((sample) => sample.comm)).toEqual([':77', 'swapper']);
  });
});

describe('callchains', () => {
  const kernelMap = record.mmap(
    { pid: 0xffffffff, addr: 0xffffffff81000000n, len: 0x1000000n, pgoff: 0xffffffff81000000n, filename: '[kernel.kallsyms]_text' },
    { misc: misc.kernel },
  );
  const kernel = (address: bigint, isReturnAddress = false): PlainFrame => ({ dso: '[kernel.kallsyms]', address, isReturnAddress, cpumode: 1 });

  it('follow their markers from the kernel to the user, with return addresses as callers', async () => {
    const chain = [context.kernel, 0xffffffff81000010n, 0xffffffff81000020n, context.user, 0x400030n, 0x400040n];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [kernelMap, ...startApp(), sampleAt(10n, 0xffffffff81000010n, chain)] }));
    expect(samples[0].frames).toEqual([kernel(0xffffffff81000010n), kernel(0xffffffff81000020n, true), user(0x1030n), user(0x1040n, true)]);
  });

  it('look up callers at the recorded addresses with compatPerf, as perf does', async () => {
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, [context.user, 0x400030n, 0x400040n])] }), {
      compatPerf: true,
    });
    expect(samples[0].frames.map((frame) => frame.isReturnAddress)).toEqual([false, false]);
  });

  it('find a call at the very end of a map, whose return address is outside', async () => {
    const records = [
      ...startApp(),
      record.mmap2({ pid: 100, addr: 0x410000n, len: 0x1000n, filename: '/lib/next.so' }, { sampleId: { time: 3n } }),
      sampleAt(10n, 0x400030n, [context.user, 0x400030n, 0x410000n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples[0].frames[1]).toEqual(user(0x11000n, true));
  });

  it('find modules and run-time code within the kernel, which has the rest', async () => {
    const records = [
      kernelMap,
      record.mmap({ pid: 0xffffffff, addr: 0xffffffff81400000n, len: 0x1000n, filename: '/lib/modules/6.1/kernel/net/nf-tables.ko.xz' }, { misc: misc.kernel }),
      record.ksymbol({ addr: 0xffffffff81500000n, len: 0x100, ksymType: 1, name: 'bpf_prog_1' }, { sampleId: { time: 1n } }),
      sampleAt(10n, 0n, [context.kernel, 0xffffffff81400004n]),
      sampleAt(11n, 0n, [context.kernel, 0xffffffff81500004n]),
      record.ksymbol({ addr: 0xffffffff81500000n, len: 0x100, ksymType: 1, unregister: true, name: 'bpf_prog_1' }, { sampleId: { time: 12n } }),
      sampleAt(13n, 0n, [context.kernel, 0xffffffff81500004n]),
      sampleAt(14n, 0n, [context.kernel, 0xffffffff81400003n + 0x1000n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['[nf_tables]', 'bpf_prog_1', '[kernel.kallsyms]', '[kernel.kallsyms]']);
  });

  it('show, like perf, the paths of the kernel and of modules that have listed build ids', async () => {
    const module = (addr: bigint, filename: string): RecordSpec => record.mmap({ pid: 0xffffffff, addr, len: 0x1000n, filename }, { misc: misc.kernel });
    const paths = ['/lib/modules/6.1/kernel/net/nf-tables.ko.xz', '/lib/modules/6.1/kernel/fs/ext4.ko'];
    const chain = [context.kernel, 0xffffffff81000010n, 0xffffffffc0000004n, 0xffffffffc0001004n, 0xffffffffc0002004n];
    const modules = [module(0xffffffffc0000000n, paths[0]), module(0xffffffffc0001000n, paths[1]), module(0xffffffffc0002000n, '[drm]')];
    const listed = (filename: string) => ({ buildId: new Uint8Array(20).fill(0xcd), filename, misc: misc.kernel });
    const dsosOf = async (compatPerf: boolean, ...filenames: string[]): Promise<unknown[]> => {
      const features = { buildIds: filenames.map(listed) };
      const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [kernelMap, ...modules, sampleAt(10n, 0n, chain)], features }), { compatPerf });
      return samples[0].frames.map(({ dso }) => dso);
    };
    const plain = ['[kernel.kallsyms]', '[nf_tables]', '[ext4]', '[drm]'];
    expect(await dsosOf(true, '[kernel.kallsyms]', paths[0], '[drm]')).toEqual(['[kernel.kallsyms]', paths[0], '[ext4]', '[drm]']);
    expect(await dsosOf(true, '/usr/lib/debug/vmlinux', paths[1])).toEqual(['/usr/lib/debug/vmlinux', '[nf_tables]', paths[1], '[drm]']);
    expect(await dsosOf(true)).toEqual(plain);
    expect(await dsosOf(false, '/usr/lib/debug/vmlinux', ...paths)).toEqual(plain);
  });

  it('give the kernel what follows its text, but not the region of modules and filters after that', async () => {
    const addresses = [0xffffffff82300000n, 0xffffffffbffffff0n, 0xffffffffc0004a20n, 0xffffffffff600000n];
    const records = [kernelMap, ...addresses.map((address, i) => sampleAt(BigInt(10 + i), 0n, [context.kernel, address]))];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['[kernel.kallsyms]', '[kernel.kallsyms]', undefined, undefined]);
  });

  it('give run-time code to the newest program there, even if the unloading of the older one was lost', async () => {
    const at = (time: bigint): { sampleId: { time: bigint } } => ({ sampleId: { time } });
    const ip = 0xffffffffc0025040n;
    const records = [
      kernelMap,
      record.ksymbol({ addr: 0xffffffffc0025020n, len: 0x100, name: 'bpf_prog_1_old' }, at(1n)),
      sampleAt(10n, 0n, [context.kernel, ip]),
      record.ksymbol({ addr: 0xffffffffc0025018n, len: 0x80, name: 'bpf_prog_2_new' }, at(11n)),
      sampleAt(12n, 0n, [context.kernel, ip]),
      record.ksymbol({ addr: 0xffffffffc0025018n, len: 0x80, unregister: true, name: 'bpf_prog_2_new' }, at(13n)),
      record.ksymbol({ addr: 0xffffffffc0025018n, len: 0x80, name: 'bpf_trampoline_3' }, at(14n)),
      sampleAt(15n, 0n, [context.kernel, ip]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['bpf_prog_1_old', 'bpf_prog_2_new', 'bpf_trampoline_3']);
  });

  it('give a 32-bit kernel everything from its text to the end of its address space', async () => {
    const records = [
      record.mmap({ pid: 0xffffffff, addr: 0xc1000000n, len: 0x60_0000n, pgoff: 0xc1000000n, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel }),
      sampleAt(10n, 0n, [context.kernel, 0xc1000010n]),
      sampleAt(11n, 0n, [context.kernel, 0xc1700010n]),
      sampleAt(12n, 0n, [context.kernel, 0xfffffff0n]),
      sampleAt(13n, 0n, [context.kernel, 0x1_0000_0010n]),
      sampleAt(14n, 0n, [context.kernel, 0xc0000000n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    const kernel = '[kernel.kallsyms]';
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual([kernel, kernel, kernel, undefined, undefined]);
  });

  it('end at the end of the address space even if their map goes on', async () => {
    const records = [
      record.mmap({ pid: 0xffffffff, addr: 0xffffffffc0000000n, len: 0x5000_0000n, filename: '[nf_tables]' }, { misc: misc.kernel }),
      sampleAt(10n, 0n, [context.kernel, 0xffffffffc0000010n]),
      sampleAt(11n, 0n, [context.kernel, 0xffffffffff000010n]),
      sampleAt(12n, 0n, [context.kernel, 0x10n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['[nf_tables]', '[nf_tables]', undefined]);
  });

  it('use the page offset as the start of a kernel that an old recording maps at 0', async () => {
    const records = [
      record.mmap(
        { pid: 0xffffffff, addr: 0n, len: 0xffffffff9fffffffn, pgoff: 0xffffffff81000000n, filename: '[kernel.kallsyms]_text' },
        { misc: misc.kernel },
      ),
      sampleAt(10n, 0n, [context.kernel, 0xffffffff81000010n]),
      sampleAt(11n, 0n, [context.kernel, 0xffffffff9fffff00n]),
      sampleAt(12n, 0n, [context.kernel, 0xffffffff80000000n]),
    ];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map((sample) => sample.frames[0].dso)).toEqual(['[kernel.kallsyms]', '[kernel.kallsyms]', undefined]);
  });

  it('never look up guests and hypervisors in the host', async () => {
    const chain = [context.guestKernel, 0xffffffff81000010n, context.guestUser, 0x400030n, context.hypervisor, 0x400030n];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [kernelMap, ...startApp(), sampleAt(10n, 0n, chain)] }));
    expect(samples[0].frames.map(({ dso, cpumode }) => [dso, cpumode])).toEqual([
      [undefined, 4],
      [undefined, 5],
      [undefined, 3],
    ]);
  });

  it('end at an unknown marker, which is reported, while perf drops them entirely', async () => {
    const chain = [context.user, 0x400030n, BigInt.asUintN(64, -77n), 0x400040n];
    const bytes = encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, chain)] });
    const { samples, diagnostics } = await decode(bytes);
    expect(samples[0].frames).toEqual([user(0x1030n)]);
    expect(diagnostics.list()).toMatchObject([{ code: 'bad-callchain', severity: 'info' }]);
    const asPerf = await decode(bytes, { compatPerf: true });
    expect(asPerf.samples[0].frames).toEqual([]);
    expect(asPerf.diagnostics.list()).toMatchObject([{ code: 'bad-callchain', severity: 'loss' }]);
  });

  it('do not show the cookie of a deferred part that was not asked for', async () => {
    const chain = [context.kernel, 0xffffffff81000010n, context.userDeferred, 0x1234n];
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records: [kernelMap, sampleAt(10n, 0n, chain)] }));
    expect(samples[0].frames).toEqual([kernel(0xffffffff81000010n)]);
    expect(diagnostics.list()).toMatchObject([{ code: 'callchain-deferred', severity: 'loss' }]);
  });

  it('without a usable address consist of the sampled one', async () => {
    const unknown = BigInt.asUintN(64, -77n);
    const chains = [[context.user], [context.kernel, context.user], [unknown, 0x400040n], [context.user, unknown, 0x400040n]];
    const records = [...startApp(), ...chains.map((chain, i) => sampleAt(10n + BigInt(i), 0x400030n, chain))];
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(samples.map(({ frames }) => frames)).toEqual(chains.map(() => [user(0x1030n)]));
    expect(diagnostics.list()).toMatchObject([{ code: 'bad-callchain', count: 2 }]);
  });

  it('begin with the sampled address if it is to be the leaf, as in perf report', async () => {
    const unknown = BigInt.asUintN(64, -77n);
    const chains = [
      { chain: [context.user, 0x400030n, 0x400040n], frames: [0x1030n, 0x1040n] },
      { chain: [0x400030n, 0x400040n], frames: [0x1030n, 0x1040n] },
      { chain: [context.user, 0x400040n], frames: [0x1030n, 0x1040n] },
      { chain: [context.kernel, 0x400030n], frames: [0x1030n, 0x400030n] },
      { chain: [], frames: [0x1030n] },
      { chain: [context.user], frames: [0x1030n] },
      { chain: [context.user, 0x400030n, unknown, 0x400040n], frames: [0x1030n] },
      { chain: [unknown, 0x400040n], frames: [0x1030n] },
    ];
    const records = [...startApp(), ...chains.map(({ chain }, i) => sampleAt(10n + BigInt(i), 0x400030n, chain))];
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records }), { compatPerf: true, leaf: 'ip' });
    expect(samples.map(({ frames }) => frames.map(({ address }) => address))).toEqual(chains.map(({ frames }) => frames));
    expect(diagnostics.list()).toMatchObject([{ code: 'bad-callchain', severity: 'loss' }]);
  });

  it('that are empty consist of the sampled address', async () => {
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, [])] }));
    expect(samples[0].frames).toEqual([user(0x1030n)]);
  });

  it('keep addresses exactly that no map can hold', async () => {
    const garbage = 0x3b353de6a7068161n;
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, [context.user, 0x400030n, garbage])] }));
    expect(samples[0].frames[1]).toEqual(unmapped(garbage, true));
  });

  it('are cut to the length asked for, from the leaf', async () => {
    const chain = [context.user, 0x400030n, 0x400040n, 0x400050n];
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(), sampleAt(10n, 0x400030n, chain)] }), { maxStack: 2 });
    expect(samples[0].frames.map((frame) => frame.address)).toEqual([0x1030n, 0x1040n]);
  });
});

describe('maps', () => {
  it('name anonymous code as perf does, separately for each process', async () => {
    const anon = (pid: number, filename: string, prot = 7): RecordSpec =>
      record.mmap2({ pid, addr: 0x700000n, len: 0x1000n, filename, prot }, { sampleId: { time: 3n } });
    const records = [anon(100, '//anon'), anon(200, '//anon'), anon(300, '[heap]', 3), anon(400, '[vdso]', 5)];
    const at = (pid: number): RecordSpec => sampleAt(10n, 0x700010n, undefined, pid);
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...records, at(100), at(200), at(300), at(400)] }));
    expect(samples.map(({ frames: [frame] }) => [frame.dso, frame.address])).toEqual([
      ['/tmp/perf-100.map', 0x700010n],
      ['/tmp/perf-200.map', 0x700010n],
      ['[heap]', 0x700010n],
      ['[vdso32]', 0x10n],
    ]);
  });

  it('of the vdso begin at its beginning, also where an old kernel gives its address for its place in the file', async () => {
    const vdso = record.mmap({ pid: 100, addr: 0x7fff_77c7_d000n, len: 0x1000n, pgoff: 0x7fff_77c7_d000n, filename: '[vdso]' }, { sampleId: { time: 3n } });
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [vdso, sampleAt(10n, 0x7fff_77c7_d70cn)] }));
    expect(samples[0].frames).toEqual([{ dso: '[vdso]', address: 0x70cn, isReturnAddress: false, cpumode: 2 }]);
  });

  it('of processes that perf cannot see, which all have the number 0, are forgotten at their forks', async () => {
    const fork = (time: bigint): RecordSpec => record.fork({ pid: 0, ppid: 0, tid: 0, ptid: 0 }, { sampleId: { time } });
    const exec = [
      record.comm({ pid: 0, comm: 'app', exec: true }, { sampleId: { time: 20n } }),
      record.mmap2({ pid: 0, addr: 0x400000n, len: 0x10000n, pgoff: 0x1000n, filename: APP, ino: 5n }, { sampleId: { time: 21n } }),
    ];
    const at = (time: bigint): RecordSpec => sampleAt(time, 0x400010n, undefined, 0);
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records: [...startApp(0), at(10n), fork(11n), at(12n), ...exec, at(30n)] }));
    expect(samples.map(({ comm, frames: [{ dso }] }) => [comm, dso])).toEqual([
      ['app', APP],
      ['app', undefined],
      ['app', APP],
    ]);
    expect(diagnostics.list()).toMatchObject([{ code: 'unseen-processes', severity: 'warning', message: expect.stringContaining('--pid=host') }]);
    // Threads and children of other processes have numbers.
    const seen = [
      ...startApp(),
      record.fork({ pid: 101, ppid: 100, tid: 101, ptid: 100 }, { sampleId: { time: 5n } }),
      sampleAt(10n, 0x400010n, undefined, 101),
    ];
    const other = await decode(encodeFile({ attrs: [CLOCK], records: seen }));
    expect([other.samples[0].frames[0].dso, other.diagnostics.list()]).toEqual([APP, []]);
  });

  it('distinguish the vdso of 32-bit programs, also by build id', async () => {
    const vdso = (pid: number, addr: bigint): RecordSpec => record.mmap2({ pid, addr, len: 0x2000n, filename: '[vdso]', prot: 5 }, { sampleId: { time: 3n } });
    const records = [vdso(100, 0x7ffe_1234_0000n), vdso(200, 0xf7f2_0000n), sampleAt(10n, 0x7ffe_1234_0010n), sampleAt(11n, 0xf7f2_0010n, undefined, 200)];
    const buildIds = [
      { buildId: new Uint8Array(20).fill(0x64), filename: '[vdso]' },
      { buildId: new Uint8Array(20).fill(0x32), filename: '[vdso32]' },
    ];
    const vdsosOf = async (arch: string, compatPerf = false): Promise<string[]> => {
      const { profile } = await decode(encodeFile({ attrs: [CLOCK], records, features: { arch, buildIds } }), { compatPerf });
      return profile.mappings.map(({ kind, name, buildId }) => `${kind} ${name} ${buildId.slice(0, 2)}`);
    };
    expect(await vdsosOf('x86_64')).toEqual(['vdso [vdso] 64', 'vdso [vdso32] 32']);
    expect(await vdsosOf('mips64')).toEqual(['vdso [vdso] 64', 'vdso [vdso32] 32']);
    // perf 6.1 takes them for one there.
    expect(await vdsosOf('mips64', true)).toEqual(['vdso [vdso] 64']);
    // A 32-bit kernel has only one.
    expect(await vdsosOf('i686')).toEqual(['vdso [vdso] 64']);
  });

  it('take build ids from the record, or by name from the header', async () => {
    const id = new Uint8Array(20).fill(0xab);
    const records = [
      record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename: '/lib/a.so', buildId: id }, { sampleId: { time: 1n } }),
      record.mmap2({ pid: 100, addr: 0x500000n, len: 0x1000n, filename: '/lib/b.so', ino: 9n }, { sampleId: { time: 1n } }),
      sampleAt(10n, 0x400001n),
    ];
    const { profile } = await decode(
      encodeFile({ attrs: [CLOCK], records, features: { buildIds: [{ buildId: new Uint8Array(20).fill(0xcd), filename: '/lib/b.so' }] } }),
    );
    expect(profile.mappings.map((mapping) => [mapping.name, mapping.buildId])).toEqual([
      ['/lib/a.so', 'ab'.repeat(20)],
      ['/lib/b.so', 'cd'.repeat(20)],
    ]);
  });

  describe('of text that a program moves to huge pages', () => {
    const HUGE = 0x200000n;
    const text = (start: bigint, end: bigint): RecordSpec =>
      record.mmap2({ pid: 100, addr: start, len: end - start, pgoff: start - 0x400000n, filename: APP, ino: 5n }, { sampleId: { time: 1n } });
    const anon = (start: bigint, end: bigint, pid = 100): RecordSpec =>
      record.mmap2({ pid, addr: start, len: end - start, pgoff: start, filename: '//anon', prot: 5 }, { sampleId: { time: 1n } });
    const [FROM, TO] = [0x572000n, 0xa41000n];
    const framesOf = async (records: RecordSpec[], ips: bigint[], compatPerf = false): Promise<unknown[]> => {
      const { samples } = await decode(encodeFile({ attrs: [CLOCK], records: [...records, ...ips.map((ip) => sampleAt(10n, ip))] }), { compatPerf });
      return samples.map(({ frames: [{ dso, address }] }) => [dso, address]);
    };

    it('still belong to its file, whether it was moved before or during the recording', async () => {
      const ips = [FROM, 3n * HUGE, 3n * HUGE + 0x123n, 5n * HUGE - 1n, TO - 1n];
      const inFile = ips.map((ip) => [APP, ip - 0x400000n]);
      const [from, to] = [3n * HUGE, 5n * HUGE];
      expect(await framesOf([text(FROM, TO), anon(from, to), anon(from, to)], ips)).toEqual(inFile);
      expect(await framesOf([text(FROM, from), anon(from, to), text(to, TO)], ips)).toEqual(inFile);
      const asPerf = ips.map((ip) => (ip >= from && ip < to ? ['/tmp/perf-100.map', ip] : [APP, ip - 0x400000n]));
      expect(await framesOf([text(FROM, TO), anon(from, to)], ips, true)).toEqual(asPerf);
      expect(await framesOf([text(FROM, from), anon(from, to), text(to, TO)], ips, true)).toEqual(asPerf);
    });

    it('belong to no file unless they are whole huge pages of it', async () => {
      const perfMap = (ip: bigint): unknown[] => ['/tmp/perf-100.map', ip];
      const [page, from] = [0x1000n, 3n * HUGE];
      expect(await framesOf([text(FROM, TO), anon(from, from + page)], [from])).toEqual([perfMap(from)]);
      expect(await framesOf([text(FROM, TO), anon(from + page, from + page + HUGE)], [from + page])).toEqual([perfMap(from + page)]);
      expect(await framesOf([text(FROM, TO), anon(from, 6n * HUGE)], [from])).toEqual([perfMap(from)]);
      expect(await framesOf([text(FROM, TO), anon(from, from + HUGE, 200)], [from])).toEqual([[APP, from - 0x400000n]]);
      expect(await framesOf([anon(from, from + HUGE), text(from + HUGE, TO)], [from])).toEqual([perfMap(from)]);
      const elsewhere = record.mmap2({ pid: 100, addr: from + HUGE, len: page, pgoff: 0n, filename: APP, ino: 5n }, { sampleId: { time: 1n } });
      expect(await framesOf([text(FROM, from), anon(from, from + HUGE), elsewhere], [from])).toEqual([perfMap(from)]);
    });
  });

  it('keep two files under one name apart', async () => {
    const map = (pid: number, ino: bigint): RecordSpec =>
      record.mmap2({ pid, addr: 0x400000n, len: 0x1000n, filename: '/lib/a.so', ino }, { sampleId: { time: 1n } });
    const { profile } = await decode(encodeFile({ attrs: [CLOCK], records: [map(1, 5n), map(2, 6n), map(3, 5n), sampleAt(10n, 1n)] }));
    expect(profile.mappings).toHaveLength(2);
  });

  it('cast doubt on a build id that the header has for a name if two files share it', async () => {
    const PATH = '/lib/a.so';
    type FileFields = { maj?: number; ino: bigint } | { buildId: Uint8Array };
    const map = (pid: number, file: FileFields): RecordSpec =>
      record.mmap2({ pid, addr: 0x400000n, len: 0x1000n, filename: PATH, ...file }, { sampleId: { time: 1n } });
    const id = (byte: number): Uint8Array => new Uint8Array(20).fill(byte);
    const file = buildElf({ classBits: 64, littleEndian: true, buildId: 'cd'.repeat(20), symbols: [{ name: 'f', value: TEXT.vaddr, sizeBytes: 64 }] });
    const doubts = async (...files: FileFields[]): Promise<number> => {
      const machine = new MadeFiles();
      machine.content.set(PATH, file);
      const diagnostics = new Diagnostics();
      const symbolizer = new Symbolizer(machine, { debugDirs: [], compatPerf: false }, diagnostics);
      const records = [...files.map((one, i) => map(i + 1, one)), ...files.map((_, i) => sampleAt(10n, 0x400000n, undefined, i + 1))];
      await decode(encodeFile({ attrs: [CLOCK], records, features: { buildIds: [{ buildId: id(0xcd), filename: PATH }] } }), { symbolizer });
      return diagnostics.count('build-id-shared');
    };
    expect(await doubts({ ino: 5n }, { ino: 6n })).toBe(2);
    expect(await doubts({ ino: 5n }, { ino: 5n })).toBe(0);
    // On overlayfs, one file has two devices: that of its layer, which the kernel reports, and that of the overlay, which perf gets from /proc.
    expect(await doubts({ maj: 8, ino: 5n }, { maj: 0, ino: 5n })).toBe(0);
    expect(await doubts({ maj: 8, ino: 5n }, { maj: 0, ino: 5n }, { maj: 8, ino: 6n })).toBe(3);
    // A file without a recorded inode may be any of them.
    expect(await doubts({ ino: 5n }, { ino: 0n })).toBe(0);
    expect(await doubts({ buildId: id(0xab) }, { buildId: id(0xcd) })).toBe(0);
  });

  it('of one file stay together, whether written by perf (without inode generation) or the kernel', async () => {
    const map = (pid: number, inoGeneration: bigint): RecordSpec =>
      record.mmap2({ pid, addr: 0x400000n, len: 0x1000n, filename: '/lib/a.so', ino: 5n, inoGeneration }, { sampleId: { time: 1n } });
    const { profile } = await decode(encodeFile({ attrs: [CLOCK], records: [map(1, 0n), map(2, 77n), sampleAt(10n, 1n)] }));
    expect(profile.mappings).toHaveLength(1);
  });

  it('of run-time code in the kernel are named by the record itself', async () => {
    const records = [
      record.ksymbol({ addr: 0xffffffffc0000000n, len: 0x100, name: 'bpf_prog_mine' }, { sampleId: { time: 1n } }),
      sampleAt(10n, 0n, [context.kernel, 0xffffffffc0000010n]),
    ];
    const files: SymbolFiles = {
      open: async () => undefined,
      ownVdso: async () => undefined,
      runningKernel: async () => undefined,
      defaultBuildIdDir: () => undefined,
      decompress: async () => new Uint8Array(),
    };
    const symbolizer = new Symbolizer(files, { debugDirs: [], compatPerf: false }, new Diagnostics());
    const { profile } = await decode(encodeFile({ attrs: [CLOCK], records }), { symbolizer });
    const { locations, functions, strings } = profile;
    expect(strings.get(functions.name(locations.lineFunction(0, 0)))).toBe('bpf_prog_mine');
    expect(locations.symbolOffset(0)).toBe(0x10);
  });
});

describe('records', () => {
  it('of samples that a BPF filter left out report no loss', async () => {
    const { diagnostics } = await decode(
      encodeFile({ attrs: [CLOCK], records: [record.lostSamples({ lost: 2n }), record.lostSamples({ lost: 3n }, { misc: misc.lostSamplesBpf })] }),
    );
    expect(diagnostics.list()).toMatchObject([
      { code: 'lost-samples', severity: 'loss', count: 2 },
      { code: 'filtered-samples', severity: 'info', count: 3 },
    ]);
  });

  it('of zero losses report nothing', async () => {
    const kinds = [record.lost({ lost: 0n }), record.lostSamples({ lost: 0n }), record.lostSamples({ lost: 0n }, { misc: misc.lostSamplesBpf })];
    const { diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records: kinds }));
    expect([diagnostics.hasLoss, diagnostics.list()]).toEqual([false, []]);
    const mixed = await decode(encodeFile({ attrs: [CLOCK], records: [kinds[0], record.lost({ lost: 4n }), kinds[0]] }));
    expect(mixed.diagnostics.list()).toMatchObject([{ code: 'lost', count: 4 }]);
  });

  it('of every type are counted, and those that cannot be used are reported', async () => {
    const task = { pid: 7, ppid: 7 };
    const kernelRecords = [
      record.mmap({ pid: 7, addr: 0x1000n, len: 0x1000n, filename: '/a' }),
      record.lost({ lost: 3n }),
      record.comm({ pid: 7, comm: 'a' }),
      record.exit(task),
      record.throttle(),
      record.unthrottle(),
      record.fork(task),
      record.read({ pid: 7, read: { values: [{ value: 1n }] } }),
      sampleAt(10n, 0x400001n),
      record.mmap2({ pid: 7, addr: 0x1000n, len: 0x1000n, filename: '/a' }),
      record.aux(),
      record.itraceStart({ pid: 7 }),
      record.lostSamples({ lost: 2n }),
      record.switch(),
      record.switchCpuWide({ nextPrevPid: 7 }),
      record.namespaces({ pid: 7, links: [{ dev: 1n, ino: 2n }] }),
      record.ksymbol({ addr: 0xffffffffc0000000n, len: 16, name: 'bpf_prog_a' }),
      record.bpfEvent({ bpfType: 1, id: 4 }),
      record.cgroup({ id: 5n, path: '/' }),
      record.textPoke({ addr: 1n, oldBytes: new Uint8Array(1), newBytes: new Uint8Array(1) }),
      record.auxOutputHwId({ hwId: 1n }),
      record.callchainDeferred({ cookie: 1n, ips: [1n] }),
      record.opaque(40, new Uint8Array(64)),
      record.opaque(99, new Uint8Array(8)),
    ];
    const { session, diagnostics, samples } = await decode(encodeFile({ attrs: [CLOCK], records: kernelRecords }));
    const types = [...Object.values(KERNEL_RECORDS).map(({ type }) => type), 9, 40, 99].sort((a, b) => a - b);
    expect(session.counts.entries()).toEqual(types.map((type) => [type, 1]));
    expect(samples).toHaveLength(1);
    expect(diagnostics.list().map(({ code, count }) => [code, count])).toEqual([
      ['lost', 3],
      ['lost-samples', 2],
      ['unknown-record', 2],
      ['callchain-unused', 1],
    ]);
  });
});

describe('an observer', () => {
  it('sees every record once, even damaged ones and those that yield no sample', async () => {
    const attrs: AttrSpec[] = [{ ids: [1n], sampleType: ['ip', 'tid', 'time', 'read', 'id'], readFormat: ['id', 'group'], flags: ['sampleIdAll'] }];
    const read = { values: [{ value: 5n, id: 1n }] };
    const records = [
      record.sample({ ip: 1n, pid: 1, time: 5n, read }),
      record.sample({ ip: 1n, pid: 1, time: 4n, read }),
      {
        ...record.sample({ ip: 1n, pid: 1, time: 6n, read: { values: [] } }),
        sizeBytes: 16,
        writeBody: (out: { zeros(count: number): unknown }) => void out.zeros(8),
      },
      record.comm({ pid: 1, comm: 'x' }, { sampleId: { time: 7n } }),
      { ...record.comm({ pid: 1, comm: 'x' }), sizeBytes: 16, writeBody: (out: { zeros(count: number): unknown }) => void out.zeros(8) },
      toolRecords.finishedRound(),
    ];
    const seen: number[] = [];
    const { session, samples } = await decode(encodeFile({ attrs, records }), {
      observer: { sample: ({ nr }) => void seen.push(nr), sideBand: ({ nr }) => void seen.push(nr) },
    });
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(seen.indexOf(1)).toBeLessThan(seen.indexOf(0));
    expect(samples).toHaveLength(1);
    expect(session.counts.total).toBe(6);
  });
});

describe('filters', () => {
  const records = [
    ...startApp(100),
    ...startApp(200),
    record.comm({ pid: 200, comm: 'other' }, { sampleId: { time: 5n } }),
    sampleAt(1_000_000_010n, 1n, undefined, 100),
    sampleAt(1_000_000_020n, 1n, undefined, 200),
    sampleAt(1_000_000_030n, 1n, undefined, 100),
  ];

  it.each([
    [{ pids: [100] }, [10, 30]],
    [{ tids: [200] }, [20]],
    [{ comms: ['other'] }, [20]],
    [{ cpus: [0] }, []],
    [{ cpus: [3, 4] }, [10, 20, 30]],
    [{ events: ['cpu-clock'] }, [10, 20, 30]],
    [{ events: ['cycles'] }, []],
    [{ times: [{ kind: 'clock' as const, from: 1_000_000_020n }] }, [20, 30]],
    [{ times: [{ kind: 'clock' as const, to: 1_000_000_020n }] }, [10, 20]],
    [{ pids: [100], times: [{ kind: 'clock' as const, from: 1_000_000_020n }] }, [30]],
  ])('keep the samples that match %o', async (filter, expected) => {
    const { samples } = await decode(encodeFile({ attrs: [CLOCK], records, features: { eventDesc: true } }), { filter });
    expect(samples.map((sample) => Number(sample.time) - 1_000_000_000)).toEqual(expected);
  });
});
