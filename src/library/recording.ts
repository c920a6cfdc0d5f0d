/// <reference lib="esnext.disposable" preserve="true" />

import { arrayOf, callback, checkOptions, flag, type OptionChecks } from '../base/problems/check-options.ts';
import { Diagnostics, type Diagnostic as Finding } from '../base/problems/diagnostics.ts';
import { PerfconvError } from '../base/problems/errors.ts';
import type { OnProgress } from '../base/streams/byte-source.ts';
import { abortSignal, type CallOptions, Cancellation, cancellable } from '../base/streams/cancellation.ts';
import type { OpenInput } from '../base/streams/recording-input.ts';
import { withoutUndefined } from '../base/without-undefined.ts';
import type { RecordingInfo } from '../info/recording-info.ts';
import type { DsoSymbols } from '../naming/dso-symbols.ts';
import { readHeader } from '../perfdata/header/file-header.ts';
import type { PerfRecord } from '../perfdata/records/perf-record.ts';
import { RECORD_TYPES } from '../pipeline/choices.ts';
import { readRecordingInfo } from '../pipeline/read-info.ts';
import { readRecording } from '../pipeline/read-recording.ts';
import { reportUnknownEvents } from '../pipeline/require-samples.ts';
import { readRecords } from '../records/read-records.ts';
import { Findings } from './findings.ts';
import { namingChoices, READING_CHECKS, type ReadingOptions, sampleFilter } from './options.ts';
import type { Platform, RepeatableInput } from './platform.ts';
import { ProfilePart, type Read } from './profile-part.ts';

/** What recordings have in browsers and in Node. */
export interface RecordingBase {
  /** The input's name: its path, if it has one. */
  readonly name: string;
  /** What was damaged, missing or lost in everything done with the recording so far: each kind once. */
  readonly findings: readonly Finding[];
  /**
   * Reads the records one after the other, in file order; `type` tells what a record is. 64-bit numbers are bigints.
   * @throws PerfconvError while it is read
   */
  records(
    options?: CallOptions & {
      /** Only records of these types. Default: all. */
      readonly types?: readonly PerfRecord['type'][];
      readonly onProgress?: OnProgress;
    },
  ): AsyncIterableIterator<PerfRecord>;
  /** Summarizes the recording, as `perfconv info --json` prints it. */
  info(
    options?: CallOptions & {
      /** Leaves out the host's name and the command line; home directories in paths become `~`. */
      readonly anonymous?: boolean;
      readonly onProgress?: OnProgress;
    },
  ): Promise<RecordingInfo>;
  /** Closes what is open. May be called more than once. Profiles stay usable, but cannot read the recording again. */
  close(): Promise<void>;
  /** {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const RECORDS_CHECKS: OptionChecks<NonNullable<Parameters<RecordingBase['records']>[0]>> = {
  types: arrayOf(RECORD_TYPES),
  onProgress: callback,
  signal: abortSignal,
};
const INFO_CHECKS: OptionChecks<NonNullable<Parameters<RecordingBase['info']>[0]>> = {
  anonymous: flag,
  onProgress: callback,
  signal: abortSignal,
};

/** An open recording. Everything is read when it is asked for, each time again. */
export class OpenedRecording<Options extends ReadingOptions> {
  readonly #input: RepeatableInput;
  readonly #platform: Platform<Options>;
  readonly #findings: Findings;
  #isOpen = true;
  /** {@link close}: set below, if the engine has the symbol. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;

  protected constructor(input: RepeatableInput, platform: Platform<Options>) {
    this.#input = input;
    this.#platform = platform;
    this.#findings = new Findings(undefined, [], platform.optionWords);
  }

  /**
   * Makes sure that an input is a recording.
   * @param cancellation of the call that opens the input
   * @throws PerfconvError `not-perf-data`, `unsupported`, `damaged`, `io`; the input is closed then
   */
  static async check(input: RepeatableInput, cancellation: Cancellation): Promise<void> {
    const found = new Diagnostics();
    try {
      const { source } = await input.open(found, cancellation);
      await readHeader(cancellation.source(source), found).finally(() => source.close());
    } catch (error) {
      await input.close();
      throw error;
    }
  }

