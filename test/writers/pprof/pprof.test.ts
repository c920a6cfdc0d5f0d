import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { CPUMODE_USER } from '../../../src/profile/location-table.ts';
import { unresolvedName } from '../../../src/profile/names.ts';
import type { Mapping, Profile } from '../../../src/profile/profile.ts';
import { type PprofOptions, writePprof } from '../../../src/writers/pprof/pprof.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { randomProfile } from '../../support/builders/profiles/random-profile.ts';
import { locationsOf } from '../../support/readers/locations-of.ts';
import { type ReadPprof, type ReadSample, readPprof } from '../../support/readers/read-pprof.ts';
import { runs } from '../../support/thoroughness.ts';

async function pprofBytes(profile: Profile, options: PprofOptions = { labels: [] }): Promise<Uint8Array> {
  const sink = new BufferSink();
  await writePprof(profile, sink, options);
  return sink.bytes();
}

async function pprofOf(profile: Profile, options?: PprofOptions): Promise<ReadPprof> {
  return readPprof(await pprofBytes(profile, options));
}

/** Stack of function names, leaf first, and non-zero values, for short expectations. */
function brief(sample: ReadSample): string {
  const names = sample.locations.flatMap((location) => location.frames.map((frame) => frame.split('|')[0]));
  const values = [...sample.values].filter(([, value]) => value !== 0n).map(([type, value]) => `${type}=${value}`);
  return `${names.join(' < ')}: ${values.join(' ')}`;
}

function withMappings(profile: Profile, mappings: readonly Partial<Mapping>[], mainMapping = profile.mainMapping): Profile {
  return { ...profile, mainMapping, mappings: profile.mappings.map((mapping, index) => ({ ...mapping, ...mappings[index] })) };
}

const ONE: SampleSpec[] = [{ timeNs: 0, stack: ['main', 'leaf'] }];

