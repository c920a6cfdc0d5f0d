import { describe, expect, it } from 'vitest';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { writeCpuProfile } from '../../src/writers/cpuprofile/cpuprofile.ts';
import { writeSpeedscope } from '../../src/writers/speedscope/speedscope.ts';
import { hasNoChromium, loadInSpeedscope } from '../support/browsers/chromium.ts';
import { busySystem, database } from '../support/browsers/viewer-profiles.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

async function convert(profile: Profile): Promise<Uint8Array> {
  const sink = new BufferSink();
  await writeSpeedscope(profile, sink, { group: 'thread', weight: 'period', name: 'perf.data', exporter: 'perfconv@test' });
  return sink.bytes();
}

describe.skipIf(hasNoChromium('speedscope, the application'))('speedscope', () => {
  it('shows threads, totals, functions and places as recorded', async () => {
    const profile = buildProfile(database());
    const view = await loadInSpeedscope(await convert(profile));
    expect(view.problems).toEqual([]);
    expect(view.profiles.map(({ name, unit, total, nonIdle }) => [name, unit, total, nonIdle])).toEqual([
      ['all threads cpu-clock', 'nanoseconds', 1_750_000_000, 1_750_000_000],
      ['postgres (100) cpu-clock', 'nanoseconds', 1_000_000_000, 1_000_000_000],
      ['nginx (200) cpu-clock', 'nanoseconds', 500_000_000, 500_000_000],
      ['postgres (100) / walwriter (101) cpu-clock', 'nanoseconds', 250_000_000, 250_000_000],
      ['postgres (100) page-faults', 'none', 40, 40],
    ]);
    expect(view.shown).toBe(0);
    expect(view.profiles[1].frames.slice(0, 4)).toEqual([
      { name: 'heap_getnext', file: '/src/heapam.c', line: 99, self: 500_000_000, total: 500_000_000 },
      { name: 'copy_user', file: '[kernel.kallsyms]', self: 300_000_000, total: 300_000_000 },
      { name: 'compare', file: '/src/sort.h', line: 3, self: 200_000_000, total: 200_000_000 },
      { name: 'main', file: '/usr/bin/postgres', self: 0, total: 1_000_000_000 },
    ]);
  });

  it('shows a CPU profile with the times of its functions', async () => {
    const sink = new BufferSink();
    await writeCpuProfile(buildProfile(database()), sink);
    const view = await loadInSpeedscope(sink.bytes(), { fileName: 'perf.cpuprofile' });
    expect(view.problems).toEqual([]);
    const [{ total, unit, frames }] = view.profiles;
    expect([Math.round(total), unit]).toEqual([1_750_000, 'microseconds']);
    expect(frames.slice(0, 2).map(({ name, self }) => [name, Math.round(self)])).toEqual([
      ['copy_user', 550_000],
      ['heap_getnext', 500_000],
    ]);
  });

  it('loads 100,000 samples of 40 threads', async () => {
    const profile = buildProfile(busySystem(100_000, 40));
    const view = await loadInSpeedscope(await convert(profile));
    expect(view.problems).toEqual([]);
    expect(view.profiles.length).toBe(41);
    const [all, ...threads] = view.profiles;
    expect(all.total).toBe(profile.events[0].period);
    expect(threads.reduce((sum, { total }) => sum + total, 0)).toBe(profile.events[0].period);
  });

  it('loads thousands of mangled names, which would crash its demangler', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `_ZN7project6module6methodERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE${i}`);
    const view = await loadInSpeedscope(await convert(buildProfile(names.map((name, i) => ({ timeNs: i, stack: [name] })))));
    expect(view.problems).toEqual([]);
    expect(view.profiles[0].frames.length).toBe(names.length);
  });
});
