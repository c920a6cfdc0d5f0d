import { describe, expect, it } from 'vitest';
import { context, encodeFile, misc, record } from '../../support/builders/recordings/perf-encoder.ts';
import { APP, CLOCK, sampleAt, startApp, unmapped } from '../../support/builders/recordings/recorded-app.ts';
import { decode } from '../../support/readers/decode.ts';

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
