import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import type { RecordingInfo } from '../../src/info/recording-info.ts';
import { announceSkipped } from '../support/perf/perf-tool.ts';
import { expectDescribed, jsonOf } from '../support/readers/info-schema.ts';

const corpus = process.env.PERFCONV_CORPUS;
const hasCorpus = corpus !== undefined && existsSync(corpus);
if (!hasCorpus) announceSkipped('the schema of `perfconv info` on the corpus of published recordings', '$PERFCONV_CORPUS is not set');

describe.skipIf(!hasCorpus)('the schema of `perfconv info`', () => {
  it.each(hasCorpus ? readdirSync(join(corpus, 'files')).sort() : ['all of them'])('describes the published recording %s', async (name) => {
    const info = await jsonOf(readFileSync(join(corpus ?? '', 'files', name))).catch((error: unknown) => error);
    if (!(info instanceof PerfconvError)) expectDescribed(info as RecordingInfo);
  });
});
