import { BufferSink } from '../../src/base/byte-sink.ts';
import type { ReadProfileOptions } from '../../src/pipeline/read-profile.ts';
import { RecordLog } from '../../src/stats/record-log.ts';
import { recordingStats } from '../../src/stats/recording-stats.ts';
import { CSV_TABLES } from '../../src/writers/csv/csv.ts';
import { decode } from './decode.ts';

/** The tables of a recording as texts, by file name. */
export async function csvTextsOf(bytes: Uint8Array, options: ReadProfileOptions = {}): Promise<Record<string, string>> {
  const log = new RecordLog();
  const { profile, session } = await decode(bytes, { ...options, keepSamples: false, observer: log, keepBranches: { totals: true, samples: 'none' } });
  const stats = recordingStats(session, log);
  const tables: Record<string, string> = {};
  for (const { fileName, isPresent, write } of CSV_TABLES) {
    if (isPresent?.({ profile, stats }) === false) continue;
    const sink = new BufferSink();
    await write({ profile, stats }, sink);
    tables[fileName] = sink.text();
  }
  return tables;
}
