import { describe, expect, it } from 'vitest';
import { type AttrSpec, encodeFile, encodePipe, type RecordSpec, record, toolRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { META } from '../../support/builders/recordings/simpleperf-recordings.ts';
import { ATTRS, CLOCK, SCHED, SwitchRecords } from '../../support/builders/recordings/switch-recordings.ts';
import { type Decoded, decode } from '../../support/readers/decode.ts';
import { D, findings, MS, messageOf, OFF, R, S, waitsOf } from '../../support/truth/off-cpu-waits.ts';

describe('times off the CPU', () => {
  it('are missing if switches have no times, which is reported', async () => {
    const attr: AttrSpec = { type: 1, config: 0n, period: 1n, flags: ['sampleIdAll'], sampleType: ['ip', 'tid'], name: 'cpu-clock' };
    const at = { sampleId: { pid: 100, tid: 101 } };
    const records = [record.switch({ out: true }, at), record.switch({}, at), record.sample({ pid: 100, tid: 101, ip: 0x1234n })];
    const decoded = await decode(encodeFile({ attrs: [attr], records, features: { eventDesc: true } }), OFF);
    expect(findings(decoded)).toEqual(['off-cpu-untimed 2']);
  });

  it('begin at samples of switches even if records have no times, which is reported', async () => {
    const { attrs, ...spec } = new SwitchRecords()
      .sched(10 * MS, { prev: 101, state: S, next: 0 })
      .sched(16 * MS, { prev: 101, state: D, next: 0 })
      .sched(18 * MS, { prev: 101, state: 0x10, next: 0 })
      .spec();
    const [clock, sched] = attrs ?? [];
    const withoutTime: AttrSpec = { ...clock, sampleType: ['identifier', 'ip', 'tid', 'callchain'] };
    const at = { sampleId: { pid: 100, tid: 101 } };
    const untimed = [record.switch({ out: true }, at), record.switch({}, at), record.exit({ pid: 100, ppid: 100, tid: 101 }, at)];
    const records = [...untimed, ...spec.records.slice(2)];
    const decoded = await decode(encodeFile({ ...spec, attrs: [withoutTime, sched], records }), OFF);
    expect(waitsOf(decoded)).toEqual(['101 sleeping 0x3065 6', '101 blocked 0x3065 2']);
    expect(findings(decoded)).toEqual(['off-cpu-untimed 2', 'off-cpu-unseen-return 2']);
    // There are SWITCH records, so recording them is not suggested.
    expect(messageOf(decoded, 'off-cpu-unseen-return')).toBe(
      'times off the CPU end where the thread was next seen, since its switch back was not recorded with its time',
    );
  });

  it.each([
    ['with a warning above one lost record per hundred waits', 'warning', 2n, 99],
    ['with a note otherwise', 'info', 1n, 100],
  ] as const)('may be missing if records were lost, which is reported %s', async (_, severity, lost, waitCount) => {
    const recording = new SwitchRecords();
    for (let i = 0; i < waitCount; i++) {
      recording.sched((10 + i) * MS, { prev: 101, state: S, next: 0 }).sched((10.5 + i) * MS, { prev: 0, state: R, next: 101 });
    }
    for (const [code, loss] of [
      ['lost', record.lost({ lost })],
      ['lost-samples', record.lostSamples({ lost })],
    ] as const) {
      const { records, ...spec } = recording.spec();
      const decoded = await decode(encodeFile({ ...spec, records: [...records, loss] }), OFF);
      expect(findings(decoded)).toEqual([`${code} ${lost}`, 'off-cpu-lost 1']);
      expect(decoded.diagnostics.list()[1].severity).toBe(severity);
      // Not reported without --off-cpu.
      expect(findings(await decode(encodeFile({ ...spec, records: [...records, loss] })))).toEqual([`${code} ${lost}`]);
    }
  });

  it('are reported as missing if the recording has no switches', async () => {
    const decoded = await decode(
      new SwitchRecords()
        .tick(101, 5 * MS)
        .contextSwitch(101, 6 * MS)
        .file(),
      OFF,
    );
    expect(decoded.diagnostics.list().map(({ code, severity }) => [code, severity])).toEqual([['no-switches', 'warning']]);
    expect(decoded.samples.map(({ event }) => event)).toEqual(['cpu-clock', 'context-switches']);
  });

  it('need other options of simpleperf, which the warning then names', async () => {
    const decoded = await decode(encodeFile({ attrs: [ATTRS[CLOCK]], records: [], foreignFeatures: [META] }), OFF);
    expect(messageOf(decoded, 'no-switches')).toMatch(/: record with simpleperf record --trace-offcpu$/);
  });

  it('are reported as uncertain if buffers were overwritten, since those of CPUs begin at different times', async () => {
    const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: D, next: 0 }).sched(12 * MS, { prev: 0, state: R, next: 101 });
    const attrs = ATTRS.map((attr): AttrSpec => ({ ...attr, flags: [...(attr.flags ?? []), 'writeBackward'] }));
    expect(findings(await decode(recording.file({ attrs }), OFF))).toEqual(['off-cpu-overwritten 1']);
    expect(findings(await decode(recording.file(), OFF))).toEqual([]);
  });

  it('are reported as uncertain if only some switches were sampled, unless there are records of all', async () => {
    const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: D, next: 0 }).sched(12 * MS, { prev: 0, state: R, next: 101 });
    const attrs = (rate: Pick<AttrSpec, 'period' | 'freq'>, hasRecords: boolean) =>
      ATTRS.map((attr, i): AttrSpec => {
        const { period, ...rest } = attr;
        const flags = (attr.flags ?? []).filter((flag) => hasRecords || flag !== 'contextSwitch');
        return { ...(i === SCHED ? { ...rest, ...rate } : attr), flags };
      });
    const found = async (rate: Pick<AttrSpec, 'period' | 'freq'>, hasRecords = false) =>
      findings(await decode(recording.file({ attrs: attrs(rate, hasRecords) }), OFF));
    expect(await found({ freq: 2000n })).toEqual(['off-cpu-sampled-switches 1']);
    expect(await found({ period: 10n })).toEqual(['off-cpu-sampled-switches 1']);
    expect(await found({ period: 1n })).toEqual([]);
    expect(await found({ freq: 2000n }, true)).toEqual([]);
  });

  describe('of threads that may have run on CPUs that were not recorded', () => {
    const recording = new SwitchRecords().sched(10 * MS, { prev: 101, state: D, next: 0 }).sched(12 * MS, { prev: 0, state: R, next: 101 });
    /** @param told records that come first */
    const spec = (told: readonly RecordSpec[], online?: number) => {
      const { features, ...rest } = recording.spec();
      return {
        ...rest,
        features: { ...features, ...(online !== undefined && { nrCpus: { available: 16, online } }) },
        records: [...told, ...recording.records],
      };
    };
    const said = ({ diagnostics }: Decoded): string[] => diagnostics.list().map(({ severity, message }) => `${severity}: ${message}`);
    const warning = (what: string): string =>
      `warning: option offCpu: only ${what} recorded, and time that threads ran on other CPUs counts as time off the CPU: record with perf record -a`;

    /** An id of each event for each of the CPUs; perf gives the first one to the attr. */
    const openedOn = (...cpus: readonly number[]): RecordSpec =>
      toolRecords.idIndex([1n, 2n, 3n].flatMap((id) => cpus.map((cpu, i) => ({ id: id + BigInt(i) * 10n, cpu: BigInt(cpu) }))));
    const allIds = (attrs: readonly AttrSpec[]): AttrSpec[] =>
      attrs.map((attr, i) => ({ ...attr, ids: Array.from({ length: 9 }, (_, cpu) => BigInt(cpu * 10 + i + 1)) }));
    const findingsBy = async (told: readonly RecordSpec[], online?: number): Promise<string[]> => {
      const { attrs, ...rest } = spec(told, online);
      return said(await decode(encodeFile({ ...rest, attrs: allIds(attrs) }), OFF));
    };

    it.each<[string, RecordSpec[], number, string]>([
      ['the ids of events', [openedOn(0)], 2, 'CPU 0 of 2 was'],
      ['the ids of events, in several records', [openedOn(4), openedOn(1, 2)], 8, 'CPUs 1-2,4 of 8 were'],
      ['the ids of events before a map of CPUs', [openedOn(3), toolRecords.cpuMap([0, 1])], 2, 'CPU 3 of 2 was'],
      ['a list of CPUs', [toolRecords.cpuMap([0, 1, 2, 5])], 8, 'CPUs 0-2,5 of 8 were'],
      ['a mask of CPUs', [toolRecords.cpuMask(8, [0b1010n])], 4, 'CPUs 1,3 of 4 were'],
      ['a range of CPUs', [toolRecords.cpuRange({ first: 4, last: 7 })], 8, 'CPUs 4-7 of 8 were'],
      ['a list of many CPUs', [toolRecords.cpuMap([0, 2, 4, 6, 8, 10, 12, 14, 16, 18])], 20, 'CPUs 0,2,4,6,8,10,12,14,… of 20 were'],
    ])('are reported as too long, judging by %s', async (_, told, online, what) => {
      expect(await findingsBy(told, online)).toEqual([warning(what)]);
    });

    it('are reported as too long in a pipe, too', async () => {
      expect(said(await decode(encodePipe(spec([openedOn(3)], 4)), OFF))).toEqual([warning('CPU 3 of 4 was')]);
    });

    it.each<[string, RecordSpec[], number | undefined]>([
      ['all CPUs were recorded', [openedOn(0, 1), toolRecords.cpuMap([0, 1])], 2],
      ['a map lists all CPUs', [toolRecords.cpuRange({ first: 0, last: 3 })], 4],
      ['events were opened on any CPU', [openedOn(-1), toolRecords.cpuMap([-1])], 2],
      ['a map stands for any CPU', [toolRecords.cpuMap([-1])], 2],
      ['a range stands for any CPU', [toolRecords.cpuRange({ first: 0, last: 0, any: true })], 2],
      ['switches were recorded on more CPUs than asked for', [openedOn(0, 1), toolRecords.cpuMap([0])], 2],
      ['the number of CPUs is unknown', [openedOn(0)], undefined],
      ['no record lists the CPUs', [], 2],
      ['a map lists no CPUs', [toolRecords.cpuMask(8, [])], 2],
    ])('are not reported as too long if %s', async (_, told, online) => {
      expect(await findingsBy(told, online)).toEqual([]);
    });

    it('are judged only by the CPUs of the events that record switches', async () => {
      const { attrs, ...rest } = spec([toolRecords.idIndex([1n, 2n, 3n].map((id) => ({ id, cpu: id === 2n ? 0n : 1n })))], 2);
      const file = encodeFile({ ...rest, attrs: attrs.map((attr) => ({ ...attr, flags: (attr.flags ?? []).filter((flag) => flag !== 'contextSwitch') })) });
      expect(said(await decode(file, OFF))).toEqual([warning('CPU 0 of 2 was')]);
      expect(said(await decode(encodeFile({ ...rest, attrs }), OFF))).toEqual([]);
    });

    it('are judged by the next map of CPUs if one cannot be read, which is reported', async () => {
      const unreadable: RecordSpec = { ...toolRecords.cpuMap([0]), writeBody: (out) => out.u16(7).zeros(6) };
      const skipped = 'info: PERF_RECORD_CPU_MAP: CPU map has an unknown encoding (7); it is skipped';
      expect(await findingsBy([unreadable], 2)).toEqual([skipped]);
      expect(await findingsBy([unreadable, toolRecords.cpuMap([1]), toolRecords.cpuMap([0])], 2)).toEqual([skipped, warning('CPU 1 of 2 was')]);
    });

    it('are not reported as too long if there are none', async () => {
      expect(said(await decode(encodeFile(spec([openedOn(0)], 2))))).toEqual([]);
      expect(said(await decode(encodeFile(spec([openedOn(0)], 2)), { ...OFF, filter: { tids: [7] } }))).toEqual([]);
    });
  });
});
