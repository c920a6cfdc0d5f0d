import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { ByteSink } from '../base/streams/byte-sink.ts';
import type { RecordingSource } from '../base/streams/byte-source.ts';
import type { Profile } from '../profile/profile.ts';
import { UNKNOWN_IN_STACKS, UNKNOWN_IN_TABLES, type UnknownCode } from '../profile/unknown-code.ts';
import { type ReportOptions as ReportTableOptions, writeReport as writeReportTables } from '../writers/report/report.ts';
import type { TreeOptions } from '../writers/report/tree.ts';
import { writeTree } from '../writers/report/write-tree.ts';
import { type ReadRecordingOptions, readRecording } from './read-recording.ts';
import { type NeedsOptions, type ReadingNeeds, reportNeeds, treeNeeds } from './reading-needs.ts';
import { reportUnknownEvents, requireSamples } from './require-samples.ts';
import { shownProfile } from './shown-profile-cache.ts';

/** What a report shows, and how. */
export interface ReportOptions extends ReportTableOptions {
  /** How code without symbols is shown. Default: `function`, in a tree `binary`; `address` with `compatPerf`. */
  readonly unknown?: UnknownCode;
  /** Shows the calls as a tree instead of tables: what is special about it. `sort` and `children` have no effect on it. */
  readonly tree?: Pick<TreeOptions, 'levels' | 'percentLimit'> | undefined;
}

/** How a report shows names: like perf report. Rows are read on a terminal, where there is no room for parameters. */
export const REPORT_DEMANGLE = 'no-params';

/** What has to be read for a report. */
export function needsOfReport({ tree, children = false, compatPerf = false, debugInfo }: ReportOptions & Pick<NeedsOptions, 'debugInfo'>): ReadingNeeds {
  return tree === undefined ? reportNeeds(compatPerf, children) : treeNeeds({ compatPerf, ...(debugInfo && { debugInfo }) });
}

/**
 * Reads a recording and writes its function statistics.
 * @throws PerfconvError when the input is not a recording or too damaged; `no-samples`; whatever the sink throws
 */
export async function report(
  source: RecordingSource,
  sink: ByteSink,
  options: ReadRecordingOptions & ReportOptions & Pick<NeedsOptions, 'debugInfo'>,
  diagnostics: Diagnostics,
): Promise<void> {
  const result = await readRecording(source, needsOfReport(options), { demangle: REPORT_DEMANGLE, ...options }, diagnostics);
  requireSamples(result, options.filter, diagnostics.option);
  reportUnknownEvents(result.profile, options.filter, diagnostics);
  await writeReport(result.profile, sink, options);
}

/** Writes function statistics. @throws PerfconvError `no-samples`; whatever the sink throws */
export async function writeReport(profile: Profile, sink: ByteSink, options: ReportOptions): Promise<void> {
  const { tree, compatPerf = false, unknown = compatPerf ? 'address' : tree === undefined ? UNKNOWN_IN_TABLES : UNKNOWN_IN_STACKS } = options;
  const shown = shownProfile(profile, unknown);
  await (tree === undefined ? writeReportTables(shown, sink, options) : writeTree(shown, sink, { ...options, ...tree }));
}
