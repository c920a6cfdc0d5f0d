import { describe, expect, it } from 'vitest';
import { KERNEL_RECORDS } from '../../src/perfdata/records/kernel-records.ts';
import {
  type AttrSpec,
  type ByteWriter,
  encodeFile,
  encodePipe,
  misc,
  type RecordSpec,
  record,
  toolRecords,
} from '../support/builders/recordings/perf-encoder.ts';
import { APP, CLOCK, sampleAt, startApp } from '../support/builders/recordings/recorded-app.ts';
import { decode } from '../support/readers/decode.ts';

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

describe('build ids', () => {
  it.each([true, false])('are known from records of a pipe, and from the table of a file: %s', async (isPipe) => {
    const id = { filename: APP, buildId: Uint8Array.from({ length: 20 }, (_, i) => i + 1) };
    const records = [...startApp(), sampleAt(9n, 0x400001n)];
    const bytes = isPipe
      ? encodePipe({ attrs: [CLOCK], records: [...records, toolRecords.headerBuildId(id)] })
      : encodeFile({ attrs: [CLOCK], records, features: { buildIds: [id] } });
    const { mappings } = (await decode(bytes)).profile;
    expect(mappings.filter(({ name }) => name === APP).map(({ buildId }) => buildId)).toEqual(['0102030405060708090a0b0c0d0e0f1011121314']);
  });
});

describe('records', () => {
  // The trailer has 24 bytes.
  it.each([0, 8, 16])('that are shorter than their trailer are skipped and reported: %i bytes', async (sizeBytes) => {
    const attr: AttrSpec = { ...CLOCK, sampleType: ['ip', 'tid', 'time', 'cpu'], flags: ['sampleIdAll'] };
    const [first, ...others] = startApp();
    // SWITCH has no fields of its own.
    const records = [first, record.opaque(14, new Uint8Array(sizeBytes)), ...others, sampleAt(9n, 0x400001n)];
    const { samples, diagnostics } = await decode(encodeFile({ attrs: [attr], records }));
    expect(samples).toHaveLength(1);
    const message = 'PERF_RECORD_SWITCH: sample_id trailer overruns record; the record is skipped';
    expect(diagnostics.list()).toMatchObject([{ code: 'bad-record', severity: 'loss', count: 1, message }]);
  });

  it('of samples that a BPF filter left out report no loss', async () => {
    const { diagnostics } = await decode(
      encodeFile({ attrs: [CLOCK], records: [record.lostSamples({ lost: 2n }), record.lostSamples({ lost: 3n }, { misc: misc.lostSamplesBpf })] }),
    );
    expect(diagnostics.list()).toMatchObject([
      { code: 'lost-samples', severity: 'loss', count: 2 },
      { code: 'filtered-samples', severity: 'info', count: 3 },
    ]);
  });

  it('of losses say what helps, and that perf counts the same samples twice', async () => {
    const records = [record.lost({ lost: 5n }), record.lostSamples({ lost: 5n })];
    const { diagnostics } = await decode(encodeFile({ attrs: [CLOCK], records }));
    expect(diagnostics.list().map(({ message }) => message)).toEqual([
      'perf could not keep up while recording, and records were lost: larger buffers help (perf record -m 16M), and so do fewer samples (-F)',
      "samples were lost while recording, by perf's count at the end, in which those among lost records count, too",
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
    expect(diagnostics.list().find(({ code }) => code === 'unknown-record')?.message).toContain('the first of them of type 40');
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
