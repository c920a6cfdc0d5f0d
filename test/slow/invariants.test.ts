import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { announceSkipped } from '../support/perf/perf-tool.ts';
import { describeInvariants } from '../support/truth/invariants.ts';

/** $PERFCONV_CORPUS names a folder with recordings that other projects published, in `files/`. */
const corpus = join(process.env.PERFCONV_CORPUS || '/nonexistent', 'files');
const isThere = existsSync(corpus);
if (!isThere) announceSkipped('invariants over the corpus of published recordings', '$PERFCONV_CORPUS is not set');
/** The only file there that is not a recording. */
const NOT_A_RECORDING = 'simpleperf__invalid_perf.data';
// Without the corpus, one entry takes the place of all, so that it is counted as skipped.
const names = isThere ? readdirSync(corpus).filter((name) => name !== NOT_A_RECORDING) : ['all of them'];

describe.skipIf(!isThere)('published recordings', () => describeInvariants(names.map((name) => [name, join(corpus, name)] as const)));
