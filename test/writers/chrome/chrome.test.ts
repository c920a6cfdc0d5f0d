import { describe, expect, it, vi } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { SampleDetails } from '../../../src/profile/sample-details.ts';
import { SampleRow, SampleTable } from '../../../src/profile/sample-table.ts';
import { type ChromeOptions, type ChromeResult, writeChrome } from '../../../src/writers/chrome/chrome.ts';
import { DEVTOOLS_RESERVED_NAMES } from '../../../src/writers/chrome/devtools-reserved-names.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { countingPaths } from '../../support/counting-paths.ts';

interface Node {
  id: number;
  parent?: number;
  callFrame: { functionName: string; scriptId: number; url: string; lineNumber: number | null };
}

interface TraceEvent {
  ph: string;
  name: string;
  cat: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  id?: string;
  args?: {
    name?: string;
    data?: {
      startTime?: number;
      endTime?: number;
      timeDeltas?: number[];
      cpuProfile?: { nodes: Node[]; samples: number[] };
      frames?: { url: string; processId: number; isOutermostMainFrame: boolean; isInPrimaryMainFrame: boolean }[];
    };
  };
}

interface Trace {
  readonly text: string;
  readonly result: ChromeResult;
  readonly events: TraceEvent[];
}

async function convert(profile: Profile, style: ChromeOptions['style'] = 'events', more: Partial<ChromeOptions> = {}): Promise<Trace> {
  const sink = new BufferSink();
  const result = await writeChrome(profile, sink, { style, name: 'perf.data', exporter: 'perfconv@test', ...more });
  const text = sink.text();
  return { text, result, events: JSON.parse(text).traceEvents };
}

const bars = (trace: Trace) => trace.events.filter(({ ph }) => ph === 'X');
const named = (trace: Trace, name: string) => trace.events.filter((event) => event.name === name);
const labels = (trace: Trace, kind: 'process_name' | 'thread_name') => named(trace, kind).map(({ pid, tid, args }) => [pid, tid, args?.name]);
const trackCount = (trace: Trace) => labels(trace, 'thread_name').length;

/**
 * Two processes, three threads, two events, gaps, kernel and inlined frames, and times that are not whole microseconds.
 */
function mixed(count = 200): SampleSpec[] {
  const kernel = { name: 'vfs_read', dso: '[kernel.kallsyms]' };
  const source = { name: 'scan', file: '/src/scan.c', line: 42, inlined: [{ name: 'next', file: '/src/next.h', line: 7 }] };
  return Array.from({ length: count }, (_, i): SampleSpec[] => {
    const timeNs = i * 1_000_333 + (i % 50 === 0 ? 0 : 777) + Math.floor(i / 40) * 30_000_000;
    return [
      { timeNs, pid: 100, comm: 'postgres', stack: ['main', i % 7 < 4 ? 'execute' : 'sort', source] },
      { timeNs: timeNs + 111, pid: 100, tid: 101, process: 'postgres', comm: 'walwriter', stack: ['start', kernel] },
      { timeNs: timeNs + 222, pid: 200, comm: 'nginx', stack: ['main', 'loop'] },
      { timeNs: timeNs + 333, pid: 100, comm: 'postgres', event: 'page-faults', period: 1, stack: ['main', 'fault'] },
    ];
  }).flat();
}

const BOTH = ['events', 'profile'] as const;

