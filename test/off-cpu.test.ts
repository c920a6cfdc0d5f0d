import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, describe, expect, it } from 'vitest';
import { openRecording } from '../src/node.ts';
import { ProfileSchema } from '../src/proto/profile_pb.ts';
import { findTimelineEvent } from '../src/writers/primary-event.ts';
import { SwitchRecords } from './support/builders/recordings/switch-recordings.ts';
import { runMain } from './support/programs/run-main.ts';
import { readFirefox } from './support/readers/read-firefox.ts';
import { bytesAs, describeInvariants, read } from './support/truth/invariants.ts';
import { cpuProfileSamples } from './support/truth/output-totals.ts';

const MS = 1_000_000;
const S = 1;
const D = 2;
const R = 0;

/** Three threads, which sleep, block and are preempted, and one that only records of switches mention. */
const recording = new SwitchRecords().tick(101, 1 * MS).tick(102, 2 * MS);
for (let round = 0; round < 10; round++) {
  const at = (10 + 10 * round) * MS;
  recording
    .sched(at, { prev: 101, state: S, next: 102 })
    .out(101, at + 1000)
    .in(102, at + 2000)
    .tick(102, at + 1 * MS)
    .sched(at + 2 * MS, { prev: 102, state: round % 2 === 0 ? D : R, next: 103 })
    .sched(at + 5 * MS, { prev: 103, state: 0x100, next: 101 })
    .tick(101, at + 7 * MS);
  for (let nth = 0; nth < 4; nth++) recording.out(104, at + (8 + nth / 4) * MS).in(104, at + (8.25 + nth / 4) * MS);
}
// Percentages of time refer to the time between the first and the last sample.
recording.tick(101, 115 * MS);
const OFF_CPU = { offCpu: true };
const directory = mkdtempSync(join(tmpdir(), 'off-cpu-'));
const path = join(directory, 'switches.data');
writeFileSync(path, recording.file());
afterAll(() => rmSync(directory, { recursive: true }));

describeInvariants([['times off the CPU', path]], OFF_CPU);

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly args?: { readonly name?: string };
}

