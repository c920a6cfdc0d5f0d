import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import type { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { convert } from '../../../src/pipeline/convert.ts';
import { CPUMODE_UNKNOWN } from '../../../src/profile/location-table.ts';
import type { MappingKind, Profile } from '../../../src/profile/profile.ts';
import { Symbolizer } from '../../../src/symbolizer/symbolizer.ts';
import { type OtlpOptions, writeOtlp } from '../../../src/writers/otlp/otlp.ts';
import { writePprof } from '../../../src/writers/pprof/pprof.ts';
import { buildProfile, type FrameSpec, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { randomProfile } from '../../support/builders/profiles/random-profile.ts';
import { FIXTURE_SYMBOLS, FixtureSymbolFiles } from '../../support/fixture-symbols.ts';
import { type ReadOtlp, type ReadOtlpSample, readOtlp } from '../../support/readers/read-otlp.ts';
import { type ReadPprof, readPprof } from '../../support/readers/read-pprof.ts';
import { runs } from '../../support/thoroughness.ts';

type Options = Omit<OtlpOptions, 'exporter'>;

async function otlpBytes(profile: Profile, options: Options = {}): Promise<Uint8Array> {
  const sink = new BufferSink();
  await writeOtlp(profile, sink, { exporter: 'perfconv@1.2.3', ...options });
  return sink.bytes();
}

async function otlpOf(profile: Profile, options?: Options): Promise<ReadOtlp> {
  return readOtlp(await otlpBytes(profile, options));
}

async function pprofOf(profile: Profile, labels: Options['labels']): Promise<ReadPprof> {
  const sink = new BufferSink();
  await writePprof(profile, sink, { labels });
  return readPprof(sink.bytes());
}

/** Stack of function names, leaf first, and the value. */
function brief({ locations, value }: ReadOtlpSample): string {
  return `${locations.flatMap(({ frames }) => frames.map((frame) => frame.split('|')[0])).join(' < ')}: ${value}`;
}

const ONE: SampleSpec[] = [{ timeNs: 0, stack: ['main', 'leaf'] }];
const LABELS = ['pid', 'tid', 'comm', 'thread', 'input'] as const;

/** Names of labels in pprof, by those of attributes. */
const LABEL_OF: Readonly<Record<string, string>> = {
  'process.pid': 'pid',
  'thread.id': 'tid',
  'thread.name': 'comm',
  'perfconv.thread': 'thread',
  'perfconv.input': 'input',
};

/** Values by type, stack and labels, added up: pprof keeps stacks apart that are equal in it. */
function sumsOf(samples: Iterable<readonly [type: string, stack: unknown, labels: Iterable<readonly [string, unknown]>, value: bigint]>): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const [type, stack, labels, value] of samples) {
    const key = JSON.stringify([type, stack, [...labels]], (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : item));
    sums.set(key, (sums.get(key) ?? 0n) + value);
  }
  return new Map([...sums].filter(([, sum]) => sum !== 0n).sort());
}

/** Expects that profiles say what a pprof profile with the same labels says. */
function expectAlike(otlp: ReadOtlp, pprof: ReadPprof): void {
  expect(otlp.profiles.map(({ type }) => type).sort()).toEqual([...pprof.types].sort());
  const inOtlp = otlp.profiles.flatMap(({ type, samples }) =>
    samples.map(({ locations, attributes, value }) => {
      const stack = locations.map(({ mapping, address, frames }) => ({ mapping, address, frames }));
      return [type, stack, [...attributes].map(([key, label]) => [LABEL_OF[key], label] as const), value] as const;
    }),
  );
  const inPprof = pprof.samples.flatMap(({ locations, values, labels }) => [...values].map(([type, value]) => [type, locations, labels, value] as const));
  expect(sumsOf(inOtlp)).toEqual(sumsOf(inPprof));
  for (const { name, start, limit, offset, attributes } of otlp.mappings) {
    const flags = ['functions', 'filenames', 'line_numbers', 'inline_frames'].filter((flag) => attributes.get(`pprof.mapping.has_${flag}`) === true);
    const buildId = attributes.get('process.executable.build_id.gnu') ?? '';
    const expected = {
      name,
      start,
      limit,
      offset,
      buildId,
      flags: flags.map((flag) => flag.replace(/line_(numbers)|_frames/, (_, lines) => (lines ? 'lines' : 's'))).join(),
    };
    expect(pprof.mappings).toContainEqual(expected);
  }
  for (const { durationNs, timeNs } of otlp.profiles) expect([durationNs, timeNs]).toEqual([pprof.message.durationNanos, pprof.message.timeNanos]);
  expect(otlp.profiles[0].period).toBe(pprof.message.period);
  expect(otlp.profiles[0].periodType).toBe(pprof.periodType);
}