describe('chrome', () => {
  describe.each(BOTH)('in style %s', (style) => {
    it('times and durations are whole microseconds from 1 on', async () => {
      const { events } = await convert(buildProfile(mixed().map((sample) => ({ ...sample, timeNs: sample.timeNs + 77_123_456_789 }))), style);
      for (const event of events) {
        expect(Number.isInteger(event.ts) && event.ts >= 1).toBe(true);
        if (event.dur !== undefined) expect(Number.isInteger(event.dur) && event.dur >= 1).toBe(true);
        for (const delta of event.args?.data?.timeDeltas ?? []) expect(Number.isInteger(delta) && delta >= 0).toBe(true);
      }
      const first = events.filter(({ ph }) => ph === 'X' || ph === 'P').map(({ ts }) => ts);
      expect(Math.min(...first)).toBe(1);
    });

    it('there are only events of kinds M, X, I and P', async () => {
      const { events } = await convert(buildProfile(mixed()), style);
      expect([...new Set(events.map(({ ph }) => ph))].sort()).toEqual(style === 'events' ? ['M', 'P', 'X'] : ['I', 'M', 'P']);
    });

    it('all events have a name and a category, and X events have no args', async () => {
      const { events } = await convert(buildProfile([{ timeNs: 0, stack: ['', 'main'] }]), style);
      for (const event of events) {
        expect(event.name).not.toBe('');
        expect(event.cat).not.toBe('');
        if (event.ph === 'X') expect(event.args).toBeUndefined();
      }
    });

    it('the word that DevTools looks for never appears in the raw text, but is read back unchanged', async () => {
      const word = 'enhancedTraceVersion';
      const { text, events } = await convert(
        buildProfile([{ timeNs: 0, comm: word, stack: [{ name: word, file: `/src/${word}.c`, dso: `/${word}` }] }], { meta: { commandLine: [word] } }),
        style,
        { name: word },
      );
      expect(text).not.toContain(word);
      expect(JSON.stringify(events)).toContain(`"${word}"`);
    });

    it('tracks have unique numbers and names', async () => {
      const samples: SampleSpec[] = [
        ...mixed(4),
        { timeNs: 5, pid: -1, tid: -1, comm: ':-1', process: '', stack: ['lost'] },
        { timeNs: 6, pid: 0, comm: 'swapper', cpu: 0, stack: ['idle'] },
        { timeNs: 7, pid: 0, comm: 'swapper', cpu: 1, stack: ['idle'] },
      ];
      const trace = await convert(buildProfile(samples), style);
      for (const { pid, tid } of trace.events) expect(pid > 0 && tid > 0).toBe(true);
      const threads = labels(trace, 'thread_name');
      expect(new Set(threads.map(([, tid]) => tid)).size).toBe(threads.length);
      expect(new Set(threads.map(([pid, , label]) => `${pid} ${label}`)).size).toBe(threads.length);
      const processes = labels(trace, 'process_name').map(([, , label]) => label);
      expect(processes.sort()).toEqual([':-1 [pid -1]', 'nginx', 'postgres', 'swapper [pid 0]']);
      for (const label of processes) expect(threads.map((thread) => thread[2])).not.toContain(label);
    });

    it('a thread without samples for a while shows a gap', async () => {
      const trace = await convert(
        buildProfile([
          { timeNs: 0, stack: ['main'] },
          { timeNs: 500e6, stack: ['main'] },
        ]),
        style,
      );
      const spans = style === 'events' ? bars(trace).map(({ ts, dur }) => [ts, ts + dur!]) : busyIntervals(trace);
      expect(spans).toEqual([
        [1, 1001],
        [500_001, 501_001],
      ]);
    });

    it('sampled profiles have chunks of at most 20,000 samples, callers before callees, and unique ids', async () => {
      const many = Array.from({ length: 50_000 }, (_, i) => ({ timeNs: i * 3_000_000, stack: ['main', `f${i % 11}`] }));
      const trace = await convert(buildProfile([...mixed(3), ...many.map((sample) => ({ ...sample, pid: 300 }))]), style);
      const openers = trace.events.filter(({ ph, args }) => ph === 'P' && args?.data?.startTime !== undefined);
      expect(new Set(openers.map(({ id }) => id)).size).toBe(openers.length);
      expect(openers.length).toBe(5);
      for (const opener of openers) {
        expect(opener.args?.data?.startTime).toBe(opener.ts);
        const chunks = trace.events.filter(({ ph, id, args }) => ph === 'P' && id === opener.id && args?.data?.cpuProfile);
        const known = new Set<number>();
        for (const { pid, tid, args } of chunks) {
          expect([pid, tid]).toEqual([opener.pid, opener.tid]);
          const { nodes, samples } = args!.data!.cpuProfile!;
          expect(samples.length).toBeLessThanOrEqual(20_000);
          expect(args!.data!.timeDeltas!.length).toBe(samples.length);
          for (const node of nodes) {
            expect(node.parent === undefined || known.has(node.parent)).toBe(true);
            expect(known.has(node.id)).toBe(false);
            known.add(node.id);
          }
          expect(samples.every((sample) => known.has(sample))).toBe(true);
        }
      }
    });

    it('stacks are cut to 2,000 frames but keep their leaf', async () => {
      const deep = Array.from({ length: 3000 }, (_, i) => `f${i}`);
      const trace = await convert(buildProfile([{ timeNs: 0, stack: deep }]), style);
      expect(trace.result.cutSamples).toBe(1);
      const names = style === 'events' ? bars(trace).map(({ name }) => name) : nodesOf(trace).map(({ callFrame }) => callFrame.functionName);
      const frames = names.filter((name) => /^f\d+$/.test(name));
      expect(frames.length).toBe(2000);
      expect(frames.slice(0, 2)).toEqual(['f0', 'f1']);
      expect(frames.at(-1)).toBe('f2999');
      expect((await convert(buildProfile(mixed(2)), style)).result.cutSamples).toBe(0);
    });

    it('the time shown for a thread is the sum of its periods', async () => {
      const profile = buildProfile(mixed());
      const trace = await convert(profile, style);
      const spans =
        style === 'events'
          ? bars(trace)
              .filter(({ name, tid }) => name === 'start' && tid === 101)
              .map(({ ts, dur }) => [ts, ts + dur!])
          : busyIntervals(trace, 101);
      const drawnUs = spans.reduce((sum, [start, end]) => sum + end - start, 0);
      // Rounding to microseconds may move both ends of a run of samples.
      expect(Math.abs(drawnUs - 200 * 1000)).toBeLessThanOrEqual(10);
      expect(trace.result.clippedNs).toBe(0);
    });

    it('samples without a time follow one another and are counted', async () => {
      const trace = await convert(
        buildProfile(
          ['a', 'b', 'b'].map((leaf) => ({ timeNs: Number.NaN, stack: ['main', leaf] })),
          { meta: { durationNs: 0 } },
        ),
        style,
      );
      expect(trace.result.untimedSamples).toBe(3);
      if (style === 'events')
        expect(bars(trace).map(({ name, ts, dur }) => [name, ts, dur])).toEqual([
          ['main', 1, 3000],
          ['a', 1, 1000],
          ['b', 1001, 2000],
        ]);
      else expect(busyIntervals(trace)).toEqual([[1, 3001]]);
    });

    it('special characters are escaped', async () => {
      const text = 'a"b\\c\nd\0 日本🦀 \ud800';
      const trace = await convert(buildProfile([{ timeNs: 0, comm: text, stack: [text] }]), style);
      const names = style === 'events' ? bars(trace).map(({ name }) => name) : nodesOf(trace).map(({ callFrame }) => callFrame.functionName);
      expect(names).toContain(text);
    });

    it('a renamed thread stays on one track, under its last name', async () => {
      const profile = buildProfile([
        { timeNs: 0, comm: 'sh', stack: ['main'] },
        { timeNs: 1e6, comm: 'ls', stack: ['main'] },
      ]);
      (profile.threads[0] as { name: string }).name = 'ls';
      (profile.processes[0] as { name: string }).name = 'ls';
      const trace = await convert(profile, style);
      expect(trackCount(trace)).toBe(1);
      if (style === 'events') expect(labels(trace, 'thread_name')).toEqual([[100, 100, 'ls [main]']]);
    });
  });

  it('the bars of a thread are nested or disjoint, and callers come before callees', async () => {
    const trace = await convert(buildProfile(mixed()));
    const open = new Map<number, number[][]>();
    for (const { tid, ts, dur } of bars(trace)) {
      const stack = open.get(tid) ?? [];
      open.set(tid, stack);
      while (stack.length > 0 && stack.at(-1)![1] <= ts) stack.pop();
      const [start, end] = stack.at(-1) ?? [0, Number.POSITIVE_INFINITY];
      expect(ts >= start && ts + dur! <= end).toBe(true);
      stack.push([ts, ts + dur!]);
    }
    expect(open.size).toBe(4);
  });

  it("a function named like one of DevTools' events gets parentheses", async () => {
    expect([...DEVTOOLS_RESERVED_NAMES]).toEqual(expect.arrayContaining(['Paint', 'TimerFire', 'ParseHTML', 'Profile', 'ProfileChunk', 'thread_name']));
    const names = [...DEVTOOLS_RESERVED_NAMES].slice(0, 30);
    const trace = await convert(buildProfile([{ timeNs: 0, stack: [...names, 'Paint', 'Painter'] }]));
    const seen = bars(trace).map(({ name }) => name);
    expect(seen.filter((name) => DEVTOOLS_RESERVED_NAMES.has(name))).toEqual([]);
    expect(seen.slice(-2)).toEqual(['Paint()', 'Painter']);
  });

  it('a single sample of period 0 makes a trace with a duration', async () => {
    const single = buildProfile([{ timeNs: 5e9, period: 0, event: 'page-faults', stack: ['main'] }]);
    expect(bars(await convert(single)).map(({ ts, dur }) => [ts, dur])).toEqual([[1, 1]]);
    const instants = (await convert(single, 'profile')).events.filter(({ ph }) => ph === 'I').map(({ ts }) => ts);
    expect(Math.max(...instants) - Math.min(...instants)).toBeGreaterThanOrEqual(1);
  });

  it('threads of the same name, even that of their process, have different labels', async () => {
    const threads = [100, 101, 102, 103].map((tid): SampleSpec => ({ timeNs: tid, pid: 100, tid, process: 'th', comm: 'th', stack: ['run'] }));
    const others: SampleSpec[] = [
      { timeNs: 200, pid: 100, tid: 104, process: 'th', comm: 'io', stack: ['run'] },
      { timeNs: 201, pid: 200, tid: 201, process: 'th', comm: 'th', stack: ['run'] },
      { timeNs: 202, pid: 300, tid: 301, process: 'app', comm: 'th', stack: ['run'] },
    ];
    const trace = await convert(buildProfile([...threads, ...others]));
    // Viewers of X events add the tid.
    expect(labels(trace, 'thread_name')).toEqual([
      [100, 100, 'th [main]'],
      [100, 101, 'th'],
      [100, 102, 'th'],
      [100, 103, 'th'],
      [100, 104, 'io'],
      [200, 201, 'th'],
      [300, 301, 'th'],
    ]);
    const compact = await convert(buildProfile([...threads, ...others]), 'profile');
    expect(labels(compact, 'thread_name').map(([, , label]) => label)).toEqual([
      'CrRendererMain',
      'th (100) / th (101)',
      'th (100) / th (102)',
      'th (100) / th (103)',
      'th (100) / io (104)',
      'th (200) / th (201)',
      'app (300) / th (301)',
    ]);
  });

  it('style profile names the idle task by CPU, calls a thread without a tid unknown, and marks the second use of a pid', async () => {
    const profile = buildProfile([
      { timeNs: 0, pid: 7, comm: 'ls', stack: ['main'] },
      { timeNs: 1e6, pid: 8, comm: 'ls', stack: ['main'] },
      { timeNs: 2e6, pid: 0, comm: 'swapper', cpu: 3, stack: ['idle'] },
      { timeNs: 3e6, pid: -1, tid: -1, comm: ':-1', process: '', cpu: 1, stack: ['lost'] },
      { timeNs: 4e6, pid: 7, comm: 'ls', event: 'page-faults', stack: ['main'] },
    ]);
    Object.assign(profile.processes[1], { pid: 7 });
    Object.assign(profile.threads[1], { pid: 7, tid: 7 });
    const trace = await convert(profile, 'profile');
    const names = ['CrRendererMain', 'ls (7) #2', 'swapper/3', 'unknown thread, CPU 1', 'ls (7) page-faults'];
    expect(labels(trace, 'thread_name').map(([, , label]) => label)).toEqual(names);
  });

  it('other events have their own tracks in the same process', async () => {
    const trace = await convert(buildProfile(mixed(10)));
    expect(labels(trace, 'thread_name')).toEqual([
      [100, 100, 'postgres [main]'],
      [100, 101, 'walwriter'],
      [200, 200, 'nginx [main]'],
      [100, 201, 'postgres [main] page-faults [tid 100]'],
    ]);
    const faults = bars(trace).filter(({ tid, name }) => tid === 201 && name === 'fault');
    expect(faults.length).toBe(10);
    expect(faults.every(({ dur }) => dur === 1)).toBe(true);
  });

  it('a reused pid is replaced by an unused number', async () => {
    const profile = buildProfile([
      { timeNs: 0, pid: 7, comm: 'first', stack: ['main'] },
      { timeNs: 1e6, pid: 8, comm: 'second', stack: ['main'] },
    ]);
    Object.assign(profile.processes[1], { pid: 7 });
    Object.assign(profile.threads[1], { pid: 7, tid: 7 });
    const trace = await convert(profile);
    expect(labels(trace, 'process_name')).toEqual([
      [7, 7, 'first'],
      [8, 8, 'second [pid 7]'],
    ]);
    expect(labels(trace, 'thread_name')[1]).toEqual([8, 9, 'second [main] [tid 7]']);
  });

  it('kernel frames have the category kernel', async () => {
    const trace = await convert(buildProfile([{ timeNs: 0, stack: ['main', { name: 'vfs_read', dso: '[kernel.kallsyms]' }] }]));
    expect(bars(trace).map(({ name, cat }) => [name, cat])).toEqual([
      ['main', 'user'],
      ['vfs_read', 'kernel'],
    ]);
  });

  it('the samples for Perfetto are in events whose names DevTools ignores', async () => {
    const trace = await convert(buildProfile(mixed(5)));
    expect(named(trace, 'Profile')).toEqual([]);
    const samples = named(trace, 'PerfSamplesChunk').reduce((sum, { args }) => sum + args!.data!.cpuProfile!.samples.length, 0);
    expect(samples).toBe(20);
    expect(named(trace, 'PerfSamples').length).toBe(4);
  });

  it('style profile has a page per process and one main thread, which is never the idle one', async () => {
    const idle = Array.from({ length: 500 }, (_, i): SampleSpec => ({ timeNs: i * 1e6, pid: 0, comm: 'swapper', stack: ['idle'] }));
    const trace = await convert(buildProfile([...idle, ...mixed(5)]), 'profile');
    const frames = named(trace, 'TracingStartedInBrowser')[0].args!.data!.frames!;
    expect(frames.map(({ processId }) => processId).sort()).toEqual(
      labels(trace, 'process_name')
        .map(([pid]) => pid)
        .sort(),
    );
    for (const { url } of frames) expect(() => new URL(url)).not.toThrow();
    expect(frames.filter(({ isInPrimaryMainFrame }) => isInPrimaryMainFrame).map(({ url }) => url)).toEqual(['perf:postgres (100)']);
    expect(labels(trace, 'thread_name').filter(([, , label]) => label === 'CrRendererMain')).toEqual([[100, 100, 'CrRendererMain']]);
  });

  it('style profile has files, 0-based lines, and a script per file', async () => {
    const nodes = nodesOf(await convert(buildProfile(mixed(1)), 'profile'));
    const scan = nodes.find(({ callFrame }) => callFrame.functionName === 'scan')!.callFrame;
    expect([scan.url, scan.lineNumber]).toEqual(['/src/scan.c', 41]);
    const main = nodes.find(({ callFrame }) => callFrame.functionName === 'main')!.callFrame;
    expect([main.url, main.lineNumber]).toEqual(['/bin/app', null]);
    expect(main.scriptId).not.toBe(scan.scriptId);
    expect(Math.min(main.scriptId, scan.scriptId)).toBeGreaterThan(0);
  });

  it('style profile numbers the nodes of the whole file without gaps or repetitions, as Firefox Profiler needs', async () => {
    const ids = nodesOf(await convert(buildProfile(mixed()), 'profile')).map(({ id }) => id);
    expect(ids).toEqual(ids.map((_, i) => i + 1));
  });

  it("a function named like one of V8's meta frames gets parentheses", async () => {
    const nodes = nodesOf(await convert(buildProfile([{ timeNs: 0, stack: ['(idle)', '(program)'] }]), 'profile'));
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).toEqual(['(root)', '(idle)', '(idle)()', '(program)()']);
  });

  describe('with more than 30 threads', () => {
    const threads = (count: number, cpu: (thread: number) => number): SampleSpec[] =>
      Array.from({ length: 10 * count }, (_, i) => {
        const thread = i % count;
        return { timeNs: i * 1e6, pid: 100 + thread, comm: `t${thread % 3}`, cpu: cpu(thread), stack: ['main', `f${thread}`] };
      });

    it('each CPU has a track, with the names of threads as outermost frames', async () => {
      const trace = await convert(buildProfile(threads(31, (thread) => thread % 2)), 'profile');
      expect(trace.result.group).toBe('cpu');
      expect(labels(trace, 'thread_name').map(([, , label]) => label)).toEqual(['CrRendererMain', 'CPU 1']);
      expect(named(trace, 'TracingStartedInBrowser')[0].args!.data!.frames!.map(({ url }) => url)).toEqual(['perf:CPU 0']);
      const nodes = nodesOf(trace);
      const outermost = nodes.filter(({ parent }) => nodes.find(({ id }) => id === parent)?.callFrame.functionName === '(root)');
      expect(new Set(outermost.map(({ callFrame }) => callFrame.functionName))).toEqual(new Set(['(idle)', 't0', 't1', 't2']));
      expect((await convert(buildProfile(threads(30, () => 0)), 'profile')).result.group).toBe('thread');
    });

    it('all threads share as many rows as ran at once if samples have no CPU', async () => {
      const both = [...threads(31, () => -1), ...threads(31, () => -1).map((sample) => ({ ...sample, pid: 500 + sample.pid! }))];
      const trace = await convert(buildProfile(both.sort((a, b) => a.timeNs - b.timeNs)), 'profile');
      expect([trace.result.group, trackCount(trace), trace.result.clippedNs]).toEqual(['all', 2, 0]);
      const busyUs = ['CrRendererMain', 'all threads row 2'].map((name) => {
        const { tid } = named(trace, 'thread_name').find(({ args }) => args?.name === name)!;
        return busyIntervals(trace, tid).reduce((sum, [start, end]) => sum + end - start, 0);
      });
      expect(busyUs).toEqual([310_000, 310_000]);
    });

    it('each process has a track on request', async () => {
      const trace = await convert(buildProfile(mixed(3)), 'profile', { group: 'process' });
      const names = labels(trace, 'thread_name').map(([pid, , label]) => [pid, label]);
      expect(names).toEqual([
        [100, 'CrRendererMain'],
        [100, 'postgres (100) row 2'],
        [200, 'nginx (200)'],
        [100, 'postgres (100) page-faults'],
      ]);
    });
  });

  describe('with more bars than DevTools can draw', () => {
    const busy = (): Profile =>
      buildProfile(Array.from({ length: 400 }, (_, i) => ({ timeNs: i * 1e6, pid: 1 + (i % 2), comm: 'app', stack: ['main', `f${i % 5}`] })));
    const selfUs = (trace: Trace): Map<string, number> => {
      const total = new Map<string, number>();
      const nameOf = new Map(nodesOf(trace).map(({ id, callFrame }) => [id, callFrame.functionName]));
      let name = '';
      for (const { args } of trace.events) {
        const { cpuProfile, timeDeltas = [] } = args?.data ?? {};
        for (const [i, node] of (cpuProfile?.samples ?? []).entries()) {
          if (i > 0) total.set(name, (total.get(name) ?? 0) + timeDeltas[i]);
          name = nameOf.get(node) ?? '';
        }
      }
      total.delete('(idle)');
      return total;
    };
    const stackChanges = (trace: Trace): number =>
      named(trace, 'ProfileChunk').reduce((sum, { args }) => sum + args!.data!.cpuProfile!.samples.filter((node, i, all) => node !== all[i - 1]).length, 0);

    it.each(['thread', 'cpu', 'all'] as const)('samples are sorted within slices of time, without changing the time of any function (%s)', async (group) => {
      const inOrder = await convert(busy(), 'profile', { group });
      const sorted = await convert(busy(), 'profile', { group, maxBars: 100 });
      expect(inOrder.result.sliceUs).toBeUndefined();
      expect(sorted.result.sliceUs).toBeGreaterThan(0);
      expect(selfUs(sorted)).toEqual(selfUs(inOrder));
      expect(stackChanges(sorted)).toBeLessThan(stackChanges(inOrder) / 4);
      expect(stackChanges(sorted)).toBeGreaterThan(10);
    });

    it('the tracks of CPUs are merged on an axis of CPU time, unless they were asked for', async () => {
      const many = Array.from({ length: 2000 }, (_, i) => ({
        timeNs: Math.floor(i / 4) * 1e6,
        pid: 1 + (i % 40),
        cpu: i % 4,
        comm: 'app',
        stack: ['main', `f${i % 7}`],
      }));
      const trace = await convert(buildProfile(many), 'profile', { maxBars: 200 });
      expect([trace.result.group, trackCount(trace)]).toEqual(['all', 1]);
      expect(named(trace, 'TracingStartedInBrowser')[0].args!.data!.frames!.map(({ url }) => url)).toEqual(['perf:all threads, CPU time']);
      // Four CPUs that were busy for half a second.
      expect(busyIntervals(trace)).toEqual([[1, 2_000_001]]);
      expect([...selfUs(trace).values()].reduce((a, b) => a + b)).toBe(2_000_000);
    });
  });

  it('the text of a tracepoint is shown on click', async () => {
    const profile = withPayloads(buildProfile([{ timeNs: 5e6, event: 'sched:sched_switch', comm: 'app', cpu: 2, stack: ['schedule'] }]), ['prev_comm=app "x"']);
    const trace = await convert(profile, 'profile');
    const [{ ts, pid, args }] = named(trace, 'TimeStamp');
    // A process without a page and samples: otherwise, DevTools would show a stack beside the text.
    expect(named(trace, 'TracingStartedInBrowser')[0].args!.data!.frames!.map(({ processId }) => processId)).not.toContain(pid);
    expect([ts, args!.data]).toEqual([
      1,
      {
        ...{ name: 'app (100)', start: 1, end: 2, track: 'sched:sched_switch', trackGroup: 'Tracepoints', color: 'secondary' },
        devtools: JSON.stringify({ text: 'prev_comm=app "x"', cpu: 2 }),
      },
    ]);
    expect(trace.result.textlessSamples).toBe(0);
  });

  it('only the first 20,000 texts of tracepoints are written; the others are counted', async () => {
    const count = 20_003;
    const samples = Array.from({ length: count }, (_, i): SampleSpec => ({ timeNs: i * 1000, event: 'sched:sched_switch', stack: ['schedule'] }));
    const trace = await convert(withPayloads(buildProfile(samples), Array<string>(count).fill('text')), 'profile');
    expect([named(trace, 'TimeStamp').length, trace.result.textlessSamples]).toEqual([20_000, 3]);
  });

  it.each(BOTH)('a path is quoted once, not for each address in it (%s)', async (style) => {
    const path = `/srv/"${'ä'.repeat(2000)}/enhancedTraceVersion`;
    const { profile, pathReads } = countingPaths(500, path);
    const trace = await convert(profile, style);
    expect(pathReads()).toBeLessThan(20);
    expect(trace.text).not.toContain('enhancedTraceVersion');
    const nodes = nodesOf(trace).filter(({ callFrame }) => callFrame.url !== '');
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).toEqual(
      Array.from({ length: 500 }, (_, i) => `0x${(0x1000 + i).toString(16)} (enhancedTraceVersion)`),
    );
    expect(new Set(nodes.map(({ callFrame }) => callFrame.url))).toEqual(new Set([path]));
    expect(new Set(nodes.map(({ callFrame }) => callFrame.scriptId)).size).toBe(1);
    if (style === 'events') expect(bars(trace).map(({ name }) => name)).toEqual(nodes.map(({ callFrame }) => callFrame.functionName));
  });

  it.each(BOTH)('each track is looked at only a few times, however many processes there are (%s)', async (style) => {
    const count = 300;
    const profile = buildProfile(Array.from({ length: count }, (_, i) => ({ timeNs: i * 1000, pid: i + 1, stack: ['main'] })));
    const { find } = Array.prototype;
    let steps = 0;
    const counting = vi.spyOn(Array.prototype, 'find').mockImplementation(function (this: unknown[], matches, self) {
      return find.call(this, (...args: Parameters<typeof matches>) => {
        steps++;
        return matches.apply(self, args);
      });
    });
    const trace = await convert(profile, style, { group: 'thread' }).finally(() => counting.mockRestore());
    expect(steps).toBeLessThan(10 * count);
    if (style === 'profile')
      expect(named(trace, 'end of samples').map(({ pid, tid }) => [pid, tid])).toEqual(labels(trace, 'thread_name').map(([pid, tid]) => [pid, tid]));
  });

  it('a profile without samples is refused', async () => {
    await expect(convert(buildProfile([]))).rejects.toThrow(PerfconvError);
    await expect(convert({ ...buildProfile(mixed(1)), samples: undefined })).rejects.toThrow('needs every sample');
  });
});

