import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteView } from '../../../src/base/bytes/byte-view.ts';
import { readAttr } from '../../../src/perfdata/samples/attr.ts';
import { readValuesOf } from '../../../src/perfdata/samples/read-format.ts';
import { emptySampleOffsets, SAMPLE_FIELDS, type SampleFieldName, SampleLayout, type SampleOffsets } from '../../../src/perfdata/samples/sample-layout.ts';
import {
  type AttrSpec,
  type ByteOrder,
  ByteWriter,
  branchCounters,
  branchHwIndex,
  encodeRecord,
  hiperfSampleBits,
  type ReadFormatBit,
  record,
  type SampleBit,
  type SampleFields,
  sampleBits,
  writeAttr,
} from '../../support/builders/recordings/perf-encoder.ts';

const ALL_BITS = Object.keys({ ...sampleBits, ...hiperfSampleBits }) as SampleBit[];
const TRAILING = 0xa5;

/** A value for every field that no other field has, so that a field read from the wrong place is noticed. */
const FIELDS: SampleFields = {
  id: 0x1101n,
  ip: 0xffffffff81001102n,
  pid: 0x1103,
  tid: 0x1104,
  time: 0x1105n,
  addr: 0x1106n,
  streamId: 0x1107n,
  cpu: 0x1108,
  period: 0x1109n,
  read: { timeEnabled: 0x110an, timeRunning: 0x110bn, values: [{ value: 0x110cn, id: 0x110dn, lost: 0x110en }] },
  callchain: [0x1110n, 0x1111n, 0x1112n],
  raw: new Uint8Array([1, 2, 3, 4, 5]),
  branchStack: { hwIdx: 0x1113n, entries: [{ from: 0x1114n, to: 0x1115n }], counters: [0x1116n] },
  regsUser: { abi: 2, regs: [0x1117n, 0x1118n] },
  serverPids: [0x1124n, 0x1125n],
  stackUser: { data: new Uint8Array(16).fill(7), dynSize: 12n },
  weight: 0x1119n,
  weightStruct: { var1: 0x111a, var2: 0x111b, var3: 0x111c },
  dataSrc: 0x111dn,
  transaction: 0x111en,
  regsIntr: { abi: 2, regs: [0x111fn] },
  physAddr: 0x1120n,
  cgroup: 0x1121n,
  dataPageSize: 0x1122n,
  codePageSize: 0x1123n,
  aux: new Uint8Array([9, 9, 9, 9, 9, 9, 9, 9]),
};

/** First word of each field as the encoder must have written it. */
const FIRST_WORDS: Record<SampleFieldName, bigint> = {
  identifier: 0x1101n,
  ip: 0xffffffff81001102n,
  tid: (0x1104n << 32n) | 0x1103n,
  time: 0x1105n,
  addr: 0x1106n,
  id: 0x1101n,
  streamId: 0x1107n,
  cpu: 0x1108n,
  period: 0x1109n,
  read: 0x110cn,
  callchain: 3n,
  raw: 0n,
  branchStack: 1n,
  regsUser: 2n,
  serverPids: 2n,
  stackUser: 16n,
  weight: 0x1119n,
  dataSrc: 0x111dn,
  transaction: 0x111en,
  regsIntr: 2n,
  physAddr: 0x1120n,
  cgroup: 0x1121n,
  dataPageSize: 0x1122n,
  codePageSize: 0x1123n,
  aux: 8n,
};

function attrOf(bits: readonly SampleBit[], extra: Partial<AttrSpec> = {}): AttrSpec {
  return { sampleType: bits, sampleRegsUser: 0b101n, sampleRegsIntr: 0b10n, ...extra };
}

/** Encodes one sample followed by junk and locates its fields. */
function locate(
  attr: AttrSpec,
  fields: SampleFields,
  byteOrder: ByteOrder = 'little',
): { view: ByteView; offsets: SampleOffsets; size: number; layout: SampleLayout } {
  const attrBytes = new ByteWriter(byteOrder);
  writeAttr(attrBytes, attr, () => new ByteWriter(byteOrder));
  const layout = new SampleLayout(readAttr(new ByteView(attrBytes.bytes(), byteOrder === 'little'), 0, 128, 0), true);
  const bytes = encodeRecord(record.sample(fields), [attr], byteOrder);
  const padded = new Uint8Array(bytes.length + 64).fill(TRAILING);
  padded.set(bytes);
  const view = new ByteView(padded, byteOrder === 'little');
  const offsets = emptySampleOffsets();
  const problem = layout.locate(view, 8, bytes.length, offsets);
  expect(problem).toBeUndefined();
  return { view, offsets, size: bytes.length, layout };
}

function fieldOf(bit: SampleBit): SampleFieldName {
  return (bit === 'weightStruct' ? 'weight' : bit) as SampleFieldName;
}