describe('otlp: profiles', () => {
  test('there are two for each event, of its periods and of its samples; those of the event with the most samples come first', async () => {
    const profile = buildProfile([
      { timeNs: 0, event: 'page-faults', period: 7, stack: ['main'] },
      ...ONE,
      { timeNs: 1, period: 2_000_000, stack: ['main', 'leaf'] },
    ]);
    const { profiles } = await otlpOf(profile);
    expect(profiles.map(({ type, periodType, samples }) => [type, periodType, ...samples.map(brief)])).toEqual([
      ['cpu/nanoseconds', 'cpu/nanoseconds', 'leaf < main: 3000000'],
      ['samples/count', 'cpu/nanoseconds', 'leaf < main: 2'],
      ['page-faults/count', 'page-faults/count', 'main: 7'],
      ['page-faults_samples/count', 'page-faults/count', 'main: 1'],
    ]);
  });

  test('with --weight samples, the number of samples comes first', async () => {
    expect((await otlpOf(buildProfile(ONE), { weight: 'samples' })).profiles.map(({ type }) => type)).toEqual(['samples/count', 'cpu/nanoseconds']);
  });

  test('have the time of the recording, its length and how it was made', async () => {
    const meta = { captureTimeNs: 2n ** 63n + 5n, durationNs: 1e9, perfVersion: '6.1', commandLine: ['perf', 'record'] };
    const { profiles } = await otlpOf(buildProfile(ONE, { meta }));
    for (const { timeNs, durationNs, attributes } of profiles) {
      expect([timeNs, durationNs]).toEqual([2n ** 63n + 5n, 1_000_000_000n]);
      expect([...attributes]).toEqual([['pprof.profile.comment', ['perf version: 6.1', 'command line: perf record']]]);
    }
  });

  test.each([[-1n], [2n ** 64n]])('a time that does not fit is left out: %s', async (captureTimeNs) => {
    expect((await otlpOf(buildProfile(ONE, { meta: { captureTimeNs } }))).profiles[0].timeNs).toBe(0n);
  });

  test('are not written without samples', async () => {
    const error = await otlpBytes(buildProfile([])).catch((caught: PerfconvError) => caught);
    expect((error as PerfconvError).code).toBe('no-samples');
  });
});

describe('otlp: the resource', () => {
  test('is the machine that was recorded, under the names of the semantic conventions', async () => {
    const { resource, scope } = await otlpOf(buildProfile(ONE, { meta: { hostName: 'web1', osRelease: '6.1.0-12', arch: 'x86_64' } }));
    expect(Object.fromEntries(resource)).toEqual({ 'host.name': 'web1', 'host.arch': 'amd64', 'os.type': 'linux', 'os.version': '6.1.0-12' });
    expect(scope).toBe('perfconv 1.2.3');
  });

  test('has nothing that was not recorded', async () => {
    const { resource } = await otlpOf(buildProfile(ONE, { meta: { hostName: '', osRelease: '', arch: '' } }));
    expect([...resource.keys()]).toEqual(['os.type']);
  });

  test.each([
    ['aarch64', 'arm64'],
    ['armv7l', 'arm32'],
    ['i686', 'x86'],
    ['ppc64le', 'ppc64'],
    ['s390x', 's390x'],
    ['riscv64', 'riscv64'],
  ])('has the architecture as the conventions call it: %s', async (arch, expected) => {
    expect((await otlpOf(buildProfile(ONE, { meta: { arch } }))).resource.get('host.arch')).toBe(expected);
  });
});

