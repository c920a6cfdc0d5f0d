import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BufferSink } from '../../../src/base/byte-sink.ts';
import { Diagnostics } from '../../../src/base/diagnostics.ts';
import { unresolvedName } from '../../../src/profile/names.ts';
import type { Profile } from '../../../src/profile/profile.ts';
import { CPUMODE_GUEST_KERNEL, CPUMODE_KERNEL } from '../../../src/profile/tables.ts';
import { type FoldedOptions, writeFolded } from '../../../src/writers/folded/folded.ts';
import { buildProfile, type SampleSpec } from '../../support/build-profile.ts';
import { randomProfile } from '../../support/random-profile.ts';

async function foldedText(profile: Profile, options?: FoldedOptions): Promise<string> {
  const sink = new BufferSink();
  await writeFolded(profile, sink, options);
  return sink.text();
}

async function foldedOf(samples: readonly SampleSpec[], options?: FoldedOptions): Promise<string[]> {
  return (await foldedText(buildProfile(samples), options)).split('\n').slice(0, -1);
}

describe('lines', () => {
  test('comm, then frames from the root, then the period', async () => {
    expect(await foldedOf([{ timeNs: 0, comm: 'app', period: 250_000, stack: ['main', 'f', 'g'] }])).toEqual(['app;main;f;g 250000']);
  });

  test('weight by samples', async () => {
    const samples: SampleSpec[] = [0, 1, 2].map((timeNs) => ({ timeNs, stack: ['main'] }));
    expect(await foldedOf(samples, { weight: 'samples' })).toEqual(['app;main 3']);
    expect(await foldedOf(samples)).toEqual(['app;main 3000000']);
  });

  test('stacks of the same text are one line, whatever their addresses, threads and processes', async () => {
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

  test('kernel frames end in _[k], also those of modules; the vdso is user code', async () => {
    const built = buildProfile([
      { timeNs: 0, stack: ['main', { name: 'sys_read', dso: '[kernel.kallsyms]' }, { name: 'ext4_read', dso: '[ext4]' }] },
      { timeNs: 1, stack: [{ name: 'clock_gettime', dso: '[vdso]' }] },
    ]);
    const kinds = { '[ext4]': 'module', '[vdso]': 'vdso' } as const;
    const mappings = built.mappings.map((mapping) => ({ ...mapping, kind: kinds[mapping.name as keyof typeof kinds] ?? mapping.kind }));
    expect(await foldedText({ ...built, mappings })).toBe('app;clock_gettime 1000000\napp;main;sys_read_[k];ext4_read_[k] 1000000\n');
  });

  test('inlined functions are frames, the outermost first', async () => {
    const outer = { name: 'outer', inlined: [{ name: 'inner' }, { name: 'middle' }] };
    expect(await foldedOf([{ timeNs: 0, stack: ['main', outer, 'leaf'] }])).toEqual(['app;main;outer;middle;inner;leaf 1000000']);
  });

  test('an unresolved frame keeps address and DSO', async () => {
    const frame = { name: '', dso: '/lib/libfoo.so', unresolved: true, address: 0x4f2c1 };
    expect(await foldedOf([{ timeNs: 0, stack: ['main', frame] }])).toEqual(['app;main;0x4f2c1 (libfoo.so) 1000000']);
  });

  test('what would break a line is replaced; the rest of a name stays', async () => {
    const names = ['Foo;bar', 'operator()<int, char>(void (*)(int)) const', 'a\nb\tc'];
    expect(await foldedOf([{ timeNs: 0, comm: 'V8 Worker;1', stack: names }])).toEqual([
      'V8_Worker:1;Foo:bar;operator()<int, char>(void (*)(int)) const;a b c 1000000',
    ]);
  });

  test('a sample without a stack is its comm', async () => {
    expect(
      await foldedOf([
        { timeNs: 0, stack: [] },
        { timeNs: 1, stack: ['main'] },
      ]),
    ).toEqual(['app 1000000', 'app;main 1000000']);
  });

  test('sorted by comm and frames, not by time', async () => {
    const lines = await foldedOf([
      { timeNs: 0, comm: 'b', stack: ['z'] },
      { timeNs: 1, comm: 'a', stack: ['m', 'z'] },
      { timeNs: 2, comm: 'a', stack: ['m', 'a', 'x'] },
      { timeNs: 3, comm: 'a', stack: ['m'] },
      { timeNs: 4, comm: 'a', stack: ['a'] },
    ]);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['a;a', 'a;m', 'a;m;a;x', 'a;m;z', 'b;z']);
  });

  test('large weights are written in digits', async () => {
    expect(await foldedOf([{ timeNs: 0, period: 2 ** 80, stack: ['main'] }])).toEqual([`app;main ${2n ** 80n}`]);
  });
});

describe('several events', () => {
  const samples: SampleSpec[] = [
    { timeNs: 0, event: 'page-faults', period: 7, stack: ['fault'] },
    { timeNs: 1, event: 'cpu-clock', stack: ['run'] },
    { timeNs: 2, event: 'cpu-clock', stack: ['run'] },
  ];

  test('the one with most samples is written, and the others are told', async () => {
    const diagnostics = new Diagnostics();
    expect(await foldedOf(samples, { diagnostics })).toEqual(['app;run 2000000']);
    expect(diagnostics.list()).toEqual([
      expect.objectContaining({ code: 'folded-one-event', severity: 'warning', message: 'folded stacks hold one event, cpu-clock; left out: page-faults' }),
    ]);
  });

  test('or the one asked for, index 0 too', async () => {
    expect(await foldedOf(samples, { event: 0 })).toEqual(['app;fault 7']);
  });

  test('one event says nothing', async () => {
    const diagnostics = new Diagnostics();
    await foldedOf(samples.slice(1), { diagnostics });
    expect(diagnostics.list()).toEqual([]);
  });

  test('no samples is an error', async () => {
    await expect(foldedOf([])).rejects.toMatchObject({ name: 'PerfconvError', code: 'no-samples' });
    await expect(foldedOf(samples, { event: 2 })).rejects.toMatchObject({ code: 'no-samples' });
  });
});

/** The lines by the plainest way: text of each stack in a Map. */
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

test('any profile: every stack once with its whole weight, in order, the same each time', async () => {
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
    { numRuns: 150 },
  );
});
