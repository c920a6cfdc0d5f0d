import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { type CpuProfileOptions, type CpuProfileResult, writeCpuProfile } from '../../../src/writers/cpuprofile/cpuprofile.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';

interface Node {
  id: number;
  callFrame: { functionName: string; scriptId: string; url: string; lineNumber: number | null; columnNumber: number | null };
  children: number[];
}

interface Document {
  nodes: Node[];
  startTime: number;
  endTime: number;
  samples: number[];
  timeDeltas: number[];
}

async function convert(profile: Profile, options: CpuProfileOptions = {}): Promise<{ document: Document; result: CpuProfileResult }> {
  const sink = new BufferSink();
  const result = await writeCpuProfile(profile, sink, options);
  return { document: JSON.parse(sink.text()), result };
}

/** What ran when, as V8 defines it: a sample lasts until the next one. In whole microseconds, from 1 on. */
function timeline({ nodes, samples, timeDeltas, startTime, endTime }: Document): [stack: string, startUs: number, endUs: number][] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children }) => children.map((child) => [child, id] as const)));
  const stackOf = (id: number): string => {
    const parent = parents.get(id);
    const above = parent === undefined ? [] : [stackOf(parent)];
    return [...above, byId.get(id)!.callFrame.functionName].filter((name) => name !== '(root)' && name !== '').join(';');
  };
  let us = startTime;
  const starts = timeDeltas.map((delta) => (us += delta));
  const whole = (time: number): number => Math.round(time - startTime) + 1;
  return samples.map((id, i) => [stackOf(id), whole(starts[i]), whole(starts[i + 1] ?? endTime)]);
}

const THREADS: SampleSpec[] = [
  { timeNs: 0, pid: 7, comm: 'web', stack: ['main', 'wait'] },
  { timeNs: 500_000, pid: 7, tid: 8, process: 'web', comm: 'worker', stack: ['start', 'work'] },
  { timeNs: 1_000_000, pid: 7, comm: 'web', stack: ['main', 'read'] },
  { timeNs: 1_500_000, pid: 7, tid: 8, process: 'web', comm: 'worker', stack: ['start', 'work'] },
  { timeNs: 9_500_000, pid: 7, tid: 8, process: 'web', comm: 'worker', stack: ['start', 'rest'] },
];

