import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { type ChromeOptions, writeChrome } from '../../src/writers/chrome/chrome.ts';
import { DEVTOOLS_RESERVED_NAMES } from '../../src/writers/chrome/devtools-reserved-names.ts';
import { writeCpuProfile } from '../../src/writers/cpuprofile/cpuprofile.ts';
import { hasNoChromium, loadInDevTools } from '../support/browsers/chromium.ts';
import { busySystem, database } from '../support/browsers/viewer-profiles.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

async function convert(profile: Profile, style: ChromeOptions['style'], group?: ChromeOptions['group']): Promise<Uint8Array> {
  const sink = new BufferSink();
  await writeChrome(profile, sink, { style, ...(group && { group }), name: 'perf.data', exporter: 'perfconv@test' });
  return sink.bytes();
}

const STYLES = ['events', 'profile'] as const;

describe.skipIf(hasNoChromium('the Performance panel of Chrome DevTools'))('DevTools Performance panel', () => {
  it('shows X events as a flame chart per thread, under its process', async () => {
    const view = await loadInDevTools(await convert(buildProfile(database()), 'events'), { bottomUpOf: () => true });
    expect(view.problems).toEqual([]);
    expect(view.isGeneric).toBe(true);
    const tracks = view.tracks.map(({ name, nesting, busyMs }) => [nesting, name, Math.round(busyMs)]);
    expect(tracks.filter(([nesting]) => nesting === 0).map(([, name]) => name)).toEqual(['postgres (100)', 'nginx (200)']);
    expect(new Set(tracks.filter(([nesting]) => nesting === 1).map(([, name, busyMs]) => `${name}: ${busyMs}`))).toEqual(
      new Set(['postgres [main] (100): 1000', 'walwriter (101): 250', 'postgres [main] page-faults [tid 100] (201): 0', 'nginx [main] (200): 500']),
    );
    const bottomUp = (name: string) => view.tracks.find((track) => track.name === name)!.bottomUp.map(({ activity, selfMs }) => [activity, selfMs]);
    expect(bottomUp('postgres [main] (100)').slice(0, 3)).toEqual([
      ['heap_getnext', 500],
      ['copy_user', 300],
      ['compare', 200],
    ]);
    expect(bottomUp('walwriter (101)')[0]).toEqual(['copy_user', 250]);
    expect(bottomUp('nginx [main] (200)')[0]).toEqual(['Paint()', 500]);
  });

  it('shows sampled profiles with file and line, and expands the busiest thread', async () => {
    const view = await loadInDevTools(await convert(buildProfile(database()), 'profile'), { bottomUpOf: () => true });
    expect(view.problems).toEqual([]);
    expect(view.isGeneric).toBe(false);
    expect(view.tracks.map(({ name, busyMs }) => `${name}: ${Math.round(busyMs)}`).sort()).toEqual([
      'Main — perf:postgres (100): 1000',
      'nginx (200): 500',
      'postgres (100) / walwriter (101): 250',
      'postgres (100) page-faults: 0',
    ]);
    expect(view.tracks.map(({ isExpanded }) => isExpanded)).toEqual([true, false, false, false]);
    expect(view.tracks[0].bottomUp.slice(0, 3)).toEqual([
      { activity: 'heap_getnext /src/heapam.c:99', selfMs: 500, totalMs: 500 },
      { activity: 'copy_user [kernel.kallsyms]', selfMs: 300, totalMs: 300 },
      { activity: 'compare /src/sort.h:3', selfMs: 200, totalMs: 200 },
    ]);
  });

  it.each(STYLES)('loads 100,000 samples of 40 threads (%s)', async (style) => {
    const view = await loadInDevTools(await convert(buildProfile(busySystem(100_000, 40)), style, 'thread'));
    expect(view.problems).toEqual([]);
    const threads = view.tracks.filter(({ entries }) => entries > 0);
    expect(threads.length).toBe(40);
    for (const { busyMs } of threads) expect(Math.abs(busyMs - 2500)).toBeLessThan(2);
  });

  it('shows CPUs instead of many threads, and sorted stacks instead of many bars, with all of the time', async () => {
    const turns = Array.from({ length: 20_000 }, (_, i) => ({
      timeNs: i * 500_000,
      pid: 100 + (i % 40),
      comm: 'server',
      cpu: i % 2,
      stack: ['run', `f${i % 50}`],
    }));
    const profile = buildProfile(turns);
    const cpus = await loadInDevTools(await convert(profile, 'profile'));
    expect(cpus.problems).toEqual([]);
    expect(cpus.tracks.map(({ name, busyMs }) => [name, Math.round(busyMs)])).toEqual([
      ['Main — perf:CPU 0', 10_000],
      ['CPU 1', 10_000],
    ]);
    const sink = new BufferSink();
    await writeChrome(profile, sink, { style: 'profile', name: 'perf.data', exporter: 'perfconv@test', maxBars: 2000 });
    const merged = await loadInDevTools(sink.bytes(), { bottomUpOf: () => true });
    expect(merged.problems).toEqual([]);
    expect(merged.tracks.map(({ name, busyMs }) => [name, Math.round(busyMs)])).toEqual([['Main — perf:all threads, CPU time', 20_000]]);
    expect(merged.tracks[0].entries).toBeLessThan(2100);
  });

  it('shows a CPU profile of several threads with the times of their functions', async () => {
    const sink = new BufferSink();
    const profile = buildProfile(database());
    await writeCpuProfile(profile, sink);
    const view = await loadInDevTools(sink.bytes(), { bottomUpOf: () => true, fileName: 'perf.cpuprofile' });
    expect(view.problems).toEqual([]);
    expect(view.tracks.map(({ name, busyMs }) => [name, Math.round(busyMs)])).toEqual([['Main', 1750]]);
    const selfMs = view.tracks[0].bottomUp.slice(0, 4).map(({ activity, selfMs: own }) => [activity, own]);
    expect(selfMs).toEqual(
      expect.arrayContaining([
        ['copy_user [kernel.kallsyms]', 550],
        ['heap_getnext /src/heapam.c:99', 500],
        ['compare /src/sort.h:3', 200],
      ]),
    );
  });

  it('shows occurrences without a time', async () => {
    const profile = buildProfile([...database(), { timeNs: 3_100_000_000, pid: 100, comm: 'postgres', event: 'sched:sched_switch', stack: ['schedule'] }]);
    const view = await loadInDevTools(await convert(profile, 'profile'), { bottomUpOf: (name) => name.endsWith('page-faults') });
    expect(view.problems).toEqual([]);
    const faults = view.tracks.find(({ name }) => name === 'postgres (100) page-faults')!;
    expect(faults.busyMs).toBeCloseTo(0.04, 3);
    expect(faults.bottomUp[0].selfMs).toBeLessThan(0.1);
  });

  it.each(STYLES)('loads functions named like its own events, and the deepest stack that is written (%s)', async (style) => {
    const names = [...DEVTOOLS_RESERVED_NAMES, 'enhancedTraceVersion', '(idle)', '(root)', '"', 'half \ud800 pair'];
    const deep = Array.from({ length: 2500 }, (_, i) => `f${i}`);
    const samples = names.map((name, i) => ({ timeNs: i * 1_000_000, comm: 'kworker/0:1 [x] ü', stack: ['main', name] }));
    const last = { timeNs: names.length * 1_000_000, comm: 'kworker/0:1 [x] ü', period: 50_000_000, stack: deep };
    const view = await loadInDevTools(await convert(buildProfile([...samples, last]), style), { bottomUpOf: () => true });
    expect(view.problems).toEqual([]);
    const [thread] = view.tracks.filter(({ entries }) => entries > 0);
    expect(Math.round(thread.busyMs)).toBe(names.length + 50);
    expect(thread.bottomUp[0].activity.split(' ')[0]).toBe('f2499');
    expect(thread.bottomUp[0].selfMs).toBeCloseTo(50, 0);
  });

  it.each(STYLES)('loads a compressed trace of a single sample (%s)', async (style) => {
    const bytes = await convert(buildProfile([{ timeNs: 9, pid: -1, tid: -1, cpu: -1, stack: ['main'] }]), style);
    const view = await loadInDevTools(gzipSync(bytes));
    expect(view.problems).toEqual([]);
    expect(view.tracks.filter(({ entries }) => entries > 0).length).toBe(1);
  });
});