describe('otlp: attributes of samples', () => {
  const samples: SampleSpec[] = [
    { timeNs: 0, pid: 0, tid: 0, comm: 'swapper', stack: ['idle'] },
    { timeNs: 1, pid: 7, tid: 8, comm: 'worker', stack: ['idle'] },
  ];
  const attributesOf = async (labels?: Options['labels']) =>
    (await otlpOf(buildProfile(samples), { labels })).profiles[0].samples.map((sample) => Object.fromEntries(sample.attributes));

  test('are the process, the thread and its name by default', async () => {
    expect(await attributesOf()).toEqual([
      { 'process.pid': 0n, 'thread.id': 0n, 'thread.name': 'swapper' },
      { 'process.pid': 7n, 'thread.id': 8n, 'thread.name': 'worker' },
    ]);
  });

  test('are not those of ids below 0, which damaged recordings have', async () => {
    const [{ samples }] = (await otlpOf(buildProfile([{ timeNs: 0, pid: -5, tid: -2, comm: 'app', stack: ['main'] }]))).profiles;
    expect([...samples[0].attributes.keys()]).toEqual(['thread.name']);
  });

  test('are those that were asked for; without any, there is a Sample for each stack', async () => {
    expect(await attributesOf(['tid', 'comm'])).toEqual([
      { 'thread.id': 0n, 'thread.name': 'swapper' },
      { 'thread.id': 8n, 'thread.name': 'worker' },
    ]);
    expect(await attributesOf([])).toEqual([{}]);
  });
});

describe('otlp: types of frames', () => {
  const typeOf = async (frame: FrameSpec, kind?: MappingKind): Promise<string> => {
    const profile = buildProfile([{ timeNs: 0, stack: [frame] }]);
    const mappings = profile.mappings.map((mapping) => ({ ...mapping, ...(kind && { kind }) }));
    return (await otlpOf({ ...profile, mappings })).profiles[0].samples[0].locations[0].frameType;
  };

  test.each<[frame: FrameSpec, expected: string]>([
    [{ name: 'vfs_read', dso: '[kernel.kallsyms]' }, 'kernel'],
    [{ name: 'main', file: '/src/main.c', line: 1 }, 'native'],
    [{ name: 'main' }, 'native'],
    [{ name: 'main', unresolved: true }, 'native'],
    [{ name: 'main.main', file: '/src/main.go', line: 1 }, 'go'],
    [{ name: 'app::main', file: 'src/main.rs', line: 1 }, 'rust'],
    [{ name: 'app::main', systemName: '_RNvCs1_3app4main' }, 'rust'],
    [{ name: 'app::main', systemName: '_ZN3app4main17h0123456789abcdefE' }, 'rust'],
    [{ name: 'std::swap', systemName: '_ZSt4swapIiEvRT_S1_' }, 'native'],
    // The caller into which something was inlined decides.
    [{ name: 'main', file: '/src/main.c', line: 1, inlined: [{ name: 'push', file: 'vec.rs', line: 2 }] }, 'native'],
  ])('of code in binaries: %j', async (frame, expected) => {
    expect(await typeOf(frame)).toBe(expected);
  });

  test.each<[frame: FrameSpec, expected: string]>([
    [{ name: 'JS:*fib /srv/app.js:1:2' }, 'v8js'],
    [{ name: 'LazyCompile:*fib /srv/app.js:1:2' }, 'v8js'],
    [{ name: 'py::fib:/srv/app.py' }, 'cpython'],
    [{ name: 'JIT$fib' }, 'php'],
    [{ name: 'Fib.fib', systemName: 'LFib;fib(I)I' }, 'jvm'],
    [{ name: 'LFib;fib(I)I' }, 'jvm'],
    [{ name: 'Loop' }, ''],
    [{ name: 'fib', unresolved: true }, ''],
  ])('of code that was made at run time: %j', async (frame, expected) => {
    expect(await typeOf({ dso: '/tmp/perf-7.map', ...frame }, 'anon')).toBe(expected);
  });

  test('of code outside all mappings is unknown', async () => {
    const profile = buildProfile(ONE);
    for (let location = 0; location < profile.locations.size; location++) profile.locations.unmap(location);
    const { profiles } = await otlpOf(profile);
    expect(profiles[0].samples[0].locations.map(({ frameType }) => frameType)).toEqual(['', '']);
  });
});

