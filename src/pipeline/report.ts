import type { ByteSink } from '../base/byte-sink.ts';
import type { RecordingSource } from '../base/byte-source.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import type { Profile } from '../profile/profile.ts';
import { UNKNOWN_IN_TABLES, type UnknownCode } from '../profile/unknown-code.ts';
import { type ReportOptions as ReportTableOptions, writeReport as writeReportTables } from '../writers/report/report.ts';
import { type ReadRecordingOptions, readRecording } from './read-recording.ts';
import { reportNeeds } from './reading-needs.ts';
import { reportUnknownEvents, requireSamples } from './require-samples.ts';
import { shownProfile } from './shown-profile-cache.ts';

/** What a report shows, and how. */
export interface ReportOptions extends ReportTableOptions {
  /** How code without symbols is shown. Default: `function`; `address` with `compatPerf`. */
  readonly unknown?: UnknownCode;
}

/** How a report shows names: like perf report. Rows are read on a terminal, where there is no room for parameters. */
export const REPORT_DEMANGLE = 'no-params';

/**
 * Reads a recording and writes its function statistics as text.
 * @throws PerfconvError when the input is not a recording or too damaged; `no-samples`; whatever the sink throws
 */
export async function report(source: RecordingSource, sink: ByteSink, options: ReadRecordingOptions & ReportOptions, diagnostics: Diagnostics): Promise<void> {
  const needs = reportNeeds(options.compatPerf ?? false, options.children ?? false);
  const result = await readRecording(source, needs, { demangle: REPORT_DEMANGLE, ...options }, diagnostics);
  requireSamples(result, options.filter, diagnostics.option);
  reportUnknownEvents(result.profile, options.filter, diagnostics);
  await writeReport(result.profile, sink, options);
}

/** Writes function statistics as text. @throws PerfconvError `no-samples`; whatever the sink throws */
export async function writeReport(profile: Profile, sink: ByteSink, options: ReportOptions): Promise<void> {
  await writeReportTables(shownProfile(profile, options.unknown ?? (options.compatPerf ? 'address' : UNKNOWN_IN_TABLES)), sink, options);
}