describe('pprof: sample types', () => {
  test('a clock has the columns samples/count and cpu/nanoseconds', async () => {
    const pprof = await pprofOf(buildProfile([...ONE, { timeNs: 1, period: 2_000_000, stack: ['main', 'leaf'] }]));
    expect(pprof.types).toEqual(['samples/count', 'cpu/nanoseconds']);
    expect(pprof.defaultType).toBe('cpu');
    expect(pprof.samples.map(brief)).toEqual(['leaf < main: samples/count=2 cpu/nanoseconds=3000000']);
  });

  test('another event has a column with its name, in counts', async () => {
    const pprof = await pprofOf(buildProfile([{ timeNs: 0, event: 'cycles:u', period: 12_345, stack: ['main'] }]));
    expect(pprof.types).toEqual(['samples/count', 'cycles:u/count']);
    expect(pprof.defaultType).toBe('cycles:u');
    expect(pprof.periodType).toBe('cycles:u/count');
  });

  test('the event with the most samples comes first and has plain names: the first one on a tie, never a dummy or one without samples', async () => {
    const profile = buildProfile([
      ...[0, 0, 0].map((timeNs) => ({ timeNs, event: 'dummy:u', period: 1, stack: ['d'] })),
      { timeNs: 0, event: 'page-faults', period: 3, stack: ['a'] },
      { timeNs: 1, event: 'cpu-clock:u', stack: ['a'] },
      { timeNs: 2, event: 'cpu-clock:u', stack: ['b'] },
      { timeNs: 3, event: 'task-clock', stack: ['b'] },
      { timeNs: 4, event: 'task-clock', stack: ['b'] },
    ]);
    const events = profile.events.map((event) => ({
      ...event,
      isDummy: event.name === 'dummy:u',
      unit: event.name.includes('clock') ? ('nanoseconds' as const) : event.unit,
    }));
    const pprof = await pprofOf({ ...profile, events: [...events, { ...events[1], name: 'instructions', samples: 0, period: 0 }] });
    expect(pprof.types).toEqual([
      'samples/count',
      'cpu/nanoseconds',
      'dummy:u_samples/count',
      'dummy:u/count',
      'page-faults_samples/count',
      'page-faults/count',
      'task-clock_samples/count',
      'task-clock/nanoseconds',
    ]);
    expect(pprof.defaultType).toBe('cpu');
    // One Sample per stack, with the columns of all events.
    expect(pprof.samples.map(brief)).toEqual([
      'd: dummy:u_samples/count=3 dummy:u/count=3',
      'a: samples/count=1 cpu/nanoseconds=1000000 page-faults_samples/count=1 page-faults/count=3',
      'b: samples/count=1 cpu/nanoseconds=1000000 task-clock_samples/count=2 task-clock/nanoseconds=2000000',
    ]);
  });

  test('the dummy event comes first only when there is no other', async () => {
    const profile = buildProfile([{ timeNs: 0, event: 'dummy', period: 1, stack: ['a'] }]);
    const pprof = await pprofOf({ ...profile, events: profile.events.map((event) => ({ ...event, isDummy: true })) });
    expect(pprof.types).toEqual(['samples/count', 'dummy/count']);
  });

  test('events get different column names even if they have the same name, or that of an existing column', async () => {
    const profile = buildProfile(
      ['cpu-clock', 'cycles', 'other', 'cpu', 'samples'].flatMap((event, nth) =>
        Array.from({ length: nth === 0 ? 2 : 1 }, () => ({ timeNs: nth, event, period: 1, stack: ['a'] })),
      ),
    );
    const pprof = await pprofOf({ ...profile, events: profile.events.map((event) => (event.name === 'other' ? { ...event, name: 'cycles' } : event)) });
    expect(pprof.types.map((type) => type.split('/')[0])).toEqual([
      'samples',
      'cpu',
      'cycles_samples',
      'cycles',
      'cycles#2_samples',
      'cycles#2',
      'cpu#2_samples',
      'cpu#2',
      'samples#2_samples',
      'samples#2',
    ]);
  });

  test('the option weight chooses the default sample type', async () => {
    const pprof = await pprofOf(buildProfile(ONE), { labels: [], weight: 'samples' });
    expect(pprof.defaultType).toBe('samples');
    expect(pprof.periodType).toBe('cpu/nanoseconds');
  });

  test('a profile without samples is refused', async () => {
    await expect(pprofBytes(buildProfile([]))).rejects.toThrow(expect.objectContaining({ name: 'PerfconvError', code: 'no-samples' }) as PerfconvError);
  });
});

describe('pprof: metadata', () => {
  test('time, duration and comments are written', async () => {
    const { message, comments } = await pprofOf(buildProfile([...ONE, { timeNs: 2.5e9, stack: ['main'] }]));
    expect(message.timeNanos).toBe(1_700_000_000_000_000_000n);
    expect(message.durationNanos).toBe(2_500_000_000n);
    expect(comments).toEqual(['perf version: 6.1', 'command line: perf record -g ./app']);
  });

  test('unknown time, duration and comments are left out', async () => {
    const { message, comments } = await pprofOf(buildProfile(ONE, { meta: { captureTimeNs: undefined, perfVersion: '', commandLine: [] } }));
    expect([message.timeNanos, message.durationNanos]).toEqual([0n, 0n]);
    expect(comments).toEqual([]);
  });

  test.each([-(1n << 63n) - 1n, 1n << 63n, -13261647112034281704n])('a time of %i, which does not fit into an int64, is left out', async (captureTimeNs) => {
    const { message } = await pprofOf(buildProfile(ONE, { meta: { captureTimeNs } }));
    expect(message.timeNanos).toBe(0n);
  });

  test.each([
    ['a clock by frequency', 'cpu-clock', 0, 4000, 250_000n],
    ['a clock by an odd frequency', 'cpu-clock', 0, 999, 1_001_001n],
    ['a clock by period', 'cpu-clock', 500_000, 0, 500_000n],
    ['a counter by period', 'cycles', 100_003, 0, 100_003n],
    ['a counter by frequency, whose period varies', 'cycles', 0, 4000, 0n],
  ])('the period is right for %s', async (_, event, samplePeriod, sampleFreq, expected) => {
    const profile = buildProfile([{ timeNs: 0, event, stack: ['a'] }]);
    const { message } = await pprofOf({ ...profile, events: [{ ...profile.events[0], samplePeriod, sampleFreq }] });
    expect(message.period).toBe(expected);
  });
});

