import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { FORMATS } from '../../src/pipeline/formats.ts';
import { type WriteOptions, writeProfile } from '../../src/pipeline/write-profile.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';

const forgetful = { async write(): Promise<void> {} };

async function findings(format: 'speedscope' | 'chrome', names: readonly string[], options: WriteOptions = {}): Promise<Diagnostics> {
  const profile = buildProfile(names.map((name, i) => ({ timeNs: i * 1_000_000, stack: ['main', name] })));
  const diagnostics = new Diagnostics();
  await writeProfile(format, profile, forgetful, options, diagnostics);
  return diagnostics;
}

test('every format except csv, which is not a stream, is written', async () => {
  for (const format of FORMATS) {
    const sink = new BufferSink();
    const written = writeProfile(format as 'pprof', buildProfile([{ timeNs: 0, stack: ['main'] }]), sink, {}, new Diagnostics());
    if (format === 'csv') await expect(written).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('cannot write csv, only pprof') });
    else expect(await written.then(() => sink.bytes().length)).toBeGreaterThan(0);
  }
  const unknown = writeProfile('toString' as 'pprof', buildProfile([]), new BufferSink(), {}, new Diagnostics());
  await expect(unknown).rejects.toMatchObject({ name: 'PerfconvError', code: 'usage' });
});

describe('findings include', () => {
  test('speedscope: names that were hidden from the demangler in its page', async () => {
    expect((await findings('speedscope', ['_Z4work'])).count('shielded-names')).toBe(0);
    const many = Array.from({ length: 2000 }, (_, i) => `_ZN4work${String(i).padStart(5, '0')}Ev`);
    expect((await findings('speedscope', many)).list().find(({ code }) => code === 'shielded-names')).toMatchObject({ severity: 'info', count: 1 });
  });

  test.each(['speedscope', 'chrome'] as const)('%s: samples without a CPU if they are grouped by CPU', async (format) => {
    const found = async (cpus: readonly number[], group: WriteOptions['group']): Promise<string[]> => {
      const diagnostics = new Diagnostics();
      const profile = buildProfile(cpus.map((cpu, i) => ({ timeNs: i * 1_000_000, cpu, stack: ['main'] })));
      await writeProfile(format, profile, forgetful, { ...(group !== undefined && { group }) }, diagnostics);
      return diagnostics.list().map(({ code, count, message }) => `${code} ${count}: ${message}`);
    };
    expect(await found([0, 1], 'cpu')).toEqual([]);
    expect(await found([-1, -1, -1], 'process')).toEqual([]);
    expect(await found([-1, -1, -1], 'cpu')).toEqual([
      'unknown-cpu 1: the samples carry no CPU and form a single group, unknown CPU: perf records the CPU with -a or --sample-cpu',
    ]);
    expect(await found([-1, 0, -1], 'cpu')).toEqual([
      'unknown-cpu 2: some samples carry no CPU and form a group of their own, unknown CPU: perf records the CPU with -a or --sample-cpu',
    ]);
  });

  test('samples without times or a CPU once, however many outputs show them', async () => {
    const profile = buildProfile([0, 1, 2].map(() => ({ timeNs: Number.NaN, cpu: -1, stack: ['main'] })));
    const diagnostics = new Diagnostics();
    for (const format of ['speedscope', 'chrome', 'chrome', 'cpuprofile', 'firefox'] as const)
      await writeProfile(format, profile, forgetful, { group: 'cpu' }, diagnostics);
    const found = diagnostics.list().map(({ code, count, message }) => `${code} ${count}: ${message.split(':')[0]}`);
    expect(found).toEqual([
      'unknown-cpu 1: the samples carry no CPU and form a single group, unknown CPU',
      'chrome-untimed 3: samples carry no time',
      'cpuprofile-untimed 3: samples carry no time',
      'firefox-untimed 3: samples carry no time',
    ]);
    const places = diagnostics.list().flatMap(({ message }) => /carry no time: in (.*) they follow/.exec(message)?.[1] ?? []);
    expect(places).toEqual(['the trace', 'the CPU profile', 'Firefox Profiler']);
  });

  test('chrome: a trace that is too large for DevTools', async () => {
    expect((await findings('chrome', ['work'], { chromeStyle: 'events' })).count('chrome-too-large')).toBe(0);
    // With alternating names, each sample is a separate bar with a name of one megabyte.
    const names = ['a', 'b'].map((letter) => letter.repeat(1 << 20));
    const diagnostics = await findings(
      'chrome',
      Array.from({ length: 520 }, (_, i) => names[i % 2]),
      { chromeStyle: 'events' },
    );
    expect(diagnostics.list().find(({ code }) => code === 'chrome-too-large')).toMatchObject({
      severity: 'warning',
      message: expect.stringMatching(/the trace has \d{3,4} MB, .*{ chromeStyle: 'profile' }, option time or option event/),
    });
  });
});