/** The same profile with a payload for each sample; all samples are of one event. */
function withPayloads(profile: Profile, texts: readonly string[]): Profile {
  const details = new SampleDetails();
  const samples = new SampleTable(details);
  const old = profile.samples!;
  for (const [row, text] of texts.entries()) {
    const detail = details.begin(0);
    details.addRaw(new TextEncoder().encode(text));
    samples.add({
      ...new SampleRow(),
      timeNs: old.timeNs[row],
      event: 0,
      task: old.task[row],
      cpu: old.cpu[row],
      stack: old.stack[row],
      period: old.period[row],
      detail,
    });
  }
  profile.events[0].showPayload = (payload) => new TextDecoder().decode(payload);
  return { ...profile, samples };
}

function nodesOf(trace: Trace): Node[] {
  return trace.events.flatMap(({ args }) => args?.data?.cpuProfile?.nodes ?? []);
}

/** When a sampled track was not `(idle)`, as DevTools understands it: a sample lasts until the next one. */
function busyIntervals(trace: Trace, tid = trace.events.find(({ name }) => name === 'Profile')!.tid): number[][] {
  const opener = trace.events.find((event) => event.name === 'Profile' && event.tid === tid)!;
  const chunks = trace.events.filter(({ name, id }) => name === 'ProfileChunk' && id === opener.id).map(({ args }) => args!.data!);
  const idle = chunks[0].cpuProfile!.nodes.find(({ callFrame }) => callFrame.functionName === '(idle)')!.id;
  let us = opener.ts;
  let since = -1;
  const intervals: number[][] = [];
  for (const { cpuProfile, timeDeltas } of chunks) {
    for (const [index, node] of cpuProfile!.samples.entries()) {
      us += timeDeltas![index];
      if (node === idle && since >= 0) {
        intervals.push([since, us]);
        since = -1;
      } else if (node !== idle && since < 0) since = us;
    }
  }
  return intervals;
}