function expectFields(bits: readonly SampleBit[], extra: Partial<AttrSpec> = {}, byteOrder: ByteOrder = 'little'): void {
  const { view, offsets, size } = locate(attrOf(bits, extra), FIELDS, byteOrder);
  expect(offsets.end, bits.join(' ')).toBe(size);
  const asked = new Set(bits.map(fieldOf));
  for (const { name } of SAMPLE_FIELDS) {
    expect(offsets[name] >= 0, `${name} of ${bits.join(' ')}`).toBe(asked.has(name));
    if (!asked.has(name)) continue;
    if (name === 'raw') expect(view.u32(offsets.raw)).toBe(12);
    else if (name === 'tid') expect([view.u32(offsets.tid), view.u32(offsets.tid + 4)]).toEqual([0x1103, 0x1104]);
    else if (name === 'cpu') expect(view.u32(offsets.cpu)).toBe(0x1108);
    else if (name === 'weight' && bits.includes('weightStruct')) expect(view.big(offsets.weight)).toBe((0x111cn << 48n) | (0x111bn << 32n) | 0x111an);
    else expect(view.big(offsets[name]), `${name} of ${bits.join(' ')}`).toBe(FIRST_WORDS[name]);
  }
  if (asked.has('callchain')) {
    expect(offsets.callchainCount).toBe(3);
    expect([0, 1, 2].map((i) => view.big(offsets.callchainIps + i * 8))).toEqual([0x1110n, 0x1111n, 0x1112n]);
  }
}

const excludesWeights = (bits: readonly SampleBit[]): boolean => !(bits.includes('weight') && bits.includes('weightStruct'));

describe('SampleLayout', () => {
  it.each(ALL_BITS)('finds %s alone', (bit) => {
    expectFields([bit]);
    expectFields([bit], {}, 'big');
  });

  it('finds every pair of fields', () => {
    for (const a of ALL_BITS) for (const b of ALL_BITS) if (a < b && excludesWeights([a, b])) expectFields([a, b]);
  });

  it('finds any set of fields, in either byte order', () => {
    fc.assert(
      fc.property(fc.subarray(ALL_BITS).filter(excludesWeights), fc.boolean(), fc.boolean(), fc.boolean(), (bits, hwIndex, counters, big) => {
        const branchSampleType = (hwIndex ? branchHwIndex : 0n) | (counters ? branchCounters : 0n);
        expectFields(bits, { branchSampleType }, big ? 'big' : 'little');
      }),
      { numRuns: 300 },
    );
  });

  it('takes sizes from the sample: no registers for abi 0, no dyn_size for an empty stack', () => {
    const attr = attrOf(['regsUser', 'stackUser', 'regsIntr', 'physAddr']);
    const { view, offsets, size } = locate(attr, { regsUser: { abi: 0 }, regsIntr: { abi: 0 }, stackUser: { data: new Uint8Array() }, physAddr: 0x77n });
    expect(view.big(offsets.physAddr)).toBe(0x77n);
    expect(offsets.end).toBe(size);
  });

  it('finds the values of every read_format', () => {
    const formats: ReadFormatBit[] = ['timeEnabled', 'timeRunning', 'id', 'group', 'lost'];
    fc.assert(
      fc.property(fc.subarray(formats), fc.array(fc.bigInt(1n, 2n ** 40n), { minLength: 1, maxLength: 4 }), (readFormat, counts) => {
        const values = (readFormat.includes('group') ? counts : counts.slice(0, 1)).map((value, i) => ({ value, id: BigInt(100 + i), lost: 5n }));
        const attr = attrOf(['time', 'read', 'callchain'], { readFormat });
        const { view, offsets, layout, size } = locate(attr, { ...FIELDS, read: { timeEnabled: 1n, timeRunning: 2n, values } });
        const found = readValuesOf(layout.attr.readFormat, view, offsets.read);
        expect(found.count).toBe(values.length);
        for (const [i, value] of values.entries()) {
          expect(view.big(found.first + i * found.stride)).toBe(value.value);
          if (readFormat.includes('id')) expect(view.big(found.first + i * found.stride + found.idOffset)).toBe(value.id);
        }
        expect(offsets.callchainCount).toBe(3);
        expect(offsets.end).toBe(size);
      }),
    );
  });

  it('says what overruns the record, and by how much, for every length that is too short', () => {
    const attr = attrOf(ALL_BITS.filter((bit) => bit !== 'weightStruct'));
    const { view, size, layout } = locate(attr, FIELDS);
    for (let end = 8; end < size; end++)
      expect(layout.locate(view, 8, end, emptySampleOffsets()), `end ${end}`).toMatch(/of \d+ bytes overruns? record of \d+ bytes/);
  });

  it('has the pids of servers only in recordings of hiperf: elsewhere, their bit is unknown', () => {
    const { layout } = locate(attrOf(['ip', 'serverPids']), FIELDS);
    const other = new SampleLayout(layout.attr);
    expect([layout, other].map((one) => [one.has('serverPids'), one.hasUnknownFields, one.slackBytes])).toEqual([
      [true, false, 7],
      [false, true, Number.POSITIVE_INFINITY],
    ]);
  });

  it('does not trust counts', () => {
    const attr = attrOf(['callchain']);
    const { view, layout } = locate(attr, FIELDS);
    view.bytes.fill(0xff, 8, 16);
    expect(layout.locate(view, 8, 40, emptySampleOffsets())).toMatch(/^callchain of .* overruns record of 40 bytes$/);
  });
});
