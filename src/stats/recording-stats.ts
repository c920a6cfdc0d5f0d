import type { SessionResult } from '../session/session.ts';
import { type ProcessStats, processStats } from './process-stats.ts';
import { type RecordCount, recordKinds } from './record-kinds.ts';
import type { RecordLog } from './record-log.ts';

/** What readperf's tables show about a recording, apart from its samples' functions. */
export interface RecordingStats {
  readonly kinds: readonly RecordCount[];
  readonly processes: readonly ProcessStats[];
  readonly log: RecordLog;
  /** What the log's times count from, nanoseconds in the recording's own clock. */
  readonly baseTime: bigint;
}

/**
 * Sums up a recording after its session.
 * @param log the observer that the session was run with
 */
export function recordingStats(session: SessionResult, log: RecordLog): RecordingStats {
  return { kinds: recordKinds(session.counts), processes: processStats(session, log), log, baseTime: session.baseTime };
}