describe('times off the CPU', () => {
  it('are in one track per thread of a trace, as blocks that are named after the state', async () => {
    const { profile } = await read(path, { tids: [102] }, OFF_CPU);
    const bytes = await bytesAs('chrome', profile, { chromeStyle: 'events' });
    const { traceEvents } = JSON.parse(new TextDecoder().decode(bytes)) as { traceEvents: TraceEvent[] };
    const tracks = traceEvents.filter(({ ph, name }) => ph === 'M' && name === 'thread_name');
    expect(tracks.map(({ args }) => args?.name)).toEqual([':102', ':102 sched:sched_switch [tid 102]', ':102 off-CPU [tid 102]']);
    const blocks = traceEvents.filter(({ name, ph }) => ph === 'X' && name.startsWith('off-CPU: '));
    expect([...new Set(blocks.map(({ tid }) => tid))]).toEqual([tracks[2].tid]);
    // The first sample, at 2 ms, is microsecond 1. A wait lasts from 12 ms to 20 ms, and the last one until the recording ends, at 115 ms.
    expect(blocks.map(({ name, ts, dur }) => [name, ts, dur])).toEqual(
      Array.from({ length: 10 }, (_, i) => [`off-CPU: ${i % 2 === 0 ? 'blocked' : 'preempted'}`, 10_001 + 10_000 * i, i === 9 ? 13_000 : 8000]),
    );
    const inside = traceEvents.filter(({ ph, tid, ts }) => ph === 'X' && tid === tracks[2].tid && ts === 10_001);
    expect(inside).toHaveLength(3);
  });

  it('say so in the names of tracks even if nothing else was recorded', async () => {
    const { profile } = await read(path, { tids: [102], events: ['off-cpu:blocked', 'off-cpu:preempted'] }, OFF_CPU);
    const names = async (group: 'thread' | 'cpu'): Promise<(string | undefined)[]> => {
      const bytes = await bytesAs('chrome', profile, { chromeStyle: 'events', group });
      const { traceEvents } = JSON.parse(new TextDecoder().decode(bytes)) as { traceEvents: TraceEvent[] };
      return traceEvents.filter(({ ph, name }) => ph === 'M' && name === 'thread_name').map(({ args }) => args?.name);
    };
    expect(await names('thread')).toEqual([':102 off-CPU']);
    expect(await names('cpu')).toEqual(['CPU 3 off-cpu:preempted', 'CPU 3 off-cpu:blocked']);
  });

  it('are a single event in a CPU profile', async () => {
    const { profile } = await read(path, { events: ['off-cpu:blocked', 'off-cpu:preempted'] }, OFF_CPU);
    expect(cpuProfileSamples(await bytesAs('cpuprofile', profile, {}))).toBe(15);
  });

  it('have their event in the names of tracks of Firefox Profiler even if nothing else was recorded', async () => {
    const { profile } = await read(path, { tids: [102], events: ['off-cpu:blocked', 'off-cpu:preempted'] }, OFF_CPU);
    const { threads } = readFirefox(await bytesAs('firefox', profile, {}));
    expect(threads.map(({ thread }) => thread.name)).toEqual([':102 off-cpu:preempted', ':102 off-cpu:blocked']);
  });

  it('are intervals on the tracks of Firefox Profiler, with their state and stack', async () => {
    const { profile } = await read(path, {}, OFF_CPU);
    const { threads } = readFirefox(await bytesAs('firefox', profile, {}));
    const markers = threads.flatMap(({ markers: own, thread }) =>
      own.filter(({ name }) => name === 'off CPU').map((marker) => ({ thread: thread.tid, marker })),
    );
    const reasons = new Map<string, number>();
    for (const { marker, thread } of markers) {
      const { reason } = marker.data as unknown as { reason: string };
      reasons.set(`${thread} ${reason}`, (reasons.get(`${thread} ${reason}`) ?? 0) + 1);
      expect(marker.data).toHaveProperty('cause.stack');
    }
    expect([...reasons].sort()).toEqual([
      ['101 sleeping', 10],
      ['102 blocked', 5],
      ['102 preempted', 5],
      ['103 preempted', 10],
      ['104 waiting', 40],
    ]);
  });

  it('end at the right time in Firefox Profiler, and extend the profile, even if no sample follows', async () => {
    const asleep = new SwitchRecords()
      .tick(101, 1 * MS)
      .sched(2 * MS, { prev: 101, state: S, next: 0 })
      .out(101, 2.001 * MS)
      .in(101, 902 * MS);
    const lasting = new SwitchRecords()
      .tick(101, 1 * MS)
      .tick(102, 2 * MS)
      .out(102, 3 * MS)
      .comm(101, 4 * MS, 'late')
      .in(102, 903 * MS);
    const open = new SwitchRecords()
      .tick(101, 1 * MS)
      .tick(102, 2 * MS)
      .out(101, 2.5 * MS)
      .out(102, 3 * MS)
      .in(102, 903 * MS);
    const shown = async (recorded: SwitchRecords, options: object): Promise<unknown> => {
      const file = join(directory, 'lasting.data');
      writeFileSync(file, recorded.file());
      const { document, threads } = readFirefox(await bytesAs('firefox', (await read(file, {}, options)).profile, {}));
      const waits = threads.flatMap(({ markers }) => markers.filter(({ name }) => name === 'off CPU'));
      return { waits: waits.map(({ startMs, endMs }) => [startMs, endMs]), end: document.meta.profilingEndTime };
    };
    const switched = { keepThreadEvents: true };
    expect(await shown(asleep, OFF_CPU)).toEqual({ waits: [[1, 901]], end: 901 });
    expect(await shown(lasting, OFF_CPU)).toEqual({ waits: [[2, 902]], end: 902 });
    expect(await shown(lasting, switched)).toEqual({ waits: [[2, 902]], end: 902 });
    const until = [
      [1.5, 902],
      [2, 902],
    ];
    expect(await shown(open, switched)).toEqual({ waits: until, end: 902 });
  });

  it('are read only if the command line or the library is asked for them', async () => {
    const eventsOf = async (options: { offCpu?: boolean }): Promise<string[]> => {
      const recording = await openRecording(path);
      const { events } = await recording.profile(options);
      await recording.close();
      return events.filter(({ samples }) => samples > 0).map(({ name }) => name);
    };
    const recorded = ['cpu-clock', 'sched:sched_switch'];
    const waits = ['off-cpu:sleeping', 'off-cpu:blocked', 'off-cpu:preempted', 'off-cpu:waiting'];
    expect([await eventsOf({}), await eventsOf(OFF_CPU)]).toEqual([recorded, [...recorded, ...waits]]);
    const reported = async (...args: string[]): Promise<string[]> => {
      const { stdout } = await runMain(['report', path, '--symfs', directory, ...args]);
      return [...stdout.toString().matchAll(/^# (\S+): /gm)].map(([, name]) => name);
    };
    expect([await reported(), await reported('--off-cpu')]).toEqual([recorded, [...recorded, ...waits]]);
  });

  it('are hinted at if their events are requested without --off-cpu', async () => {
    const { stderr } = await runMain(['report', path, '--event', 'off-cpu:sleeping']);
    expect(stderr).toContain('the recording has no event off-cpu:sleeping; it has cpu-clock, sched:sched_switch, context-switches; --off-cpu adds the events');
    const { stderr: other } = await runMain(['report', path, '--off-cpu', '--event', 'off-cpu:asleep']);
    expect(other).toMatch(/has no event off-cpu:asleep; it has .*off-cpu:waiting\n/);
  });

  it('leave the sample types that tools of pprof look for to what ran on the CPU', async () => {
    const typesOf = async (events?: readonly string[]): Promise<string[]> => {
      const { profile } = await read(path, events && { events }, OFF_CPU);
      const { sampleType, stringTable } = fromBinary(ProfileSchema, await bytesAs('pprof', profile, {}));
      return sampleType.map(({ type, unit }) => `${stringTable[Number(type)]}/${stringTable[Number(unit)]}`);
    };
    // There are more waits than samples of the clock.
    const { profile: whole } = await read(path, {}, OFF_CPU);
    const samplesOf = (name: string): number => whole.events.find((event) => event.name === name)?.samples ?? 0;
    expect(samplesOf('off-cpu:waiting')).toBeGreaterThan(samplesOf('cpu-clock'));
    expect(whole.events[findTimelineEvent(whole)].name).toBe('cpu-clock');
    expect(await typesOf(['cpu-clock', 'off-cpu:preempted', 'off-cpu:sleeping', 'off-cpu:waiting', 'off-cpu:blocked'])).toEqual([
      'samples/count',
      'cpu/nanoseconds',
      ...['sleeping', 'blocked', 'preempted', 'waiting'].flatMap((state) => [`off-cpu:${state}_samples/count`, `off-cpu:${state}/nanoseconds`]),
    ]);
    expect(await typesOf(['off-cpu:preempted'])).toEqual(['samples/count', 'off-cpu:preempted/nanoseconds']);
  });
});
