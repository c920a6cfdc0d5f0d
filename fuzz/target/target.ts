import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { PerfconvError } from '../../src/base/problems/errors.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import { infoText } from '../../src/cli/printing/info-text.ts';
import { openFile, openStream } from '../../src/host/input/open-input.ts';
import { type ConvertOptions, convert } from '../../src/pipeline/convert.ts';
import { readRecordingInfo } from '../../src/pipeline/read-info.ts';
import { type ReadProfileOptions, type ReadProfileResult, readProfile } from '../../src/pipeline/read-profile.ts';
import { writeProfile } from '../../src/pipeline/write-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { dump } from '../../src/records/dump.ts';
import { DEFAULT_DEBUG_DIRS, Symbolizer } from '../../src/symbolizer/symbolizer.ts';
import { writeReport } from '../../src/writers/report/report.ts';
import { SCRIPT_FIELDS, type ScriptField } from '../../src/writers/script/field-requests.ts';
import { scriptDetailsOf } from '../../src/writers/script/fields.ts';
import { mergeProfiles } from '../../test/support/merge-profiles.ts';
import { projectRoot } from '../project-root.ts';
import { type InputFiles, isDirectory, SINGLE_FILE } from '../seeds/seed.ts';
import { CommandTimes } from './command-times.ts';
import { type Command, commandFault } from './commands.ts';
import { demanglingFault } from './demangle-check.ts';
import { pollution, resetAllocations, uncheckedAllocation } from './guards.ts';
import { type FileContent, NotedSymbolFiles, SYMFS } from './noted-symbol-files.ts';
import { lineFault, OUTPUT_CHECKS, type Output, type OutputCheck } from './output-checks.ts';
import { OutputSink } from './output-sink.ts';
import type { Plan } from './plan.ts';
import { totalsFault } from './totals-check.ts';

/** A failure found by a check; the message says what is wrong. */
export class Wrong extends Error {
  override readonly name = 'Wrong';
}

/** The result of reading one input. */
export interface Outcome {
  /** Number of samples read; −1 when the input was refused. */
  readonly samples: number;
  /** What went wrong: the stack of an error, or what is wrong with an output; undefined when nothing did. */
  readonly failure: Error | undefined;
  /** CPU time of the slowest command, per file that it reads. */
  readonly ms: number;
  /** Number of outputs that were too large to be checked. */
  readonly unread: number;
}

type Source = Parameters<typeof readProfile>[0];

/** Gives inputs to the library and checks what it does. Has a directory of its own, which {@link close} removes. */
export class Target {
  readonly #directory = mkdtempSync(join(tmpdir(), 'perfconv-fuzz-'));
  readonly #elf = readFileSync(join(projectRoot(), 'fixtures/symfs/opt/perfconv-fixtures/bin/syscalls'));

  readonly #isTimed: boolean;

  /** @param isTimed whether names that take too long to demangle are wrong: this depends on the clock, on which tests must not depend */
  constructor({ isTimed }: { readonly isTimed: boolean } = { isTimed: false }) {
    this.#isTimed = isTimed;
  }

  async run(files: InputFiles, plan: Plan): Promise<Outcome> {
    resetAllocations(plan.unpackedBytes);
    const work: Work = { times: new CommandTimes(), unread: 0 };
    let samples = -1;
    let failure: Error | undefined;
    try {
      samples = await this.#read(files, plan, work);
    } catch (error) {
      if (!(error instanceof PerfconvError)) failure = error instanceof Error ? error : new Wrong(`thrown, and no Error: ${String(error)}`);
    }
    const polluted = pollution();
    if (polluted !== undefined) failure = new Wrong(polluted);
    return { samples, failure: uncheckedAllocation() ?? failure, ms: work.times.slowestMs, unread: work.unread };
  }

