import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { Diagnostics } from '../../../src/base/problems/diagnostics.ts';
import { BufferSource } from '../../../src/base/streams/byte-source.ts';
import { branchFlagsLo } from '../../../src/perfdata/samples/branch-stack.ts';
import { readRecords } from '../../../src/records/read-records.ts';
import {
  type AttrSpec,
  branchHwIndex,
  encodeFile,
  encodeRecord,
  type RecordSpec,
  record,
  type SampleFields,
} from '../../support/builders/recordings/perf-encoder.ts';
import { decode } from '../../support/readers/decode.ts';

const ATTR: AttrSpec = { name: 'cycles', period: 1n, ids: [7n], sampleType: ['ip', 'tid', 'time', 'period'] };
const SAMPLE: SampleFields = { ip: 0x400001n, pid: 1, tid: 1, time: 5n, period: 3n };

/** The sample with zeros after its fields. */
function withSurplus(bytes: number, fields: SampleFields = SAMPLE): RecordSpec {
  const sample = record.sample(fields);
  const writeBody: RecordSpec['writeBody'] = (out, attr) => {
    sample.writeBody(out, attr);
    out.zeros(bytes);
  };
  return { ...sample, writeBody };
}

async function recordsOf(bytes: Uint8Array): Promise<{ records: object[]; diagnostics: Diagnostics }> {
  const diagnostics = new Diagnostics();
  const records: object[] = [];
  for await (const one of readRecords(new BufferSource(bytes), diagnostics)) records.push(one);
  return { records, diagnostics };
}

describe('a sample larger than its fields', () => {
  const recording = (attr: AttrSpec): Uint8Array =>
    encodeFile({ attrs: [attr], records: [record.sample(SAMPLE), withSurplus(16), withSurplus(24, { ...SAMPLE, time: 6n })] });

  it('is used and reported', async () => {
    const bytes = recording(ATTR);
    const { records, diagnostics } = await recordsOf(bytes);
    expect(records).toMatchObject([{ type: 'SAMPLE' }, { type: 'SAMPLE', period: 3n, surplusBytes: 16 }, { type: 'SAMPLE', time: 6n, surplusBytes: 24 }]);
    expect(records[0]).not.toHaveProperty('surplusBytes');
    const finding = { code: 'sample-surplus', severity: 'warning', count: 2, bytes: 40, firstOffset: (records[1] as { offset: number }).offset };
    expect(diagnostics.list()).toMatchObject([finding]);
    const session = await decode(bytes);
    expect(session.samples).toHaveLength(3);
    expect(session.diagnostics.list()).toContainEqual(expect.objectContaining(finding));
  });

  it('is not reported if its type has unknown bits', async () => {
    const bytes = recording(ATTR);
    const attrAt = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(24, true));
    bytes[attrAt + 24 + 3] |= 1 << 1;
    expect((await recordsOf(bytes)).diagnostics.list()).toEqual([]);
    const session = await decode(bytes);
    expect(session.samples).toHaveLength(3);
    expect(session.diagnostics.count('sample-surplus')).toBe(0);
  });
});

describe('a sample without branches', () => {
  it.each([true, false])('is used with or without a hw_idx (left out: %s)', async (withoutHwIdx) => {
    const attr: AttrSpec = { ...ATTR, sampleType: ['ip', 'tid', 'time', 'period', 'branchStack', 'weight'], branchSampleType: branchHwIndex | 1n };
    const sample = record.sample({ ...SAMPLE, weight: 99n, branchStack: { entries: [], hwIdx: 4n, withoutHwIdx } });
    const branches = record.sample({ ...SAMPLE, weight: 98n, branchStack: { entries: [{ from: 1n, to: 2n }], hwIdx: 5n } });
    const bytes = encodeFile({ attrs: [attr], records: [sample, branches] });
    const { records, diagnostics } = await recordsOf(bytes);
    expect(records).toMatchObject([
      { type: 'SAMPLE', weight: 99n, branchStack: withoutHwIdx ? { entries: [] } : { hwIdx: 4n, entries: [] } },
      { type: 'SAMPLE', weight: 98n, branchStack: { hwIdx: 5n, entries: [{ from: 1n, to: 2n }] } },
    ]);
    expect(diagnostics.list()).toEqual([]);
    const session = await decode(bytes);
    expect(session.samples).toHaveLength(2);
    expect(session.diagnostics.hasLoss).toBe(false);
  });
});

describe('the low half of the flags of a branch', () => {
  it('is the same in either byte order', () => {
    const entries = [0, 1, 2, 3, 4, 5, 6, 7].map((priv) => ({
      ...{ from: 1n, to: 2n, mispred: priv % 2 === 1, inTx: priv > 3, cycles: 0x8001 + priv, type: 9, spec: priv & 3, newType: 5, priv },
    }));
    const attr: AttrSpec = { sampleType: ['branchStack'] };
    const flagsOf = (byteOrder: 'little' | 'big'): number[] => {
      const view = new ByteView(encodeRecord(record.sample({ branchStack: { entries } }), [attr], byteOrder), byteOrder === 'little');
      return entries.map((_, i) => branchFlagsLo(view, 16 + i * 24 + 16));
    };
    expect(flagsOf('big')).toEqual(flagsOf('little'));
    expect(flagsOf('little').map((flags) => flags >>> 30)).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  });
});
