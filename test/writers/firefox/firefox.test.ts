import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { convert } from '../../../src/pipeline/convert.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { SampleDetails } from '../../../src/profile/sample-details.ts';
import { SampleRow, SampleTable } from '../../../src/profile/sample-table.ts';
import { showUnknownCode } from '../../../src/profile/shown-profile.ts';
import {
  PREEMPTED,
  RECORDS_LOST,
  SWITCHED_IN,
  SWITCHED_OUT,
  THREAD_BEGAN,
  THREAD_ENDED,
  THREAD_EXECED,
  ThreadEventTable,
} from '../../../src/profile/thread-events.ts';
import { type FirefoxOptions, writeFirefox } from '../../../src/writers/firefox/firefox.ts';
import { breakpadId } from '../../../src/writers/firefox/write-shared.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { encodeFile, record } from '../../support/builders/recordings/perf-encoder.ts';
import { type FirefoxRead, readFirefox } from '../../support/readers/read-firefox.ts';

async function written(profile: Profile, options: Partial<FirefoxOptions> = {}): Promise<FirefoxRead> {
  const sink = new BufferSink();
  await writeFirefox(profile, sink, { weight: 'period', exporter: 'perfconv@test', ...options });
  return readFirefox(sink.bytes());
}

const names = ({ threads, framesOf }: FirefoxRead, thread = 0): string[] =>
  threads[thread].samples.map(({ stack }) =>
    framesOf(stack)
      .map(({ name }) => name)
      .join(';'),
  );

const MS = 1_000_000;

describe('threads', () => {
  test('have a track per event, with the busiest process and its main thread first', async () => {
    const { threads, timelineEvent } = await written(
      buildProfile([
        { timeNs: 0, pid: 7, comm: 'small', stack: ['main'] },
        { timeNs: 1, pid: 100, tid: 101, process: 'app', comm: 'worker', period: 5 * MS, stack: ['main'] },
        { timeNs: 2, pid: 100, stack: ['main'] },
        { timeNs: 3, pid: 100, event: 'page-faults', period: 3, stack: ['main'] },
      ]),
    );
    expect(timelineEvent).toBe('cpu-clock');
    expect(threads.map(({ thread: { name, processName, pid, tid, isMainThread } }) => [name, processName, pid, tid, isMainThread])).toEqual([
      ['app', 'app', '100', 100, true],
      ['worker', 'app', '100', 101, false],
      ['app page-faults', 'app', '100', '100.2', false],
      ['small', 'small', '7', 7, true],
    ]);
  });

  test('are selected if they are the busiest of the busiest process', async () => {
    const app = { pid: 100, process: 'app', stack: ['main'] };
    const samples = [
      { ...app, timeNs: 0, period: 2 * MS },
      { ...app, timeNs: 1, tid: 101, comm: 'worker', period: 5 * MS },
      { ...app, timeNs: 2, event: 'page-faults', period: 9 * MS },
      { timeNs: 3, pid: 7, comm: 'small', period: 6 * MS, stack: ['main'] },
    ];
    const opened = async (specs: readonly SampleSpec[]): Promise<string[]> => {
      const { document, threads } = await written(buildProfile(specs));
      return document.meta.initialSelectedThreads.map((index) => threads[index].thread.name);
    };
    expect(await opened(samples)).toEqual(['worker']);
    expect(await opened(samples.map((sample) => ({ ...sample, period: MS })))).toEqual(['app']);
  });

  test('belong to different processes if their pid was reused', async () => {
    const profile = buildProfile([{ timeNs: 0, stack: ['a'] }]);
    const again = { ...profile, processes: [...profile.processes, { pid: 100, name: 'next' }] };
    const threads = [...profile.threads, { process: 1, pid: 100, tid: 100, name: 'next' }];
    const tasks = [...profile.tasks, { thread: 1, comm: 'next' }];
    profile.samples?.add({ timeNs: 5, event: 0, task: 1, cpu: 0, stack: 0, period: 1, ipLo: 0, ipHi: 0, detail: -1 });
    const read = await written({ ...again, threads, tasks });
    expect(read.threads.map(({ thread: { name, pid, tid } }) => [name, pid, tid])).toEqual([
      ['app', '100', 100],
      ['next', '100.2', '100.2'],
    ]);
  });

  test('of the idle task have a last track per CPU, which uses no CPU time', async () => {
    const idle = { pid: 0, tid: 0, comm: 'swapper', stack: ['do_idle'] };
    const { threads } = await written(
      buildProfile([
        { timeNs: 0, cpu: 0, ...idle },
        { timeNs: 1, cpu: 1, ...idle },
        { timeNs: 2, stack: ['main'] },
      ]),
    );
    expect(threads.map(({ thread }) => thread.name)).toEqual(['app', 'swapper/0', 'swapper/1']);
    expect(threads.map(({ thread }) => thread.samples.threadCPUDelta?.reduce((sum, one) => sum + one, 0))).toEqual([1000, 0, 0]);
  });
});

