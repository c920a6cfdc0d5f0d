import type { ByteSink } from '../base/byte-sink.ts';
import { UNKNOWN_IN_TABLES } from '../profile/unknown-code.ts';
import type { ReadRecording } from './read-recording.ts';
import { shownProfile } from './shown-profile-cache.ts';
import type { WriteOptions } from './write-profile.ts';

/** Opens a CSV table by its file name. */
export type OpenTable = (fileName: string) => Promise<ByteSink>;

/** The same tables; if the options ask for it, with texts that no spreadsheet runs as formulas. */
export async function safeTables(openTable: OpenTable, { csvSafe = false }: WriteOptions): Promise<OpenTable> {
  return csvSafe ? (await import('../writers/csv/formula-guard.ts')).withoutFormulas(openTable) : openTable;
}

/** Writes readperf's tables, and perfconv's own table of branches, for a recording that was read for CSV; nothing for others. @throws whatever a sink throws */
export async function writeTables({ profile, session, log }: ReadRecording, openTable: OpenTable, options: WriteOptions): Promise<void> {
  if (log === undefined) return;
  const [{ recordingStats }, { CSV_TABLES }] = await Promise.all([import('../stats/recording-stats.ts'), import('../writers/csv/csv.ts')]);
  const stats = recordingStats(session, log);
  const open = await safeTables(openTable, options);
  const shown = shownProfile(profile, options.unknown ?? UNKNOWN_IN_TABLES);
  const input = { profile: shown, stats };
  for (const { fileName, isPresent, write } of CSV_TABLES) if (isPresent?.(input) ?? true) await write(input, await open(fileName));
}