  get name(): string {
    return this.#input.name;
  }

  get findings(): readonly Finding[] {
    return this.#findings.list();
  }

  async *records(options: Parameters<RecordingBase['records']>[0] = {}): AsyncGenerator<PerfRecord, void, void> {
    checkOptions(options, RECORDS_CHECKS);
    const { types, onProgress, signal } = options;
    const wanted = types && new Set<string>(types);
    const cancellation = new Cancellation(signal);
    const diagnostics = this.#findings.begin();
    try {
      cancellation.throwIfAborted();
      const { source } = await this.#open(diagnostics, cancellation);
      try {
        for await (const record of readRecords(source, diagnostics, { ...(onProgress && { onProgress }) })) {
          if (wanted === undefined || wanted.has(record.type)) yield record;
          cancellation.throwIfAborted();
        }
      } finally {
        await source.close();
      }
    } finally {
      cancellation.end();
      this.#findings.end(diagnostics);
    }
  }

  async info(options: Parameters<RecordingBase['info']>[0] = {}): Promise<RecordingInfo> {
    checkOptions(options, INFO_CHECKS);
    const { anonymous = false, onProgress, signal } = options;
    return this.#read(this.#findings, signal, ({ source, modifiedNs }, diagnostics) =>
      readRecordingInfo(source, { ...this.#platform.reading, ...withoutUndefined({ anonymous, onProgress, modifiedNs }) }, diagnostics),
    );
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#input.close();
  }

  /** Decodes the recording. @param path what distinguishes the recording from others, in parts */
  protected async readPart(options: Options, path: readonly string[]): Promise<ProfilePart> {
    checkOptions(options, { ...READING_CHECKS, ...this.#platform.optionChecks });
    const { formats = ['pprof'], onProgress, signal } = options;
    const filter = sampleFilter(options, 'time');
    const naming = namingChoices(options);
    const findings = new Findings(this.#findings);
    const read: Read = (needs, signal) =>
      this.#read(findings, signal, async (input, diagnostics, cancellation) => {
        const { source, modifiedNs, kcoreDir } = input;
        const reading = { ...this.#platform.reading, ...this.#platform.naming(options, input, diagnostics, cancellation), modifiedNs, kcoreDir };
        let dsos: readonly DsoSymbols[] = [];
        const onSymbols = (found: readonly DsoSymbols[]): void => {
          dsos = found;
        };
        const checkpoint = (): Promise<void> => cancellation.checkpoint();
        const choices = { ...reading, ...naming, filter, onSymbols, checkpoint, ...(onProgress && { onProgress }) };
        const recording = await readRecording(source, needs, choices, diagnostics);
        reportUnknownEvents(recording.profile, filter, diagnostics);
        return { ...recording, dsos };
      });
    return ProfilePart.read({ input: this.#input, path, filter, naming, formats, findings, read }, signal);
  }

  /** Opens the recording for one reading. @param findings lists what is found */
  #read<T>(
    findings: Findings,
    signal: CallOptions['signal'],
    read: (input: OpenInput, diagnostics: Diagnostics, cancellation: Cancellation) => Promise<T>,
  ): Promise<T> {
    return cancellable(signal, (cancellation) =>
      findings.during(async (diagnostics) => {
        const input = await this.#open(diagnostics, cancellation);
        try {
          return await read(input, diagnostics, cancellation);
        } finally {
          await input.source.close();
        }
      }),
    );
  }

  async #open(diagnostics: Diagnostics, cancellation: Cancellation): Promise<OpenInput> {
    if (!this.#isOpen) throw new PerfconvError('usage', 'the recording is closed', { file: this.name });
    const input = await this.#input.open(diagnostics, cancellation);
    return { ...input, source: cancellation.source(input.source) };
  }
}

// If the engine has no such symbol, it has no `await using` either.
if (Symbol.asyncDispose !== undefined) {
  Object.defineProperty(OpenedRecording.prototype, Symbol.asyncDispose, { value: OpenedRecording.prototype.close, configurable: true, writable: true });
}