describe('frames', () => {
  const profile = buildProfile([
    {
      timeNs: 0,
      stack: [
        { name: 'main', file: '/src/a.c', line: 10 },
        { name: 'work', file: '/src/a.c', line: 20, inlined: [{ name: 'inner', file: '/src/b.h', line: 3 }] },
        { name: 'sys_read', dso: '[kernel.kallsyms]' },
      ],
    },
    { timeNs: MS, stack: [{ name: 'x', unresolved: true, address: 0x1234 }] },
    { timeNs: 2 * MS, stack: [] },
  ]);

  test('have file, line, library, inline depth, category and native symbol', async () => {
    const read = await written(profile);
    const [first, second, third] = read.threads[0].samples.map(({ stack }) => read.framesOf(stack));
    expect(first.map(({ name, file, line, lib, inlineDepth, category, nativeSymbol }) => [name, file, line, lib, inlineDepth, category, nativeSymbol])).toEqual(
      [
        ['main', '/src/a.c', 10, '/bin/app', 0, 'User', 'main'],
        ['work', '/src/a.c', 20, '/bin/app', 0, 'User', 'work'],
        ['inner', '/src/b.h', 3, '/bin/app', 1, 'Inlined', 'work'],
        ['sys_read', '', null, '[kernel.kallsyms]', 0, 'Kernel', 'sys_read'],
      ],
    );
    expect(second.map(({ name, address, nativeSymbol }) => [name, address, nativeSymbol])).toEqual([['0x1234 (app)', 0x1234, undefined]]);
    expect(third.map(({ name, lib, category }) => [name, lib, category])).toEqual([['(no stack)', undefined, 'Other']]);
  });

  test('are of the JIT category if their code was made at run time, also if perf inject has put it into a file', async () => {
    const dsos = ['/tmp/jit-7.dump', '/home/u/jitted-7-12.so', '/usr/lib/libjit.so'];
    const read = await written(buildProfile([{ timeNs: 0, stack: dsos.map((dso) => ({ name: 'f', dso })) }]));
    expect(read.framesOf(read.threads[0].samples[0].stack).map(({ lib, category }) => [lib, category])).toEqual([
      ['/tmp/jit-7.dump', 'JIT'],
      ['/home/u/jitted-7-12.so', 'JIT'],
      ['/usr/lib/libjit.so', 'User'],
    ]);
  });

  test('have a native symbol only if their function has a name', async () => {
    const profile = buildProfile([
      {
        timeNs: 0,
        stack: [
          { name: 'main', address: 0x1000 },
          { name: 'one', address: 0x2000, unresolved: true },
          { name: 'other', address: 0x3000, unresolved: true },
          { name: '', address: 0x4000 },
        ],
      },
    ]);
    const symbolsOf = async (shown: Profile): Promise<unknown[]> => {
      const { document, framesOf, threads } = await written(shown);
      expect(document.shared.nativeSymbols.name).toEqual([document.shared.stringArray.indexOf('main')]);
      return framesOf(threads[0].samples[0].stack).map(({ name, nativeSymbol }) => [name, nativeSymbol]);
    };
    const [main, noName] = [
      ['main', 'main'],
      ['0x4000 (app)', undefined],
    ];
    expect(await symbolsOf(profile)).toEqual([main, ['0x2000 (app)', undefined], ['0x3000 (app)', undefined], noName]);
    profile.locations.setFunctionStart(1, 0x1f00);
    expect(await symbolsOf(showUnknownCode(profile, 'function'))).toEqual([main, ['app+0x1f00', undefined], ['[app]', undefined], noName]);
    expect(await symbolsOf(showUnknownCode(profile, 'binary'))).toEqual([main, ['[app]', undefined], ['[app]', undefined], noName]);
  });

  test('of callers have the address of the call', async () => {
    const { framesOf, threads } = await written(
      buildProfile([
        {
          timeNs: 0,
          stack: [
            { name: 'main', address: 0x2000 },
            { name: 'leaf', address: 0x3000 },
          ],
        },
      ]),
    );
    expect(framesOf(threads[0].samples[0].stack).map(({ address }) => address)).toEqual([0x1fff, 0x3000]);
  });

  test('that are in the most stacks come first', async () => {
    const leaves = Array.from({ length: 20 }, (_, i): SampleSpec => ({ timeNs: i, stack: [`once ${i}`] }));
    const read = await written(buildProfile([...leaves, ...['a', 'b', 'c'].map((leaf, i): SampleSpec => ({ timeNs: 100 + i, stack: [leaf, 'often'] }))]));
    const { frame } = read.document.shared.stackTable;
    expect(names(read).slice(-3)).toEqual(['a;often', 'b;often', 'c;often']);
    expect(frame.filter((row) => row === 0)).toHaveLength(3);
  });

  test('of the same line share an entry in a large file, and so do equal stacks', async () => {
    const samples = [0x1000, 0x1008].map((address, i): SampleSpec => ({ timeNs: i * MS, stack: [{ name: 'main', line: 5, address }] }));
    const profile = buildProfile(samples);
    // The second address is 12 bytes into the function.
    profile.locations.setLines(1, [{ function: 0, line: 5, column: 0, file: 0 }], 12);
    const small = await written(profile);
    const large = await written(profile, { maxExactSamples: 1 });
    expect([small, large].map(({ document: { shared } }) => [shared.frameTable.length, shared.stackTable.length])).toEqual([
      [2, 2],
      [1, 1],
    ]);
    expect(names(large)).toEqual(names(small));
  });

  test('have build ids in the form that Breakpad uses', () => {
    expect(breakpadId('0123456789abcdef0123456789abcdef01234567')).toBe('67452301AB89EFCD0123456789ABCDEF0');
    expect(breakpadId('0123456789abcdef')).toBe('67452301AB89EFCD00000000000000000');
    expect(breakpadId('')).toBe('');
  });
});

