import { describe, expect, it } from 'vitest';
import { type AttrSpec, encodeFile, encodePipe, type RecordSpec, record, toolRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { APP, CLOCK, sampleAt, startApp, user } from '../../support/builders/recordings/recorded-app.ts';
import { decode } from '../../support/readers/decode.ts';

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

  describe('of one event without times, in a recording with times', () => {
    const sampleType = ['identifier', 'ip', 'tid'] as const;
    const timed: AttrSpec = { name: 'page-faults', config: 2n, period: 1n, ids: [11n], sampleType: [...sampleType, 'time'], flags: ['sampleIdAll', 'mmap'] };
    const untimed: AttrSpec = { name: 'cpu-clock', period: 1n, ids: [12n], sampleType, flags: ['sampleIdAll'] };
    /** A sample of {@link timed} if there is a time, else of {@link untimed}. They are the first and the second event. */
    const at = (time?: bigint) =>
      time === undefined
        ? record.sample({ id: 12n, ip: 0x400010n, pid: 100, tid: 100 }, { attr: 1 })
        : record.sample({ id: 11n, ip: 0x400010n, pid: 100, tid: 100, time }, { attr: 0 });
    const map = (filename: string, time: bigint) => record.mmap2({ pid: 100, addr: 0x400000n, len: 0x1000n, filename }, { attr: 0, sampleId: { time } });
    const dsosOf = async (records: RecordSpec[], compatPerf = false) => {
      const { samples, diagnostics } = await decode(encodeFile({ attrs: [timed, untimed], records }), { compatPerf });
      expect(diagnostics.list().filter(({ severity }) => severity !== 'info')).toEqual([]);
      return samples.map(({ time, frames }) => [time, frames[0].dso]);
    };

    it('see the maps before them in the file, unlike in perf', async () => {
      const records = [
        map('/lib/one.so', 10n),
        at(),
        at(20n),
        map('/lib/two.so', 30n),
        at(),
        // The buffer of another CPU, in the same round.
        at(25n),
        at(),
        toolRecords.finishedRound(),
      ];
      expect(await dsosOf(records)).toEqual([
        [undefined, '/lib/one.so'],
        [20n, '/lib/one.so'],
        [25n, '/lib/one.so'],
        [undefined, '/lib/one.so'],
        [undefined, '/lib/two.so'],
      ]);
      expect((await dsosOf(records, true)).slice(0, 3)).toEqual(Array.from({ length: 3 }, () => [undefined, undefined]));
    });
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
