import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { convert } from '../../src/pipeline/convert.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { writeFirefox } from '../../src/writers/firefox/firefox.ts';
import { busySystem, database } from '../support/browsers/viewer-profiles.ts';
import { buildProfile } from '../support/builders/profiles/build-profile.ts';
import { controlNames } from '../support/builders/recordings/control-names.ts';
import { encodeFile } from '../support/builders/recordings/perf-encoder.ts';
import { fixtureFile, fixtureNames } from '../support/fixture-files.ts';
import { announceSkipped } from '../support/perf/perf-tool.ts';
import { readFirefox } from '../support/readers/read-firefox.ts';

/**
 * $PERFCONV_FIREFOX_IMPORTER names a module that exports `unserializeProfileOfArbitraryFormat` of Firefox Profiler
 * (src/profile-logic/process-profile.ts), which is on no registry.
 */
const importer = process.env.PERFCONV_FIREFOX_IMPORTER ?? '';
const isThere = existsSync(importer);
if (!isThere) announceSkipped("Firefox Profiler's own importer", '$PERFCONV_FIREFOX_IMPORTER names no module');

/** The parts of a profile read by the importer that are checked. */
interface Imported {
  readonly meta: { readonly preprocessedProfileVersion: number };
  readonly shared: { readonly stackTable: { readonly length: number } };
  readonly threads: readonly {
    readonly name: string;
    readonly samples: {
      readonly length: number;
      readonly stack: readonly (number | null)[];
      readonly weight: readonly number[] | null;
      readonly weightType: string;
    };
    readonly markers: { readonly length: number };
  }[];
}

type Unserialize = (bytes: Uint8Array) => Promise<Imported>;

let unserialize: Unserialize;

/**
 * Reads an output with the importer, which reports on the console what it stumbles over, and compares it with what this
 * project's own reader finds.
 */
async function expectRead(bytes: Uint8Array): Promise<void> {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {});
  const warnings = vi.spyOn(console, 'warn').mockImplementation(() => {});
  try {
    const own = readFirefox(bytes);
    const imported = await unserialize(Uint8Array.from(bytes));
    expect([errors.mock.calls, warnings.mock.calls]).toEqual([[], []]);
    expect(imported.meta.preprocessedProfileVersion).toBeGreaterThanOrEqual(own.document.meta.preprocessedProfileVersion);
    expect(imported.shared.stackTable.length).toBe(own.document.shared.stackTable.length);
    const weightOf = ({ length, stack, weight }: Imported['threads'][number]['samples']): number => {
      let sum = 0;
      for (let row = 0; row < length; row++) if (stack[row] !== null) sum += weight === null ? 1 : weight[row];
      return sum;
    };
    const expected = own.threads.map(({ samples, thread, markers }) => {
      const sum = Number(samples.reduce((total, { period }) => total + period, 0n));
      return [thread.name, thread.samples.weightType === 'tracing-ms' ? sum / 1e6 : sum, markers.length] as const;
    });
    expect(imported.threads.map(({ name, markers }) => [name, markers.length])).toEqual(expected.map(([name, , markers]) => [name, markers]));
    for (const [index, { samples }] of imported.threads.entries()) expect(weightOf(samples)).toBeCloseTo(expected[index][1], 3);
  } finally {
    errors.mockRestore();
    warnings.mockRestore();
  }
}

async function converted(recording: Uint8Array): Promise<Uint8Array> {
  const sink = new BufferSink();
  await convert(new BufferSource(recording), [{ format: 'firefox', sink }], {}, new Diagnostics());
  return sink.bytes();
}

async function written(profile: Profile, maxExactSamples?: number): Promise<Uint8Array> {
  const sink = new BufferSink();
  await writeFirefox(profile, sink, { weight: 'period', exporter: 'perfconv@test', ...(maxExactSamples !== undefined && { maxExactSamples }) });
  return sink.bytes();
}

describe.skipIf(!isThere)("Firefox Profiler's own importer", () => {
  beforeAll(async () => {
    const module = (await import(pathToFileURL(importer).href)) as { unserializeProfileOfArbitraryFormat: Unserialize };
    unserialize = module.unserializeProfileOfArbitraryFormat;
  });

  it.each(fixtureNames)('reads the fixture %s', async (name) => expectRead(await converted(readFileSync(fixtureFile(name)))));

  it('reads names with control characters', async () => expectRead(await converted(encodeFile(controlNames()))));

  it('reads several processes and events', async () => expectRead(await written(buildProfile(database()))));

  it('reads a file that was made smaller', async () => expectRead(await written(buildProfile(busySystem(100_000, 40)), 1000)));
});
