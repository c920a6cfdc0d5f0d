import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../../src/base/problems/errors.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import type { RecordingInfo } from '../../../src/info/recording-info.ts';
import { readRecordingInfo } from '../../../src/pipeline/read-info.ts';
import { fixtureFile, fixtureNames } from '../../support/fixture-files.ts';
import { attrText, headerLines } from '../../support/perf/perf-header-text.ts';
import { announceSkipped, makeTempDir, recordWithPerf, removeTempDir, runTool, whyNoPerf, whyNoRecording } from '../../support/perf/perf-tool.ts';

// `perfconv info` against `perf report --header-only -I`, `perf evlist -v`, `perf evlist -g` and `perf report --stats` of perf 6.1:
// every line that perf prints is rebuilt from perfconv's output, and the two are compared.

/** Lines that only one side has, and why. Files are given by a pattern; a test also fails if a line that is listed here is missing. */
const KNOWN_DIFFERENCES: readonly { readonly file: RegExp; readonly perf?: RegExp; readonly perfconv?: RegExp; readonly why: string }[] = [
  {
    file: /^autofdo__ro_sample/,
    perf: /^# Core ID and Socket ID information is not available$/,
    perfconv: /^# CPU \d+: Core ID \d+, Socket ID \d$/,
    why: 'the ids are there; perf takes strings to be padded to 64 bytes, which the tool that wrote this file does not do, and so believes the section to end before them',
  },
  {
    file: /^be__quipper__perf\.data\.lost_samples/,
    perf: /^# event : .*precise_ip = 2/,
    perfconv: /^# event : .*precise_ip = 1/,
    why: "a field of two bits has its higher bit first on a big-endian machine; perf swaps the flags bit by bit and reads it the other way round. This file was made to be read by perf's rule",
  },
  {
    file: /^cros__/,
    perf: /^Too big: nr /,
    perfconv: /^# /,
    why: "perf 6.1 stops at this dialect's records, whose numbers it gave to others; the header's values stand in them",
  },
];

/** Attrs that perf prints differently, and why. */
const DIFFERENT_ATTRS: readonly { readonly file: RegExp; readonly why: string }[] = [
  { file: /^be__quipper__perf\.data\.lost_samples/, why: 'precise_ip, as above' },
  { file: /piped\.(target|extrabyte)/, why: 'behind an attr of 80 bytes in a pipe stand its ids: perf 6.1 takes them for registers, stack sizes and clocks' },
];