describe('pprof: mappings', () => {
  test.each([
    ['the end of the address space', -(2 ** 31), 0, 0xffff_ffff_8000_0000n],
    ['the lower half of the address space', -(2 ** 31), 0x2000, 0n],
    ['beyond the end of the address space', 0x1000, 2 ** 64, 0x1000n],
  ])('a kernel mapping that reaches %s ends after its start', async (_where, start, limit, expected) => {
    const profile = withMappings(buildProfile([{ timeNs: 0, stack: [{ name: 'f', dso: '[kernel.kallsyms]' }] }]), [{ start, limit }]);
    expect((await pprofOf(profile)).mappings).toMatchObject([{ start: expected, limit: 0xffff_ffff_ffff_ffffn }]);
  });

  test('the main binary comes first even without a sample; other mappings without samples are left out', async () => {
    const built = buildProfile([
      {
        timeNs: 0,
        stack: [
          { name: 'k', dso: '[kernel.kallsyms]' },
          { name: 'f', dso: '/lib/libc.so.6' },
        ],
      },
    ]);
    const unused = { ...built.mappings[1], name: '/bin/main' };
    const profile = { ...built, mappings: [...built.mappings, { ...unused, name: '/bin/never' }, unused], mainMapping: 3 };
    expect((await pprofOf(profile)).mappings.map((mapping) => mapping.name)).toEqual(['/bin/main', '[kernel.kallsyms]', '/lib/libc.so.6']);
    expect((await pprofOf({ ...profile, mainMapping: -1 })).mappings.map((mapping) => mapping.name)).toEqual(['[kernel.kallsyms]', '/lib/libc.so.6']);
  });

  test('addresses are run-time addresses: address − start + offset is the offset in the file', async () => {
    const profile = withMappings(buildProfile([{ timeNs: 0, stack: [{ name: 'f', address: 0x1234 }] }]), [
      { bias: 0x5555_5555_4000, start: 0x1000, limit: 0x3000, buildId: 'abcd' },
    ]);
    const { mappings, samples } = await pprofOf(profile);
    expect(mappings).toEqual([{ name: '/bin/app', buildId: 'abcd', start: 0x5555_5555_5000n, limit: 0x5555_5555_7000n, offset: 0x1000n, flags: 'functions' }]);
    const { address } = samples[0].locations[0];
    expect(address).toBe(0x5555_5555_5234n);
    expect(address - mappings[0].start + mappings[0].offset).toBe(0x1234n);
  });

  test('kernel addresses are unsigned and not moved, and the mapping is always [kernel.kallsyms]', async () => {
    const built = buildProfile([{ timeNs: 0, stack: [{ name: 'idle', dso: '[kernel.kallsyms]', address: -0x7eff_ff00 }] }]);
    const profile = withMappings(built, [{ name: '/usr/lib/debug/vmlinux', start: -0x7f00_0000, limit: -0x7e00_0000 }]);
    const { mappings, samples } = await pprofOf(profile);
    expect(samples[0].locations[0].address).toBe(0xffff_ffff_8100_0100n);
    expect(mappings).toEqual([
      { name: '[kernel.kallsyms]', buildId: '', start: 0xffff_ffff_8100_0000n, limit: 0xffff_ffff_8200_0000n, offset: 0n, flags: 'functions' },
    ]);
  });

  test.each([
    ['vdso', 0x10n, 0x4010n],
    ['anon', 0n, 0x10n],
    ['module', 0n, 0x10n],
  ] as const)('the start and the offset of a mapping of kind %s are right', async (kind, offset, start) => {
    const profile = withMappings(buildProfile([{ timeNs: 0, stack: [{ name: 'f', address: 0x20 }] }]), [
      { kind, name: `[${kind}]`, bias: 0x4000, start: 0x10, limit: 0x1000 },
    ]);
    expect((await pprofOf(profile)).mappings[0]).toMatchObject({ offset, start });
  });

  test('the has_… flags of a mapping tell what is known about its locations', async () => {
    const { mappings } = await pprofOf(
      buildProfile([
        {
          timeNs: 0,
          stack: [
            { name: 'f', dso: '/all', file: '/a.c', line: 3, inlined: [{ name: 'g' }] },
            { name: 'f', dso: '/file', file: '/a.c' },
            { name: 'f', dso: '/line', line: 3 },
            { name: 'f', dso: '/none', unresolved: true },
          ],
        },
      ]),
    );
    expect(mappings.map(({ name, flags }) => `${name} ${flags}`)).toEqual([
      '/all functions,filenames,lines,inlines',
      '/file functions,filenames',
      '/line functions,lines',
      '/none ',
    ]);
  });
});

