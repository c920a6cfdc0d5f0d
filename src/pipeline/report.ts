import type { ByteSink } from '../base/byte-sink.ts';
import type { ByteSource } from '../base/byte-source.ts';
import type { Diagnostics } from '../base/diagnostics.ts';
import type { Profile } from '../profile/profile.ts';
import { defaultUnknownCode, type UnknownCode } from '../profile/unknown-code.ts';
import { type ReportOptions as ReportTableOptions, writeReport as writeReportTables } from '../writers/report/report.ts';
import { type ReadProfileOptions, readProfile } from './read-profile.ts';
import { reportUnknownEvents, requireSamples } from './require-samples.ts';
import { shownProfile } from './shown-profiles.ts';

/** What a report shows, and how. */
export interface ReportOptions extends ReportTableOptions {
  /** How code without symbols is shown. Default: `function`; `address` with `compatPerf`. */
  readonly unknown?: UnknownCode;
}

/**
 * A report counts by the functions that symbols name, as perf report does, and shows them as it does: rows are read on a terminal, where
 * parameters would leave no room.
 */
export const REPORT_NAMING: Pick<ReadProfileOptions, 'debugInfo' | 'demangle'> = { debugInfo: 'none', demangle: 'no-params' };

/** perf report counts a sample where its own address is, whatever its callchain says: with `compatPerf` a report does the same. */
export function reportLeaf(compatPerf = false): Pick<ReadProfileOptions, 'leaf'> {
  return compatPerf ? { leaf: 'ip' } : {};
}

/**
 * Reads a recording and writes its function statistics as text.
 * @throws PerfconvError when the input is no recording or too damaged; `no-samples`; whatever the sink throws
 */
export async function report(source: ByteSource, sink: ByteSink, options: ReadProfileOptions & ReportOptions, diagnostics: Diagnostics): Promise<void> {
  const result = await readProfile(source, { offCpuTimes: true, ...REPORT_NAMING, ...reportLeaf(options.compatPerf), ...options }, diagnostics);
  requireSamples(result, options.filter);
  reportUnknownEvents(result.profile, options.filter, diagnostics);
  await writeReport(result.profile, sink, options);
}

/** Writes function statistics as text. @throws PerfconvError `no-samples`; whatever the sink throws */
export async function writeReport(profile: Profile, sink: ByteSink, options: ReportOptions): Promise<void> {
  await writeReportTables(shownProfile(profile, { unknown: options.unknown ?? defaultUnknownCode(options.compatPerf) }), sink, options);
}
