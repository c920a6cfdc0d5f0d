import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixtureFile, fixtureNames, fixtureSymbolArgs } from '../../support/fixture-files.ts';
import { announceSkipped, makeTempDir, removeTempDir, runTool, whyNoRecording } from '../../support/perf/perf-tool.ts';
import { recordVariant, variantFileName } from '../../support/perf/record-variant.ts';
import { ensureBuilt } from '../../support/programs/built-cli.ts';
import { convert } from '../../support/programs/perfconv-tool.ts';
import { buildWorkloads, whyNoCompiler } from '../../support/programs/workloads.ts';
import { variants } from '../variants.ts';

// OTLP profiles, read by OpenTelemetry's own decoder, which its Collector uses, against pprof profiles of the same recordings, read by pprof's.

const compareOtlp = fileURLToPath(new URL('../../../.tmp/bin/compare-otlp', import.meta.url));
const why = existsSync(compareOtlp) ? undefined : 'there is no .tmp/bin/compare-otlp (cd test/live/writers/compare-otlp && go build -o ../../../../.tmp/bin/)';
if (why !== undefined) announceSkipped('OTLP profiles in the decoder of OpenTelemetry', why);

/** Names in variants.ts. */
const FRESH = ['-g', '-g -a', 'three events -g', 'tracepoints -a', 'process tree'];

describe.skipIf(why !== undefined)('OTLP profiles have the samples of pprof profiles', () => {
  let directory = '';
  const whyNothingFresh = why ?? whyNoRecording() ?? whyNoCompiler();
  beforeAll(() => {
    ensureBuilt();
    directory = makeTempDir();
    if (whyNothingFresh === undefined) buildWorkloads(directory);
  });
  afterAll(() => removeTempDir(directory));

  function expectAlike(...args: readonly string[]): void {
    const [otlp, pprof] = ['otlp', 'pb'].map((ending) => join(directory, `compared.${ending}`));
    convert(['--labels', 'pid,tid,comm,thread,input', '-o', otlp, '-o', pprof, ...args]);
    expect(runTool(compareOtlp, [otlp, pprof])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^[1-9]\d* sums are equal\n$/) });
  }

  test.each(fixtureNames)('of the fixture %s', (name) => {
    expectAlike(...fixtureSymbolArgs, fixtureFile(name));
  });

  test('of merged recordings', () => {
    expectAlike(...fixtureSymbolArgs, fixtureFile('threads.data'), fixtureFile('events.data'));
  });

  describe.skipIf(whyNothingFresh !== undefined)('of fresh recordings', () => {
    test.for(FRESH)('%s', (name, { skip }) => {
      const variant = variants.find((candidate) => candidate.name === name);
      if (variant === undefined) throw new Error(`no variant ${name}`);
      const input = join(directory, variantFileName(variant));
      const problem = recordVariant(variant, input, directory);
      if (problem !== undefined) skip(problem);
      expectAlike(input);
    });
  });
});
