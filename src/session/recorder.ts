import { COMM_LIMIT, type NameLimit, SIMPLEPERF_COMM_LIMIT } from '../base/names/name-limits.ts';
import type { Features } from '../perfdata/features/features.ts';
import { isSimpleperfRecording } from '../simpleperf/features.ts';
import type { SimpleperfFile } from '../simpleperf/files.ts';

/** What the tool that wrote a recording does in its own way, as far as it matters to what the records say. */
export interface Recorder {
  /** How long the names of its threads can be. */
  readonly commLimit: NameLimit;
  /**
   * Whether callers are to be looked up at the addresses that callchains have, without stepping back to the calls before them. simpleperf converts return
   * addresses to addresses of calls when it records; where an interpreter runs, they do not follow calls at all. hiperf keeps return addresses, but lists only
   * the functions that it found at these very addresses.
   */
  readonly callersAreCalls: boolean;
  /** Whether a sample with values of counters keeps the period that it carries (`--add-counter`), and the values count only for the other events. */
  readonly keepsOwnPeriod: boolean;
  /** Whether the recording itself has the names of code in memory that a program has named, under the memory's name. */
  readonly namesMemory: boolean;
}

const PERF: Recorder = { commLimit: COMM_LIMIT, callersAreCalls: false, keepsOwnPeriod: false, namesMemory: false };
const SIMPLEPERF: Recorder = { commLimit: SIMPLEPERF_COMM_LIMIT, callersAreCalls: true, keepsOwnPeriod: true, namesMemory: false };
const HIPERF: Recorder = { ...SIMPLEPERF, namesMemory: true };

/** The tool that wrote a recording, by the features that only this tool writes. A recording whose features are at its end, and come later, is taken for perf's. */
export function recorderOf(features: Features): Recorder {
  if (features.hiperf !== undefined) return HIPERF;
  return isSimpleperfRecording(features) ? SIMPLEPERF : PERF;
}

/** The binaries of which the header has symbols; empty in perf's own recordings. */
export function recordedFiles({ simpleperf, hiperf }: Features): readonly SimpleperfFile[] {
  return simpleperf?.files ?? hiperf?.files ?? [];
}
