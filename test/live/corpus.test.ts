import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSink } from '../../src/base/streams/byte-sink.ts';
import { writeProfile } from '../../src/pipeline/write-profile.ts';
import type { ScriptField } from '../../src/writers/script/field-requests.ts';
import { announceSkipped, runTool, whyNoPerf } from '../support/perf/perf-tool.ts';
import { decode } from '../support/readers/decode.ts';

// The samples of published recordings in the order in which perf delivers them. Needs perf and $PERFCONV_CORPUS.

const corpus = process.env.PERFCONV_CORPUS ?? '';
const isThere = corpus !== '' && existsSync(corpus);
const whyNot = isThere ? whyNoPerf() : '$PERFCONV_CORPUS is not set';
if (whyNot !== undefined) announceSkipped('the order of the published recordings against perf script', whyNot);

/** Which fields to ask for: perf refuses those that the samples do not have. */
const FIELD_SETS = ['comm,pid,tid,cpu,time,event,period', 'comm,pid,tid,time,event,period', 'comm,pid,tid,cpu,time,event', 'comm,pid,tid,time,event'] as const;

/** perf names the events of simpleperf's recordings by type and config; perfconv takes the names in the recording. */
const OTHER_EVENT_NAMES = /^simpleperf__(?!generated_by_linux_perf)/;

/**
 * The first line of each sample. perf prints callchains even if none of their fields is asked for, and `[-01]` for a
 * sample without a CPU if samples of another event have one.
 */
function heads(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('\t'));
  return lines.map((line) => line.trim().replace(/\s+/g, ' ').replace(' [-01] ', ' '));
}

/** What perf prints, without decoding hardware traces; undefined if it does not open the file. */
function perfScript(file: string): { readonly fields: string; readonly lines: readonly string[] } | undefined {
  const noSymbols = ['--symfs', '/nonexistent', '--kallsyms', '/dev/null', '--no-itrace'];
  for (const fields of FIELD_SETS) {
    const { status, stdout } = runTool('perf', ['script', '-f', '-i', file, ...noSymbols, '--ns', '-F', fields]);
    if (status === 0) return { fields, lines: heads(stdout) };
  }
  return undefined;
}

async function ourScript(file: string, fields: string): Promise<readonly string[]> {
  const { profile } = await decode(readFileSync(file), { compatPerf: true });
  const sink = new BufferSink();
  await writeProfile('script', profile, sink, { ns: true, fields: [{ fields: fields.split(',') as ScriptField[] }] }, new Diagnostics());
  return heads(sink.text());
}

/** Whether perf 6.1 may refuse a file: the corpus's inventory lists those that it opens, but not the twins, of which it opens most. */
function mayBeRefused(name: string): boolean {
  const [head, ...rows] = readFileSync(join(corpus, 'inventory.tsv'), 'utf8')
    .split('\n')
    .map((line) => line.split('\t'));
  return rows.find(([file]) => file === name)?.[head.indexOf('perf61_opens')] !== 'y';
}

describe.skipIf(whyNot !== undefined)('published recordings, perf script against perfconv', () => {
  const names = isThere ? readdirSync(join(corpus, 'files')).sort() : ['all of them'];

  test.each(names)('%s: samples come in the order in which perf delivers them', async (name) => {
    const file = join(corpus, 'files', name);
    const perf = perfScript(file);
    if (perf === undefined) return expect(mayBeRefused(name), 'perf refuses what it should open').toBe(true);
    const ours = await ourScript(file, perf.fields);
    const withoutEvent = (line: string): string => (OTHER_EVENT_NAMES.test(name) ? line.replace(/ \S+:$/, '') : line);
    const theirs = perf.lines;
    expect(ours.map(withoutEvent)).toEqual(theirs.map(withoutEvent));
  });
});
