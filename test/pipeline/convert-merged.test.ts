import { expect, test } from 'vitest';
import { Diagnostics } from '../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../src/base/streams/byte-source.ts';
import type { ConvertOutput } from '../../src/pipeline/convert.ts';
import { MergedConversion } from '../../src/pipeline/convert-merged.ts';
import { fileRecording, pipeRecording } from '../support/builders/recordings/cli-recordings.ts';
import { CollectedTables } from '../support/readers/collected-tables.ts';

test('merged outputs are written in order, so that those before a failing one are complete', async () => {
  const { sinks: tables, openTable } = new CollectedTables();
  const failing = { write: () => Promise.reject(new Error('its reader has gone')) };
  const outputs: ConvertOutput[] = [
    { format: 'csv', openTable },
    { format: 'folded', sink: failing },
  ];
  const conversion = new MergedConversion(outputs, {}, new Diagnostics());
  for (const [nth, bytes] of [fileRecording(), pipeRecording()].entries()) {
    await conversion.add(new BufferSource(bytes), `input ${nth}`, {}, new Diagnostics());
    await conversion.writeRecords();
  }
  await expect(conversion.finish()).rejects.toThrow('its reader has gone');
  expect([...tables.keys()].sort()).toEqual(['overview.csv', 'processes.csv', 'results.csv', 'stat.csv']);
});