describe('pprof: locations', () => {
  test('inlined functions are lines of their location, leaf first, with files and line numbers', async () => {
    const frame = { name: 'outer', file: '/a.c', line: 10, inlined: [{ name: 'inner', file: '/b.h', line: 3 }, { name: 'middle' }] };
    const { samples } = await pprofOf(buildProfile([{ timeNs: 0, stack: [frame] }]));
    expect(samples[0].locations[0].frames).toEqual(['inner||/b.h:0|3:0', 'middle||:0|0:0', 'outer||/a.c:0|10:0']);
  });

  test('a line in another file than its function gets a function in that file', async () => {
    const profile = buildProfile([{ timeNs: 0, stack: [{ name: 'hot', file: '/hot.c', line: 12 }] }]);
    const { locations, strings } = profile;
    locations.setLines(0, [{ function: locations.lineFunction(0, 0), line: 7, column: 0, file: strings.intern('/part.def') }], 4);
    const { samples } = await pprofOf(profile);
    expect(samples[0].locations[0].frames).toEqual(['hot||/part.def:0|7:0']);
  });

  test('a return address becomes the address before it, and locations that thereby become equal are merged', async () => {
    // f was sampled at 0x1fff, and made a call that returns to 0x2000: they are the same location.
    const profile = buildProfile([
      { timeNs: 0, stack: [{ name: 'f', address: 0x1fff }] },
      {
        timeNs: 1,
        stack: [
          { name: 'f', address: 0x2000 },
          { name: 'leaf', address: 0x3000 },
        ],
      },
    ]);
    expect(profile.locations.size).toBe(3);
    const { message, samples } = await pprofOf(profile);
    expect(message.location).toHaveLength(2);
    expect(samples[1].locations.map((location) => location.address)).toEqual([0x403000n, 0x401fffn]);
    expect(samples[0].locations[0]).toBe(samples[1].locations[1]);
  });

  test('locations of the same address in different functions stay apart', async () => {
    const profile = buildProfile([
      { timeNs: 0, stack: [{ name: 'f', address: 0x1fff }] },
      {
        timeNs: 1,
        stack: [
          { name: 'before', address: 0x2000 },
          { name: 'leaf', address: 0x3000 },
        ],
      },
    ]);
    expect((await pprofOf(profile)).message.location).toHaveLength(3);
  });

  test('unmapped addresses keep all 64 bits', async () => {
    const profile = buildProfile([]);
    const words = [
      [0, 0, true, 0n],
      [0, 1, true, 0xffff_ffffn],
      [0xffff_ffff, 0xffff_ffff, false, 0xffff_ffff_ffff_ffffn],
      [0, 0x8000_0000, true, 0x7fff_ffff_ffff_ffffn],
      [0xffff_f123, 0xdead_beef, false, 0xdead_beef_ffff_f123n],
    ] as const;
    const event = { ...buildProfile(ONE).events[0], samples: words.length };
    for (const [lo, hi, isReturn] of words) {
      profile.totals.add(0, 0, profile.stacks.intern(-1, profile.locations.intern(-1, lo, hi, CPUMODE_USER, isReturn)), 1);
    }
    const { samples } = await pprofOf({ ...profile, events: [event], ...threadsOf(buildProfile(ONE)) });
    expect(samples.map((sample) => sample.locations[0].address)).toEqual(words.map((word) => word[3]));
    expect(samples.every((sample) => sample.locations[0].mapping === '')).toBe(true);
    expect(brief(samples[4])).toMatch(/^0xdeadbeeffffff123: /);
  });

  test('an unresolved location has a function named after its address and file', async () => {
    const { samples } = await pprofOf(buildProfile([{ timeNs: 0, stack: [{ name: '', dso: '/lib/libfoo.so.1', unresolved: true, address: 0x4f2c1 }] }]));
    expect(brief(samples[0])).toMatch(/^0x4f2c1 \(libfoo\.so\.1\): /);
  });

  test('functions have their linkage name, file and first line', async () => {
    const profile = buildProfile(ONE);
    const { strings, functions, locations } = profile;
    const func = functions.intern(strings.intern('ns::f(int)'), strings.intern('_ZN2ns1fEi'), strings.intern('/f.cc'), 40);
    locations.setLines(profile.stacks.location(1), [{ function: func, line: 42, column: 7, file: 0 }], 0);
    expect((await pprofOf(profile)).samples[0].locations[0].frames).toEqual(['ns::f(int)|_ZN2ns1fEi|/f.cc:40|42:7']);
  });
});