describe('samples', () => {
  test('of clocks are weighted in milliseconds, and others by what they count', async () => {
    const { threads } = await written(
      buildProfile([
        { timeNs: 0, period: 1_001_001, stack: ['main'] },
        { timeNs: 1, event: 'cycles', period: 123_456, stack: ['main'] },
        { timeNs: 2, event: 'page-faults', period: 1, stack: ['main'] },
      ]),
    );
    expect(threads.map(({ thread: { samples } }) => [samples.weightType, samples.weight])).toEqual([
      ['tracing-ms', [1.001001, 0, 0]],
      ['samples', [123_456, 0, 0]],
      ['samples', null],
    ]);
    expect(threads.map(({ samples }) => samples.map(({ period }) => period))).toEqual([[1_001_001n], [123_456n], [1n]]);
  });

  test('have a weight of 1 each with --weight samples', async () => {
    const { threads } = await written(buildProfile([{ timeNs: 0, stack: ['main'] }]), { weight: 'samples' });
    expect(threads[0].thread.samples.weightType).toBe('samples');
    expect(threads[0].samples.map(({ period }) => period)).toEqual([1n]);
  });

  test('are followed by an empty one if the thread then stops running for a while', async () => {
    const at = (timeNs: number): SampleSpec => ({ timeNs, stack: ['main'] });
    const { threads } = await written(buildProfile([at(0), at(MS), at(100 * MS)]));
    const { samples } = threads[0].thread;
    expect(samples.timeDeltas).toEqual([0, 1, 1, 0, 98, 1, 0]);
    expect(samples.stack.map((stack) => stack === null)).toEqual([false, false, false, true, false, false, true]);
    // The thread ran for a millisecond from each sample on.
    expect(samples.threadCPUDelta).toEqual([0, 1000, 1000, 0, 0, 1000, 0]);
    expect(threads[0].samples.map(({ timeMs }) => timeMs)).toEqual([0, 1, 100]);
  });

  test('of page faults, of switches, and of counters beside a clock show no CPU use; without a clock, the viewer decides', async () => {
    const cpuUse = async (...events: string[]): Promise<(readonly number[] | undefined)[]> => {
      const samples = events.map((event, i): SampleSpec => ({ timeNs: i, event, period: MS, stack: ['main'] }));
      const profile = buildProfile(samples);
      const atPeriods = profile.events.map((event) => (event.name === 'cache-misses' ? { ...event, sampleFreq: 0 } : event));
      return (await written({ ...profile, events: atPeriods })).threads.map(({ thread }) => thread.samples.threadCPUDelta);
    };
    expect(await cpuUse('cpu-clock', 'page-faults', 'cache-misses')).toEqual([[0, 1000, 0], [0], [0]]);
    expect(await cpuUse('page-faults')).toEqual([[0]]);
    expect(await cpuUse('sched:sched_switch')).toEqual([[0]]);
    expect(await cpuUse('cache-misses')).toEqual([undefined]);
    // At a frequency of 1000 samples per second, each is a millisecond.
    expect(await cpuUse('cpu-cycles')).toEqual([[0, 1000, 0]]);
    for (const event of ['cpu_core/cycles/', 'armv8_pmuv3/cpu_cycles/', 'instructions']) expect(await cpuUse(event)).toEqual([[0, 1000, 0]]);
    // A thread has these at very different rates while it runs.
    for (const event of ['stalled-cycles-frontend', 'branch-instructions']) expect(await cpuUse(event)).toEqual([undefined]);
  });

  test('without a time follow the sample before them', async () => {
    const sink = new BufferSink();
    const profile = buildProfile([Number.NaN, 2 * MS, Number.NaN].map((timeNs) => ({ timeNs, stack: ['main'] })));
    const { untimedSamples } = await writeFirefox({ ...profile, meta: { ...profile.meta, durationNs: 2 * MS } }, sink, { weight: 'period', exporter: 'x' });
    expect(untimedSamples).toBe(2);
    expect(readFirefox(sink.bytes()).threads[0].samples.map(({ timeMs }) => timeMs)).toEqual([0, 2, 3]);
  });

  test('of a large file are rounded, but the total of each stack is exact', async () => {
    const samples = Array.from(
      { length: 1000 },
      (_, i): SampleSpec => ({ timeNs: i * 1_001_001 + (i % 7), period: 1_001_001 + (i % 3), stack: [`f${i % 4}`] }),
    );
    const exact = await written(buildProfile(samples));
    const large = await written(buildProfile(samples), { maxExactSamples: 999 });
    const totals = (read: FirefoxRead): [string, bigint][] => {
      const sums = new Map<string, bigint>();
      const stacks = names(read);
      for (const [i, { period }] of read.threads[0].samples.entries()) sums.set(stacks[i], (sums.get(stacks[i]) ?? 0n) + period);
      return [...sums].sort();
    };
    expect(totals(large)).toEqual(totals(exact));
    const { timeDeltas, weight } = large.threads[0].thread.samples;
    expect(Math.max(...timeDeltas.map((one) => String(one).length))).toBe(1);
    expect(weight?.filter((one) => String(one).length > 4).length).toBeLessThanOrEqual(4);
    for (const [i, { timeMs }] of large.threads[0].samples.entries()) expect(Math.abs(timeMs - samples[i].timeNs / MS)).toBeLessThanOrEqual(0.500001);
    // It would only repeat what the samples tell: that the thread runs.
    expect([exact, large].map((one) => one.threads[0].thread.samples.threadCPUDelta !== undefined)).toEqual([true, false]);
  });

  test('keep all digits of periods beyond 2^53', async () => {
    const { threads } = await written(buildProfile([{ timeNs: 0, period: 2 ** 60, stack: ['main'] }]));
    expect(threads[0].samples[0].period).toBe(2n ** 60n);
  });
});

