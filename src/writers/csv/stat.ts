import type { ByteSink } from '../../base/streams/byte-sink.ts';
import { TextWriter } from '../../base/streams/text-writer.ts';
import type { RecordCount } from '../../stats/record-kinds.ts';
import { quotedWhereNeeded } from './fields.ts';

/** Writes readperf's stat.csv: the number of records of each kind, counted as `perf report --stats` counts them. */
export async function writeStatCsv(kinds: readonly RecordCount[], sink: ByteSink): Promise<void> {
  const out = new TextWriter(sink);
  out.put('record,count\n');
  for (const { record, count } of kinds) out.put(`${quotedWhereNeeded(record)},${count}\n`);
  await out.flush();
}