describe('otlp: against pprof', () => {
  const fixtures = fileURLToPath(new URL('../../../fixtures/', import.meta.url));
  test.each(readdirSync(fixtures).filter((name) => name.endsWith('.data')))('%s has the same samples', async (name) => {
    const [otlp, pprof] = [new BufferSink(), new BufferSink()];
    const outputs = [
      { format: 'otlp', sink: otlp },
      { format: 'pprof', sink: pprof },
    ] as const;
    const symbolizer = new Symbolizer(new FixtureSymbolFiles(), { ...FIXTURE_SYMBOLS, compatPerf: false }, new Diagnostics());
    await convert(new BufferSource(readFileSync(`${fixtures}${name}`), name), outputs, { symbolizer, labels: LABELS }, new Diagnostics());
    expectAlike(readOtlp(otlp.bytes()), readPprof(pprof.bytes()));
  });

  test('any profile has the same samples, and soundly', async () => {
    await fc.assert(
      fc.asyncProperty(randomProfile, fc.subarray([...LABELS]), async (profile, labels) => {
        if (profile.totals.size === 0) return;
        expectAlike(await otlpOf(profile, { labels }), await pprofOf(profile, labels));
      }),
      { numRuns: runs(150, 25) },
    );
  });

  test('the same profile gives the same bytes', async () => {
    const samples = Array.from({ length: 50 }, (_, i): SampleSpec => ({ timeNs: i, tid: i % 3, stack: ['main', `f${i % 7}`] }));
    expect(await otlpBytes(buildProfile(samples))).toEqual(await otlpBytes(buildProfile(samples)));
  });

  test('stacks that differ only in what OTLP does not have are one', async () => {
    const profile = buildProfile(ONE);
    const { locations, stacks, totals } = profile;
    const leaf = stacks.location(totals.stack(0));
    const twin = locations.intern(locations.mapping(leaf), locations.addressLo(leaf), locations.addressHi(leaf), CPUMODE_UNKNOWN, false);
    locations.setLines(twin, [{ function: locations.lineFunction(leaf, 0), line: 0, column: 0, file: 0 }], 0);
    totals.add(0, 0, stacks.intern(stacks.parent(totals.stack(0)), twin), 5);
    profile.events[0].samples++;
    const { profiles } = await otlpOf(profile, { labels: [] });
    expect(profiles.map(({ samples }) => samples.map(brief))).toEqual([['leaf < main: 1000005'], ['leaf < main: 2']]);
  });

  test('sums beyond 2^53 are exact, and capped at the largest value', async () => {
    const profile = buildProfile([
      { timeNs: 0, tid: 1, period: 2 ** 53, stack: ['main'] },
      { timeNs: 1, tid: 2, period: 1, stack: ['main'] },
      { timeNs: 2, tid: 2, period: 2 ** 53, stack: ['main'] },
      { timeNs: 3, tid: 3, period: 1, stack: ['main'] },
      { timeNs: 4, tid: 1, period: 2 ** 63, stack: ['all'] },
    ]);
    const [periods] = (await otlpOf(profile, { labels: [] })).profiles;
    expect(periods.samples.map(({ value }) => value)).toEqual([2n ** 54n + 2n, 2n ** 63n - 1n]);
  });

  test('deep stacks that share their callers are whole', async () => {
    const callers = Array.from({ length: 200 }, (_, i) => `caller ${i}`);
    const samples = Array.from({ length: 10 }, (_, i): SampleSpec => ({ timeNs: i, stack: [...callers.slice(0, 20 * (i + 1)), `leaf ${i}`] }));
    const profile = buildProfile(samples);
    expectAlike(await otlpOf(profile, { labels: [] }), await pprofOf(profile, []));
  });

  test('an output of many pieces is whole', async () => {
    const samples = Array.from({ length: 30_000 }, (_, i): SampleSpec => ({ timeNs: i, tid: i % 500, stack: ['main', `f${i % 200}`, `leaf ${i}`] }));
    const { profiles } = await otlpOf(buildProfile(samples));
    expect(profiles.map((profile) => profile.samples.length)).toEqual([30_000, 30_000]);
    expect(brief(profiles[1].samples[29_999])).toBe('leaf 29999 < f199 < main: 1');
  });
});
