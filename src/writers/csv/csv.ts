import type { ByteSink } from '../../base/streams/byte-sink.ts';
import type { Profile } from '../../profile/profile.ts';
import type { ProcessStats } from '../../stats/process-stats.ts';
import type { RecordCount } from '../../stats/record-kinds.ts';
import type { RecordingStats } from '../../stats/recording-stats.ts';
import { writeBranchesCsv } from './branches.ts';
import { writeOverviewCsv } from './overview.ts';
import { writeProcessesCsv } from './processes.ts';
import { writeResultsCsv } from './results.ts';
import { writeStatCsv } from './stat.ts';
import type { CsvTableName } from './table-names.ts';

type OpenCsvTable = (fileName: CsvTableName) => Promise<ByteSink>;

/** What the tables that count are made from. */
export interface CsvTotals {
  readonly profile: Profile;
  readonly kinds: readonly RecordCount[];
  /** The processes of each input; those of a single one for a recording that was not merged. */
  readonly processesOfInput: readonly (readonly ProcessStats[])[];
}

/** Writes readperf's four tables, each with readperf's columns first, in its order, then perfconv's own columns; and perfconv's own table, if it has rows. */
export async function writeCsvTables(profile: Profile, stats: RecordingStats, open: OpenCsvTable): Promise<void> {
  await writeOverviewCsv(stats, profile.events, await open('overview.csv'));
  await writeCountingTables({ profile, kinds: stats.kinds, processesOfInput: [stats.processes] }, open);
}

/** Writes all tables but overview.csv, which lists single records. */
export async function writeCountingTables({ profile, kinds, processesOfInput }: CsvTotals, open: OpenCsvTable): Promise<void> {
  await writeStatCsv(kinds, await open('stat.csv'));
  await writeProcessesCsv(processesOfInput, profile, await open('processes.csv'));
  await writeResultsCsv(profile, await open('results.csv'));
  if (profile.branches !== undefined) await writeBranchesCsv(profile, profile.branches, await open('branches.csv'));
}