/** Lines without a counterpart: borders, information from the file system, missing features. */
const NOT_COMPARED =
  /^(# =+|#|# captured on +: .*|# header version : [01]|# missing features: .*|# bpf_prog_info empty|# btf info empty|# AMD systems .*|# event desc: not available.*)?$/;

async function infoOf(file: string): Promise<RecordingInfo> {
  return readRecordingInfo(new BufferSource(readFileSync(file), file), {}, new Diagnostics());
}

/** What perf prints; undefined if it refuses the file. */
function perf(...args: readonly string[]): string | undefined {
  const { stdout } = runTool('perf', args, { env: { TZ: 'UTC' } });
  // For a file that it refuses, it may still print lines with nothing in them.
  return stdout.includes(': (null)') || stdout.trim() === '' ? undefined : stdout;
}

/** Lines that only one of the two has. */
function difference(theirs: readonly string[], ours: readonly string[]): { perf: string[]; perfconv: string[] } {
  const without = (lines: readonly string[], others: readonly string[]): string[] => {
    const left = [...others];
    return lines.filter((line) => {
      const at = left.indexOf(line);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
  };
  return { perf: without(theirs, ours), perfconv: without(ours, theirs) };
}

function perfHeaderLines(text: string, info: RecordingInfo): string[] {
  const lines = text.split('\n').map((line) => line.trimEnd());
  // perf says 0 for what a pipe does not have.
  return lines.filter((line) => !NOT_COMPARED.test(line) && !(info.mode === 'pipe' && /^# (data|feat) (offset|size) +: 0$/.test(line)));
}

async function compareHeader(file: string, name: string): Promise<void> {
  const text = perf('report', '-f', '--header-only', '-I', '-i', file);
  if (text === undefined) return;
  const info = await infoOf(file);
  const found = difference(perfHeaderLines(text, info), headerLines(info));
  const known = KNOWN_DIFFERENCES.filter((each) => each.file.test(name));
  for (const side of ['perf', 'perfconv'] as const) {
    expect(
      found[side].filter((line) => !known.some((each) => each[side]?.test(line))),
      side,
    ).toEqual([]);
    for (const each of known)
      expect(
        found[side].some((line) => each[side]?.test(line)),
        `${side}: ${each.why}`,
      ).toBe(each[side] !== undefined);
  }
}

/** Names and attrs of `perf evlist -v`. */
async function compareEvents(file: string): Promise<void> {
  const text = perf('evlist', '-f', '-v', '-i', file);
  if (text === undefined) return;
  const { events, host, perfVersion } = await infoOf(file);
  const ours = events.map(({ attr }) => attrText(attr, ': ').replace(/^, /, ''));
  const theirs = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/^.*?: (?=type: |size: )/, ''));
  expect(ours, `${host.osRelease} ${perfVersion}`).toEqual(theirs);
}

/** Counts of `perf report --stats`. */
async function compareRecords(file: string): Promise<void> {
  const aggregated = perf('report', '-f', '--stats', '-i', file)?.split(/^\S.* stats:$/m)[1] ?? '';
  const theirs = Object.fromEntries([...aggregated.matchAll(/^ +(\w+) events: +(\d+)/gm)].map(([, type, count]) => [type, Number(count)]));
  // perf does not count the records of a file that it refuses.
  if (theirs.TOTAL === undefined) return;
  const { records, recordCount } = await infoOf(file);
  expect({ TOTAL: recordCount, ...records }).toEqual(theirs);
}

const whyNot = whyNoPerf();
if (whyNot !== undefined) announceSkipped('the comparison of `perfconv info` with perf', whyNot);
const corpus = process.env.PERFCONV_CORPUS;
const hasCorpus = corpus !== undefined && existsSync(corpus);
if (!hasCorpus) announceSkipped('`perfconv info` on the corpus of published recordings', '$PERFCONV_CORPUS is not set');

describe.skipIf(whyNot !== undefined)('`perfconv info` on a fixture', () => {
  it.each(fixtureNames)('%s: has the header that perf shows', (name) => compareHeader(fixtureFile(name), name));
  it.each(fixtureNames)('%s: has the attrs that perf shows', (name) => compareEvents(fixtureFile(name)));
  it.each(fixtureNames)('%s: has as many records of each type as perf counts', (name) => compareRecords(fixtureFile(name)));
});

describe.skipIf(whyNot !== undefined || !hasCorpus)('`perfconv info` on a published recording', () => {
  const names = hasCorpus ? readdirSync(join(corpus, 'files')).sort() : ['all of them'];
  const files = names.map((name) => [name, join(corpus ?? '', 'files', name)] as const);

  it.each(files)('%s: has the header that perf shows', async (name, file) => compareHeader(file, name));

  it.each(files)('%s: has the attrs that perf shows', async (name, file) => {
    if (DIFFERENT_ATTRS.some((each) => each.file.test(name))) return;
    await compareEvents(file).catch((error: unknown) => {
      if (!(error instanceof PerfconvError)) throw error;
    });
  });

  it.each(files)('%s: has as many records of each type as perf counts', async (name, file) => {
    // perf stops in the first, whose records it does not know, and decodes the trace of the second instead of counting.
    if (/^cros__|intel_pt/.test(name)) return;
    await compareRecords(file);
  });
});

const whyNotRecorded = whyNot ?? whyNoRecording();
if (whyNotRecorded !== undefined) announceSkipped('`perfconv info` on fresh recordings', whyNotRecorded);

describe.skipIf(whyNotRecorded !== undefined)('`perfconv info` on a fresh recording', () => {
  const dir = makeTempDir();
  afterAll(() => removeTempDir(dir));

  test.each([
    ['a clock of its own', ['-a', '-g', '-k', 'CLOCK_MONOTONIC', '-e', 'cpu-clock']],
    ['the wall clock', ['-k', 'CLOCK_REALTIME', '-e', 'cpu-clock,page-faults']],
    ['a group', ['-e', '{cpu-clock,page-faults}:S']],
    ['compressed', ['-z', '-a', '-e', 'cpu-clock']],
    ['all kinds of fields', ['-d', '--phys-data', '-W', '--user-regs=ip,sp', '--intr-regs=ip', '--switch-events', '--all-cgroups', '-e', 'cpu-clock']],
    ['dwarf', ['--call-graph', 'dwarf,4096', '-e', 'cpu-clock']],
    ['words that need quotes', ['-e', 'cpu-clock', '--', 'sh', '-c', 'echo \'a  b\' "c" > /dev/null']],
  ])('is what perf shows: %s', compareFresh);

  // Virtual machines may have no breakpoints, and other programs may use all of them.
  const breakpoint = ['-e', 'mem:0x1000:rw'];
  const whyNoBreakpoint = whyNotRecorded ?? whyNoRecording(breakpoint);
  if (whyNotRecorded === undefined && whyNoBreakpoint !== undefined) announceSkipped('`perfconv info` on a breakpoint', whyNoBreakpoint);
  test.skipIf(whyNoBreakpoint !== undefined)('is what perf shows: a breakpoint', () => compareFresh('a breakpoint', breakpoint));

  async function compareFresh(name: string, args: readonly string[]): Promise<void> {
    const file = join(dir, `${name}.data`);
    const command = args.includes('--') ? [] : ['--', 'sh', '-c', 'find /usr/bin > /dev/null'];
    const { stderr } = recordWithPerf(['-o', file, ...args, ...command]);
    expect(stderr).not.toContain('failed');
    await compareHeader(file, name);
    await compareEvents(file);
    const groups = perf('evlist', '-g', '-i', file)?.match(/^\{.*\}$/gm) ?? [];
    expect((await infoOf(file)).groups?.map(({ events }) => `{${events.join(',')}}`) ?? []).toEqual(groups);
  }
});