  close(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #read(files: InputFiles, plan: Plan, work: Work): Promise<number> {
    if (plan.command !== undefined) return this.#runCommand(files, plan.command, work);
    const diagnostics = new Diagnostics();
    const content = this.#contentOf(files, plan);
    const symbolFiles = new NotedSymbolFiles(content);
    const options = optionsOf(plan, content, symbolFiles, diagnostics);
    const reading = {
      ...options,
      keepSamples: true,
      ...(plan.outputs.includes('script') && { keepDetails: detailsOf(plan), keepBranches: { totals: true, samples: 'places' as const } }),
    };
    const result = await work.times.reading(() => this.#withSource(files, plan, (source) => readProfile(source, reading, diagnostics)));
    if (plan.symbols === 'own') checkNames(files, this.#isTimed);
    if (plan.symbols === 'own') checkDepth(files, result.profile);
    if (symbolFiles.escape !== undefined) throw new Wrong(`a path leads out of --symfs: ${JSON.stringify(symbolFiles.escape)}`);
    for (const output of plan.outputs) {
      if (output === 'csv') await this.#withSource(files, plan, (source) => checkTables(source, options, result, work));
      else if (output === 'info') await this.#withSource(files, plan, (source) => checkInfo(source, plan, result, work));
      else if (output === 'records') await this.#withSource(files, plan, (source) => checkRecords(source, plan, result, work));
      else await checkOutput(output, result.profile, plan, work, diagnostics);
    }
    if (plan.totals !== undefined) await this.#checkTotals(files, plan, options, result);
    if (plan.isMerged) await checkMerged(result.profile, plan, work);
    // The memory limit of a stream follows from what was read so far, not from its size.
    if (plan.way === 'stream' && diagnostics.count('memory-limit') === 0) await this.#compareWays(files, plan, options, result);
    return result.session.sampleCount;
  }

  /** @returns 0: how many samples it reads is not known */
  async #runCommand(files: InputFiles, command: Command, { times }: Work): Promise<number> {
    const wrong = await times.whole(() => commandFault(command, files, join(this.#directory, 'command')));
    if (wrong !== undefined) throw new Wrong(wrong);
    return 0;
  }

  async #checkTotals(files: InputFiles, plan: Plan, options: ConvertOptions, { profile }: ReadProfileResult): Promise<void> {
    if (plan.totals === undefined) return;
    const tables = new Map<string, OutputSink>();
    const openTable = async (name: string): Promise<OutputSink> => {
      const sink = new OutputSink();
      if (name === 'processes.csv' || name === 'results.csv') tables.set(name, sink);
      return sink;
    };
    await this.#withSource(files, plan, (source) => convert(source, [{ format: 'csv', openTable }], options, new Diagnostics()));
    const wrong = await totalsFault(
      profile,
      plan.totals,
      new Map([...tables].flatMap(([name, sink]) => (sink.isTooLarge ? [] : [[name, sink.bytes() as Uint8Array]]))),
    );
    if (wrong !== undefined) throw new Wrong(`totals differ: ${wrong}`);
  }

  /** Every file is the same ELF file, or each is the one beside the recording with its name. */
  #contentOf(files: InputFiles, { symbols }: Plan): FileContent {
    if (symbols === 'elf') return () => this.#elf;
    return (path) => (symbols === 'own' ? files.get(path.slice(path.lastIndexOf('/') + 1)) : undefined);
  }

  async #withSource<Result>(files: InputFiles, { way, pieceBytes }: Plan, use: (source: Source) => Promise<Result>): Promise<Result> {
    if (way === 'memory') return use(sourceOf(files));
    const { source } = way === 'stream' ? await openStream(Readable.from(piecesOf(bytesOf(files), pieceBytes)), 'stream') : await openFile(this.#store(files));
    try {
      return await use(source);
    } finally {
      await source.close();
    }
  }

  /** Writes an input to the place of the one before. @returns the path of the file or directory */
  #store(files: InputFiles): string {
    if (!isDirectory(files)) {
      const path = join(this.#directory, SINGLE_FILE);
      writeFileSync(path, bytesOf(files));
      return path;
    }
    const path = join(this.#directory, 'perf.data.d');
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
    for (const [name, bytes] of files) writeFileSync(join(path, name), bytes);
    return path;
  }

  /** The same bytes hold the same samples, however they are read; but if they are damaged, it helps to know where they end. */
  async #compareWays(files: InputFiles, plan: Plan, options: ConvertOptions, streamed: ReadProfileResult): Promise<void> {
    const diagnostics = new Diagnostics();
    const whole = await this.#withSource(files, { ...plan, way: 'memory' }, (source) => readProfile(source, { ...options, keepSamples: true }, diagnostics));
    if (diagnostics.count('damaged') + diagnostics.count('memory-limit') > 0) return;
    const of = ({ session }: ReadProfileResult): string => `${session.sampleCount} samples in ${session.counts.total} records`;
    if (of(streamed) !== of(whole)) throw new Wrong(`a stream differs from the same bytes in memory: ${of(streamed)}, ${of(whole)}`);
  }
}

/** A stack has no more frames than the recording, which is not compressed, has words. */
function checkDepth(files: InputFiles, { stacks }: Profile): void {
  const most = (files.get(SINGLE_FILE)?.length ?? 0) / 4 + 64;
  const depths = new Uint32Array(stacks.size);
  for (let stack = 0; stack < stacks.size; stack++) {
    const parent = stacks.parent(stack);
    depths[stack] = (parent < 0 ? 0 : depths[parent]) + 1;
    if (depths[stack] > most) throw new Wrong(`a stack has more than ${most} frames`);
  }
}

function checkNames(files: InputFiles, isTimed: boolean): void {
  for (const [name, bytes] of files) {
    const wrong = name === SINGLE_FILE ? undefined : demanglingFault(bytes, isTimed);
    if (wrong !== undefined) throw new Wrong(wrong);
  }
}

function bytesOf(files: InputFiles): Uint8Array {
  return files.get(SINGLE_FILE) ?? new Uint8Array();
}

/** A directory in memory: `data`, with the other files as its parts. */
function sourceOf(files: InputFiles): Source {
  if (!isDirectory(files)) return new BufferSource(bytesOf(files));
  const { data = new Uint8Array(), ...others } = Object.fromEntries(files);
  return Object.assign(new BufferSource(data), { parts: Object.entries(others).map(([name, bytes]) => new BufferSource(bytes, name)) });
}

/** The details that script needs to print what the plan wants. */
function detailsOf({ hasAllFields }: Plan): NonNullable<ReadProfileOptions['keepDetails']> {
  return (event) => scriptDetailsOf(event, hasAllFields ? [{ fields: SCRIPT_FIELDS }] : []);
}

function optionsOf(plan: Plan, content: FileContent, symbolFiles: NotedSymbolFiles, diagnostics: Diagnostics): ConvertOptions {
  const { compatPerf, weight } = plan;
  const symbolizer = new Symbolizer(symbolFiles, { symfs: SYMFS, debugDirs: DEFAULT_DEBUG_DIRS, compatPerf }, diagnostics);
  return {
    compatPerf,
    weight,
    offCpuTimes: plan.hasOffCpuTimes,
    offCpu: plan.hasOffCpuTimes,
    ...(plan.symbols !== 'none' && { symbolizer, openJitDump: (path) => blockingSourceOf(content(path), path) }),
    ...(plan.hasFilter && { filter: { cpus: [0], times: [{ kind: 'clock', from: 3_000n, to: 5_000_000n }] } }),
  };
}

function blockingSourceOf(bytes: Uint8Array | undefined, name: string): ReturnType<NonNullable<ReadProfileOptions['openJitDump']>> {
  if (bytes === undefined) return undefined;
  const readNow = (position: number, target: Uint8Array): number => {
    const part = bytes.subarray(position, position + target.length);
    target.set(part);
    return part.length;
  };
  return { name, sizeBytes: bytes.length, readNow, close: () => {} };
}

/** How many pieces a stream of an input has at most. */
const MAX_PIECES = 100_000;

/** @param pieceBytes more for large inputs: what Node does for each piece would take most of the time that an input has */
function* piecesOf(bytes: Uint8Array, pieceBytes: number): Generator<Buffer> {
  const step = Math.max(pieceBytes, Math.ceil(bytes.length / MAX_PIECES));
  for (let at = 0; at < bytes.length; at += step) yield Buffer.from(bytes.subarray(at, at + step));
}

/** What is noted while an input is checked. */
interface Work {
  readonly times: CommandTimes;
  /** Number of outputs that were too large to be checked. */
  unread: number;
}

/** Writes an output and reads it again. */
async function checkOutput(
  output: Exclude<Output, 'csv' | 'info' | 'records'>,
  profile: Profile,
  plan: Plan,
  work: Work,
  diagnostics: Diagnostics,
): Promise<void> {
  const sink = new OutputSink();
  try {
    await work.times.rest(() => writeOutput(output, profile, plan, sink, diagnostics));
  } catch (error) {
    if (error instanceof PerfconvError) return;
    throw error;
  }
  await checkBytes(output, sink, work, (bytes) => OUTPUT_CHECKS[output](bytes, profile));
}

async function writeOutput(
  output: Exclude<Output, 'csv' | 'info' | 'records'>,
  profile: Profile,
  { weight, compatPerf, hasAllFields }: Plan,
  sink: OutputSink,
  diagnostics: Diagnostics,
): Promise<void> {
  if (output === 'report') await writeReport(profile, sink, { weight, children: compatPerf });
  else await writeProfile(output, profile, sink, { weight, ...(hasAllFields && { fields: [{ fields: fieldsOf(profile) }], ns: true }) }, diagnostics);
}

/** @param name of the output, for messages */
async function checkBytes(name: string, sink: OutputSink, work: Work, check: (bytes: Uint8Array) => ReturnType<OutputCheck>): Promise<void> {
  const bytes = sink.bytes();
  if (bytes === undefined) {
    work.unread++;
    return;
  }
  const wrong = await check(bytes);
  if (wrong !== undefined) throw new Wrong(`${name}: ${wrong}`);
}

/** A recording merged with itself has each sample twice. */
async function checkMerged(profile: Profile, plan: Plan, work: Work): Promise<void> {
  if (profile.totals.size === 0) return;
  const sink = new OutputSink();
  const merged = await work.times.rest(async () => {
    const both = mergeProfiles(['first', '__proto__'].map((label) => ({ profile, label })));
    await writeOutput('pprof', both, plan, sink, new Diagnostics());
    return both;
  }, 2);
  const countOf = ({ events }: Profile): number => events.reduce((sum, event) => sum + event.samples, 0);
  if (countOf(merged) !== 2 * countOf(profile)) throw new Wrong(`merging: ${countOf(merged)} samples of twice ${countOf(profile)}`);
  await checkBytes('merging', sink, work, (bytes) => OUTPUT_CHECKS.pprof(bytes, merged));
}

/**
 * All fields of script, except source lines, whose lines cannot be told from those of samples, and the time of day if it is unknown, since it is refused then.
 */
function fieldsOf({ meta }: Profile): readonly ScriptField[] {
  return SCRIPT_FIELDS.filter((field) => field !== 'srcline' && (field !== 'tod' || meta.wallClockOffsetNs !== undefined));
}

/** Checks what `perfconv info` tells, from a second reading without filters. */
async function checkInfo(source: Source, { compatPerf, hasAllFields }: Plan, { session }: ReadProfileResult, { times }: Work): Promise<void> {
  const settings = { anonymous: hasAllFields, modifiedNs: 1_700_000_000_000_000_000n };
  const info = await times.whole(() => readRecordingInfo(source, settings, new Diagnostics()));
  const { sampleCount, recordCount, events } = JSON.parse(JSON.stringify(info)) as { sampleCount: number; recordCount: number; events: readonly unknown[] };
  const found = `${sampleCount} samples, ${recordCount} records, ${events.length} events`;
  // Events made from switches are not in the recording.
  const recorded = session.events.filter(({ name }) => !name.startsWith('off-cpu:'));
  const expected = `${session.sampleCount} samples, ${session.counts.total} records, ${recorded.length} events`;
  // For simpleperf's recordings, perf takes a group's READ for several samples, which are one sample there.
  if (found !== expected && !compatPerf) throw new Wrong(`info: it tells of ${found}; the profile of ${expected}`);
  const wrong = lineFault(infoText(info, { verbose: hasAllFields, heading: (text) => text }));
  if (wrong !== undefined) throw new Wrong(`info: ${wrong}`);
}

/** Checks all records, one line each, as text or as JSON. */
async function checkRecords(source: Source, { hasAllFields: json }: Plan, { session }: ReadProfileResult, work: Work): Promise<void> {
  const sink = new OutputSink();
  await work.times.whole(() => dump(source, sink, { json }, new Diagnostics()));
  await checkBytes('records', sink, work, (bytes) => {
    const text = new TextDecoder().decode(bytes);
    const lines = text.split('\n').slice(0, -1);
    if (lines.length !== session.counts.total) return `there are ${lines.length}, the session counted ${session.counts.total}`;
    if (json) for (const line of lines) JSON.parse(line);
    return json ? undefined : lineFault(text);
  });
}

/** Checks CSV tables, from a second reading, since they show records that no profile keeps. */
async function checkTables(source: Source, options: ConvertOptions, { profile }: ReadProfileResult, work: Work): Promise<void> {
  const tables = new Map<string, OutputSink>();
  const openTable = async (name: string): Promise<OutputSink> => {
    const sink = new OutputSink();
    tables.set(name, sink);
    return sink;
  };
  await work.times.whole(() => convert(source, [{ format: 'csv', openTable }], options, new Diagnostics()));
  for (const [name, sink] of tables) await checkBytes(name, sink, work, (bytes) => OUTPUT_CHECKS.csv(bytes, profile));
}
