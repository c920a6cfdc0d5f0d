import { checkOptions } from '../base/problems/check-options.ts';
import type { Diagnostic as Finding } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import { BufferSink, type ByteSink } from '../base/streams/byte-sink.ts';
import { type AbortSignalLike, cancellable } from '../base/streams/cancellation.ts';
import { isWebWritable, WebSink, type WebWritableLike } from '../base/streams/web-sink.ts';
import { EXPORTER } from '../base/version.ts';
import { formatNaming, likePerf } from '../pipeline/convert.ts';
import { FORMATS, type Format, isGzipped, type StreamFormat } from '../pipeline/formats.ts';
import { requireMergeable } from '../pipeline/merge-recordings.ts';
import type { ReadingNeeds } from '../pipeline/reading-needs.ts';
import { type WriteOptions as FormatOptions, writeProfile } from '../pipeline/write-profile.ts';
import { MergedTables, type OpenTable, writeTables } from '../pipeline/write-tables.ts';
import type { Profile as ProfileTables } from '../profile/profile.ts';
import { type BinarySymbols, binarySymbols } from './binaries.ts';
import type { CallTree, CallTreeOptions } from './call-trees.ts';
import type { DecodedRecordings } from './decoded-recordings.ts';
import type { DiffOptions, ProfileDiff } from './diff.ts';
import type { Findings } from './findings.ts';
import { formatOptions, WRITE_CHECKS, type WriteOptions } from './options.ts';
import type { Compressor } from './platform.ts';
import { type ProfileEvent, shownEvent } from './profile-event.ts';
import type { ProfilePart } from './profile-part.ts';
import { REPORT_CHECKS, type ReportOptions, type ReportTable, reportTables } from './report.ts';
import type { ProfileSample, SamplesOptions } from './samples.ts';

/** A decoded recording with names: what the formats are written from. */
export interface Profile {
  readonly events: readonly ProfileEvent[];
  /** What was found of each binary's symbols, as `--explain-symbols` reports it; the most sampled binary first. For merged profiles, one recording's after the other's. */
  readonly binaries: readonly BinarySymbols[];
  /** What was damaged, missing or lost when the recording was read and written: each kind once. */
  readonly findings: readonly Finding[];
  /**
   * The bytes of a format, as the command line writes them to standard output: pprof is compressed unless `gzip` is false.
   * @throws PerfconvError `no-samples`; `unsupported`, `usage` for what the format cannot show
   */
  toBytes(format: Exclude<Format, 'csv'>, options?: WriteOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** readperf's four CSV tables, by their file names; and `branches.csv` if branches were recorded. */
  toTables(options?: WriteOptions): Promise<Record<string, Uint8Array<ArrayBuffer>>>;
  /**
   * Writes what {@link toBytes} returns into a web stream, piece by piece, as it is made. The stream is not closed.
   * @throws PerfconvError `no-samples`; `unsupported`, `usage` for what the format cannot show and for a stream that somebody else writes; `io` when the stream
   *   fails
   */
  write(format: Exclude<Format, 'csv'>, output: WebWritableLike, options?: WriteOptions): Promise<void>;
  /**
   * Function statistics: a table for each event with samples. They equal those of `perfconv report` if the profile was read with
   * `{ lines: false, demangle: 'no-params' }`, and those of `perfconv report --compat perf` if it was read with `{ compat: 'perf' }`, for which it is read
   * again.
   * @throws PerfconvError `no-samples`; `usage` for an empty list of sort keys
   */
  report(options?: ReportOptions): Promise<readonly ReportTable[]>;
  /**
   * The calls of each event with samples as a tree, root first. They equal those of `perfconv report --tree` if the profile was read with
   * `{ demangle: 'no-params' }`.
   * @throws PerfconvError `no-samples`; `usage` for unknown options and values
   */
  callTrees(options?: CallTreeOptions): Promise<readonly CallTree[]>;
  /**
   * The single samples, one after the other: in time order if they have times, else in file order; those of merged recordings, one recording's after the
   * other's. The recording is read again, unless the profile was read for `parquet` or another format that shows single samples.
   * @throws PerfconvError `no-samples`; `usage` for unknown options and values; while it is iterated
   */
  samples(options?: SamplesOptions): AsyncIterableIterator<ProfileSample>;
  /**
   * What became slower and faster from this profile (`base`) to another (`new`). It equals `perfconv diff` if both were read with
   * `{ lines: false, demangle: 'no-params' }`. Each may be merged from several recordings.
   * @throws PerfconvError `no-samples` if one has none, or they have no event in common; `usage` for anything but a profile, an empty list of sort keys, and
   *   unknown options and values
   */
  diff(next: Profile, options?: DiffOptions): Promise<ProfileDiff>;
}

/** A profile of one recording, or of several. */
export class DecodedProfile implements Profile {
  readonly events: readonly ProfileEvent[];
  readonly #recordings: DecodedRecordings;
  readonly #gzip: (target: ByteSink) => Compressor;

