import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { readAttr } from '../../../src/perfdata/samples/attr.ts';
import { compileSampleId, readSampleId } from '../../../src/perfdata/samples/sample-id.ts';
import { writeAttr } from '../../support/builders/recordings/perf-encoder/attr.ts';
import { type AttrSpec, ByteWriter, encodeRecord, record, type SampleBit } from '../../support/builders/recordings/perf-encoder.ts';

const SAMPLE_ID = { pid: 3, tid: 4, time: 0x1105n, id: 0x1101n, streamId: 0x1107n, cpu: 6 };

/** What the trailer says of a record of an event with these fields, and how large it is. */
function trailerOf(sampleType: readonly SampleBit[], flags: AttrSpec['flags'] = ['sampleIdAll']): [object, number] {
  const attr: AttrSpec = { sampleType, flags, ids: [SAMPLE_ID.id] };
  const bytes = new ByteWriter('little');
  writeAttr(bytes, attr, () => new ByteWriter('little'));
  const layout = compileSampleId(readAttr(new ByteView(bytes.bytes(), true), 0, 128, 0));
  const comm = encodeRecord(record.comm({ pid: 1, comm: 'app' }, { sampleId: SAMPLE_ID }), [attr]);
  return [readSampleId(new ByteView(comm, true), comm.length, layout), layout.sizeBytes];
}

describe('the sample_id of a record', () => {
  it.each<[SampleBit, object]>([
    ['tid', { pid: 3, tid: 4 }],
    ['time', { time: 0x1105n }],
    ['id', { id: 0x1101n }],
    ['streamId', { streamId: 0x1107n }],
    ['cpu', { cpu: 6 }],
    ['identifier', { id: 0x1101n }],
  ])('has only the field that was asked for: %s', (bit, expected) => {
    expect(trailerOf(['ip', bit, 'period'])).toEqual([expected, 8]);
  });

  it('can have all fields, and is missing without sample_id_all', () => {
    const all: readonly SampleBit[] = ['identifier', 'ip', 'tid', 'time', 'id', 'streamId', 'cpu'];
    expect(trailerOf(all)).toEqual([SAMPLE_ID, 48]);
    expect(trailerOf(all, [])).toEqual([{}, 0]);
  });
});
