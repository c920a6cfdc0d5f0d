import { describe, expect, it } from 'vitest';
import { MAX_WAITING_SAMPLES } from '../../../src/session/callchains/deferred-callchains.ts';
import { parseTimeRanges } from '../../../src/session/filter/time-ranges.ts';
import { type AttrSpec, context, encodeFile, encodePipe, misc, type RecordSpec, record, toolRecords } from '../../support/builders/recordings/perf-encoder.ts';
import { type Decoded, decode } from '../../support/readers/decode.ts';
import { locationsOf } from '../../support/readers/locations-of.ts';

const ATTR: AttrSpec = {
  name: 'cpu-clock',
  freq: 1000n,
  ids: [11n],
  sampleType: ['ip', 'tid', 'time', 'cpu', 'period', 'callchain'],
  flags: ['sampleIdAll', 'commExec', 'deferCallchain', 'deferOutput'],
};

const KERNEL = 0xffffffff81000010n;
const KERNEL_CALLER = 0xffffffff81000020n;

/** The kernel, and a process that runs /bin/app at 0x400000. */
function start(pid = 100): RecordSpec[] {
  return [
    record.mmap({ pid: 0xffffffff, addr: 0xffffffff81000000n, len: 0x1000000n, filename: '[kernel.kallsyms]_text' }, { misc: misc.kernel }),
    record.comm({ pid, comm: 'app', exec: true }, { sampleId: { time: 1n } }),
    record.mmap2({ pid, addr: 0x400000n, len: 0x10000n, pgoff: 0x1000n, filename: '/bin/app', ino: 5n }, { sampleId: { time: 2n } }),
  ];
}

/** A sample in the kernel, whose user part is to come. */
function inKernel(time: bigint, cookie: bigint, pid = 100, tid = pid): RecordSpec {
  const callchain = [context.kernel, KERNEL, KERNEL_CALLER, context.userDeferred, cookie];
  return record.sample({ time, ip: KERNEL, pid, tid, cpu: 3, period: 1000n, callchain }, { misc: misc.kernel });
}

/** A sample in user code, whose whole callchain is to come. */
function inUser(time: bigint, cookie: bigint, ip: bigint): RecordSpec {
  return record.sample({ time, ip, pid: 100, cpu: 3, period: 1000n, callchain: [context.userDeferred, cookie] }, { misc: misc.user });
}

function deferred(time: bigint, cookie: bigint, ips: readonly bigint[], pid = 100, tid = pid): RecordSpec {
  return record.callchainDeferred({ cookie, ips: [context.user, ...ips] }, { sampleId: { pid, tid, time } });
}

const decodeRecords = (records: readonly RecordSpec[], options = {}, attrs = [ATTR]): Promise<Decoded> => decode(encodeFile({ attrs, records }), options);

/** Time of each sample, and its addresses in the file or the kernel. */
const stacksOf = ({ samples }: Decoded) => samples.map(({ time, frames }) => [time, ...frames.map(({ address }) => address)]);

const codes = ({ diagnostics }: Decoded) => diagnostics.list().map(({ code, severity, count }) => [code, severity, count]);

/** Stacks with their number of samples and sum of periods, from the totals. */
function totalsOf({ profile: { totals, stacks, locations } }: Decoded) {
  return Array.from({ length: totals.size }, (_, row) => {
    const addresses = locationsOf(stacks, totals.stack(row)).map((location) => locations.addressLo(location));
    return [totals.samples(row), totals.period(row), ...addresses];
  });
}

const low = (address: bigint): number => Number(address & 0xffffffffn);

