import { describe, expect, it } from 'vitest';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSink, type ByteSink } from '../../../src/base/streams/byte-sink.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { type SpeedscopeOptions, writeSpeedscope } from '../../../src/writers/speedscope/speedscope.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { countingPaths } from '../../support/counting-paths.ts';

interface Document {
  name: string;
  exporter: string;
  activeProfileIndex: number;
  shared: { frames: { name: string; file?: string; line?: number }[] };
  profiles: { type: string; name: string; unit: string; startValue: number; endValue: number; samples: number[][]; weights: number[] }[];
}

const DEFAULTS: SpeedscopeOptions = { group: 'thread', weight: 'period', name: 'perf.data', exporter: 'perfconv@test' };

async function convert(profile: Profile, options: Partial<SpeedscopeOptions> = {}): Promise<Document> {
  const sink = new BufferSink();
  await writeSpeedscope(profile, sink, { ...DEFAULTS, ...options });
  return JSON.parse(sink.text());
}

/** Stacks by name, root first. */
function stacksOf(document: Document, index: number): string[] {
  return document.profiles[index].samples.map((stack) => stack.map((frame) => document.shared.frames[frame].name).join(';'));
}

const TWO_THREADS: SampleSpec[] = [
  { timeNs: 0, pid: 100, comm: 'nginx', stack: ['main', 'loop'] },
  { timeNs: 10, pid: 100, tid: 101, process: 'nginx', comm: 'worker', period: 5_000_000, cpu: 3, stack: ['start', 'work'] },
  { timeNs: 20, pid: 100, comm: 'nginx', stack: ['main', 'poll'] },
  { timeNs: 30, pid: 100, comm: 'nginx', event: 'page-faults', period: 7, stack: ['main', 'poll'] },
  { timeNs: 40, pid: 200, comm: 'bash', stack: ['main'] },
];

