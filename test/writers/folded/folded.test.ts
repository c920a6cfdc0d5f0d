import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import { CPUMODE_GUEST_KERNEL, CPUMODE_KERNEL } from '../../../src/profile/location-table.ts';
import { unresolvedName } from '../../../src/profile/names.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { type FoldedOptions, writeFolded } from '../../../src/writers/folded/folded.ts';
import { buildProfile, type SampleSpec } from '../../support/builders/profiles/build-profile.ts';
import { randomProfile } from '../../support/builders/profiles/random-profile.ts';
import { runs } from '../../support/thoroughness.ts';

async function foldedText(profile: Profile, options?: FoldedOptions): Promise<string> {
  const sink = new BufferSink();
  await writeFolded(profile, sink, options);
  return sink.text();
}

async function foldedOf(samples: readonly SampleSpec[], options?: FoldedOptions): Promise<string[]> {
  return (await foldedText(buildProfile(samples), options)).split('\n').slice(0, -1);
}

describe('folded stacks: lines', () => {
  test('have the comm, the frames from the root, and the period', async () => {
    expect(await foldedOf([{ timeNs: 0, comm: 'app', period: 250_000, stack: ['main', 'f', 'g'] }])).toEqual(['app;main;f;g 250000']);
  });

  test('can count samples instead of periods', async () => {
    const samples: SampleSpec[] = [0, 1, 2].map((timeNs) => ({ timeNs, stack: ['main'] }));
    expect(await foldedOf(samples, { weight: 'samples' })).toEqual(['app;main 3']);
    expect(await foldedOf(samples)).toEqual(['app;main 3000000']);
  });

  test('are shared by all stacks with the same text, whatever their addresses, threads and processes', async () => {
    expect(
      await foldedOf([
        {
          timeNs: 0,
          pid: 1,
          stack: [
            { name: 'main', address: 0x1000 },
            { name: 'f', address: 0x2000 },
          ],
        },
        {
          timeNs: 1,
          pid: 2,
          stack: [
            { name: 'main', address: 0x1008 },
            { name: 'f', address: 0x2008 },
          ],
        },
        { timeNs: 2, pid: 2, stack: [{ name: 'main', address: 0x1008 }] },
      ]),
    ).toEqual(['app;main 1000000', 'app;main;f 2000000']);
  });

  test('have the requested marks, one per frame: kernel before inlined before jit', async () => {
    const jit = (name: string, dso: string) => ({ name, dso });
    const profile = buildProfile([
      {
        timeNs: 0,
        stack: [
          { name: 'main', inlined: [{ name: 'deep' }, { name: 'helper' }] },
          jit('Foo.run', '/tmp/perf-7.map'),
          jit('Bar.run', '/home/me/.debug/jit/jit-7.dump'),
          jit('Baz.run', '/tmp/jitted-7-1.so'),
          jit('Qux.run', '/tmp/jit-8-7.dump'),
          { name: 'x', dso: '/tmp/perf-7.map', unresolved: true, address: 0x10 },
          { name: 'read', dso: '[kernel.kallsyms]', inlined: [{ name: 'fdget' }] },
        ],
      },
    ]);
    const mappings = profile.mappings.map((one) => (one.name === '/tmp/perf-7.map' ? { ...one, kind: 'anon' as const } : one));
    const marked = async (marks: FoldedOptions['marks']): Promise<string> => (await foldedText({ ...profile, mappings }, { marks })).replace(/ \d+\n$/, '');
    const plain = 'app;main;helper;deep;Foo.run;Bar.run;Baz.run;Qux.run;0x10 (perf-7.map);read;fdget';
    expect(await marked([])).toBe(plain);
    expect(await marked(undefined)).toBe(plain.replace('read;fdget', 'read_[k];fdget_[k]'));
    expect(await marked(['inlined'])).toBe(plain.replace('helper;deep', 'helper_[i];deep_[i]').replace('fdget', 'fdget_[i]'));
    expect(await marked(['kernel', 'inlined', 'jit'])).toBe(
      plain.replace('helper;deep', 'helper_[i];deep_[i]').replace('read;fdget', 'read_[k];fdget_[k]').replaceAll('.run', '.run_[j]'),
    );
  });

  test('come with a note about the unit only if they count nanoseconds', async () => {
    const notes = async (weight: 'period' | 'samples', event: string): Promise<string[]> => {
      const diagnostics = new Diagnostics();
      await foldedOf([{ timeNs: 0, event, stack: ['main'] }], { diagnostics, weight });
      return diagnostics.list().map(({ code, severity }) => `${severity} ${code}`);
    };
    expect([await notes('period', 'cpu-clock'), await notes('samples', 'cpu-clock'), await notes('period', 'cycles')]).toEqual([['info folded-unit'], [], []]);
  });

  test('mark frames of the kernel and its modules with _[k], but not those of the vdso', async () => {
    const built = buildProfile([
      { timeNs: 0, stack: ['main', { name: 'sys_read', dso: '[kernel.kallsyms]' }, { name: 'ext4_read', dso: '[ext4]' }] },
      { timeNs: 1, stack: [{ name: 'clock_gettime', dso: '[vdso]' }] },
    ]);
    const kinds = { '[ext4]': 'module', '[vdso]': 'vdso' } as const;
    const mappings = built.mappings.map((mapping) => ({ ...mapping, kind: kinds[mapping.name as keyof typeof kinds] ?? mapping.kind }));
    expect(await foldedText({ ...built, mappings })).toBe('app;clock_gettime 1000000\napp;main;sys_read_[k];ext4_read_[k] 1000000\n');
  });

  test('have a frame per inlined function, the outermost first', async () => {
    const outer = { name: 'outer', inlined: [{ name: 'inner' }, { name: 'middle' }] };
    expect(await foldedOf([{ timeNs: 0, stack: ['main', outer, 'leaf'] }])).toEqual(['app;main;outer;middle;inner;leaf 1000000']);
  });

  test('show the address and DSO of an unresolved frame', async () => {
    const frame = { name: '', dso: '/lib/libfoo.so', unresolved: true, address: 0x4f2c1 };
    expect(await foldedOf([{ timeNs: 0, stack: ['main', frame] }])).toEqual(['app;main;0x4f2c1 (libfoo.so) 1000000']);
  });

  test('have names in which only separators are replaced', async () => {
    const names = ['Foo;bar', 'operator()<int, char>(void (*)(int)) const', 'a\nb\tc'];
    expect(await foldedOf([{ timeNs: 0, comm: 'V8 Worker;1', stack: names }])).toEqual([
      'V8_Worker:1;Foo:bar;operator()<int, char>(void (*)(int)) const;a b c 1000000',
    ]);
  });

  test('have only the comm for a sample without a stack', async () => {
    expect(
      await foldedOf([
        { timeNs: 0, stack: [] },
        { timeNs: 1, stack: ['main'] },
      ]),
    ).toEqual(['app 1000000', 'app;main 1000000']);
  });

  test('are sorted by comm and frames', async () => {
    const lines = await foldedOf([
      { timeNs: 0, comm: 'b', stack: ['z'] },
      { timeNs: 1, comm: 'a', stack: ['m', 'z'] },
      { timeNs: 2, comm: 'a', stack: ['m', 'a', 'x'] },
      { timeNs: 3, comm: 'a', stack: ['m'] },
      { timeNs: 4, comm: 'a', stack: ['a'] },
    ]);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['a;a', 'a;m', 'a;m;a;x', 'a;m;z', 'b;z']);
  });

  test('keep all digits of large weights', async () => {
    expect(await foldedOf([{ timeNs: 0, period: 2 ** 80, stack: ['main'] }])).toEqual([`app;main ${2n ** 80n}`]);
  });
});