describe('deferred callchains', () => {
  it('follow the kernel part of their samples, even if several share one', async () => {
    const records = [...start(), inKernel(10n, 7n), inKernel(11n, 7n), deferred(12n, 7n, [0x400030n, 0x400040n])];
    const decoded = await decodeRecords(records);
    const stack = [KERNEL, KERNEL_CALLER, 0x1030n, 0x1040n];
    expect(stacksOf(decoded)).toEqual([
      [10n, ...stack],
      [11n, ...stack],
    ]);
    expect(decoded.samples[0].frames.map(({ isReturnAddress }) => isReturnAddress)).toEqual([false, true, false, true]);
    expect(totalsOf(decoded)).toEqual([[2, 2000, low(KERNEL), low(KERNEL_CALLER), 0x1030, 0x1040]]);
    expect(codes(decoded)).toEqual([]);
  });

  it('are read alike from files and pipes, in either byte order, and without a marker of their own', async () => {
    const records = [
      ...start(),
      inKernel(10n, 0x1_0000_0000n),
      record.callchainDeferred({ cookie: 0x1_0000_0000n, ips: [0x400030n] }, { sampleId: { pid: 100, tid: 100, time: 12n } }),
    ];
    for (const byteOrder of ['little', 'big'] as const) {
      for (const bytes of [encodeFile({ attrs: [ATTR], records, byteOrder }), encodePipe({ attrs: [ATTR], records, byteOrder })]) {
        expect(stacksOf(await decode(bytes))).toEqual([[10n, KERNEL, KERNEL_CALLER, 0x1030n]]);
      }
    }
  });

  it('leave samples sorted by time', async () => {
    const whole = record.sample({ time: 11n, ip: 0x400050n, pid: 100, cpu: 3, period: 5n, callchain: [context.user, 0x400050n] });
    const decoded = await decodeRecords([...start(), inKernel(10n, 7n), whole, deferred(30n, 7n, [0x400030n])]);
    expect(stacksOf(decoded)).toEqual([
      [10n, KERNEL, KERNEL_CALLER, 0x1030n],
      [11n, 0x1050n],
    ]);
    // Rows of the totals are added as stacks become known, and none is left for stacks not yet known.
    expect(totalsOf(decoded)).toEqual([
      [1, 5, 0x1050],
      [1, 1000, low(KERNEL), low(KERNEL_CALLER), 0x1030],
    ]);
  });

  it('are found in later rounds, in earlier records of the file, and before their samples', async () => {
    const laterRound = [
      ...start(),
      inKernel(10n, 7n),
      toolRecords.finishedRound(),
      toolRecords.finishedRound(),
      toolRecords.finishedRound(),
      deferred(30n, 7n, [0x400030n]),
    ];
    const otherBuffer = [...start(), deferred(30n, 7n, [0x400030n]), inKernel(10n, 7n)];
    // On its way to user code, the thread is interrupted once more.
    const onTheWay = [...start(), deferred(9n, 7n, [0x400030n]), inKernel(10n, 7n)];
    for (const records of [laterRound, otherBuffer, onTheWay]) {
      expect(stacksOf(await decodeRecords(records))).toEqual([[10n, KERNEL, KERNEL_CALLER, 0x1030n]]);
    }
  });

  it('that came before their samples are matched by thread and by the whole cookie', async () => {
    const records = [
      ...start(),
      deferred(9n, 0x1_0000_0007n, [0x400030n]),
      deferred(10n, 0x2_0000_0007n, [0x400040n], 100, 101),
      inKernel(11n, 0x1_0000_0007n),
      inKernel(12n, 0x2_0000_0007n, 100, 101),
      // The same words, in another thread; the same low word; the same high word.
      inKernel(13n, 0x2_0000_0007n),
      inKernel(14n, 0x1_0000_0007n, 100, 101),
      inKernel(15n, 0x2_0000_0008n, 100, 101),
    ];
    const decoded = await decodeRecords(records);
    expect(stacksOf(decoded)).toEqual([
      [11n, KERNEL, KERNEL_CALLER, 0x1030n],
      [12n, KERNEL, KERNEL_CALLER, 0x1040n],
      [13n, KERNEL, KERNEL_CALLER],
      [14n, KERNEL, KERNEL_CALLER],
      [15n, KERNEL, KERNEL_CALLER],
    ]);
    expect(codes(decoded)).toEqual([
      ['callchain-deferred', 'warning', 3],
      ['callchain-unused', 'info', 2],
    ]);
  });

  it('that came before their samples follow the sampled address if it is to be the leaf', async () => {
    const precise = record.sample(
      { time: 10n, ip: KERNEL - 4n, pid: 100, cpu: 3, period: 1000n, callchain: [context.kernel, KERNEL, context.userDeferred, 7n] },
      { misc: misc.kernel },
    );
    const records = [...start(), deferred(9n, 7n, [0x400030n]), precise];
    expect(stacksOf(await decodeRecords(records))).toEqual([[10n, KERNEL, 0x1030n]]);
    expect(stacksOf(await decodeRecords(records, { leaf: 'ip' }))).toEqual([[10n, KERNEL - 4n, KERNEL, 0x1030n]]);
  });

  it('are the whole stack of samples in user code, with the sampled address only once', async () => {
    const records = [...start(), inUser(10n, 7n, 0x400030n), deferred(11n, 7n, [0x400030n, 0x400040n])];
    for (const leaf of ['callchain', 'callchain-or-ip', 'ip'] as const) {
      expect(stacksOf(await decodeRecords(records, { leaf }))).toEqual([[10n, 0x1030n, 0x1040n]]);
    }
    // The address of a precise event is not where the interrupt came.
    const precise = [...start(), inUser(10n, 7n, 0x40002cn), deferred(11n, 7n, [0x400030n, 0x400040n])];
    expect(stacksOf(await decodeRecords(precise))).toEqual([[10n, 0x1030n, 0x1040n]]);
    expect(stacksOf(await decodeRecords(precise, { leaf: 'ip' }))).toEqual([[10n, 0x102cn, 0x1030n, 0x1040n]]);
    // A callchain without any address says nothing.
    const empty = [...start(), inUser(10n, 7n, 0x400030n), deferred(11n, 7n, [])];
    expect(stacksOf(await decodeRecords(empty))).toEqual([[10n, 0x1030n]]);
    expect(stacksOf(await decodeRecords(empty, { leaf: 'ip' }))).toEqual([[10n, 0x1030n]]);
  });

  it('belong to one thread', async () => {
    const records = [...start(), inKernel(10n, 7n), inKernel(11n, 7n, 100, 101), deferred(12n, 7n, [0x400030n]), deferred(13n, 7n, [0x400040n], 100, 101)];
    expect(stacksOf(await decodeRecords(records))).toEqual([
      [10n, KERNEL, KERNEL_CALLER, 0x1030n],
      [11n, KERNEL, KERNEL_CALLER, 0x1040n],
    ]);
  });

  it('are located in what is mapped when they come, which after an exec is the new program', async () => {
    const records = [
      ...start(),
      inKernel(10n, 7n),
      record.comm({ pid: 100, comm: 'new', exec: true }, { sampleId: { time: 11n } }),
      record.mmap2({ pid: 100, addr: 0x400000n, len: 0x10000n, filename: '/bin/new', ino: 6n }, { sampleId: { time: 12n } }),
      deferred(13n, 7n, [0x400030n]),
    ];
    const { samples } = await decodeRecords(records);
    expect(samples.map(({ comm, frames }) => [comm, frames.at(-1)?.dso])).toEqual([['app', '/bin/new']]);
  });

  it('leave the kernel part or the sampled address if they never come, and are counted', async () => {
    const lost = [
      ...start(),
      inKernel(10n, 7n),
      record.lost({ lost: 1n }, { sampleId: { time: 11n } }),
      inUser(12n, 8n, 0x400030n),
      deferred(13n, 9n, [0x400040n]),
      record.exit({ pid: 100, ppid: 1, tid: 100, ptid: 1, time: 14n }, { sampleId: { time: 14n } }),
    ];
    const decoded = await decodeRecords(lost);
    expect(stacksOf(decoded)).toEqual([
      [10n, KERNEL, KERNEL_CALLER],
      [12n, 0x1030n],
    ]);
    expect(totalsOf(decoded)).toEqual([
      [1, 1000, low(KERNEL), low(KERNEL_CALLER)],
      [1, 1000, 0x1030],
    ]);
    expect(codes(decoded)).toEqual([
      ['lost', 'loss', 1],
      ['callchain-deferred', 'warning', 2],
      ['callchain-unused', 'info', 1],
    ]);
  });

  it('are used for samples chosen by their own times and threads', async () => {
    const records = [
      ...start(),
      inKernel(1_000_000_000n, 7n),
      inKernel(2_000_000_000n, 8n),
      deferred(2_500_000_000n, 8n, [0x400030n]),
      deferred(3_000_000_000n, 7n, [0x400040n]),
    ];
    const chosen = await decodeRecords(records, { filter: { times: parseTimeRanges('1.5,2.2', '--time') } });
    expect(chosen.samples.map(({ frames }) => frames.at(-1)?.address)).toEqual([0x1030n]);
    expect(codes(chosen)).toEqual([['callchain-unused', 'info', 1]]);
    const none = await decodeRecords(records, { filter: { tids: [5] } });
    expect(none.samples).toEqual([]);
    expect(none.profile.totals.size).toBe(0);
  });

  it('count once if several events have recorded them', async () => {
    const again = [deferred(12n, 7n, [0x400030n]), deferred(13n, 7n, [0x400050n])];
    const decoded = await decodeRecords([...start(), inKernel(10n, 7n), ...again]);
    expect(stacksOf(decoded)).toEqual([[10n, KERNEL, KERNEL_CALLER, 0x1030n]]);
    expect(codes(decoded)).toEqual([]);
  });

  it('keep the limit on frames, and the exact periods', async () => {
    const sample = record.sample(
      { time: 10n, ip: KERNEL, pid: 100, cpu: 3, period: (1n << 53n) + 1n, callchain: [context.kernel, KERNEL, context.userDeferred, 7n] },
      { misc: misc.kernel },
    );
    const decoded = await decodeRecords([...start(), sample, deferred(12n, 7n, [0x400030n, 0x400040n])], { maxStack: 2 });
    expect(stacksOf(decoded)).toEqual([[10n, KERNEL, 0x1030n]]);
    const { totals, samples } = decoded.profile;
    expect(totals.period(0) + totals.periodRemainder(0)).toBe(2 ** 53);
    expect([totals.periodRemainder(0), samples?.periodRemainder(0)]).toEqual([1, 1]);
  });

  it('are used for each event of a group', async () => {
    const attrs: AttrSpec[] = [1n, 2n].map((id) => ({
      ids: [id],
      sampleType: ['ip', 'tid', 'time', 'callchain', 'read', 'id'],
      readFormat: ['id', 'group'],
      flags: ['sampleIdAll', 'deferCallchain'],
    }));
    const read = { values: [1n, 2n].map((id) => ({ value: 5n, id })) };
    const sample = record.sample({ time: 10n, ip: KERNEL, pid: 100, id: 1n, read, callchain: [context.kernel, KERNEL, context.userDeferred, 7n] });
    for (const records of [
      [...start(), sample, deferred(12n, 7n, [0x400030n])],
      [...start(), deferred(9n, 7n, [0x400030n]), sample],
    ]) {
      expect(stacksOf(await decodeRecords(records, {}, attrs))).toEqual([
        [10n, KERNEL, 0x1030n],
        [10n, KERNEL, 0x1030n],
      ]);
    }
  });

  it('are awaited by no more samples than there is room for', async () => {
    const samples = Array.from({ length: MAX_WAITING_SAMPLES + 10 }, (_, i) => inKernel(10n + BigInt(i), BigInt(i)));
    const end = 10n + BigInt(samples.length);
    const records = [...start(), ...samples, deferred(end, 9n, [0x400030n]), deferred(end, 10n, [0x400030n])];
    const decoded = await decodeRecords(records);
    // The ten that have waited longest have given up; all others but one still wait at the end.
    expect(decoded.samples.map(({ frames }, i) => (frames.length === 3 ? i : -1)).filter((i) => i >= 0)).toEqual([10]);
    expect(decoded.samples).toHaveLength(samples.length);
    expect(codes(decoded)).toEqual([
      ['callchain-deferred', 'warning', samples.length - 1],
      ['callchain-unused', 'info', 1],
    ]);
  });

  it('that do not fit into their record are reported', async () => {
    const whole = deferred(12n, 7n, [0x400030n]);
    const cut: RecordSpec = { ...whole, sizeBytes: 24, writeBody: (out) => void out.zeros(16) } as RecordSpec;
    const decoded = await decodeRecords([...start(), inKernel(10n, 7n), cut]);
    expect(stacksOf(decoded)).toEqual([[10n, KERNEL, KERNEL_CALLER]]);
    expect(codes(decoded)).toContainEqual(['bad-record', 'loss', 1]);
  });
});
