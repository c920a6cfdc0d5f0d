import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { readRecords } from '../../../src/records/read-records.ts';
import { announceSkipped, runTool, whyNoPerf } from '../../support/perf/perf-tool.ts';
import { convert } from '../../support/programs/perfconv-tool.ts';

// User stacks recorded as branches, in published recordings, since few machines can record them. Needs perf and $PERFCONV_CORPUS.

const corpus = process.env.PERFCONV_CORPUS ?? '';
const whyNot = corpus !== '' && existsSync(corpus) ? whyNoPerf() : '$PERFCONV_CORPUS is not set';
if (whyNot !== undefined) announceSkipped('user stacks recorded as branches against perf script', whyNot);

/** The addresses of each sample's stack. */
function stacks(text: string): string[] {
  return text
    .trimEnd()
    .split(/\n\n/)
    .map((sample) => sample.split('\n').slice(1).join('\n'));
}

/** Whether each sample has branches. */
async function branchesOf(file: string): Promise<boolean[]> {
  const found: boolean[] = [];
  for await (const one of readRecords(new BufferSource(readFileSync(file)), new Diagnostics())) {
    if (one.type === 'SAMPLE') found.push((one.branchStack?.entries.length ?? 0) > 0);
  }
  return found;
}

describe('user stacks recorded as branches', () => {
  const names = whyNot === undefined ? readdirSync(join(corpus, 'files')).filter((name) => /lbr/.test(name)) : ['all of them'];
  test.for(names)('are those of perf script: %s', async (name, { skip }) => {
    if (whyNot !== undefined) skip(whyNot);
    const file = join(corpus, 'files', name);
    const own = stacks(convert([file, '-t', 'script', '--compat', 'perf', '-F', 'time,ip', '-o', '-']).stdout);
    const perf = stacks(runTool('perf', ['script', '-f', '-i', file, '-F', 'time,ip']).stdout);
    const hasBranches = await branchesOf(file);
    expect(own.length).toBe(perf.length);
    // Without branches, perf takes the bytes after the record for the leaf.
    const isJoined = (_: string, i: number): boolean => hasBranches[i];
    expect(hasBranches.filter(Boolean).length).toBeGreaterThan(10);
    expect(own.filter(isJoined)).toEqual(perf.filter(isJoined));
  });
});