describe('meta', () => {
  test('tells the viewer not to look for symbols, and has the wall-clock time only if the recording has it', async () => {
    const one: SampleSpec[] = [{ timeNs: 0, stack: ['main'] }];
    const { meta } = (await written(buildProfile(one))).document;
    expect(meta).toMatchObject({ symbolicated: true, symbolicationNotSupported: true, sourceCodeIsNotOnSearchfox: true, keepProfileThreadOrder: true });
    expect(meta).toMatchObject({ interval: 1, startTime: 0, product: 'app', importedFrom: 'perf.data (perfconv@test)', arguments: 'perf record -g ./app' });
    const known = await written(buildProfile(one, { meta: { startTime: 1_000_000_000n, wallClockOffsetNs: 1_700_000_000_500_000_000n } }));
    expect(known.document.meta.startTime).toBe(1_700_000_001_500);
  });
});

test('a profile without samples is refused', async () => {
  await expect(written(buildProfile([]))).rejects.toMatchObject({ code: 'no-samples' });
  await expect(written({ ...buildProfile([]), samples: undefined })).rejects.toMatchObject({ code: 'usage' });
});

describe('markers', () => {
  test('show the texts of tracepoints, on the thread in which they happened', async () => {
    const profile = buildProfile([
      { timeNs: 0, stack: ['main'] },
      { timeNs: 2 * MS, event: 'sched:wake', period: 1, stack: ['main', 'wake'] },
    ]);
    const details = new SampleDetails();
    const samples = new SampleTable(details);
    const from = profile.samples as SampleTable;
    for (let row = 0; row < from.size; row++) {
      const detail = row === 1 ? details.begin(0) : -1;
      if (row === 1) details.addRaw(Uint8Array.of(7));
      samples.add({ ...new SampleRow(), timeNs: from.timeNs[row], event: row, stack: from.stack[row], task: 0, period: 1, detail });
    }
    profile.events[1].showPayload = (payload) => `woke "${payload[0]}"`;
    const { threads, framesOf } = await written({ ...profile, samples });
    const [marker] = threads[0].markers;
    expect(marker).toMatchObject({ name: 'sched:wake', startMs: 2, endMs: undefined, data: { type: 'Tracepoint', text: 'woke "7"' } });
    const { stack } = (marker.data as { cause: { stack: number } }).cause;
    expect(framesOf(stack).map(({ name }) => name)).toEqual(['main', 'wake']);
    expect(threads.map(({ markers }) => markers.length)).toEqual([1, 0]);
  });

  test('show switches off the CPU, exec and lost records; threads have times of start and end', async () => {
    const profile = buildProfile([0, 50, 99].map((ms): SampleSpec => ({ timeNs: ms * MS, stack: ['main'] })));
    const threadEvents = new ThreadEventTable();
    threadEvents.add(THREAD_BEGAN, 0, -5);
    threadEvents.add(SWITCHED_IN, 0, 0.5 * MS);
    threadEvents.add(THREAD_EXECED, 0, MS, profile.strings.intern('next'));
    threadEvents.add(PREEMPTED, 0, 2 * MS);
    threadEvents.add(SWITCHED_IN, 0, 40 * MS);
    threadEvents.add(RECORDS_LOST, -1, 45 * MS, 12);
    threadEvents.add(SWITCHED_OUT, 0, 60 * MS);
    threadEvents.add(THREAD_ENDED, 0, 70 * MS);
    threadEvents.add(SWITCHED_OUT, -1, 80 * MS);
    const [{ markers, thread }] = (await written({ ...profile, threadEvents })).threads;
    expect(markers.map(({ name, startMs, endMs, data }) => [name, startMs, endMs, data?.reason ?? data?.count])).toEqual([
      ['exec', 1, undefined, undefined],
      ['off CPU', 2, 40, 'preempted'],
      ['lost', 45, undefined, 12],
      ['off CPU', 60, 70, 'waiting'],
    ]);
    expect([thread.registerTime, thread.unregisterTime, thread.processStartupTime, thread.processShutdownTime]).toEqual([0, 70, 0, 70]);
  });

  test("are made from the kernel's records", async () => {
    const at = (time: bigint, tid = 100): { sampleId: { time: bigint; pid: number; tid: number } } => ({ sampleId: { time, pid: 100, tid } });
    const bytes = encodeFile({
      attrs: [{ name: 'cpu-clock', period: 5n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'], flags: ['sampleIdAll'] }],
      records: [
        record.sample({ ip: 1n, pid: 100, tid: 100, time: 1_000_000n, period: 5n }),
        record.fork({ pid: 100, ppid: 100, tid: 101, ptid: 100, time: 2_000_000n }, at(2_000_000n)),
        record.comm({ pid: 100, tid: 101, comm: 'worker' }, at(3_000_000n, 101)),
        record.switch({ out: true }, at(4_000_000n, 101)),
        record.lost({ id: 7n, lost: 3n }, at(4_500_000n)),
        record.switch({ out: false }, at(5_000_000n, 101)),
        record.sample({ ip: 2n, pid: 100, tid: 101, time: 6_000_000n, period: 5n }),
        record.exit({ pid: 100, ppid: 100, tid: 101, ptid: 101, time: 7_000_000n }, at(7_000_000n, 101)),
        record.sample({ ip: 1n, pid: 100, tid: 100, time: 9_000_000n, period: 5n }),
      ],
    });
    const sink = new BufferSink();
    await convert(new BufferSource(bytes), [{ format: 'firefox', sink }], {}, new Diagnostics());
    const { threads } = readFirefox(sink.bytes());
    const worker = threads.find(({ thread }) => thread.tid === 101);
    expect(worker?.thread).toMatchObject({ name: 'worker', registerTime: 1, unregisterTime: 6, processStartupTime: 0, processShutdownTime: null });
    expect(worker?.markers.map(({ name, startMs, endMs }) => [name, startMs, endMs])).toEqual([
      ['comm', 2, undefined],
      ['off CPU', 3, 4],
    ]);
    expect(threads.find(({ thread }) => thread.tid === 100)?.markers.map(({ name, data }) => [name, data?.count])).toEqual([['lost', 3]]);
  });
});
