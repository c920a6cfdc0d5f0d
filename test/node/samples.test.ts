import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type CallTree, mergeProfiles, openRecording, type Profile, type ProfileOptions, type ProfileSample } from '../../src/node.ts';
import { failure } from '../support/failure.ts';

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url));
const SYMBOLS = { symfs: join(fixtures, 'symfs'), kallsyms: join(fixtures, 'kallsyms') };
const RECORDINGS = readdirSync(fixtures).filter((name) => name.endsWith('.data'));
type Unknown = 'address' | 'function' | 'binary';

async function profileOf(name: string, options: ProfileOptions = {}): Promise<Profile> {
  return (await openRecording(join(fixtures, name))).profile({ ...SYMBOLS, ...options });
}

async function samplesOf(profile: Profile, unknown?: Unknown): Promise<ProfileSample[]> {
  const samples: ProfileSample[] = [];
  for await (const sample of profile.samples(unknown && { unknown })) samples.push(sample);
  return samples;
}

/** The names of a stack, root first. */
function namesOf({ leaf }: ProfileSample): string[] {
  const names: string[] = [];
  for (let frame = leaf; frame !== undefined; frame = frame.caller) names.unshift(frame.isInlined ? `${frame.function} (inlined)` : frame.function);
  return names;
}

/** By event and path from the root: the samples that ended there, and their periods. */
type SelfSums = Record<string, { samples: number; period: number }>;

function add(sums: SelfSums, key: string, samples: number, period: number): void {
  sums[key] ??= { samples: 0, period: 0 };
  sums[key].samples += samples;
  sums[key].period += period;
}

function sumsOfSamples(samples: readonly ProfileSample[]): SelfSums {
  const sums: SelfSums = {};
  for (const sample of samples) add(sums, `${sample.event}: ${namesOf(sample).join(';') || '[unknown]'}`, 1, sample.period);
  return sums;
}

function sumsOfTrees(trees: readonly CallTree[]): SelfSums {
  const sums: SelfSums = {};
  for (const { event, calls } of trees) {
    const paths: string[] = [];
    for (const [index, { function: name = '', isInlined, parent, selfSamples, selfPeriod }] of calls.entries()) {
      const shown = isInlined ? `${name} (inlined)` : name;
      paths[index] = parent < 0 ? shown : `${paths[parent]};${shown}`;
      if (selfSamples > 0) add(sums, `${event}: ${paths[index]}`, selfSamples, selfPeriod);
    }
  }
  return sums;
}