describe('speedscope', () => {
  it('each event and thread has a sampled profile, the busiest first, with stacks root first and in time order', async () => {
    const document = await convert(buildProfile(TWO_THREADS));
    expect(document.profiles.map(({ name, unit, endValue }) => [name, unit, endValue])).toEqual([
      ['all threads cpu-clock', 'nanoseconds', 8_000_000],
      ['nginx (100) / worker (101) cpu-clock', 'nanoseconds', 5_000_000],
      ['nginx (100) cpu-clock', 'nanoseconds', 2_000_000],
      ['bash (200) cpu-clock', 'nanoseconds', 1_000_000],
      ['nginx (100) page-faults', 'none', 7],
    ]);
    expect(document.activeProfileIndex).toBe(0);
    expect(stacksOf(document, 2)).toEqual(['main;loop', 'main;poll']);
    expect(document.profiles.every((profile) => profile.type === 'sampled' && profile.startValue === 0)).toBe(true);
    expect([document.name, document.exporter]).toEqual(['perf.data', 'perfconv@test']);
  });

  it('frames are numbered by how many samples they are in, so that stacks have few digits', async () => {
    const rare = Array.from({ length: 30 }, (_, i): SampleSpec => ({ timeNs: i, stack: ['rare', `leaf ${i}`] }));
    const hot = Array.from({ length: 40 }, (_, i): SampleSpec => ({ timeNs: 100 + i, stack: ['hot', 'recursion', 'recursion'] }));
    const document = await convert(buildProfile([...rare, ...hot, { timeNs: 1000, stack: ['hot'] }]));
    const names = document.shared.frames.map(({ name }) => name);
    expect(names).toEqual(['recursion', 'hot', 'rare', ...Array.from({ length: 30 }, (_, i) => `leaf ${i}`)]);
    expect(stacksOf(document, 0).slice(-3)).toEqual(['hot;recursion;recursion', 'hot;recursion;recursion', 'hot']);
  });

  it('profiles add up to the period of each event in every grouping', async () => {
    const profile = buildProfile(TWO_THREADS);
    for (const group of ['thread', 'process', 'cpu', 'all'] as const) {
      const document = await convert(profile, { group });
      for (const [index, event] of profile.events.entries()) {
        const own = document.profiles.filter(({ name }) => name.endsWith(` ${event.name}`) && (group === 'all' || !name.startsWith('all threads ')));
        expect(own.flatMap(({ weights }) => weights).reduce((a, b) => a + b, 0)).toBe(profile.events[index].period);
        expect(own.reduce((sum, { endValue }) => sum + endValue, 0)).toBe(event.period);
      }
    }
  });

  it('profiles are named after a thread, process or CPU, and the event', async () => {
    const names = async (group: SpeedscopeOptions['group']) => (await convert(buildProfile(TWO_THREADS), { group })).profiles.map(({ name }) => name);
    expect(await names('process')).toEqual(['nginx (100) cpu-clock', 'bash (200) cpu-clock', 'nginx (100) page-faults']);
    expect(await names('cpu')).toEqual(['CPU 3 cpu-clock', 'CPU 0 cpu-clock', 'CPU 0 page-faults']);
    expect(await names('all')).toEqual(['all threads cpu-clock', 'all threads page-faults']);
    expect((await convert(buildProfile([{ timeNs: 0, cpu: -1, stack: ['main'] }]), { group: 'cpu' })).profiles[0].name).toBe('unknown CPU cpu-clock');
  });

  it('the weight can be the number of samples, which has no unit', async () => {
    const document = await convert(buildProfile(TWO_THREADS), { weight: 'samples' });
    expect(document.profiles.map(({ unit, weights }) => [unit, weights])).toEqual([
      ['none', [1, 1, 1, 1]],
      ['none', [1, 1]],
      ['none', [1]],
      ['none', [1]],
      ['none', [1]],
    ]);
  });

  it('several threads have a first profile of all, with one entry per distinct stack, heavier ones first', async () => {
    const samples: SampleSpec[] = [
      { timeNs: 0, pid: 1, period: 1, stack: ['main', 'light'] },
      { timeNs: 1, pid: 2, period: 2, stack: ['main', 'heavy', 'leaf'] },
      { timeNs: 2, pid: 1, period: 4, stack: ['main'] },
      { timeNs: 3, pid: 1, period: 8, stack: ['main', 'heavy', 'leaf'] },
      { timeNs: 4, pid: 2, period: 3, stack: ['main', 'heavy'] },
      { timeNs: 5, pid: 2, period: 9, stack: ['alone'] },
      { timeNs: 6, pid: 1, event: 'page-faults', period: 5, stack: ['main'] },
    ];
    const document = await convert(buildProfile(samples));
    expect(document.profiles.map(({ name }) => name)).toEqual(['all threads cpu-clock', 'app (2) cpu-clock', 'app (1) cpu-clock', 'app (1) page-faults']);
    expect(document.activeProfileIndex).toBe(0);
    expect(stacksOf(document, 0)).toEqual(['main', 'main;heavy', 'main;heavy;leaf', 'main;light', 'alone']);
    expect(document.profiles[0].weights).toEqual([4, 3, 10, 1, 9]);
    expect(document.profiles[0].endValue).toBe(27);
    const counted = await convert(buildProfile(samples), { weight: 'samples' });
    expect(counted.profiles[0].weights).toEqual([1, 1, 2, 1, 1]);
  });

  it('sums of all threads keep all digits beyond 2^53', async () => {
    const sink = new BufferSink();
    const huge = [1, 2, 3].map((pid): SampleSpec => ({ timeNs: pid, pid, period: 2 ** 53 - 1, stack: ['main'] }));
    await writeSpeedscope(buildProfile(huge), sink, DEFAULTS);
    expect(sink.text()).toContain('"weights":[27021597764222973]');
  });

  it('recordings that are kept apart each have a first profile of all threads', async () => {
    const profile = buildProfile([
      { timeNs: 0, pid: 1, stack: ['main'] },
      { timeNs: 1, pid: 2, stack: ['main'] },
    ]);
    const inputs = ['a.data', 'b.data'].map((label) => ({ label, meta: profile.meta }));
    const processes = profile.processes.map((process, input) => ({ ...process, input }));
    const names = async (byInput: boolean) => (await convert({ ...profile, inputs, processes }, { byInput })).profiles.map(({ name }) => name);
    expect((await names(false)).slice(0, 2)).toEqual(['all threads cpu-clock', 'a.data: app (1) cpu-clock']);
    expect((await names(true)).slice(0, 2)).toEqual(['a.data: all threads cpu-clock', 'b.data: all threads cpu-clock']);
  });

  it('the clock is shown first, even if another event was sampled before it', async () => {
    const document = await convert(
      buildProfile([
        { timeNs: 0, event: 'page-faults', period: 1e9, stack: ['main'] },
        { timeNs: 1, pid: 1, stack: ['main'] },
        { timeNs: 2, pid: 2, period: 2e6, stack: ['main'] },
      ]),
    );
    expect(document.profiles.map(({ name }) => name)).toEqual(['all threads cpu-clock', 'app (2) cpu-clock', 'app (1) cpu-clock', 'app (100) page-faults']);
    expect(document.activeProfileIndex).toBe(0);
  });

  it('all addresses and lines of a function are one frame, with its lowest line', async () => {
    const at = (line: number) => ({ name: 'work', file: '/src/a.c', line });
    const document = await convert(
      buildProfile([
        { timeNs: 0, stack: ['main', at(30)] },
        { timeNs: 1, stack: ['main', at(20)] },
        { timeNs: 2, stack: ['main', { name: 'work', file: '/src/b.c', line: 1 }] },
      ]),
    );
    expect(document.shared.frames).toEqual([
      { name: 'main', file: '/bin/app' },
      { name: 'work', file: '/src/a.c', line: 20 },
      { name: 'work', file: '/src/b.c', line: 1 },
    ]);
  });

  it('functions of the same name in different DSOs are different frames if no source file is known', async () => {
    const document = await convert(
      buildProfile([
        {
          timeNs: 0,
          stack: [
            { name: 'read', dso: '/lib/a.so' },
            { name: 'read', dso: '[kernel.kallsyms]' },
          ],
        },
      ]),
    );
    expect(document.shared.frames).toEqual([
      { name: 'read', file: '/lib/a.so' },
      { name: 'read', file: '[kernel.kallsyms]' },
    ]);
  });

  it('mappings of the same name, such as two builds of a library, count as one file', async () => {
    const profile = buildProfile([
      { timeNs: 0, stack: [{ name: 'read', dso: '/lib/a.so' }] },
      { timeNs: 1, stack: [{ name: 'read', dso: '/lib/b.so' }] },
    ]);
    Object.assign(profile.mappings[1], { name: '/lib/a.so' });
    expect((await convert(profile)).shared.frames).toEqual([{ name: 'read', file: '/lib/a.so' }]);
  });

  it('inlined functions are frames, the outermost first', async () => {
    const document = await convert(
      buildProfile([
        {
          timeNs: 0,
          stack: [
            'main',
            {
              name: 'owner',
              file: '/o.c',
              line: 9,
              inlined: [
                { name: 'inner', file: '/i.h', line: 1 },
                { name: 'middle', file: '/m.h', line: 5 },
              ],
            },
          ],
        },
      ]),
    );
    expect(stacksOf(document, 0)).toEqual(['main;owner;middle;inner']);
  });

  it('each unresolved address is a frame, and so is a missing stack', async () => {
    const unknown = (address: number) => ({ name: 'unused', dso: '/lib/libfoo.so', unresolved: true, address });
    const document = await convert(
      buildProfile([
        { timeNs: 0, stack: [unknown(0x4f2c1)] },
        { timeNs: 1, stack: [unknown(0x4f2c2)] },
        { timeNs: 2, stack: [] },
      ]),
    );
    expect(stacksOf(document, 0)).toEqual(['0x4f2c1 (libfoo.so)', '0x4f2c2 (libfoo.so)', '(no stack)']);
    expect(document.shared.frames[0].file).toBe('/lib/libfoo.so');
  });

  it('samples of weight 0 are written and counted', async () => {
    const profile = buildProfile([
      { timeNs: 0, period: 0, stack: ['main'] },
      { timeNs: 1, period: 3, stack: ['main'] },
    ]);
    const sink = new BufferSink();
    const result = await writeSpeedscope(profile, sink, DEFAULTS);
    expect(result).toEqual({ zeroWeightSamples: 1, shieldedNames: false });
    expect(JSON.parse(sink.text()).profiles[0].weights).toEqual([0, 3]);
  });

  it('special characters and large numbers are written as valid JSON', async () => {
    const names = ['quote " and \\', 'line\nend\ttab\0nul', 'ünï → 日本 🦀', 'half \ud800 pair', '</script>'];
    const document = await convert(buildProfile([{ timeNs: 0, comm: names[0], period: 2 ** 40 + 1, stack: names }]));
    expect(document.shared.frames.map(({ name }) => name)).toEqual(names);
    expect(document.profiles[0].weights).toEqual([2 ** 40 + 1]);
    expect(document.profiles[0].name).toBe(`${names[0]} (100) cpu-clock`);
  });

  it('mangled names get a leading space only if there are too many for the demangler in the page', async () => {
    const withNames = (count: number) => buildProfile(Array.from({ length: count }, (_, i) => ({ timeNs: i, stack: [`_ZN7project9component${i}E`] })));
    expect((await convert(withNames(10))).shared.frames[3].name).toBe('_ZN7project9component3E');
    expect((await convert(withNames(1000))).shared.frames[3].name).toBe(' _ZN7project9component3E');
  });

  it('a path is quoted once, not for each address in it', async () => {
    const path = `/srv/"${'ä'.repeat(2000)}/lib.so`;
    const { profile, pathReads } = countingPaths(500, path);
    const { frames } = (await convert(profile)).shared;
    expect(pathReads()).toBeLessThan(20);
    expect(frames).toEqual(Array.from({ length: 500 }, (_, i) => ({ name: `0x${(0x1000 + i).toString(16)} (lib.so)`, file: path })));
  });

  it('a large profile is written in pieces of about a megabyte', async () => {
    const deep = Array.from({ length: 60 }, (_, i) => `function_${i}`);
    const profile = buildProfile(Array.from({ length: 20_000 }, (_, i) => ({ timeNs: i, stack: deep })));
    const sizes: number[] = [];
    const sink: ByteSink = { write: async (chunk) => void sizes.push(chunk.length) };
    await writeSpeedscope(profile, sink, DEFAULTS);
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThan(1.1 * 2 ** 20);
  });

  it('without samples there are no profiles; a profile that was read without its samples is refused', async () => {
    expect((await convert(buildProfile([]))).profiles).toEqual([]);
    const totalsOnly = { ...buildProfile(TWO_THREADS), samples: undefined };
    await expect(writeSpeedscope(totalsOnly, new BufferSink(), DEFAULTS)).rejects.toThrow(PerfconvError);
  });
});
