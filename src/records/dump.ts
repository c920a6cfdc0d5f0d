import type { Diagnostics } from '../base/problems/diagnostics.ts';
import type { ByteSink } from '../base/streams/byte-sink.ts';
import type { RecordingSource } from '../base/streams/byte-source.ts';
import { TextWriter } from '../base/streams/text-writer.ts';
import type { PerfRecord } from '../perfdata/records/perf-record.ts';
import { type ReadRecordsOptions, readRecords } from './read-records.ts';
import { recordJson, recordText } from './record-text.ts';

export interface DumpOptions extends ReadRecordsOptions {
  /** One JSON object per line instead of human-readable text. False by default. */
  readonly json?: boolean;
  /** Only records of these types; all by default. */
  readonly types?: readonly PerfRecord['type'][];
}

/**
 * Writes a recording's records, one line each, in file order.
 * @throws PerfconvError if the input is not a recording or cannot be read; whatever the sink throws
 */
export async function dump(source: RecordingSource, sink: ByteSink, options: DumpOptions, diagnostics: Diagnostics): Promise<void> {
  const { json = false, types, ...readOptions } = options;
  const wanted = types && new Set<string>(types);
  const lineOf = json ? recordJson : recordText;
  const out = new TextWriter(sink);
  for await (const record of readRecords(source, diagnostics, readOptions)) {
    if (wanted !== undefined && !wanted.has(record.type)) continue;
    out.put(`${lineOf(record)}\n`);
    if (out.isFull) await out.flush();
  }
  await out.flush();
}
