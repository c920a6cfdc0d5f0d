import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import type { RecordingInfo } from '../../../src/info/recording-info.ts';
import { readRecordingInfo } from '../../../src/pipeline/read-info.ts';
import { publishedSchema } from './json-schemas.ts';

export const { schema, isValid, isDescribed, expectDescribed } = publishedSchema('info');

export async function jsonOf(bytes: Uint8Array, anonymous = false): Promise<RecordingInfo> {
  const source = new BufferSource(bytes, '/home/jane/perf.data');
  return JSON.parse(JSON.stringify(await readRecordingInfo(source, { anonymous, modifiedNs: 1_767_545_300_000_000_001n }, new Diagnostics())));
}