function threadsOf({ processes, threads, tasks }: Profile): Pick<Profile, 'processes' | 'threads' | 'tasks'> {
  return { processes, threads, tasks };
}

describe('pprof: functions', () => {
  test('functions without a file get the name of a mapping in brackets as theirs; has_filenames stays unset', async () => {
    const stack = ['main', { name: 'read', dso: '[kernel.kallsyms]' }, { name: 'x', dso: '[kernel.kallsyms]', unresolved: true }];
    const { message } = await pprofOf(buildProfile([{ timeNs: 0, stack: [...stack, { name: 'read', dso: '/lib/libc.so' }, 'leaf'] }]));
    const text = (index: bigint): string => message.stringTable[Number(index)];
    const files = message.function.map(({ name, filename }) => `${text(name)} in ${text(filename)}`);
    expect(files.filter((one) => one.startsWith('read'))).toEqual(['read in [kernel.kallsyms]', 'read in ']);
    expect(files.filter((one) => one.startsWith('0x'))).toEqual([expect.stringMatching(/ in \[kernel\.kallsyms\]$/)]);
    expect(message.mapping.map(({ hasFilenames }) => hasFilenames)).not.toContain(true);
  });

  test('a function whose scopes were added has no system name', async () => {
    const profile = buildProfile(ONE);
    const { functions, locations, strings } = profile;
    const index = (text: string): number => strings.intern(text);
    const scoped = functions.intern(index('std::sort<int*>'), index('sort<int*>'), 0, 0, true);
    const mangled = functions.intern(index('f()'), index('_Z1fv'));
    locations.setLines(
      0,
      [scoped, mangled].map((one) => ({ function: one, line: 0, column: 0, file: 0 })),
      0,
    );
    const { samples } = await pprofOf(profile);
    expect(samples[0].locations.flatMap(({ frames }) => frames.map((frame) => frame.split('|').slice(0, 2)))).toEqual([
      ['leaf', ''],
      ['std::sort<int*>', ''],
      ['f()', '_Z1fv'],
    ]);
  });
});

