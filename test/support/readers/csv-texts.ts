import { BufferSink } from '../../../src/base/streams/byte-sink.ts';
import type { ReadProfileOptions } from '../../../src/pipeline/read-profile.ts';
import { RecordLog } from '../../../src/stats/record-log.ts';
import { recordingStats } from '../../../src/stats/recording-stats.ts';
import { writeCsvTables } from '../../../src/writers/csv/csv.ts';
import { decode } from './decode.ts';

/** The tables of a recording as texts, by file name. */
export async function csvTextsOf(bytes: Uint8Array, options: ReadProfileOptions = {}): Promise<Record<string, string>> {
  const log = new RecordLog();
  const { profile, session } = await decode(bytes, { ...options, keepSamples: false, observer: log, keepBranches: { totals: true, samples: 'none' } });
  const stats = recordingStats(session, log);
  const sinks: Record<string, BufferSink> = {};
  await writeCsvTables(profile, stats, async (fileName) => (sinks[fileName] = new BufferSink()));
  return Object.fromEntries(Object.entries(sinks).map(([fileName, sink]) => [fileName, sink.text()]));
}