  constructor(recordings: DecodedRecordings, gzip: (target: ByteSink) => Compressor) {
    this.#recordings = recordings;
    this.#gzip = gzip;
    this.events = recordings.profile.events.map(shownEvent);
  }

  get parts(): readonly ProfilePart[] {
    return this.#recordings.parts;
  }

  get #findings(): Findings {
    return this.#recordings.findings;
  }

  get findings(): readonly Finding[] {
    return this.#findings.list();
  }

  get binaries(): readonly BinarySymbols[] {
    return this.parts.flatMap(({ dsos }) => binarySymbols(dsos, this.#findings.option));
  }

  async toBytes(format: StreamFormat, options: WriteOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const sink = new BufferSink();
    await this.writeTo(format, sink, '-', options);
    return sink.bytes();
  }

  async write(format: StreamFormat, output: WebWritableLike, options: WriteOptions = {}): Promise<void> {
    // Not every caller has its types checked by a compiler.
    if (!isWebWritable(output)) throw new PerfconvError('usage', 'a format is written to a WritableStream');
    const sink = new WebSink(output, 'output');
    try {
      await this.writeToStream(format, sink, options);
    } finally {
      sink.release();
    }
  }

  async toTables(options: WriteOptions = {}): Promise<Record<string, Uint8Array<ArrayBuffer>>> {
    const sinks = new Map<string, BufferSink>();
    await this.writeTablesTo(async (name) => {
      const sink = new BufferSink();
      sinks.set(name, sink);
      return sink;
    }, options);
    return Object.fromEntries([...sinks].map(([name, sink]) => [name, sink.bytes()]));
  }

  async report(options: ReportOptions = {}): Promise<readonly ReportTable[]> {
    checkOptions(options, REPORT_CHECKS);
    return reportTables(await this.#reportProfile(options), options, this.#compatPerf);
  }

  async callTrees(options: CallTreeOptions = {}): Promise<readonly CallTree[]> {
    const { CALL_TREE_CHECKS, callTrees } = await import('./call-trees.ts');
    checkOptions(options, CALL_TREE_CHECKS);
    const profile = this.#recordings.requireSamples(await this.#recordings.profileWith((part) => part.callTreeNeeds(), options.signal));
    return callTrees(profile, options, this.#compatPerf);
  }

  async *samples(options: SamplesOptions = {}): AsyncGenerator<ProfileSample, void, void> {
    const { SAMPLES_CHECKS, sampleValues } = await import('./samples.ts');
    checkOptions(options, SAMPLES_CHECKS);
    const needs = this.#needsOf('parquet', {});
    const profile = this.#recordings.requireSamples(await this.#recordings.profileWith(needs, options.signal));
    yield* sampleValues(profile, options, this.#compatPerf);
  }

  async diff(next: Profile, options: DiffOptions = {}): Promise<ProfileDiff> {
    const { DIFF_CHECKS, diffTables } = await import('./diff.ts');
    // Not every caller has its types checked by a compiler.
    if (!(next instanceof DecodedProfile)) throw new PerfconvError('usage', 'a profile is compared with the profile of another recording');
    checkOptions(options, DIFF_CHECKS);
    return diffTables(await this.#reportProfile(options), await next.#reportProfile(options), options);
  }

  /** Writes a format to a sink. @param name the output's name: decides whether it is compressed if the options do not */
  async writeTo(format: StreamFormat, sink: ByteSink, name: string, options: WriteOptions): Promise<void> {
    requireStream(format);
    checkOptions(options, WRITE_CHECKS);
    const { gzip = isGzipped(format, name), signal, ...given } = options;
    const choices = formatOptions(given);
    const profile = await this.#profileFor(format, choices, signal);
    const { demangle } = this.parts[0].naming;
    const compatPerf = this.#compatPerf;
    const writing = formatNaming({ exporter: EXPORTER, ...likePerf(compatPerf), ...choices, compatPerf, ...(demangle && { demangle }) });
    await cancellable(signal, async (cancellation) => {
      const write = (target: ByteSink): Promise<void> =>
        this.#findings.during((diagnostics) => writeProfile(format, profile, cancellation.sink(target), writing, diagnostics));
      if (!gzip) return write(sink);
      const compressor = this.#gzip(sink);
      try {
        await write(compressor);
        await compressor.end();
      } catch (error) {
        await compressor.destroy();
        throw error;
      }
    });
  }

  /** Writes a format to a stream that may take its bytes late, or never. */
  protected writeToStream(format: StreamFormat, sink: ByteSink, options: WriteOptions): Promise<void> {
    checkOptions(options, WRITE_CHECKS);
    return cancellable(options.signal, (cancellation) => this.writeTo(format, cancellation.streamSink(sink), '-', options));
  }

  /** Writes the CSV tables. */
  async writeTablesTo(openTable: OpenTable, options: WriteOptions): Promise<void> {
    checkOptions(options, WRITE_CHECKS);
    const { gzip = false, signal, ...given } = options;
    const choices = { ...likePerf(this.#compatPerf), ...formatOptions(given) };
    if (gzip) throw new PerfconvError('usage', 'csv is several tables, which are not compressed');
    const recordings = await this.#recordings.recordingsWith(this.#needsOf('csv', choices), signal);
    await cancellable(signal, async (cancellation) => {
      const open: OpenTable = async (name) => cancellation.sink(await openTable(name));
      if (!this.#recordings.isMerged) return writeTables(recordings[0], open, choices);
      const tables = new MergedTables(open, choices);
      const merged = await this.#recordings.merge(recordings, cancellation);
      for (const [index, { label }] of (merged.inputs ?? []).entries()) {
        const { log } = recordings[index];
        if (log !== undefined) await tables.add(recordings[index], log, label);
      }
      await tables.finish(merged);
    });
  }

  /** Notes something worth knowing about an output. */
  protected note(code: string, message: string): void {
    const diagnostics = this.#findings.begin();
    diagnostics.add(code, 'info', message);
    this.#findings.end(diagnostics);
  }

  get #compatPerf(): boolean {
    return this.parts[0].naming.compatPerf ?? false;
  }

  async #profileFor(format: StreamFormat, options: FormatOptions, signal: AbortSignalLike | undefined): Promise<ProfileTables> {
    if (this.#recordings.isMerged) requireMergeable([format]);
    return this.#recordings.requireSamples(await this.#recordings.profileWith(this.#needsOf(format, options), signal));
  }

  /** The profile that functions are counted in. */
  async #reportProfile(options: Pick<ReportOptions, 'children' | 'signal'>): Promise<ProfileTables> {
    return this.#recordings.requireSamples(await this.#recordings.profileWith((part) => part.reportNeedsOf(options), options.signal));
  }

  /** What a format needs from each part. */
  #needsOf(format: Format, options: FormatOptions): (part: ProfilePart) => ReadingNeeds {
    return (part) => part.needsOf(format, options, this.#recordings.isMerged);
  }
}

function requireStream(format: Format): asserts format is StreamFormat {
  if (format !== 'csv' && FORMATS.includes(format)) return;
  throw new PerfconvError(
    'usage',
    format === 'csv' ? 'csv is several tables: give write() a directory, or call toTables()' : `there is no format ${format}; there are ${FORMATS.join(', ')}`,
  );
}