describe('pprof: labels', () => {
  const samples: SampleSpec[] = [
    { timeNs: 0, pid: 0, tid: 0, comm: 'swapper', stack: ['main'] },
    { timeNs: 1, pid: 100, tid: 101, comm: 'worker', stack: ['main'] },
    { timeNs: 2, pid: 100, tid: 102, comm: 'worker', stack: ['main'] },
    { timeNs: 3, pid: -1, tid: -1, comm: ':-1', stack: ['main'] },
  ];
  const labelsOf = async (labels: PprofOptions['labels']) => {
    const pprof = await pprofOf(buildProfile(samples), { labels });
    return pprof.samples.map((sample) => `${[...sample.labels].map(([key, value]) => `${key}=${value}`).join()} ${sample.values.get('samples/count')}`);
  };

  test('labels are written in a fixed order, and unknown ids get none', async () => {
    expect(await labelsOf(['thread', 'comm', 'tid', 'pid'])).toEqual([
      'pid=0,tid=0,comm=swapper,thread=swapper (0) 1',
      'pid=100,tid=101,comm=worker,thread=worker (101) 1',
      'pid=100,tid=102,comm=worker,thread=worker (102) 1',
      'comm=:-1,thread=:-1 1',
    ]);
  });

  test('ids below 0, of damaged recordings, get none either', async () => {
    const pprof = await pprofOf(buildProfile([{ timeNs: 4, pid: -5, tid: -0x8000_0000, comm: 'app', stack: ['main'] }, ...samples]), {
      labels: ['pid', 'tid', 'comm'],
    });
    expect(pprof.samples.map(({ labels }) => [...labels.keys()].join())).toEqual(['comm', 'pid,tid,comm', 'pid,tid,comm', 'pid,tid,comm', 'comm']);
  });

  test('samples with the same stack and labels are one Sample', async () => {
    expect(await labelsOf(['comm'])).toEqual(['comm=swapper 1', 'comm=worker 2', 'comm=:-1 1']);
    expect(await labelsOf(['pid'])).toEqual(['pid=0 1', 'pid=100 2', ' 1']);
    expect(await labelsOf([])).toEqual([' 4']);
  });

  test('by default, a known label that is the same for all samples becomes a comment', async () => {
    const two = await pprofOf(buildProfile(samples.slice(1, 3)), {});
    expect(two.samples.map(({ labels }) => [...labels])).toEqual(
      [[['tid', '101']], [['tid', '102']]].map((labels) => labels.map(([key, value]) => [key, expect.toSatisfy((one) => String(one) === value)])),
    );
    expect(two.comments.slice(2)).toEqual(['pid: 100', 'comm: worker']);
    const all = await pprofOf(buildProfile(samples), {});
    expect(all.samples.map(({ labels }) => [...labels.keys()].join())).toEqual(['pid,tid,comm', 'pid,tid,comm', 'pid,tid,comm', 'comm']);
    expect(all.comments).toHaveLength(2);
    const unknown = await pprofOf(buildProfile(samples.slice(3)), {});
    expect([unknown.samples[0].labels.size, unknown.comments.slice(2)]).toEqual([0, ['comm: :-1']]);
    const nameless = await pprofOf(buildProfile([{ timeNs: 0, pid: -1, tid: -1, comm: '', stack: ['main'] }]), {});
    expect([nameless.samples[0].labels.size, nameless.comments.slice(2)]).toEqual([0, []]);
  });

  test('requested labels stay even if they are the same for all samples', async () => {
    const { samples: written, comments } = await pprofOf(buildProfile(samples.slice(1, 2)), { labels: ['comm'] });
    expect([[...written[0].labels.values()], comments.length]).toEqual([['worker'], 2]);
  });

  test('numeric labels have a unit, because pprof drops pid 0 without one', async () => {
    const { message } = await pprofOf(buildProfile(samples.slice(0, 1)), { labels: ['pid'] });
    const [label] = message.sample[0].label;
    expect([label.num, message.stringTable[Number(label.numUnit)]]).toEqual([0n, 'pid']);
  });
});