describe('cpuprofile', () => {
  it('one thread is shown without its gaps, which would be at the top of lists in viewers', async () => {
    const { document, result } = await convert(buildProfile(THREADS.filter(({ comm }) => comm === 'worker')));
    expect(result).toEqual({ event: 0, threads: 1, untimedSamples: 0, cutSamples: 0, clippedNs: 0 });
    expect(timeline(document)).toEqual([
      ['start;work', 1, 1001],
      ['start;work', 1001, 2001],
      ['start;rest', 2001, 3001],
      ['', 3001, 3001],
    ]);
  });

  it('several threads come one after the other, the busiest first, each below its name and without gaps', async () => {
    const { document, result } = await convert(buildProfile(THREADS));
    expect(result.threads).toBe(2);
    expect(timeline(document)).toEqual([
      ['web (7) / worker (8);start;work', 1, 1001],
      ['web (7) / worker (8);start;work', 1001, 2001],
      ['web (7) / worker (8);start;rest', 2001, 3001],
      ['web (7);main;wait', 3001, 4001],
      ['web (7);main;read', 4001, 5001],
      ['', 5001, 5001],
    ]);
  });

  it('the idle task comes last, with all CPUs below one name', async () => {
    const idle = [0, 1, 0, 1].map((cpu, i): SampleSpec => ({ timeNs: i * 1e6, pid: 0, comm: 'swapper', cpu, stack: ['idle'] }));
    const { document, result } = await convert(buildProfile([...idle, ...THREADS]));
    expect(result.threads).toBe(3);
    expect([...new Set(timeline(document).map(([stack]) => stack.split(';')[0]))]).toEqual(['web (7) / worker (8)', 'web (7)', 'swapper (0)', '']);
  });

  it('one event is written: the one that best shows how time was spent, or the requested one', async () => {
    const faults = [1, 2, 3, 4, 5, 6].map((ms): SampleSpec => ({ timeNs: ms * 1e6, pid: 7, comm: 'web', event: 'page-faults', period: 1, stack: ['fault'] }));
    const profile = buildProfile([...faults, ...THREADS.filter(({ comm }) => comm === 'web')]);
    expect(new Set(timeline((await convert(profile)).document).map(([stack]) => stack))).toEqual(new Set(['main;wait', 'main;read', '']));
    const { document } = await convert(profile, { event: 0 });
    // Occurrences take no time: each lasts a microsecond.
    const shown = timeline(document).filter(([stack]) => stack === 'fault');
    expect(shown.map(([, start, end]) => end - start)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(document.nodes.map(({ callFrame }) => callFrame.functionName)).toEqual(['(root)', 'fault']);
  });

  it('deep stacks of events that are left out are not counted as cut', async () => {
    const stack = Array.from({ length: 3000 }, (_, i) => `f${i}`);
    const profile = buildProfile([{ timeNs: 1e6, event: 'page-faults', period: 1, stack }, ...THREADS]);
    expect((await convert(profile)).result.cutSamples).toBe(0);
    expect((await convert(profile, { event: 0 })).result.cutSamples).toBe(1);
  });

  it('times have few binary digits in milliseconds, so that DevTools can add and subtract them without rounding', async () => {
    const { document } = await convert(
      buildProfile(Array.from({ length: 50 }, (_, i) => ({ timeNs: i * 1_001_337, period: 333_333, stack: ['main', `f${i % 3}`] }))),
    );
    const { startTime, endTime, timeDeltas } = document;
    for (const us of [startTime, endTime, ...timeDeltas]) expect(Number.isInteger((us / 1000) * 1024)).toBe(true);
    expect(startTime).toBeGreaterThan(0);
  });

  it('nodes have ids without gaps, callers before callees, and files with 0-based lines', async () => {
    const { document } = await convert(buildProfile([{ timeNs: 0, stack: ['main', { name: 'scan', file: '/src/scan.c', line: 42 }, '(idle)'] }]));
    expect(document.nodes.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    for (const { id, children } of document.nodes) expect(children.every((child) => child > id)).toBe(true);
    expect(document.nodes.slice(1).map(({ callFrame }) => [callFrame.functionName, callFrame.url, callFrame.lineNumber])).toEqual([
      ['main', '/bin/app', null],
      ['scan', '/src/scan.c', 41],
      ['(idle)()', '/bin/app', null],
    ]);
    expect(new Set(document.nodes.map(({ callFrame }) => callFrame.scriptId)).size).toBe(3);
  });

  it('too many changes of stack are sorted within slices of time, without changing the time of any function', async () => {
    const profile = buildProfile(Array.from({ length: 400 }, (_, i) => ({ timeNs: i * 1e6 + (i > 200 ? 50e6 : 0), stack: ['main', `f${i % 5}`] })));
    const spent = (document: Document): Record<string, number> => {
      const total: Record<string, number> = {};
      for (const [stack, start, end] of timeline(document)) total[stack] = (total[stack] ?? 0) + end - start;
      return total;
    };
    const inOrder = await convert(profile);
    const sorted = await convert(profile, { maxBars: 100 });
    expect(inOrder.result.sliceUs).toBeUndefined();
    expect(sorted.result.sliceUs).toBeGreaterThan(0);
    expect(spent(sorted.document)).toEqual(spent(inOrder.document));
  });

  it('special characters are escaped', async () => {
    const text = 'a"b\\c\nd\0 日本🦀 \ud800';
    const { document } = await convert(buildProfile([{ timeNs: 0, stack: [{ name: text, file: text }] }]));
    expect(document.nodes[1].callFrame).toMatchObject({ functionName: text, url: text });
  });

  it('a profile without samples is refused', async () => {
    await expect(convert(buildProfile([]))).rejects.toThrow(PerfconvError);
    await expect(convert({ ...buildProfile(THREADS), samples: undefined })).rejects.toThrow('needs every sample');
  });
});
