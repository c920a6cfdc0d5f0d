import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureFile, fixtureNames, fixtureSymbolArgs } from '../../support/fixture-files.ts';
import { announceSkipped, makeTempDir, recordWithPerf, removeTempDir, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { findPprof, noPprof, runPprof } from '../../support/programs/pprof-tool.ts';
import { runMain } from '../../support/programs/run-main.ts';
import { type ReadPprof, readPprof } from '../../support/readers/read-pprof.ts';

const pprof = findPprof();
if (pprof === undefined) announceSkipped('comparing merged profiles with what pprof merges', noPprof);
const noRecording = whyNoRecording();
if (pprof !== undefined && noRecording !== undefined) announceSkipped('comparing merged fresh recordings with what pprof merges', noRecording);

let dir: string;
beforeAll(() => {
  dir = makeTempDir();
});
afterAll(() => removeTempDir(dir));

/** Values by stack (frames with their binaries, leaf first) and labels. */
function totals({ samples }: ReadPprof): Map<string, Map<string, bigint>> {
  const sums = new Map<string, Map<string, bigint>>();
  for (const { locations, labels, values } of samples) {
    const frames = locations.map(({ mapping, frames: lines }) => `${mapping} ${lines.join(' < ')}`);
    const key = [...frames, ...[...labels].map(([name, value]) => `${name}=${value}`).sort()].join('\n');
    const sum = sums.get(key) ?? new Map<string, bigint>();
    for (const [type, value] of values) sum.set(type, (sum.get(type) ?? 0n) + value);
    sums.set(key, sum);
  }
  return sums;
}

/** Compares one profile of all inputs with the profiles of each, merged by pprof. */
async function compareWithPprof(inputs: readonly string[], options: readonly string[]): Promise<void> {
  const convert = async (name: string, ...args: string[]): Promise<string> => {
    const { status, stderr } = await runMain(['-q', ...options, ...args, '-o', join(dir, name)]);
    expect([status, stderr]).toEqual([0, '']);
    return join(dir, name);
  };
  const merged = await convert('merged.pb.gz', ...inputs);
  const separate: string[] = [];
  for (const [index, input] of inputs.entries()) separate.push(await convert(`${index}.pb.gz`, input));
  const output = join(dir, 'pprof.pb.gz');
  runPprof(pprof ?? '', ['-proto', '-symbolize=none', `-output=${output}`, ...separate.slice(1)], separate[0], dir);
  const read = (file: string): ReadPprof => readPprof(gunzipSync(readFileSync(file)));
  const [ours, theirs] = [read(merged), read(output)];
  expect(ours.types).toEqual(theirs.types);
  expect(totals(ours)).toEqual(totals(theirs));
  const { timeNanos, durationNanos, period } = theirs.message;
  expect(ours.message).toMatchObject({ timeNanos, durationNanos, period });
  expect([ours.periodType, ours.defaultType, [...ours.comments].sort()]).toEqual([theirs.periodType, theirs.defaultType, [...theirs.comments].sort()]);
  expect(new Set(ours.mappings.map(({ name, buildId }) => `${name} ${buildId}`))).toEqual(
    new Set(theirs.mappings.map(({ name, buildId }) => `${name} ${buildId}`)),
  );
}

describe.skipIf(pprof === undefined)('a merged profile is the same as merged by pprof', () => {
  const clocks = fixtureNames.filter((name) => ['plain', 'pipe', 'threads', 'tree'].some((wanted) => name.startsWith(wanted)));

  test('of fixtures', async () => {
    expect(clocks.length).toBe(4);
    // pprof keeps only the columns that all profiles have; a merged profile has all events.
    await compareWithPprof(clocks.map(fixtureFile), ['--labels', 'pid,comm', '--event', 'cpu-clock', ...fixtureSymbolArgs]);
  });

  test.skipIf(noRecording !== undefined).each([
    ['-g', ['-e', 'cpu-clock', '-F', '2000', '-g'], ['--labels', 'none']],
    // Page faults are few: the event with the most samples, whose columns have names of their own, is the same in all recordings.
    ['two events', ['-e', 'cpu-clock/freq=2000/,page-faults/period=100/', '-g'], ['--labels', 'comm']],
  ])('of fresh recordings: %s', async (_name, events, options) => {
    const inputs = ['one.data', 'two.data', 'three.data'].map((name, index) => {
      const file = join(dir, name);
      const loop = ['sh', '-c', `i=0; while [ $i -lt ${30_000 * (index + 1)} ]; do i=$((i+1)); done; ls -lR /usr/lib > /dev/null`];
      recordWithPerf([...events, '-o', file, ...loop]);
      return file;
    });
    await compareWithPprof(inputs, options);
  });
});