describe('pprof: values and sizes', () => {
  test.each([0, 1, 127, 128, 0xffff_ffff, 2 ** 32, 2 ** 45 + 1, Number.MAX_SAFE_INTEGER])('a period of %d is written exactly', async (period) => {
    const { samples } = await pprofOf(buildProfile([{ timeNs: 0, period, stack: ['a'] }]));
    expect(samples[0].values.get('cpu/nanoseconds')).toBe(BigInt(period));
  });

  test('a sum beyond int64 becomes the largest int64', async () => {
    const { samples } = await pprofOf(buildProfile([{ timeNs: 0, period: 2 ** 64, stack: ['a'] }]));
    expect(samples[0].values.get('cpu/nanoseconds')).toBe(2n ** 63n - 1n);
  });

  test('a sample without a stack is written', async () => {
    expect((await pprofOf(buildProfile([{ timeNs: 0, stack: [] }]))).samples.map(brief)).toEqual([': samples/count=1 cpu/nanoseconds=1000000']);
  });

  test('a large profile is written in pieces of about half a megabyte, and is complete', async () => {
    const profile = buildProfile(ONE);
    const locations = Array.from({ length: 20_000 }, (_, nth) => profile.locations.intern(0, 0x2000 + nth, 0, CPUMODE_USER, false));
    for (let nth = 0; nth < 150_000; nth++) {
      let stack = -1;
      for (let depth = 0; depth < 12; depth++) stack = profile.stacks.intern(stack, locations[(nth * 7919 + depth * depth * nth) % locations.length]);
      profile.totals.add(0, 0, stack, nth);
    }
    const pieces: Uint8Array[] = [];
    await writePprof(profile, { write: async (chunk) => void pieces.push(chunk.slice()) }, { labels: ['pid'] });
    const sizes = pieces.map(({ length }) => length);
    expect(sizes.length).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeLessThan(2 ** 20);
    expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(2 ** 18);
    const { message } = readPprof(Buffer.concat(pieces));
    const addressOf = new Map(message.location.map(({ id, address }) => [id, Number(address)]));
    const { bias } = profile.mappings[0];
    // The first sample is that of ONE, which has return addresses.
    const wrong = message.sample.slice(1).filter(({ locationId }, nth) => {
      const stack = locationsOf(profile.stacks, profile.totals.stack(nth + 1));
      return locationId.length !== stack.length || stack.some((location, i) => addressOf.get(locationId[i]) !== profile.locations.addressLo(location) + bias);
    });
    expect(message.sample).toHaveLength(profile.totals.size);
    expect(wrong).toHaveLength(0);
  });
});

/**
 * The contents of a profile, read from its tables in the simplest way: lines to compare with those of {@link written}.
 */
function expectedRows(profile: Profile): string[] {
  const { stacks, totals } = profile;
  const rows = new Map<string, number[]>();
  for (let total = 0; total < totals.size; total++) {
    const frames: string[] = [];
    for (let stack = totals.stack(total); stack >= 0; stack = stacks.parent(stack)) frames.push(locationText(profile, stacks.location(stack)));
    const { thread, comm } = profile.tasks[totals.task(total)];
    const { pid, tid } = profile.threads[thread];
    const labels = [pid < 0 ? '' : `pid=${pid}`, tid < 0 ? '' : `tid=${tid}`, comm === '' ? '' : `comm=${comm}`].filter((text) => text !== '');
    const key = [...frames, ...labels].join('\n');
    const values: number[] = rows.get(key) ?? new Array<number>(profile.events.length * 2).fill(0);
    values[totals.event(total) * 2] += totals.samples(total);
    values[totals.event(total) * 2 + 1] += totals.period(total);
    rows.set(key, values);
  }
  return [...rows].map(([key, values]) => `${key}\n${values.join()}`).sort();
}

function locationText(profile: Profile, location: number): string {
  const { locations, functions, mappings, strings } = profile;
  const mapping = locations.mapping(location);
  let address = (BigInt(locations.addressHi(location)) << 32n) | BigInt(locations.addressLo(location));
  if (mapping >= 0 && ['file', 'vdso'].includes(mappings[mapping].kind)) address += BigInt(mappings[mapping].bias);
  if (locations.isReturnAddress(location) && address !== 0n) address -= 1n;
  const frames = Array.from({ length: locations.lineCount(location) }, (_, nth) => {
    const func = locations.lineFunction(location, nth);
    const [name, systemName, file] = [functions.name(func), functions.systemName(func), functions.file(func)].map((index) => strings.get(index));
    return `${name}|${systemName}|${file}:${functions.startLine(func)}|${locations.lineNumber(location, nth)}:${locations.lineColumn(location, nth)}`;
  });
  if (frames.length === 0) frames.push(`${unresolvedName(profile, location)}||:0|0:0`);
  // In mappings in brackets, functions without a file have that name instead.
  const inBrackets = mapping >= 0 && mappings[mapping].name.startsWith('[') ? mappings[mapping].name : '';
  frames.forEach((frame, i) => {
    frames[i] = frame.replace(/\|(:\d+\|\d+:\d+)$/, `|${inBrackets}$1`);
  });
  return `${mapping < 0 ? '' : mappings[mapping].name} ${BigInt.asUintN(64, address)} ${frames.join(' ')}`;
}