describe('the samples of a profile', () => {
  test.each(RECORDINGS)('add up to its call trees: %s', async (name) => {
    for (const unknown of ['binary', 'function', 'address'] as const) {
      const profile = await profileOf(name);
      expect(sumsOfSamples(await samplesOf(profile, unknown))).toEqual(sumsOfTrees(await profile.callTrees({ percentLimit: 0, unknown })));
    }
  });

  test('are those of the recording, in time order, also if it was read with them', async () => {
    const recording = await openRecording(join(fixtures, 'threads.data'));
    const recorded: unknown[] = [];
    for await (const record of recording.records({ types: ['SAMPLE'] })) {
      if (record.type === 'SAMPLE') recorded.push({ timeNs: record.time, cpu: record.cpu, pid: record.pid, tid: record.tid, period: Number(record.period) });
    }
    const byTime = (a: unknown, b: unknown): number => Number((a as ProfileSample).timeNs! - (b as ProfileSample).timeNs!);
    for (const formats of [['pprof'], ['parquet']] as const) {
      const samples = await samplesOf(await recording.profile({ formats }));
      expect(samples.map(({ timeNs, cpu, pid, tid, period }) => ({ timeNs, cpu, pid, tid, period }))).toEqual(recorded.toSorted(byTime));
      expect(new Set(samples.map(({ event, input }) => `${event} of ${input}`))).toEqual(new Set(['cpu-clock of threads.data']));
      expect(new Set(samples.map(({ comm }) => comm)).size).toBeGreaterThan(1);
    }
  });

  test('have frames with their binary, address and place in the source', async () => {
    const samples = await samplesOf(await profileOf('tree.data'));
    const linker = samples.map(({ leaf }) => leaf).find((leaf) => leaf?.function === 'strcmp');
    expect({ ...linker, caller: undefined }).toEqual({
      function: 'strcmp',
      hasName: true,
      isInlined: false,
      isKernel: false,
      dso: '/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2',
      buildId: '7ebc65e52f2bbea498b4040fa92f7238377aaba9',
      address: 143636n,
      file: 'sysdeps/x86_64/multiarch/strcmp-sse2.S',
      line: 1376,
      caller: undefined,
    });
    const kernel = samples.map(({ leaf }) => leaf).find((leaf) => leaf?.isKernel);
    expect(kernel).toMatchObject({ dso: '[kernel.kallsyms]', isInlined: false });
    // Without symbols, the binary's name stands for its functions.
    const bare = await samplesOf(await profileOf('tree.data', { symfs: join(fixtures, 'src') }));
    expect(bare.map(({ leaf }) => leaf).find((leaf) => leaf?.dso?.endsWith('/tree'))).toMatchObject({ function: '[tree]', hasName: false, file: undefined });
  });

  test('share the frames of equal calls', async () => {
    const samples = await samplesOf(await profileOf('tree.data'));
    const leaves = new Set(samples.map(({ leaf }) => leaf));
    const stacks = new Set(samples.map((sample) => `${namesOf(sample).join(';')} ${sample.leaf?.address}`));
    expect(leaves.size).toBeLessThan(samples.length);
    expect(leaves.size).toBeGreaterThanOrEqual(stacks.size);
    const roots = new Set(
      [...leaves].map((leaf) => {
        let root = leaf;
        while (root?.caller !== undefined) root = root.caller;
        return root;
      }),
    );
    expect(roots.size).toBeLessThan(leaves.size);
  });

  test('of merged recordings have the name of theirs', async () => {
    const profiles = [await profileOf('threads.data'), await profileOf('tree.data')];
    const merged = await samplesOf(await mergeProfiles(profiles, { labels: ['a', 'b'] }));
    const alone = await Promise.all(profiles.map((profile) => samplesOf(profile)));
    expect(merged.map(({ input }) => input)).toEqual(alone.flatMap((samples, index) => samples.map(() => 'ab'[index])));
    expect(merged.map(({ timeNs }) => timeNs)).toEqual(alone.flat().map(({ timeNs }) => timeNs));
  });

  test('of times off the CPU are among the others, with how long the thread waited', async () => {
    const profile = await profileOf('fields.data', { offCpu: true });
    const waits = (await samplesOf(profile)).filter(({ event }) => event === 'off-cpu:waiting');
    const event = profile.events.find(({ name }) => name === 'off-cpu:waiting');
    expect(waits.length).toBeGreaterThan(0);
    expect({ samples: waits.length, period: waits.reduce((sum, { period }) => sum + period, 0) }).toEqual({ samples: event?.samples, period: event?.period });
  });

  test('can be left before their end, and given up', async () => {
    const profile = await profileOf('threads.data');
    for await (const { event } of profile.samples()) {
      expect(event).toBe('cpu-clock');
      break;
    }
    const controller = new AbortController();
    const reason = new Error('enough');
    let count = 0;
    const iterate = async (): Promise<void> => {
      for await (const _ of profile.samples({ signal: controller.signal })) if (++count === 3) controller.abort(reason);
    };
    await expect(iterate()).rejects.toBe(reason);
    expect(count).toBe(3);
    expect((await samplesOf(profile)).length).toBe(profile.events[0].samples);
  });

  test('take no option that there is not', async () => {
    const profile = await profileOf('threads.data');
    expect(await failure(samplesOf(profile, 'no such' as Unknown))).toEqual(['usage', 'unknown no such: expected one of address, function, binary']);
  });
});
