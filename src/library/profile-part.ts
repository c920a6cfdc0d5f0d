import type { CallOptions } from '../base/streams/cancellation.ts';
import type { DsoSymbols } from '../naming/dso-symbols.ts';
import type { Format } from '../pipeline/formats.ts';
import type { ReadProfileOptions } from '../pipeline/read-profile.ts';
import type { ReadRecording } from '../pipeline/read-recording.ts';
import { coversNeeds, type ReadingNeeds, readingNeeds, reportNeeds, treeNeeds } from '../pipeline/reading-needs.ts';
import type { WriteOptions } from '../pipeline/write-profile.ts';
import type { SampleFilter } from '../session/filter/filter.ts';
import type { Findings } from './findings.ts';
import type { RepeatableInput } from './platform.ts';
import type { ReportOptions } from './report.ts';

/** A decoded recording, and what was found of the symbols of its binaries. */
export interface PartRecording extends ReadRecording {
  readonly dsos: readonly DsoSymbols[];
}

/** Decodes a recording. Findings go to those of the part. @param signal of the call that needs it */
export type Read = (needs: ReadingNeeds, signal: CallOptions['signal']) => Promise<PartRecording>;

/** What a recording is decoded with, the same for every format. */
export interface PartOptions {
  readonly input: RepeatableInput;
  /** The input's path, in parts: what distinguishes it from others. */
  readonly path: readonly string[];
  readonly filter: SampleFilter;
  readonly naming: Pick<ReadProfileOptions, 'debugInfo' | 'demangle' | 'compatPerf'>;
  /** The formats that the caller named in advance. */
  readonly formats: readonly Format[];
  /** The findings of all readings for the profile. */
  readonly findings: Findings;
  readonly read: Read;
}

/** A recording in a profile: what was decoded, and how to decode it again if a format needs more. */
export class ProfilePart {
  readonly input: RepeatableInput;
  /** The input's path, in parts: what distinguishes it from others. */
  readonly path: readonly string[];
  readonly filter: SampleFilter;
  readonly naming: PartOptions['naming'];
  /** The findings of all readings for this profile. */
  readonly findings: Findings;
  /** What was decoded already. */
  readonly recording: ReadRecording;
  /** What was found of the symbols of its binaries. */
  readonly dsos: readonly DsoSymbols[];
  readonly #formats: readonly Format[];
  readonly #needs: ReadingNeeds;
  readonly #read: Read;

  private constructor({ input, path, filter, naming, formats, findings, read }: PartOptions, needs: ReadingNeeds, { dsos, ...recording }: PartRecording) {
    this.input = input;
    this.path = path;
    this.filter = filter;
    this.naming = naming;
    this.findings = findings;
    this.recording = recording;
    this.dsos = dsos;
    this.#formats = formats;
    this.#needs = needs;
    this.#read = read;
  }

  /** Decodes a recording for the formats that were named. */
  static async read(options: PartOptions, signal: CallOptions['signal']): Promise<ProfilePart> {
    const needs = readingNeeds(options.formats, options.naming);
    return new ProfilePart(options, needs, await options.read(needs, signal));
  }

  /** What a format needs from the reading. @param isMerged whether it is written together with other recordings */
  needsOf(format: Format, { fields }: WriteOptions, isMerged: boolean): ReadingNeeds {
    const wanted = readingNeeds([format], { ...this.naming, ...(fields && { fields }), ...(isMerged && { offCpuTimes: true }) });
    // A format that was named in advance shows what was read for all named formats, like one of several outputs of a command, even if it would have other
    // off-CPU times or lines alone. Merged recordings have off-CPU times in every format.
    const isNamed = this.#formats.includes(format) && (!isMerged || this.#needs.offCpuTimes);
    const together = { ...wanted, offCpuTimes: this.#needs.offCpuTimes, debugInfo: this.#needs.debugInfo };
    return isNamed && this.covers(together) ? together : wanted;
  }

  /** What a report needs: the same as perf's if the profile is to match perf; else it counts by the functions that the profile shows. */
  reportNeedsOf({ children = false }: Pick<ReportOptions, 'children'>): ReadingNeeds {
    const { compatPerf = false } = this.naming;
    const needs = reportNeeds(compatPerf, children);
    return compatPerf ? needs : { ...needs, debugInfo: this.#needs.debugInfo };
  }

  /** What a tree of calls needs: it shows the functions that the profile shows. */
  callTreeNeeds(): ReadingNeeds {
    return { ...treeNeeds({}), debugInfo: this.#needs.debugInfo };
  }

  /** Whether {@link recording} has what is needed. */
  covers(needs: ReadingNeeds): boolean {
    return coversNeeds(this.#needs, needs);
  }

  /** The recording with what is needed: as it was decoded, or decoded again. */
  async recordingFor(needs: ReadingNeeds, signal: CallOptions['signal']): Promise<ReadRecording> {
    return this.covers(needs) ? this.recording : this.#read(needs, signal);
  }
}