/** @param columns for each event the index of its count column, −1 for none */
function written(pprof: ReadPprof, columns: readonly number[]): string[] {
  const rows = new Map<string, bigint[]>();
  pprof.message.sample.forEach(({ value }, row) => {
    const { locations, labels } = pprof.samples[row];
    const frames = locations.map((location) => `${location.mapping} ${location.address} ${location.frames.join(' ')}`);
    const key = [...frames, ...[...labels].map(([name, text]) => `${name}=${text}`)].join('\n');
    const values = columns.flatMap((column) => (column < 0 ? [0n, 0n] : [value[column], value[column + 1]]));
    // Stacks that differ only in cpumode or in being a return address are separate Samples that read the same.
    rows.set(
      key,
      values.map((count, index) => count + (rows.get(key)?.[index] ?? 0n)),
    );
  });
  return [...rows].map(([key, values]) => `${key}\n${values.join()}`).sort();
}

/** Number of distinct (stack, pid, tid, comm): the number of Samples to write. */
function rowCount({ totals, tasks, threads }: Profile): number {
  const keys = Array.from({ length: totals.size }, (_, total) => {
    const { thread, comm } = tasks[totals.task(total)];
    return `${totals.stack(total)} ${threads[thread].pid} ${threads[thread].tid} ${comm}`;
  });
  return new Set(keys).size;
}

/** By event: index of its first column. The primary event comes first, then the others in order. */
function columnsOf({ events }: Profile): number[] {
  const present = [...events.keys()].filter((index) => events[index].samples > 0);
  present.sort((a, b) => Number(events[a].isDummy) - Number(events[b].isDummy) || events[b].samples - events[a].samples || a - b);
  const order = [present[0], ...present.slice(1).sort((a, b) => a - b)];
  return events.map((_, index) => (order.includes(index) ? order.indexOf(index) * 2 : -1));
}

test('pprof: callers are one byte before their return addresses, but never before address 0, wherever the file is mapped', async () => {
  const addresses = [0x1000, 0x1001, 0x2000].map((address) => ({ name: `at ${address}`, address }));
  const profile = buildProfile([{ timeNs: 0, stack: [...addresses, { name: 'leaf', address: 0x1000 }] }]);
  const moved = { ...profile, mappings: profile.mappings.map((mapping) => ({ ...mapping, bias: -0x1000 })) };
  const { samples } = await pprofOf(moved);
  expect(samples[0].locations.map(({ address }) => address)).toEqual([0n, 0xfffn, 0n, 0n]);
});

describe('pprof: random profiles', () => {
  test('everything is written, and always as the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(randomProfile, async (profile) => {
        const options: PprofOptions = { labels: ['pid', 'tid', 'comm'] };
        const bytes = await pprofBytes(profile, options);
        const pprof = readPprof(bytes);
        expect(written(pprof, columnsOf(profile))).toEqual(expectedRows(profile));
        expect(pprof.samples).toHaveLength(rowCount(profile));
        expect(new Set(pprof.types.map((type) => type.split('/')[0])).size).toBe(pprof.types.length);
        if (profile.mainMapping >= 0) expect(pprof.mappings[0].name).toBe(profile.mappings[profile.mainMapping].name);
        expect(await pprofBytes(profile, options)).toEqual(bytes);
      }),
      { numRuns: runs(150, 25) },
    );
  });

  test.each<NonNullable<PprofOptions['labels']>>([[], ['comm'], ['pid', 'thread']])(
    'the totals of every event are right with labels %s %s',
    async (...labels) => {
      await fc.assert(
        fc.asyncProperty(randomProfile, async (profile) => {
          const { message } = await pprofOf(profile, { labels });
          columnsOf(profile).forEach((column, event) => {
            if (column < 0) return;
            const sum = (index: number) => message.sample.reduce((total, sample) => total + sample.value[index], 0n);
            expect([sum(column), sum(column + 1)]).toEqual([BigInt(profile.events[event].samples), BigInt(profile.events[event].period)]);
          });
        }),
        { numRuns: runs(50, 20) },
      );
    },
  );
});