describe('folded stacks: events', () => {
  const samples: SampleSpec[] = [
    { timeNs: 0, event: 'page-faults', period: 7, stack: ['fault'] },
    { timeNs: 1, event: 'cpu-clock', stack: ['run'] },
    { timeNs: 2, event: 'cpu-clock', stack: ['run'] },
  ];

  test('the event with the most samples is written, and a warning names the others', async () => {
    const diagnostics = new Diagnostics();
    expect(await foldedOf(samples, { diagnostics })).toEqual(['app;run 2000000']);
    expect(diagnostics.list().filter(({ code }) => code !== 'folded-unit')).toEqual([
      expect.objectContaining({
        code: 'folded-one-event',
        severity: 'warning',
        message: 'folded stacks hold only one event, cpu-clock; left out (choose with option event): page-faults',
      }),
    ]);
  });

  test('the requested event is written, even if its index is 0', async () => {
    expect(await foldedOf(samples, { event: 0 })).toEqual(['app;fault 7']);
  });

  test('a single event causes no warning', async () => {
    const diagnostics = new Diagnostics();
    await foldedOf(samples.slice(1), { diagnostics });
    expect(diagnostics.list().filter(({ severity }) => severity !== 'info')).toEqual([]);
  });

  test('an event without samples is refused', async () => {
    await expect(foldedOf([])).rejects.toMatchObject({ name: 'PerfconvError', code: 'no-samples' });
    await expect(foldedOf(samples, { event: 2 })).rejects.toMatchObject({ code: 'no-samples' });
  });
});

/** The expected lines, computed in the simplest way: a Map by the text of each stack. */
function expectedLines(profile: Profile, event: number): Map<string, number> {
  const { locations, functions, mappings, stacks, strings, totals } = profile;
  const lines = new Map<string, number>();
  for (let total = 0; total < totals.size; total++) {
    if (totals.event(total) !== event) continue;
    const frames: string[] = [];
    for (let stack = totals.stack(total); stack >= 0; stack = stacks.parent(stack)) {
      const location = stacks.location(stack);
      const mapping = locations.mapping(location);
      const isKernel =
        [CPUMODE_KERNEL, CPUMODE_GUEST_KERNEL].includes(locations.cpumode(location)) || (mapping >= 0 && ['kernel', 'module'].includes(mappings[mapping].kind));
      const names = Array.from({ length: locations.lineCount(location) }, (_, nth) => strings.get(functions.name(locations.lineFunction(location, nth))));
      if (names.length === 0) names.push(unresolvedName(profile, location));
      frames.push(...names.map((name) => (name || unresolvedName(profile, location)).replaceAll(';', ':').replaceAll('\n', ' ') + (isKernel ? '_[k]' : '')));
    }
    const comm = (profile.tasks[totals.task(total)].comm || '[unknown]').replaceAll(';', ':').replaceAll(' ', '_');
    const line = [comm, ...frames.reverse()].join(';');
    lines.set(line, (lines.get(line) ?? 0) + totals.period(total));
  }
  return lines;
}

test('folded stacks: any stack is written once with its full weight, in order, and always as the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(randomProfile, async (profile) => {
      for (const [event, { samples }] of profile.events.entries()) {
        if (samples === 0) continue;
        const text = await foldedText(profile, { event });
        const lines = text.split('\n').slice(0, -1);
        expect(new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))).toEqual(
          expectedLines(profile, event),
        );
        const keys = lines.map((line) => line.slice(0, line.lastIndexOf(' ')).split(';').join('\0'));
        expect(keys).toEqual([...new Set(keys)].sort());
        expect(await foldedText(profile, { event })).toBe(text);
      }
    }),
    { numRuns: runs(150, 40) },
  );
});
