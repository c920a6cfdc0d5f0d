import { PerfconvError } from '../base/problems/errors.ts';
import type { ByteSink } from '../base/streams/byte-sink.ts';
import type { Profile } from '../profile/profile.ts';
import { UNKNOWN_IN_TABLES } from '../profile/unknown-code.ts';
import { RecordCounts } from '../session/reading/record-counts.ts';
import type { ProcessStats } from '../stats/process-stats.ts';
import type { RecordLog } from '../stats/record-log.ts';
import type { ReadProfileResult } from './read-profile.ts';
import type { ReadRecording } from './read-recording.ts';
import { shownProfile } from './shown-profile-cache.ts';
import type { WriteOptions } from './write-profile.ts';

/** Opens a CSV table by its file name. */
export type OpenTable = (fileName: string) => Promise<ByteSink>;

/** How tables are written. */
export type TableOptions = Pick<WriteOptions, 'csvSafe' | 'unknown'>;

/**
 * Writes readperf's tables, and perfconv's own table of branches.
 * @throws PerfconvError `usage` when the recording was not read for CSV; whatever a sink throws
 */
export async function writeTables({ profile, session, log }: ReadRecording, openTable: OpenTable, options: TableOptions): Promise<void> {
  if (log === undefined) throw new PerfconvError('usage', 'CSV needs every record, and the recording was read without them');
  const [{ recordingStats }, { writeCsvTables }] = await Promise.all([import('../stats/recording-stats.ts'), import('../writers/csv/csv.ts')]);
  await writeCsvTables(shownInTables(profile, options), recordingStats(session, log), safeTables(openTable, options));
}

/** readperf's tables for several recordings: counts add up, and rows have a last column that names the recording. */
export class MergedTables {
  readonly #openTable: OpenTable;
  readonly #options: TableOptions;
  #overview: ByteSink | undefined;
  readonly #counts = new RecordCounts();
  readonly #processes: (readonly ProcessStats[])[] = [];

  constructor(openTable: OpenTable, options: TableOptions) {
    this.#openTable = safeTables(openTable, options);
    this.#options = options;
  }

  /** Writes the recording's records at once, since they take most of its memory. */
  async add({ profile, session }: ReadProfileResult, log: RecordLog, label: string): Promise<void> {
    const [{ recordingStats }, { writeOverviewCsv }] = await Promise.all([import('../stats/recording-stats.ts'), import('../writers/csv/overview.ts')]);
    const stats = recordingStats(session, log);
    const isFirst = this.#overview === undefined;
    this.#overview ??= await this.#openTable('overview.csv');
    await writeOverviewCsv(stats, profile.events, this.#overview, { label, isFirst });
    this.#counts.addAll(session.counts);
    this.#processes.push(stats.processes);
  }

  /** Writes the other tables. @param profile of all recordings */
  async finish(profile: Profile): Promise<void> {
    const [{ recordKinds }, { writeCountingTables }] = await Promise.all([import('../stats/record-kinds.ts'), import('../writers/csv/csv.ts')]);
    const totals = { profile: shownInTables(profile, this.#options), kinds: recordKinds(this.#counts), processesOfInput: this.#processes };
    await writeCountingTables(totals, this.#openTable);
  }
}

function shownInTables(profile: Profile, { unknown = UNKNOWN_IN_TABLES }: TableOptions): Profile {
  return shownProfile(profile, unknown);
}

/** The same tables; if the options ask for it, with texts that no spreadsheet runs as formulas. */
function safeTables(openTable: OpenTable, { csvSafe = false }: TableOptions): OpenTable {
  if (!csvSafe) return openTable;
  return async (fileName) => {
    const { withoutFormulas } = await import('../writers/csv/formula-guard.ts');
    return withoutFormulas(await openTable(fileName));
  };
}
