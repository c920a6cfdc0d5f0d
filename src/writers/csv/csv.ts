import type { ByteSink } from '../../base/byte-sink.ts';
import type { Profile } from '../../profile/profile.ts';
import type { RecordingStats } from '../../stats/recording-stats.ts';
import { writeBranchesCsv } from './branches.ts';
import { writeOverviewCsv } from './overview.ts';
import { writeProcessesCsv } from './processes.ts';
import { writeResultsCsv } from './results.ts';
import { writeStatCsv } from './stat.ts';
import type { CsvTableName } from './table-names.ts';

/** What the tables are made from. */
export interface CsvInput {
  readonly profile: Profile;
  readonly stats: RecordingStats;
}

/** A table. */
export interface CsvTable {
  readonly fileName: CsvTableName;
  /** Whether there is anything to show; always by default. */
  readonly isPresent?: (input: CsvInput) => boolean;
  readonly write: (input: CsvInput, sink: ByteSink) => Promise<void>;
}

/** readperf's four tables, each with readperf's columns first, in its order, then perfconv's own columns; and perfconv's own table. */
export const CSV_TABLES: readonly CsvTable[] = [
  { fileName: 'stat.csv', write: ({ stats }, sink) => writeStatCsv(stats.kinds, sink) },
  { fileName: 'overview.csv', write: ({ profile, stats }, sink) => writeOverviewCsv(stats, profile.events, sink) },
  { fileName: 'processes.csv', write: ({ profile, stats }, sink) => writeProcessesCsv([stats.processes], profile, sink) },
  { fileName: 'results.csv', write: ({ profile }, sink) => writeResultsCsv(profile, sink) },
  {
    fileName: 'branches.csv',
    isPresent: ({ profile }) => profile.branches !== undefined,
    write: async ({ profile }, sink) => {
      if (profile.branches !== undefined) await writeBranchesCsv(profile, profile.branches, sink);
    },
  },
];
